"""Commands that search: search and explain."""

from pathlib import Path
from typing import Unpack

import click

from keyhole.core.cli.options import (
    ANSWER_OPTIONS,
    FILTER_OPTIONS,
    PATTERN_OPTIONS,
    SEARCH_PAGE_OPTIONS,
    AnswerOptions,
    FilterOptions,
    answer_shape,
    complete_path,
    cursor_option,
    detail_option,
    json_option,
    line_numbers_option,
    root_option,
    with_options,
)
from keyhole.core.cli.output import exit_with_nothing, print_json, print_list, print_text, refresh_index
from keyhole.core.cli.parameters import AnswerCommand
from keyhole.core.types.choices import Detail, Mode, Output
from keyhole.core.types.view_requests import SearchRequest


class _SearchOptions(FilterOptions, AnswerOptions):
    detail_level: str
    cursor: str
    context_lines: int
    output: str
    line_numbers: bool


@click.command(cls=AnswerCommand)
@click.argument("query")
@with_options(
    *FILTER_OPTIONS,
    *SEARCH_PAGE_OPTIONS,
    *PATTERN_OPTIONS,
    detail_option,
    line_numbers_option,
    cursor_option,
    *ANSWER_OPTIONS,
    root_option,
)
def search(query: str, root: Path, **options: Unpack[_SearchOptions]) -> None:
    """Search the workspace. QUERY is a name, a few words, "exact text" or /a regular expression/."""
    from dataclasses import replace

    from keyhole.core.cli.open_service import open_service
    from keyhole.core.view.budget.room import within

    service = open_service(root)
    shape = answer_shape(options, service.settings)
    refresh_index(service)
    request = replace(
        _filtered(query, options),
        detail_level=Detail(options["detail_level"]),
        cursor=options["cursor"],
        max_tokens=shape.max_tokens,
        format=shape.format,
        context_lines=options["context_lines"],
        output=Output(options["output"]),
        line_numbers=options["line_numbers"],
    )
    with within(shape.room):
        view = service.search_view(request)
    print_list(view, shape.profile)


@click.command()
@click.argument("query")
@click.argument("place", metavar="PATH[:LINE]", shell_complete=complete_path)
@with_options(*FILTER_OPTIONS, *SEARCH_PAGE_OPTIONS, root_option, json_option)
def explain(query: str, place: str, root: Path, *, as_json: bool, **options: Unpack[FilterOptions]) -> None:
    """Explain the rank of PATH for QUERY, or why it is missing."""
    from dataclasses import asdict

    from keyhole.core.cli.open_service import open_service
    from keyhole.core.view.lists.search_view import explanation_text

    path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
    service = open_service(root)
    refresh_index(service)
    explanation = service.explain(_filtered(query, options), path, int(line) if line else None)
    print_json(asdict(explanation)) if as_json else print_text(explanation_text(explanation))
    if not explanation.rank:
        exit_with_nothing()


@click.command()
@click.argument("call", type=int)
@click.argument("path", shell_complete=complete_path)
@with_options(root_option, json_option)
def missed(call: int, path: str, root: Path, *, as_json: bool) -> None:
    """Explain why an agent did not see PATH in the answer to CALL, and what would have shown it.

    CALL is the number of a call in the explorer's Traffic.
    """
    from keyhole.core.cli.open_service import open_service
    from keyhole.core.missed.missed_file import TakenBy, missed_file
    from keyhole.core.missed.missed_text import missed_facts, missed_text

    service = open_service(root)
    refresh_index(service)
    found = missed_file(service, call, path)
    print_json(missed_facts(found)) if as_json else print_text(missed_text(found))
    if found.taken_by != TakenBy.NOTHING:
        exit_with_nothing()


def _filtered(query: str, options: FilterOptions) -> SearchRequest:
    return SearchRequest(
        query,
        mode=Mode(options["mode"]) if options["mode"] else None,
        path=options["path"],
        language=options["language"],
        kind=options["kind"],
        role=options["role"],
        include_tests=options["include_tests"],
        limit=options["limit"],
        offset=options["offset"],
        changed=options["changed"],
    )


COMMANDS = (search, explain, missed)
