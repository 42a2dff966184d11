"""Commands about how files hang together: links, backlinks, broken, search-links, tree and related."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from keyhole.core.cli.options import (
    ANSWER_OPTIONS,
    PAGE_OPTIONS,
    PageOptions,
    answer_shape,
    detail_option,
    root_option,
    with_options,
)
from keyhole.core.cli.output import print_list, update_index
from keyhole.core.types import Detail

if TYPE_CHECKING:
    from keyhole.core.links.requests import RelationRequest

_list_options = with_options(*PAGE_OPTIONS, *ANSWER_OPTIONS, root_option)


@click.command()
@click.argument("path")
@click.option("--category", type=click.Choice(["internal", "external", "incoming"]), help="Page one of the three.")
@_list_options
def links(path: str, root: Path, *, category: str | None, **options: Unpack[PageOptions]) -> None:
    """Show what the file PATH links to, and what links to it."""
    from keyhole.core.links.requests import Category, LinksRequest

    _answer(root, LinksRequest(path, Category(category) if category else None), options)


@click.command()
@click.argument("path")
@_list_options
def backlinks(path: str, root: Path, **options: Unpack[PageOptions]) -> None:
    """Show what links to the file or folder PATH."""
    from keyhole.core.links.requests import BacklinksRequest

    _answer(root, BacklinksRequest(path), options)


@click.command("broken")
@click.option("--path", default="", help="Only files below this folder, or that match this glob.")
@click.option("--reason", default="", help="Only one of: missing file, missing anchor, missing module.")
@_list_options
def broken_links(root: Path, *, path: str, reason: str, **options: Unpack[PageOptions]) -> None:
    """List links that lead nowhere."""
    from keyhole.core.links.requests import BrokenLinksRequest

    _answer(root, BrokenLinksRequest(path, reason), options)


@click.command("search-links")
@click.option("--has-links-to", default="", help="Files that link to this one.")
@click.option("--linked-from", default="", help="Files that this one links to.")
@click.option("--external-domains", multiple=True, help="Files that link to this domain or package (repeatable).")
@click.option("--broken/--any", default=False, help="Files with links that lead nowhere.")
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
    """Find files by their links; they answer to everything asked."""
    from keyhole.core.links.requests import LinkSearchRequest

    _answer(root, LinkSearchRequest(has_links_to, linked_from, external_domains, broken), options)


@click.command()
@click.argument("path", default="")
@click.option("--symbol", default="", help="Start from a symbol of the file: its name, dotted name or first line.")
@click.option(
    "--relation",
    type=click.Choice(["children", "parents", "descendants"]),
    default="children",
    show_default=True,
    help="Which way to go.",
)
@click.option("--max-depth", type=int, default=3, show_default=True, help="Levels of descendants.")
@click.option("--symbols", is_flag=True, help="Descendants of a folder go on into the symbols of its files.")
@_list_options
def tree(
    path: str,
    root: Path,
    *,
    symbol: str,
    relation: str,
    max_depth: int,
    symbols: bool,
    **options: Unpack[PageOptions],
) -> None:
    """Show the folders, files and symbols around PATH, by default the workspace."""
    from keyhole.core.links.requests import Relation, TreeRequest

    _answer(root, TreeRequest(path, symbol, Relation(relation), max_depth, symbols), options)


@click.command()
@click.argument("path", default="")
@click.option("--line", type=int, default=1, show_default=True, help="A line of the code to find others like.")
@click.option("--symbol", default="", help="Code like this symbol, of the file PATH or of any.")
@detail_option
@_list_options
def related(
    path: str, root: Path, *, line: int, symbol: str, detail_level: str, **options: Unpack[PageOptions]
) -> None:
    """Find code like that at a line of the file PATH, or like a symbol."""
    from keyhole.core.links.requests import RelatedRequest

    _answer(root, RelatedRequest(path, line, symbol, Detail(detail_level)), options)


def _answer(root: Path, request: "RelationRequest", options: PageOptions) -> None:
    from keyhole.core.service import Service

    shape = answer_shape(options)
    service = Service.open(root)
    update_index(service)
    paged = replace(
        request,
        limit=options["limit"],
        offset=options["offset"],
        cursor=options["cursor"],
        max_tokens=shape.max_tokens,
        format=shape.format,
    )
    print_list(service.relation_view(paged), shape.profile)


COMMANDS = (links, backlinks, broken_links, search_links, tree, related)
