"""Options that several commands share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click
from click.shell_completion import CompletionItem

from keyhole.core.suggest import close_names, did_you_mean
from keyhole.core.types.choices import Detail, Format, Mode, Output, ToolSet

if TYPE_CHECKING:
    from keyhole.core.clients import Profile
    from keyhole.core.config import Settings
    from keyhole.core.view.budget.room import Room

Command = Callable[..., None]
Option = Callable[[Command], Command]


class SuggestingChoice(click.Choice):  # type: ignore[type-arg]  # generic only since click 8.2
    """A choice that suggests the closest value for an unknown one."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is known."""
        try:
            return str(super().convert(value, param, ctx))
        except click.BadParameter as error:
            suggestion = did_you_mean(close_names(value, self.choices))
            raise click.BadParameter(f"{error.message} {suggestion}".rstrip(), ctx, param) from None


def complete_path(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete a path."""
    return [CompletionItem(incomplete, type="file")]


def complete_client(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a client."""
    from keyhole.core.clients import profiles

    return [name for name in profiles() if name.startswith(incomplete)]


def complete_language(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a language."""
    from keyhole.core.syntax.languages import LANGUAGES

    return [language.id for language in LANGUAGES if language.id.startswith(incomplete)]


path_argument = click.argument("path", type=click.Path(path_type=Path), default=".")
root_option = click.option(
    "--root", type=click.Path(path_type=Path), default=".", show_default="this folder", help="Workspace folder."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Allow the home folder and the root folder.")
tools_option = click.option(
    "--tools",
    type=SuggestingChoice([*map(str, ToolSet)]),
    help="Tools to offer: all, or core (search, map, read, tree, links) for fewer tokens; default: the setting "
    "mcp.tools (all).",
)
detail_option = click.option(
    "--detail",
    "--detail-level",
    "detail_level",
    type=SuggestingChoice([*map(str, Detail)]),
    default="compact",
    show_default=True,
    help="How much of each result to show.",
)
line_numbers_option = click.option(
    "--line-numbers/--no-line-numbers",
    default=True,
    show_default=True,
    help="Number each line of source, or put the source into a fence.",
)
cursor_option = click.option("--cursor", default="", help="Cursor from a previous JSON answer.")

FILTER_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--mode", type=SuggestingChoice([*map(str, Mode)]), help="Search mode; default: the setting search.mode (auto)."
    ),
    click.option(
        "--path", default="", shell_complete=complete_path, help="Only files in this folder, or that match this glob."
    ),
    click.option(
        "--language",
        default="",
        shell_complete=complete_language,
        help="Only files in this language, such as python or py.",
    ),
    click.option("--kind", default="", help="Only chunks that define this kind, such as class."),
    click.option("--role", default="", help="Only files with this role, such as docs; --role=-test leaves a role out."),
    click.option("--include-tests/--no-tests", default=True, show_default=True, help="Include test files."),
    click.option(
        "--changed/--unchanged", default=None, help="Only files that changed since the last commit, or only others."
    ),
)
SEARCH_PAGE_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--limit",
        type=int,
        help="Results per page; default: the setting search.top_k (10), or 100 lines for a regular expression.",
    ),
    click.option("--offset", type=int, default=0, show_default=True, help="Results to skip."),
)
PAGE_OPTIONS: tuple[Option, ...] = (
    click.option("--limit", type=int, help="Results per page."),
    click.option("--offset", type=int, default=0, show_default=True, help="Results to skip."),
    cursor_option,
)
ANSWER_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--budget",
        "--max-tokens",
        "max_tokens",
        type=int,
        help="Token budget of the answer, 1,000 to 25,000; default: the setting view.max_tokens (20,000).",
    ),
    click.option(
        "--format", type=SuggestingChoice([*map(str, Format)]), default="text", show_default=True, help="Output format."
    ),
    click.option("--json", "as_json", is_flag=True, help="Short for --format json."),
    click.option(
        "--as",
        "client",
        default="",
        shell_complete=complete_client,
        help="Show the answer as this client delivers it, such as claude or codex.",
    ),
)


PATTERN_OPTIONS: tuple[Option, ...] = (
    click.option(
        "-C",
        "--context-lines",
        type=int,
        default=0,
        show_default=True,
        help="Lines around each match of a regular expression, at most 10.",
    ),
    click.option(
        "--output",
        type=SuggestingChoice([*map(str, Output)]),
        default="lines",
        show_default=True,
        help="What to list for a regular expression: matching lines, files with counts, or counts by folder.",
    ),
)


class FilterOptions(TypedDict):
    """Options that filter the files and chunks of a search."""

    mode: str | None
    path: str
    language: str
    kind: str
    role: str
    include_tests: bool
    changed: bool | None
    limit: int | None
    offset: int


class AnswerOptions(TypedDict):
    """Options for the size and format of an answer."""

    max_tokens: int | None
    format: str
    as_json: bool
    client: str


class PageOptions(AnswerOptions):
    """Options for the page of a list."""

    limit: int | None
    offset: int
    cursor: str


@dataclass(frozen=True, slots=True)
class AnswerShape:
    """The parsed options of an answer; `profile` is the client of `--as`, and `room` what it delivers whole."""

    max_tokens: int | None
    format: Format
    profile: "Profile | None"
    room: "Room | None"


def with_options(*options: Option) -> Option:
    """Add several options to a command, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def answer_shape(options: AnswerOptions, settings: "Settings") -> AnswerShape:
    """Parse the options of an answer; without `--budget`, the client of `--as` sets the budget."""
    from keyhole.core.clients import profile_budget, profile_named, room_for

    profile = profile_named(options["client"]) if options["client"] else None
    max_tokens = options["max_tokens"]
    if profile and max_tokens is None:
        max_tokens = profile_budget(profile, settings)
    written = Format.JSON if options["as_json"] else Format(options["format"])
    return AnswerShape(max_tokens, written, profile, room_for(profile) if profile else None)
