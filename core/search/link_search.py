"""Finds links in the index: the links of a file, links to a path, broken links, and files by their links."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from keyhole.core.errors import ErrorKind, PathError, QueryError
from keyhole.core.index.protocols import RelationStore
from keyhole.core.index.rows import Found, Slice
from keyhole.core.links.link_types import BROKEN, ROOT, Link, LinkState
from keyhole.core.links.markdown import domain_of
from keyhole.core.links.packages import Packages
from keyhole.core.links.paths import Paths
from keyhole.core.links.prose import AnchorNames
from keyhole.core.links.requests import Category, LinkSearchRequest
from keyhole.core.search.filters import files_matching, path_suggestion
from keyhole.core.suggest import suggest_name

_STATES = {
    Category.INTERNAL: (LinkState.INTERNAL, LinkState.UNRESOLVED),
    Category.EXTERNAL: (LinkState.EXTERNAL,),
}


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """A file that matches a search by links, and the number of its matching links."""

    path: str
    language: str
    links: int


def links_of_file(store: RelationStore, path: str, category: Category, wanted: Slice) -> Found[Link]:
    """Return the links of a file in one category."""
    if category == Category.INCOMING:
        return links_to(store, path, wanted)
    file_id = store.file_id(path)
    if file_id is None and is_folder(store, path):
        raise PathError(
            f"{path} is a folder; {category} links are those of a file", ErrorKind.LINKS_OF_FOLDER, path=path
        )
    if file_id is None:
        raise PathError(
            f"{path} is not an indexed file, so its links are unknown",
            ErrorKind.NOT_INDEXED,
            suggestion=path_suggestion(store, path),
        )
    found = store.links_from(file_id, _STATES[category], wanted)
    return Found(_at_headings(store, found.items), found.total)


def links_to(store: RelationStore, path: str, wanted: Slice) -> Found[Link]:
    """Return the links to a file from other files, or to a folder from outside.

    For a Go file these include imports of its package, which is its folder.
    """
    if is_folder(store, path):
        return store.links_into(path, wanted)
    return store.links_to(_places(path), path, wanted)


def is_folder(store: RelationStore, path: str) -> bool:
    """Return whether a path is a folder with indexed files."""
    return store.file_id(path) is None and store.count_files_in("" if path == ROOT else path) > 0


def count_links_within(store: RelationStore, path: str) -> int:
    """Count the links between files inside a folder, which are not links to it; a file has none."""
    return store.count_links_within(path) if is_folder(store, path) else 0


def broken_links(store: RelationStore, path: str, reason: str, wanted: Slice) -> Found[Link]:
    """Return broken links, in a folder or in files that match a glob."""
    if reason and reason not in BROKEN:
        raise QueryError(f"unknown reason {reason!r}", suggestion=suggest_name(reason, BROKEN))
    return store.broken_links([reason] if reason else BROKEN, files_matching(store, path) if path else None, wanted)


def files_by_links(store: RelationStore, request: LinkSearchRequest, wanted: Slice) -> Found[LinkedFile]:
    """Return the files that match all filters, those with the most matching links first."""
    counts = list(_counts(store, request))
    if not counts:
        raise QueryError("no filter given", ErrorKind.NO_FILTER)
    matching = set.intersection(*map(set, counts))
    links: Counter[str] = Counter()
    for of_files in counts:
        links.update(of_files)
    ordered = sorted(matching, key=lambda path: (-links[path], path))
    page = ordered[wanted.offset : wanted.offset + wanted.limit]
    languages = {file.path: file.language for file in store.files_at(page)}
    return Found(tuple(LinkedFile(path, languages.get(path, ""), links[path]) for path in page), len(matching))


def packages_inside(store: RelationStore, name: str) -> list[str]:
    """Return the folders of the workspace that a package name means, if links to it are internal."""
    folders = Packages(Paths(store.paths(), (), ()), store.declarations()).folders_of(name)
    # A folder may only have the same name as a package outside; then nothing links to it.
    return [folder for folder in folders if store.count_links_into(folder)] or (
        [] if store.count_links_outside([name]) else folders
    )


def _counts(store: RelationStore, request: LinkSearchRequest) -> Iterator[dict[str, int]]:
    """Yield, for each filter, the matching files with their number of matching links."""
    if request.has_links_to:
        yield _count_links_to(store, request.has_links_to)
    if request.linked_from:
        yield store.count_links_from(request.linked_from)
    if request.external_domains:
        names = [domain_of(name) if "://" in name else name.removeprefix("www.") for name in request.external_domains]
        yield store.count_links_outside(names)
    if request.broken:
        yield store.count_broken_links(BROKEN)


def _count_links_to(store: RelationStore, path: str) -> dict[str, int]:
    return store.count_links_into(path) if is_folder(store, path) else store.count_links_to(_places(path))


def _at_headings(store: RelationStore, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Return the links, with the line of the target heading for those that name one."""
    notes = sorted({link.to for link in links if link.names_anchor})
    headings: dict[str, list[tuple[str, int]]] = {path: [] for path in notes}
    for path, name, line in store.headings_of(notes):
        headings[path].append((name, line))
    names = {path: AnchorNames([name for name, _ in found]) for path, found in headings.items()}

    def line_of(link: Link) -> int:
        number = names[link.to].find(link.part) if link.names_anchor else None
        return 0 if number is None else headings[link.to][number][1]

    return tuple(replace(link, to_line=line) if (line := line_of(link)) else link for link in links)


def _places(path: str) -> list[str]:
    """Return the paths that a link to a file may point to: the file, and for Go also its folder."""
    return [path, path.rpartition("/")[0] or "."] if path.endswith(".go") else [path]
