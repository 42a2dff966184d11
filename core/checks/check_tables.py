"""The tables of a checks file: what each kind of check may say. docs/check.md describes them for users."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from keyhole.core.errors import QueryError
from keyhole.core.types.choices import Mode, ToolSet

# What most teams use; a check may name others.
DEFAULT_CLIENTS = ["claude", "codex"]
_LINES = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?")


def _one_line(text: str) -> str:
    if not text.strip() or "\n" in text or "\0" in text:
        raise ValueError("must be a text on one line")
    return text


def _known_client(name: str) -> str:
    from keyhole.core.clients import profile_named

    try:
        return profile_named(name).id
    except QueryError as error:
        raise ValueError(str(error)) from None


def _line_range(text: str) -> str:
    parts = _LINES.fullmatch(text)
    if not parts or int(parts[2]) < 1 or int(parts[3] or parts[2]) < int(parts[2]):
        raise ValueError('must be a path with lines, such as "src/retry.py:41-60"')
    return text


def called_text(tool: str, arguments: Mapping[str, object]) -> str:
    """Return a call in one line."""
    given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{tool}({given})"


def _plain(arguments: dict[str, object]) -> dict[str, object]:
    """Reject what a call can't send: dates, and numbers that JSON has no form for."""
    try:
        json.dumps(arguments, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("must contain only texts, numbers, true, false, lists and tables") from None
    return arguments


def split_lines(text: str) -> tuple[str, int, int]:
    """Return the path, the first and the last line of a text such as `src/retry.py:41-60`."""
    parts = _LINES.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    return parts[1], int(parts[2]), int(parts[3] or parts[2])


def _choice_of(choices: type[StrEnum]) -> BeforeValidator:
    """Return what turns a text into one of several choices, and names them if it is none."""

    def convert(given: object) -> object:
        if given not in [*map(str, choices)]:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return choices(given)

    return BeforeValidator(convert)


Line = Annotated[str, AfterValidator(_one_line)]
ClientName = Annotated[str, AfterValidator(_known_client)]
LineRange = Annotated[str, AfterValidator(_line_range)]
Arguments = Annotated[dict[str, object], AfterValidator(_plain)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]


class CheckTable(BaseModel):
    """What every check may have: a name for reports."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = ""

    @property
    def title(self) -> str:
        """What reports call the check: its name, or what it asks."""
        return self.name or self._asked()

    def _asked(self) -> str:
        return ""


class QueryTable(CheckTable):
    """A search that must show files, symbols or lines, none of them after `worst_rank`."""

    query: Line
    files: list[Line] = []
    symbols: list[Line] = []
    lines: list[LineRange] = []
    worst_rank: int = Field(default=10, ge=1, le=50)
    mode: Annotated[Mode | None, _choice_of(Mode)] = None
    path: str = ""
    language: str = ""
    kind: str = ""
    role: str = ""
    include_tests: bool = True

    @model_validator(mode="after")
    def _expects_something(self) -> "QueryTable":
        if not (self.files or self.symbols or self.lines):
            raise ValueError("must expect something: add files, symbols or lines")
        return self

    def _asked(self) -> str:
        return self.query


class FactTable(CheckTable):
    """A text that an agent must reach by search, map and read, with few calls and tokens."""

    fact: Line
    query: Line
    max_calls: int = Field(default=3, ge=1, le=3)
    max_tokens: Tokens = 4_000

    def _asked(self) -> str:
        return f"{self.query} → {self.fact}"


class MapTable(CheckTable):
    """Maps of files: a ceiling for their tokens, whether they must be complete, and texts that they must show."""

    files: list[Line] = Field(min_length=1)
    max_tokens: Tokens | None = None
    complete: bool = False
    shows: list[Line] = []

    @model_validator(mode="after")
    def _expects_something(self) -> "MapTable":
        if not (self.max_tokens or self.complete or self.shows):
            raise ValueError("must expect something: add max_tokens, complete or shows")
        return self


class ToolListTable(CheckTable):
    """Keyhole's own tool list: a ceiling for its tokens, and clients that must not truncate a description."""

    tools: Annotated[ToolSet, _choice_of(ToolSet)] = ToolSet.ALL
    max_tokens: Tokens
    clients: list[ClientName] = []

    def _asked(self) -> str:
        return f"tools {self.tools}"


class AnswerTable(CheckTable):
    """A call of one of Keyhole's tools, whose answer each client must deliver as it is."""

    tool: Line
    arguments: Arguments = {}
    clients: list[ClientName] = DEFAULT_CLIENTS
    max_tokens: Tokens | None = None
    shows: list[Line] = []

    def _asked(self) -> str:
        return called_text(self.tool, self.arguments)


class ForbiddenTable(CheckTable):
    """A text, or a regular expression, that no answer may contain."""

    text: Annotated[str, AfterValidator(lambda text: _one_line(text) if text else text)] = ""
    pattern: Annotated[str, AfterValidator(lambda text: _one_line(text) if text else text)] = ""

    @model_validator(mode="after")
    def _has_one(self) -> "ForbiddenTable":
        if bool(self.text) == bool(self.pattern):
            raise ValueError("must have either text or pattern")
        return self

    def _asked(self) -> str:
        return self.text or f"/{self.pattern}/"


class LinksTable(CheckTable):
    """Broken links, at most this many, in all files or below a path."""

    max_broken: int = Field(ge=0, le=1_000_000)
    path: str = ""

    def _asked(self) -> str:
        return f"broken links {self.path}".rstrip()


class CallTable(CheckTable):
    """A call of another server's tool: ceilings for its answer, texts in it, and whether it matches its snapshot."""

    tool: Line
    arguments: Arguments = {}
    clients: list[ClientName] = []
    max_tokens: Tokens | None = None
    shows: list[Line] = []
    snapshot: bool = False

    def _asked(self) -> str:
        return called_text(self.tool, self.arguments)


class ServerTable(CheckTable):
    """Any MCP server, started over stdio by a command: the cost of its tool list, and answers to calls."""

    server: list[str] = Field(min_length=1)
    max_tokens: Tokens | None = None
    max_description: int | None = Field(default=None, ge=1, le=1_000_000)
    clients: list[ClientName] = []
    timeout: int = Field(default=60, ge=1, le=600)
    call: list[CallTable] = []

    @model_validator(mode="after")
    def _can_start(self) -> "ServerTable":
        if not self.server[0].strip() or any("\0" in part for part in self.server):
            raise ValueError('server must be a command, such as ["npx", "my-server"]')
        return self

    def _asked(self) -> str:
        return " ".join(self.server)


# The kinds of checks, by the names of their tables.
TABLES: dict[str, type[CheckTable]] = {
    "query": QueryTable,
    "fact": FactTable,
    "map": MapTable,
    "tool_list": ToolListTable,
    "answer": AnswerTable,
    "forbidden": ForbiddenTable,
    "links": LinksTable,
    "mcp": ServerTable,
}
