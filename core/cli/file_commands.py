"""Commands about files: map, read and bundle."""

import os
import re
from pathlib import Path
from typing import TypedDict, Unpack

import click

from keyhole.core.cli.options import (
    ANSWER_OPTIONS,
    AnswerOptions,
    SuggestingChoice,
    answer_shape,
    complete_path,
    line_numbers_option,
    root_option,
    with_options,
)
from keyhole.core.cli.output import print_answer, print_list
from keyhole.core.cli.parameters import AnswerCommand
from keyhole.core.types.bundle import BundleRequest, BundleStyle
from keyhole.core.types.choices import Format, MapLevel
from keyhole.core.types.view_requests import MapRequest, ReadRequest

# `src/a.py:40` and `src/a.py:40-60`; compilers and other tools add a column, `src/a.py:40:7`.
_PLACE = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?(?::\d*)?")


class _MapOptions(AnswerOptions):
    level: str
    symbol: str
    symbols_each: int
    offset: int


class _ReadOptions(AnswerOptions):
    start_line: int
    start_column: int
    max_lines: int | None
    line_numbers: bool


class _BundleOptions(TypedDict):
    offset: int
    max_tokens: int | None
    as_json: bool


@click.command("map", cls=AnswerCommand)
@click.argument("path", shell_complete=complete_path)
@click.option(
    "--level",
    type=SuggestingChoice([*map(str, MapLevel)]),
    default="auto",
    show_default=True,
    help="How much of each symbol to show; auto picks the fullest level that fits.",
)
@click.option(
    "--symbol", default="", help="Show a type with all its parts by name, or one symbol by dotted name or first line."
)
@click.option(
    "--symbols-each",
    type=int,
    default=50,
    show_default=True,
    help="Symbols to show at each end of a truncated map.",
)
@click.option("--offset", type=int, default=0, show_default=True, help="Symbols to skip.")
@with_options(*ANSWER_OPTIONS, root_option)
def map_file(path: str, root: Path, **options: Unpack[_MapOptions]) -> None:
    """Show the imports and symbols of PATH, with line ranges."""
    from keyhole.core.cli.open_service import open_service
    from keyhole.core.view.budget.room import within

    service = open_service(root)
    shape = answer_shape(options, service.settings)
    request = MapRequest(
        path,
        MapLevel(options["level"]),
        options["symbol"],
        options["symbols_each"],
        options["offset"],
        shape.max_tokens,
        shape.format,
    )
    with within(shape.room):
        view = service.map_view(request)
    print_answer(view, shape.profile)


@click.command(cls=AnswerCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH[:LINES]...", shell_complete=complete_path)
@click.option("--start-line", type=int, default=1, show_default=True, help="First line to show.")
@click.option(
    "--start-column",
    type=int,
    default=1,
    show_default=True,
    help="First column to show of that line, if the line is very long.",
)
@click.option("--max-lines", type=int, help="Lines per file; default: 500, maximum: 2,000.")
@with_options(line_numbers_option, *ANSWER_OPTIONS, root_option)
def read(paths: tuple[str, ...], root: Path, **options: Unpack[_ReadOptions]) -> None:
    """Show lines of one or more files. Several files share the budget.

    The lines of one file can follow its path: PATH:40 starts at line 40, PATH:40-60 also ends at line 60.
    """
    from keyhole.core.cli.open_service import open_service
    from keyhole.core.view.budget.room import within

    service = open_service(root)
    shape = answer_shape(options, service.settings)
    paths, start_line, max_lines = _with_lines(root, paths, options)
    request = ReadRequest(
        paths,
        start_line,
        options["start_column"],
        max_lines,
        shape.max_tokens,
        shape.format,
        options["line_numbers"],
    )
    with within(shape.room):
        view = service.read_view(request)
    print_answer(view, shape.profile)


def _with_lines(root: Path, paths: tuple[str, ...], options: _ReadOptions) -> tuple[tuple[str, ...], int, int | None]:
    """Return the paths, the first line and how many lines, from the options or from what follows a path."""
    # A name may contain a colon.
    places = [place for path in paths if (place := _PLACE.fullmatch(path)) and not os.path.lexists(root / path)]
    if not places:
        return paths, options["start_line"], options["max_lines"]
    if len(paths) > 1:
        raise click.UsageError("lines can follow the path of one file only; read the files one by one")
    first, last = int(places[0]["first"]), int(places[0]["last"] or 0)
    if 0 < last < first:
        raise click.UsageError(f"the lines {first}-{last} end before they start")
    # With --start-line 61, PATH:41-60 is followed by its next page.
    start_line = options["start_line"] if options["start_line"] != 1 else first
    return (places[0]["path"],), start_line, options["max_lines"] or (last - first + 1 if last else None)


@click.command(cls=AnswerCommand)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--offset", type=int, default=0, show_default=True, help="Parts to skip.")
@click.option(
    "--budget", "--max-tokens", "max_tokens", type=int, help="Token budget; default: the one in FILE, or 20,000."
)
@click.option(
    "--format",
    "form",
    type=SuggestingChoice([*map(str, BundleStyle), "json"]),
    default="text",
    show_default=True,
    help="Output format: text as agents get it, markdown, xml or json.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@with_options(root_option)
def bundle(file: Path, root: Path, form: str, **options: Unpack[_BundleOptions]) -> None:
    """Write the files, symbols and lines that FILE lists as one text, as they are now."""
    from keyhole.core.cli.open_service import open_service
    from keyhole.core.view.bundles.bundle_file import LARGEST_BUNDLE_FILE, parse_bundle

    with file.open("rb") as opened:
        content = opened.read(4 * LARGEST_BUNDLE_FILE).decode("utf-8", "replace")
    is_json = options["as_json"] or form == str(Format.JSON)
    request = BundleRequest(
        parse_bundle(content, str(file)),
        BundleStyle.TEXT if is_json else BundleStyle(form),
        options["offset"],
        options["max_tokens"],
        Format.JSON if is_json else Format.TEXT,
    )
    print_list(open_service(root).bundle_view(request), None)


COMMANDS = (map_file, read, bundle)
