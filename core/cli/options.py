"""Options that several commands share, and what they come to."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from keyhole.core.suggest import close_names, did_you_mean
from keyhole.core.types import Detail, Format, Mode

if TYPE_CHECKING:
    from keyhole.core.clients import Profile

Command = Callable[..., None]
Option = Callable[[Command], Command]


class SuggestingChoice(click.Choice):  # type: ignore[type-arg]  # generic only since click 8.2
    """One of several values; an unknown one is answered with the closest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is known."""
        try:
            return str(super().convert(value, param, ctx))
        except click.BadParameter as error:
            suggestion = did_you_mean(close_names(value, self.choices))
            raise click.BadParameter(f"{error.message} {suggestion}".rstrip(), ctx, param) from None


path_argument = click.argument("path", type=click.Path(path_type=Path), default=".")
root_option = click.option(
    "--root", type=click.Path(path_type=Path), default=".", show_default="this folder", help="Workspace folder."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Allow the home folder and the file system root.")
detail_option = click.option(
    "--detail",
    "--detail-level",
    "detail_level",
    type=SuggestingChoice([*map(str, Detail)]),
    default="compact",
    show_default=True,
    help="How much to show of each result.",
)
cursor_option = click.option("--cursor", default="", help="Cursor from a previous JSON answer.")

FILTER_OPTIONS: tuple[Option, ...] = (
    click.option("--mode", type=SuggestingChoice([*map(str, Mode)]), help="Search mode; default: search.mode, auto."),
    click.option("--path", default="", help="Only files in this folder, or that match this glob."),
    click.option("--language", default="", help="Only files in this language, such as python or py."),
    click.option("--kind", default="", help="Only chunks that define this kind, such as class."),
    click.option("--include-tests/--no-tests", default=True, show_default=True, help="Include test files."),
)
SEARCH_PAGE_OPTIONS: tuple[Option, ...] = (
    click.option("--limit", type=int, help="Results per page; default: search.top_k, 10."),
    click.option("--offset", type=int, default=0, show_default=True, help="Results to skip."),
)
PAGE_OPTIONS: tuple[Option, ...] = (
    click.option("--limit", type=int, help="Results per page."),
    click.option("--offset", type=int, default=0, show_default=True, help="Results to skip."),
    cursor_option,
)
ANSWER_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--budget", "--max-tokens", "max_tokens", type=int, help="Token budget of the answer; default: 20,000."
    ),
    click.option(
        "--format", type=SuggestingChoice([*map(str, Format)]), default="text", show_default=True, help="Output format."
    ),
    click.option("--json", "as_json", is_flag=True, help="Short for --format json."),
    click.option(
        "--as",
        "client",
        default="",
        help="Show the answer as this client delivers it: claude, codex, cursor, vscode...",
    ),
)


class FilterOptions(TypedDict):
    """Which files and chunks a search looks at."""

    mode: str | None
    path: str
    language: str
    kind: str
    include_tests: bool
    limit: int | None
    offset: int


class AnswerOptions(TypedDict):
    """How an answer is written, and for whom."""

    max_tokens: int | None
    format: str
    as_json: bool
    client: str


class PageOptions(AnswerOptions):
    """Which page of a list, and how it is written."""

    limit: int | None
    offset: int
    cursor: str


@dataclass(frozen=True, slots=True)
class AnswerShape:
    """What the options of an answer come to; `profile` is the client that it is shown as."""

    max_tokens: int | None
    format: Format
    profile: "Profile | None"


def with_options(*options: Option) -> Option:
    """Give a command several options, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def answer_shape(options: AnswerOptions) -> AnswerShape:
    """Read the options of an answer; the client of `--as` sets the budget when nothing else does."""
    from keyhole.core.clients import profile_named

    profile = profile_named(options["client"]) if options["client"] else None
    max_tokens = options["max_tokens"]
    if profile and profile.max_tokens and max_tokens is None:
        max_tokens = profile.max_tokens.value
    return AnswerShape(max_tokens, Format.JSON if options["as_json"] else Format(options["format"]), profile)
