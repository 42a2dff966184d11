"""Commands about files: map and read."""

from pathlib import Path
from typing import Unpack

import click

from keyhole.core.cli.options import (
    ANSWER_OPTIONS,
    AnswerOptions,
    SuggestingChoice,
    answer_shape,
    line_numbers_option,
    root_option,
    with_options,
)
from keyhole.core.cli.output import print_answer
from keyhole.core.types.choices import MapLevel
from keyhole.core.types.requests import MapRequest, ReadRequest


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


@click.command("map")
@click.argument("path")
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
    from keyhole.core.service import Service

    service = Service.open(root)
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
    print_answer(service.map_view(request).text, shape.profile)


@click.command()
@click.argument("paths", nargs=-1, required=True)
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
    """Show lines of one or more files. Several files share the budget."""
    from keyhole.core.service import Service

    service = Service.open(root)
    shape = answer_shape(options, service.settings)
    request = ReadRequest(
        paths,
        options["start_line"],
        options["start_column"],
        options["max_lines"],
        shape.max_tokens,
        shape.format,
        options["line_numbers"],
    )
    print_answer(service.read_view(request).text, shape.profile)


COMMANDS = (map_file, read)
