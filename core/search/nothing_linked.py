"""What a request about links, the tree or related code without results looked for, and what exists instead."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from keyhole.core.errors import QueryError
from keyhole.core.index.protocols import RelationStore
from keyhole.core.index.rows import Slice
from keyhole.core.links.link_types import ROOT, LinkState
from keyhole.core.links.paths import parents
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    LinkSearchRequest,
    LinksRequest,
    ReferenceRelation,
    ReferencesRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.search.file_list import pattern_test
from keyhole.core.search.filters import files_matching
from keyhole.core.search.link_search import broken_links, files_by_links, links_of_file
from keyhole.core.search.nothing_found import results_without
from keyhole.core.suggest import close_names, suggest_paths
from keyhole.core.types.missing import NothingFound

_MOST_CLOSEST = 3
_COUNT_ONLY = Slice(1, 0)
_LINK_FILTERS: dict[str, Any] = {"has_links_to": "", "linked_from": "", "external_domains": (), "broken": False}


def nothing_for(store: RelationStore, request: RelationRequest) -> NothingFound:
    """Return what a request without results looked for, and what exists instead."""
    if isinstance(request, RelatedRequest):
        return _no_related_code(store, request)
    if isinstance(request, ReferencesRequest):
        return _no_references(store, request)
    if isinstance(request, TreeRequest):
        return _no_files(store, request) if request.is_list else _empty_tree(store, request)
    return _nothing_linked(store, request)


def _nothing_linked(
    store: RelationStore, request: LinksRequest | BacklinksRequest | BrokenLinksRequest | LinkSearchRequest
) -> NothingFound:
    if isinstance(request, LinksRequest):
        return _no_links(store, request)
    if isinstance(request, BacklinksRequest):
        return _no_backlinks(store, request.path)
    if isinstance(request, BrokenLinksRequest):
        return _no_broken_links(store, request)
    return _no_linked_files(store, request)


def _no_references(store: RelationStore, request: ReferencesRequest) -> NothingFound:
    what = request.symbol or f"what is defined at line {request.line}"
    preposition = "to" if request.relation == ReferenceRelation.REFERENCES else "of"
    given = {"role": request.role, "certainty": request.certainty, "within": request.within}
    filters = [(name, value) for name, value in given.items() if value]
    filters += [] if request.include_tests else [("include_tests", "false")]
    hint = "relation=references lists every use"
    if request.relation == ReferenceRelation.REFERENCES:
        hint = f'search_code query="{what}" also finds it in comments, prose and other languages'
    return NothingFound(
        f"{request.relation} {preposition} {what}", store.count_files(), filters=tuple(filters), hints=(hint,)
    )


def _no_links(store: RelationStore, request: LinksRequest) -> NothingFound:
    path, category = request.path, request.category
    if category == Category.INCOMING:
        return _no_backlinks(store, path)
    if category is None:
        return replace(_no_backlinks(store, path), looked_for=f"links from or to {path}")
    others = [other for other in Category if other != category]
    counts = [(other, links_of_file(store, path, other, _COUNT_ONLY).total) for other in others]
    hints = [f"category={other}: {_links(count)}" for other, count in counts if count]
    return NothingFound(f"{category} links", 1, path, hints=tuple(hints or _nearest_folder(store, path)))


def _no_backlinks(store: RelationStore, path: str) -> NothingFound:
    if path == ROOT:
        return NothingFound("links to the workspace itself", store.count_files())
    nearest = tuple(_nearest_folder(store, path))
    namesakes = [other for other in store.linked_paths() if _name_of(other) == _name_of(path) and other != path]
    return NothingFound(
        f"links to {path}",
        store.count_files(),
        # Some links may be meant for this path but lead to another with the same name.
        closest=tuple(sorted(namesakes)[:_MOST_CLOSEST]),
        hints=nearest or (f"search_code query={_name_of(path)} finds where its name is written",),
    )


def _name_of(path: str) -> str:
    """Return the name that code and notes use for a path."""
    name = path.removesuffix("/__init__.py").rpartition("/")[2]
    return name.partition(".")[0] or name


def _nearest_folder(store: RelationStore, path: str) -> Iterator[str]:
    """Yield how many links lead into the nearest folder around a path that has any."""
    for folder in filter(None, parents(path)):
        if count := store.links_into(folder, _COUNT_ONLY).total:
            yield f"get_backlinks path={folder}: {_links(count)}"
            return


def _no_broken_links(store: RelationStore, request: BrokenLinksRequest) -> NothingFound:
    filters = {name: value for name in ("path", "reason") if (value := str(getattr(request, name)))}

    def count(names: Sequence[str]) -> int:
        kept = {name: "" if name in names else getattr(request, name) for name in ("path", "reason")}
        return broken_links(store, kept["path"], kept["reason"], _COUNT_ONLY).total

    without = results_without(list(filters), count)
    return NothingFound(
        "broken links",
        len(files_matching(store, request.path)) if request.path else store.count_files(),
        of_files=store.count_files(),
        filters=tuple(filters.items()),
        without=tuple(without),
        hints=() if without else (_sound_links(store),),
    )


def _sound_links(store: RelationStore) -> str:
    """Return how many links are not broken: they lead somewhere, or their target is uncertain."""
    sound, uncertain = (
        store.count_links(LinkState.INTERNAL, LinkState.EXTERNAL),
        store.count_links(LinkState.UNRESOLVED),
    )
    return f"{_links(sound)} in the workspace resolved, {uncertain:,} uncertain"


def _no_linked_files(store: RelationStore, request: LinkSearchRequest) -> NothingFound:
    given = {name: getattr(request, name) for name, none in _LINK_FILTERS.items() if getattr(request, name) != none}

    def count(names: Sequence[str]) -> int:
        # Without any filter there is nothing to count.
        fewer = replace(request, **{name: _LINK_FILTERS[name] for name in names})
        return files_by_links(store, fewer, _COUNT_ONLY).total if len(names) < len(given) else 0

    without = [((name,), found) for name in given if (found := count([name]))]
    return NothingFound(
        "files with such links",
        store.count_files(),
        filters=tuple((name, _as_parameter(value)) for name, value in given.items()),
        without=tuple(without),
        closest=() if without else tuple(_close_sites(store, request.external_domains)),
        hints=() if without else tuple(_link_hints(store, request)),
    )


def _as_parameter(value: object) -> str:
    return (
        ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower() if value is True else str(value)
    )


def _close_sites(store: RelationStore, names: Sequence[str]) -> list[str]:
    """Return the packages and domains in links that are most similar to some names."""
    sites = store.sites() if names else []
    return list(dict.fromkeys(site for name in names for site in close_names(name, sites)))[:_MOST_CLOSEST]


def _link_hints(store: RelationStore, request: LinkSearchRequest) -> Iterator[str]:
    if request.external_domains and not _close_sites(store, request.external_domains):
        yield f"most linked packages and domains: {', '.join(store.sites()[:_MOST_CLOSEST]) or 'none'}"
    if request.has_links_to:
        yield from _no_backlinks(store, request.has_links_to).hints
    if request.linked_from and store.file_id(request.linked_from) is not None:
        outside = links_of_file(store, request.linked_from, Category.EXTERNAL, _COUNT_ONLY).total
        yield f"get_links path={request.linked_from} category=external: {_links(outside)}"
    if request.broken:
        yield _sound_links(store)


def _no_related_code(store: RelationStore, request: RelatedRequest) -> NothingFound:
    place = f"{request.path}:{request.line}" if request.path and not request.symbol else request.symbol
    folder = request.path.rpartition("/")[0]
    beside = [path for path in store.paths_in(folder) if path != request.path] if request.path else []
    return NothingFound(f"code similar to {place}", store.count_files(), closest=tuple(beside[:_MOST_CLOSEST]))


def _no_files(store: RelationStore, request: TreeRequest) -> NothingFound:
    """Explain a list of files without results."""
    filters = {name: value for name in ("path", "pattern") if (value := str(getattr(request, name)))}
    matches = pattern_test(request.pattern)
    elsewhere = len([path for path in store.paths() if matches(path)]) if request.path else 0
    inside = store.paths_in(request.path)
    return NothingFound(
        f"file that matches {request.pattern}" if request.pattern else "file",
        len(inside),
        of_files=store.count_files(),
        filters=tuple(filters.items()) if request.path else (),
        without=((("path",), elsewhere),) if elsewhere else (),
        closest=() if elsewhere else tuple(_close_paths(inside, request.pattern)),
        hints=() if inside else tuple(_skipped(store)),
    )


def _close_paths(paths: Sequence[str], pattern: str) -> Sequence[str]:
    """Return paths that nearly match a pattern: in other case, with a similar name, or with the same extension."""
    try:
        matches = pattern_test(pattern.lower())
    except QueryError:
        return []
    if found := [path for path in paths if matches(path.lower())]:
        return found[:_MOST_CLOSEST]
    name = pattern.rpartition("/")[2]
    plain = "".join(character for character in name if character not in "*?[]{}")
    if found := suggest_paths(plain, paths):
        return found
    extension = name.rpartition(".")[2]
    return [path for path in paths if extension and path.endswith(f".{extension}")][:_MOST_CLOSEST]


def _empty_tree(store: RelationStore, request: TreeRequest) -> NothingFound:
    if request.relation == Relation.PARENTS:
        return NothingFound("folders around the workspace", store.count_files())
    if not request.path:
        return NothingFound("files", store.count_files(), hints=tuple(_skipped(store)))
    inside = f"symbols inside {request.symbol}" if request.symbol else "symbols"
    (file,) = store.files_at([request.path])
    hint = f"read_file path={request.path}: {file.lines:,} {'line' if file.lines == 1 else 'lines'}"
    return NothingFound(inside, 1, request.path, hints=(hint,))


def _skipped(store: RelationStore) -> Iterator[str]:
    if count := store.count_skips():
        yield f"{count:,} skipped {'path' if count == 1 else 'paths'}; index_status counts them by reason"


def _links(count: int) -> str:
    return f"{count:,} {'link' if count == 1 else 'links'}"
