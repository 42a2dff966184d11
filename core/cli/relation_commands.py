"""Commands for links, the tree and similar code: links, backlinks, broken, search-links, tree, related and refs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from keyhole.core.cli.options import (
    ANSWER_OPTIONS,
    PAGE_OPTIONS,
    PageOptions,
    SuggestingChoice,
    answer_shape,
    complete_path,
    detail_option,
    line_numbers_option,
    root_option,
    with_options,
)
from keyhole.core.cli.output import print_list, refresh_index
from keyhole.core.cli.parameters import AnswerCommand
from keyhole.core.types.choices import Detail

if TYPE_CHECKING:
    from keyhole.core.links.requests import RelationRequest

_list_options = with_options(*PAGE_OPTIONS, *ANSWER_OPTIONS, root_option)


@click.command(cls=AnswerCommand)
@click.argument("path", shell_complete=complete_path)
@click.option(
    "--category", type=SuggestingChoice(["internal", "external", "incoming"]), help="Page through one list of links."
)
@_list_options
def links(path: str, root: Path, *, category: str | None, **options: Unpack[PageOptions]) -> None:
    """List the outgoing and incoming links of the file PATH."""
    from keyhole.core.links.requests import Category, LinksRequest

    _answer(root, LinksRequest(path, Category(category) if category else None), options)


@click.command(cls=AnswerCommand)
@click.argument("path", shell_complete=complete_path)
@_list_options
def backlinks(path: str, root: Path, **options: Unpack[PageOptions]) -> None:
    """List the links to the file or folder PATH."""
    from keyhole.core.links.requests import BacklinksRequest

    _answer(root, BacklinksRequest(path), options)


@click.command("broken", cls=AnswerCommand)
@click.option(
    "--path", default="", shell_complete=complete_path, help="Only files in this folder, or that match this glob."
)
@click.option(
    "--reason", default="", help="Only links broken for this reason: missing file, missing anchor, missing module."
)
@_list_options
def broken_links(root: Path, *, path: str, reason: str, **options: Unpack[PageOptions]) -> None:
    """List broken links."""
    from keyhole.core.links.requests import BrokenLinksRequest

    _answer(root, BrokenLinksRequest(path, reason), options)


@click.command("search-links", cls=AnswerCommand)
@click.option("--has-links-to", default="", help="Only files that link to this file or folder.")
@click.option("--linked-from", default="", help="Only files that this file or folder links to.")
@click.option(
    "--external-domains",
    multiple=True,
    help="Only files that link to this domain or package; repeat it to match any of several.",
)
@click.option("--broken/--any", default=False, help="Only files with broken links.")
@_list_options
def search_links(
    root: Path,
    *,
    has_links_to: str,
    linked_from: str,
    external_domains: tuple[str, ...],
    broken: bool,
    **options: Unpack[PageOptions],
) -> None:
    """Find files by their links. Filters are combined with AND."""
    from keyhole.core.links.requests import LinkSearchRequest

    _answer(root, LinkSearchRequest(has_links_to, linked_from, external_domains, broken), options)


@click.command(cls=AnswerCommand)
@click.argument("path", default="", shell_complete=complete_path)
@click.option("--symbol", default="", help="Start at a symbol in the file: its name, dotted name or first line.")
@click.option(
    "--relation",
    type=SuggestingChoice(["children", "parents", "descendants"]),
    default="children",
    show_default=True,
    help="List what is inside, what contains it, or everything below.",
)
@click.option("--max-depth", type=int, default=3, show_default=True, help="Levels of descendants to list.")
@click.option("--symbols", is_flag=True, help="Include the symbols of files among the descendants of a folder.")
@click.option("--pattern", default="", help="List the files at any depth that match this glob, such as '*_test.go'.")
@click.option(
    "--sort",
    type=SuggestingChoice(["path", "newest"]),
    default="path",
    show_default=True,
    help="List files by path, or by last change, newest first.",
)
@click.option("--tokens", is_flag=True, help="Show what reading and mapping each file and folder costs.")
@_list_options
def tree(
    path: str,
    root: Path,
    *,
    symbol: str,
    relation: str,
    max_depth: int,
    symbols: bool,
    pattern: str,
    sort: str,
    tokens: bool,
    **options: Unpack[PageOptions],
) -> None:
    """List the folders, files and symbols in PATH. By default, PATH is the workspace."""
    from keyhole.core.links.requests import FileOrder, Relation, TreeRequest

    request = TreeRequest(path, symbol, Relation(relation), max_depth, symbols, pattern, FileOrder(sort))
    _answer(root, request, options, has_costs=tokens)


@click.command(cls=AnswerCommand)
@click.argument("path", default="", shell_complete=complete_path)
@click.option("--line", type=int, default=1, show_default=True, help="Line of the reference code.")
@click.option("--symbol", default="", help="Symbol to use as the reference code, in PATH or in any file.")
@with_options(detail_option, line_numbers_option)
@_list_options
def related(
    path: str,
    root: Path,
    *,
    line: int,
    symbol: str,
    detail_level: str,
    line_numbers: bool,
    **options: Unpack[PageOptions],
) -> None:
    """Find code similar to a line of PATH, or to a symbol."""
    from keyhole.core.links.requests import RelatedRequest

    _answer(root, RelatedRequest(path, line, symbol, Detail(detail_level), line_numbers), options)


@click.command(name="refs", cls=AnswerCommand)
@click.argument("symbol", default="")
@click.option(
    "--path",
    default="",
    shell_complete=complete_path,
    help="File or folder of the definition; with --line, the file of that line.",
)
@click.option("--line", type=int, default=0, help="Ask for what is defined at or around this line of --path.")
@click.option(
    "--relation",
    type=SuggestingChoice(["references", "callers", "callees", "hierarchy"]),
    default="references",
    show_default=True,
    help="What to find.",
)
@click.option("--role", default="", help="Only references with this role, such as call or import.")
@click.option("--certainty", type=SuggestingChoice(["certain", "likely", "by name"]), help="Only this certainty.")
@click.option("--within", default="", help="Only references in this folder, or in files that match this glob.")
@click.option("--tests/--no-tests", "include_tests", default=True, help="Include references in tests.")
@click.option("--depth", type=int, default=1, show_default=True, help="Steps to follow callers, callees and classes.")
@_list_options
def references(
    symbol: str,
    root: Path,
    *,
    path: str,
    line: int,
    relation: str,
    role: str,
    certainty: str | None,
    within: str,
    include_tests: bool,
    depth: int,
    **options: Unpack[PageOptions],
) -> None:
    """Find what uses SYMBOL, such as QuerySet.filter, and how certain each place is."""
    from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest

    request = ReferencesRequest(
        symbol, path, line, ReferenceRelation(relation), role, certainty or "", within, include_tests, depth
    )
    _answer(root, request, options)


def _answer(root: Path, request: "RelationRequest", options: PageOptions, *, has_costs: bool = False) -> None:
    from keyhole.core.cli.open_service import open_service
    from keyhole.core.links.requests import TreeRequest
    from keyhole.core.types.costs import with_folders
    from keyhole.core.view.budget.room import within

    service = open_service(root)
    shape = answer_shape(options, service.settings)
    refresh_index(service)
    if has_costs and isinstance(request, TreeRequest):
        request = replace(request, costs=with_folders(service.token_costs()))
    paged = replace(
        request,
        limit=options["limit"],
        offset=options["offset"],
        cursor=options["cursor"],
        max_tokens=shape.max_tokens,
        format=shape.format,
    )
    with within(shape.room):
        view = service.relation_view(paged)
    print_list(view, shape.profile)


COMMANDS = (links, backlinks, broken_links, search_links, tree, related, references)
