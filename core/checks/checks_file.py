"""Checks files: `keyhole.checks.toml`, and the TOML files in `.keyhole/checks`. They are not trusted."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from keyhole.core.checks.check_tables import TABLES, CallTable, CheckTable
from keyhole.core.errors import ConfigError
from keyhole.core.files.read import read_bytes
from keyhole.core.suggest import suggest_name
from keyhole.core.types.source_files import Skip
from keyhole.core.untrusted_toml import parse_toml
from keyhole.core.view.text import shorten

CHECKS_FILE = "keyhole.checks.toml"
CHECKS_FOLDER = ".keyhole/checks"
_MAX_BYTES = 1_000_000
_MOST_FILES = 200
_LONGEST_VALUE = 60
_UNKNOWN_KEY = "extra_forbidden"


@dataclass(frozen=True, slots=True)
class WrittenCheck:
    """A table of a checks file, and its place: `keyhole.checks.toml:12`, or only the file if the line is not known."""

    kind: str
    table: CheckTable
    place: str = ""


@dataclass(frozen=True, slots=True)
class ChecksFile:
    """A parsed file; `digest` identifies its exact bytes."""

    path: str
    digest: str
    checks: tuple[WrittenCheck, ...]

    @property
    def has_commands(self) -> bool:
        """Whether a check in it would start a program."""
        return any(check.kind == "mcp" for check in self.checks)


def read_checks(root: Path) -> list[ChecksFile]:
    """Read all checks files of a workspace; raise ConfigError if there are none, or one is broken."""
    paths = [CHECKS_FILE] if os.path.lexists(root / CHECKS_FILE) else []
    paths += [f"{CHECKS_FOLDER}/{name}" for name in _names_in(root / CHECKS_FOLDER)]
    if not paths:
        raise ConfigError(
            f"there is no {CHECKS_FILE} and no TOML file in {CHECKS_FOLDER}; keyhole check --init writes one"
        )
    return [_read_file(root, path) for path in paths]


def parse_checks(content: bytes, path: str) -> ChecksFile:
    """Parse the bytes of a file; `path` is what errors call it."""
    try:
        tables = parse_toml(content)
    except ValueError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}; correct it and run the checks again") from None
    lines = _TableLines(content.decode("utf-8-sig"))
    checks: list[WrittenCheck] = []
    for kind, listed in tables.items():
        _check_kind(kind, lines.place(path, kind, 0))
        if not isinstance(listed, list) or not all(isinstance(table, dict) for table in listed):
            raise ConfigError(f"{lines.place(path, kind, 0)}: {kind} must be a table with double brackets, [[{kind}]]")
        checks += [
            WrittenCheck(kind, check_table(kind, table, path, lines, number), lines.place(path, kind, number))
            for number, table in enumerate(listed)
        ]
    return ChecksFile(path, hashlib.sha256(content).hexdigest(), tuple(checks))


def check_table(
    kind: str, table: Mapping[str, object], path: str, lines: "_TableLines | None" = None, number: int = 0
) -> CheckTable:
    """Return one table of a kind, or raise ConfigError for what is wrong with it."""
    _check_kind(kind, path)
    try:
        return TABLES[kind].model_validate(table)
    except ValidationError as error:
        # A misspelled key is also a missing one; what is written there helps more.
        problems = sorted(error.errors(include_url=False), key=lambda problem: problem["type"] != _UNKNOWN_KEY)
        problem = problems[0]
        key = str(problem["loc"][0]) if problem["loc"] else ""
        place = (lines or _TableLines("")).place(path, kind, number, key)
        raise _invalid(problem, kind, place) from None


def _check_kind(kind: str, place: str) -> None:
    if kind not in TABLES:
        suggestion = suggest_name(f"[[{kind}]]", [f"[[{name}]]" for name in TABLES])
        raise ConfigError(f"{place}: unknown kind of check {kind}", suggestion=suggestion)


def _names_in(folder: Path) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))  # noqa: PTH208  # names only
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ConfigError(f"cannot read {CHECKS_FOLDER}: {error.strerror}") from error
    if len(names) > _MOST_FILES:
        raise ConfigError(f"{CHECKS_FOLDER} has {len(names):,} files; the limit is {_MOST_FILES}")
    return names


def _read_file(root: Path, path: str) -> ChecksFile:
    content = read_bytes(root, path, max_bytes=_MAX_BYTES)
    if isinstance(content, Skip):
        raise ConfigError(f"cannot read {path}: {content.detail}")
    return parse_checks(content[0], path)


def _invalid(problem: ErrorDetails, kind: str, place: str) -> ConfigError:
    """Return an error for an invalid key or value: where it is, and what is allowed."""
    *around, last = [str(part) for part in problem["loc"]] or [""]
    owner: type[BaseModel] = CallTable if around[:1] == ["call"] else TABLES[kind]
    table = f"[[{kind}.call]]" if owner is CallTable else f"[[{kind}]]"
    if problem["type"] == _UNKNOWN_KEY:
        return ConfigError(f"{place}: unknown key {last} in {table}", suggestion=suggest_name(last, owner.model_fields))
    if problem["type"] == "missing":
        return ConfigError(f"{place}: {table} has no {last}; add it")
    expected = _expected(problem)
    if not problem["loc"]:
        return ConfigError(f"{place}: {table} {expected}")
    shown = shorten(_written(problem["input"]), _LONGEST_VALUE)
    keys = [part for part in (*around, last) if not part.isdigit() and part != "call"]
    return ConfigError(f"{place}: {keys[-1] if keys else last} = {shown}: {expected}")


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        # Python does not write numbers with thousands of digits.
        return "a number that is too large"


_EXPECTED = {
    "int_type": "must be a whole number",
    "string_type": 'must be a text in quotes, such as "text"',
    "list_type": 'must be a list, such as ["one", "two"]',
    "dict_type": 'must be a table, such as { path = "src" }',
    "model_type": "must be a table",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge:,}",
    "less_than_equal": "must be at most {le:,}",
    "too_short": "must not be empty",
}


def _expected(problem: ErrorDetails) -> str:
    template = _EXPECTED.get(problem["type"])
    if template:
        return template.format(**problem.get("ctx", {}))
    return problem["msg"].removeprefix("Value error, ")


class _TableLines:
    """Finds the lines of tables and keys in a text, so that errors can name them; a wrong line is never named."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def place(self, path: str, kind: str, number: int, key: str = "") -> str:
        """Return the file, with the line of a key in a table of a kind, or of the table itself."""
        starts = self._starts(kind)
        if number >= len(starts):
            return path
        line = self._key_line(starts[number], key) if key else None
        return f"{path}:{(starts[number] if line is None else line) + 1}"

    def _starts(self, kind: str) -> list[int]:
        heading = re.compile(rf"\s*\[{{1,2}}\s*{re.escape(kind)}\s*\]{{1,2}}\s*(#.*)?")
        return [number for number, line in enumerate(self._lines) if heading.fullmatch(line)]

    def _key_line(self, start: int, key: str) -> int | None:
        assignment = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*(\.|=)")
        for number in range(start + 1, len(self._lines)):
            if re.match(r"\s*\[\[?[\w.\" -]+\]", self._lines[number]):
                return None
            if assignment.match(self._lines[number]):
                return number
        return None
