"""The commands about links, the tree and related code; how answers are asked for and printed is the command line's."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keyhole.core.types import Detail

if TYPE_CHECKING:
    from keyhole.core.links.requests import RelationRequest

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
Answer = Callable[[Path, dict[str, Any], "Callable[[Any], RelationRequest]"], None]


def relation_commands(with_detail: Decorator, with_answer: Decorator, answer: Answer) -> list[click.Command]:
    """Make the commands."""

    @click.command()
    @click.argument("path")
    @click.option("--category", type=click.Choice(["internal", "external", "incoming"]), help="Page one of the three.")
    @_paged
    @with_answer
    def links(path: str, root: Path, *, category: str | None, **options: Any) -> None:
        """Show what the file PATH links to, and what links to it."""
        from keyhole.core.links.requests import Category, LinksRequest

        chosen = Category(category) if category else None
        answer(root, options, lambda paging: LinksRequest(path, chosen, **paging))

    @click.command()
    @click.argument("path")
    @_paged
    @with_answer
    def backlinks(path: str, root: Path, **options: Any) -> None:
        """Show what links to the file or folder PATH."""
        from keyhole.core.links.requests import BacklinksRequest

        answer(root, options, lambda paging: BacklinksRequest(path, **paging))

    @click.command("broken")
    @click.option("--path", default="", help="Only files below this folder, or that match this glob.")
    @click.option("--reason", default="", help="Only one of: missing file, missing anchor, missing module.")
    @_paged
    @with_answer
    def broken_links(root: Path, *, path: str, reason: str, **options: Any) -> None:
        """List links that lead nowhere."""
        from keyhole.core.links.requests import BrokenLinksRequest

        answer(root, options, lambda paging: BrokenLinksRequest(path, reason, **paging))

    @click.command("search-links")
    @click.option("--has-links-to", default="", help="Files that link to this one.")
    @click.option("--linked-from", default="", help="Files that this one links to.")
    @click.option("--external-domains", multiple=True, help="Files that link to this domain or package (repeatable).")
    @click.option("--broken/--any", default=False, help="Files with links that lead nowhere.")
    @_paged
    @with_answer
    def search_links(root: Path, *, external_domains: tuple[str, ...], **options: Any) -> None:
        """Find files by their links; they answer to everything asked."""
        from keyhole.core.links.requests import LinkSearchRequest

        asked = {name: options.pop(name) for name in ("has_links_to", "linked_from", "broken")}
        answer(root, options, lambda paging: LinkSearchRequest(external_domains=external_domains, **asked, **paging))

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
    @_paged
    @with_answer
    def tree(path: str, root: Path, *, relation: str, symbols: bool, **options: Any) -> None:
        """Show the folders, files and symbols around PATH, by default the workspace."""
        from keyhole.core.links.requests import Relation, TreeRequest

        start, depth = options.pop("symbol"), options.pop("max_depth")
        answer(root, options, lambda paging: TreeRequest(path, start, Relation(relation), depth, symbols, **paging))

    @click.command()
    @click.argument("path", default="")
    @click.option("--line", type=int, default=1, show_default=True, help="A line of the code to find others like.")
    @click.option("--symbol", default="", help="Code like this symbol, of the file PATH or of any.")
    @with_detail
    @_paged
    @with_answer
    def related(path: str, root: Path, *, detail_level: str, **options: Any) -> None:
        """Find code like that at a line of the file PATH, or like a symbol."""
        from keyhole.core.links.requests import RelatedRequest

        line, symbol, detail = options.pop("line"), options.pop("symbol"), Detail(detail_level)
        answer(root, options, lambda paging: RelatedRequest(path, line, symbol, detail, **paging))

    return [links, backlinks, broken_links, search_links, tree, related]


def _paged(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a list."""
    for option in (
        click.option("--cursor", default="", help="Go on where an answer in JSON ended."),
        click.option("--offset", type=int, default=0, show_default=True, help="Results to pass over."),
        click.option("--limit", type=int, help="Results on a page."),
    ):
        command = option(command)
    return command
