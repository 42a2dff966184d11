"""Answers about links, the tree and related code: found in the index and written as pages of a list."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from keyhole.core.errors import ErrorKind, PathError, QueryError
from keyhole.core.index.rows import Found, Slice
from keyhole.core.links.link_types import ROOT, Link
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    FileOrder,
    LinkSearchRequest,
    LinksRequest,
    ReferencesRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.notes import Note, NoteKind
from keyhole.core.search.engine import Engine
from keyhole.core.search.file_list import list_files
from keyhole.core.search.filters import path_suggestion
from keyhole.core.search.link_search import (
    broken_links,
    count_links_within,
    files_by_links,
    links_of_file,
    packages_inside,
)
from keyhole.core.search.nothing_linked import nothing_for
from keyhole.core.search.related_code import FoundBy, RelatedCode, find_related
from keyhole.core.search.tree import Tree, TreeNode
from keyhole.core.types.calls import ShownLines
from keyhole.core.types.choices import Detail, Format
from keyhole.core.view.budget.limits import (
    MAX_TOKENS,
    check_least,
    check_offset,
    clamp_depth,
    clamp_limit,
)
from keyhole.core.view.budget.sizes import answer_budget
from keyhole.core.view.lists.banner import Section
from keyhole.core.view.lists.cursor import check_generation, read_cursor, request_key
from keyhole.core.view.lists.hit_text import hit_facts, hit_masks, hit_parts, ladders
from keyhole.core.view.lists.listing import Listing, ListView, Shown, list_view
from keyhole.core.view.lists.reference_view import check_references_request, find_references
from keyhole.core.view.lists.relation_items import (
    incoming_text,
    link_facts,
    linked_file_facts,
    linked_file_text,
    node_facts,
    node_text,
    outgoing_text,
)
from keyhole.core.view.lists.relation_results import AnswerContext, RelationResults, line_results
from keyhole.core.view.masked import MaskedPlace, masks_in_text
from keyhole.core.view.text import count_of, name_text
from keyhole.core.view.text_parts import PartKind, Parts, TextPart, one_row
from keyhole.core.view.writing import Page

_LONGEST_PROJECT = 30
_LONGEST_PATH_IN_NOTE = 40
_LONGEST_FOLDER_IN_NOTE = 60
_MOST_PACKAGES = 3
HOW_FOUND = {
    FoundBy.VECTORS: "by meaning",
    FoundBy.WORDS: "by shared words, since this index has no vectors",
}
_TITLES = {
    Category.INTERNAL: "Outgoing, internal",
    Category.EXTERNAL: "Outgoing, external",
    Category.INCOMING: "Incoming",
}


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """A checked request, with paths relative to the root; `key` identifies it in cursors."""

    request: RelationRequest
    wanted: Slice
    shown: Shown
    key: bytes
    # The index that the request's cursor belongs to, if it has one.
    generation: int | None = None

    @property
    def tool(self) -> str:
        """The name of the MCP tool."""
        return TOOLS[type(self.request)]

    @property
    def subject(self) -> str:
        """What the request is about, in a few words for the log."""
        return " ".join(map(str, filter(None, _subject_of(self.request))))


TOOLS: dict[type[object], str] = {
    LinksRequest: "get_links",
    BacklinksRequest: "get_backlinks",
    BrokenLinksRequest: "find_broken_links",
    LinkSearchRequest: "search_by_links",
    TreeRequest: "get_tree",
    RelatedRequest: "find_related",
    ReferencesRequest: "find_references",
}


def parse_relation_request(request: RelationRequest, relative: Callable[[str], str], workspace: str) -> RelationQuery:
    """Check a request and apply the limits."""
    check_offset(request.offset)
    view = TOOLS[type(request)]
    if isinstance(request, TreeRequest):
        check_least("max_depth", request.max_depth, 1)
        if request.is_list and (request.symbol or request.symbols or request.relation == Relation.PARENTS):
            raise QueryError("pattern and sort=newest list files; use neither symbol, symbols nor relation=parents")
        if request.symbols and request.relation != Relation.DESCENDANTS:
            raise QueryError("symbols needs relation=descendants; the children of a file are already its symbols")
        is_long = request.relation == Relation.DESCENDANTS or request.is_list
        view = "get_tree descendants" if is_long else view
    if isinstance(request, RelatedRequest):
        check_least("line", request.line, 1)
    depth_notes: list[Note] = []
    if isinstance(request, ReferencesRequest):
        check_references_request(request)
        depth, depth_notes = clamp_depth(request.depth)
        request = replace(request, depth=depth)
    is_several = isinstance(request, LinksRequest) and request.category is None
    if is_several and (request.offset or request.cursor):
        raise QueryError("offset and cursor need a category: internal, external or incoming")
    limit, limit_notes = clamp_limit(view, request.limit)
    budget, token_notes = answer_budget(request.max_tokens)
    detail = request.detail_level if isinstance(request, RelatedRequest) else Detail.MINIMAL
    detail = Detail.COMPACT if isinstance(request, ReferencesRequest) else detail
    has_numbers = not isinstance(request, RelatedRequest) or request.line_numbers
    notes = (*limit_notes, *depth_notes, *token_notes)
    shown = Shown(detail, request.format, budget, notes, line_numbers=has_numbers)
    request = _with_relative(request, relative)
    key = request_key(TOOLS[type(request)], workspace, *_subject_of(request))
    offset, generation = read_cursor(request.cursor, key) if request.cursor else (request.offset, None)
    return RelationQuery(request, Slice(limit, offset), shown, key, generation)


def _subject_of(request: RelationRequest) -> tuple[object, ...]:
    """Return what a request asks for, without how much of it or how it is shown."""
    hidden = {"limit", "offset", "cursor", "max_tokens", "format", "detail_level", "line_numbers", "costs"}
    names = [name for kind in type(request).__mro__ for name in getattr(kind, "__slots__", ())]
    return tuple(getattr(request, name) for name in sorted(names) if name not in hidden)


def find_relations(engine: Engine, query: RelationQuery) -> RelationResults:
    """Return what the index has for a request."""
    results = _FINDERS[type(query.request)](engine, query)
    if not results.total and not engine.index_version().incomplete:
        results = replace(results, nothing=nothing_for(engine.store, _with_name(query.request, results)))
    return replace(results, masks_of=_masks_in(engine, results.places)) if results.places else results


def _with_name(request: RelationRequest, results: RelationResults) -> RelationRequest:
    """Return a request about references with the name of the symbol, if it was given by its place."""
    if isinstance(request, ReferencesRequest) and results.references:
        return replace(request, symbol=request.symbol or results.references.definition.qualified_name)
    return request


def _masks_in(
    engine: Engine, places: Sequence[tuple[str, int, int]]
) -> Callable[[int, str, str], Iterable[MaskedPlace]]:
    """Return a function that finds what is masked in a result, by the path and the lines of each."""
    masks = engine.store.masks_of({path for path, _, _ in places})

    def masks_of(number: int, _: str, text: str) -> list[MaskedPlace]:
        path, first, last = places[number]
        return [MaskedPlace(path, mask) for mask in masks_in_text(text, masks.get(path, ()), first, last)]

    return masks_of


def relation_view(results: RelationResults, query: RelationQuery, context: AnswerContext) -> ListView:
    """Return a page of results."""
    if query.generation is not None:
        check_generation(query.generation, context.index.generation)
    incomplete = context.index.incomplete_note
    is_note = incomplete and (results.total or results.sections)
    missing_names = context.index.missing_names_note if results.references else ""
    listing = Listing(
        page=Page(query.wanted.offset, query.wanted.limit, results.total),
        count=results.count,
        ladders=lambda detail: results.ladders(detail, results.count),
        parts_of=results.parts_of,
        facts_of=results.facts_of,
        request=query.key,
        generation=context.index.generation,
        notes=(
            *results.notes,
            *([Note(NoteKind.INDEX_INCOMPLETE, incomplete)] if is_note else []),
            *([Note(NoteKind.INDEX_OUTDATED, missing_names)] if missing_names else []),
        ),
        incomplete=incomplete,
        nothing=results.nothing,
        too_large_step=f"Show it: max_tokens={MAX_TOKENS}",
        unit=results.unit,
        facts={
            **results.facts,
            "project": name_text(context.project, _LONGEST_PROJECT),
            "index": context.index.for_json(),
        },
        latency_ms=(time.perf_counter() - context.started) * 1e3,
        sections=results.sections,
        has_masks=results.has_masks,
        masks_of=results.masks_of,
    )
    return list_view(listing, query.shown)


def shown_relations(results: RelationResults, view: ListView) -> list[ShownLines]:
    """Return the files that a page names: of a link, both ends."""
    facts = [results.facts_of(number, str(Detail.MINIMAL)) for number in range(len(view.plan.levels))]
    rows = [row for row in facts if row.get("kind") != "folder"]
    named = [str(row[name]) for row in rows for name in ("file_path", "path", "to") if row.get(name)]
    return [ShownLines(path) for path in dict.fromkeys(named)]


def _find_links(engine: Engine, query: RelationQuery) -> RelationResults:
    request = cast("LinksRequest", query.request)
    if request.category is None:
        return _every_category(engine, request, query.wanted)
    return _links(engine, request.path, request.category, query.wanted)


def _find_backlinks(engine: Engine, query: RelationQuery) -> RelationResults:
    return _links(engine, cast("BacklinksRequest", query.request).path, Category.INCOMING, query.wanted)


def _find_broken(engine: Engine, query: RelationQuery) -> RelationResults:
    request = cast("BrokenLinksRequest", query.request)
    found = broken_links(engine.store, request.path, request.reason, query.wanted)
    return _link_lines(found, incoming_text, {link.path for link in found.items})


def _find_linked(engine: Engine, query: RelationQuery) -> RelationResults:
    request = cast("LinkSearchRequest", query.request)
    for path in filter(None, (request.has_links_to, request.linked_from)):
        _check_known(engine, path)
    found = files_by_links(engine.store, request, query.wanted)
    notes = [*_within_notes(engine, request.has_links_to)] if request.has_links_to else []
    notes += _inside_notes(engine, request.external_domains)
    return replace(line_results(found, linked_file_text, linked_file_facts, set()), notes=tuple(notes))


def _inside_notes(engine: Engine, names: Iterable[str]) -> Iterator[Note]:
    """Yield which of some packages are not outside, and how to list the links to them."""
    folders = [(name, folder) for name in names for folder in packages_inside(engine.store, name)]
    for name, folder in folders[:_MOST_PACKAGES]:
        package, place = name_text(name, _LONGEST_PATH_IN_NOTE), name_text(folder, _LONGEST_FOLDER_IN_NOTE)
        # Two notes, because a long note is clipped.
        where = "is this workspace" if folder == ROOT else f"is in this workspace: {place}"
        yield Note(NoteKind.PACKAGE_INSIDE, f"{package} {where}")
        # The path is not last, since it would seem to include the full stop.
        yield Note(NoteKind.PACKAGE_INSIDE, f"get_backlinks path={place} lists the links to it")


def _find_files(engine: Engine, request: TreeRequest, wanted: Slice) -> RelationResults:
    files = list_files(engine.store, engine.files, request, wanted)
    found, skipped = _with_costs(files.found, request), files.skipped
    results = line_results(found, partial(node_text, is_nested=False), node_facts, {node.path for node in found.items})
    notes = []
    if skipped:
        reasons = ", ".join(f"{count:,} {reason.label}" for reason, count in skipped.most_common())
        is_one, is_all = skipped.total() == 1, not request.pattern
        verb = ("is not listed" if is_one else "are not listed") if is_all else "matches too" if is_one else "match too"
        text = f"{count_of(skipped.total(), 'skipped path')} {verb}: {reasons}"
        notes.append(Note(NoteKind.SKIPPED_MATCHES, text))
    return replace(
        results,
        changed=files.gone,
        notes=tuple(notes),
        unit=_files_unit(request, found.total),
        facts={"skipped_matches": skipped.total()},
    )


def _with_costs(found: Found[TreeNode], request: TreeRequest) -> Found[TreeNode]:
    """Return folders and files with what they cost, if that was asked for."""
    costs = request.costs
    if costs is None:
        return found
    # Symbols are parts of a file.
    items = (node if node.start_line else replace(node, cost=costs.get(node.path)) for node in found.items)
    return replace(found, items=tuple(items))


def _files_unit(request: TreeRequest, total: int) -> str:
    """Return what a list of files contains: ` files in src that match *.py, newest first`."""
    text = " file" if total == 1 else " files"
    text += f" in {name_text(request.path, _LONGEST_PATH_IN_NOTE)}" if request.path else ""
    verb = "matches" if total == 1 else "match"
    text += f" that {verb} {name_text(request.pattern, _LONGEST_PATH_IN_NOTE)}" if request.pattern else ""
    return text + (", newest first" if request.sort == FileOrder.NEWEST else "")


def _find_tree(engine: Engine, query: RelationQuery) -> RelationResults:
    request = cast("TreeRequest", query.request)
    if request.is_list:
        return _find_files(engine, request, query.wanted)
    nodes = _with_costs(Tree(engine.store, request).walk(query.wanted), request)
    text_of = partial(node_text, is_nested=request.relation == Relation.DESCENDANTS)
    results = line_results(nodes, text_of, node_facts, {node.path for node in nodes.items if node.kind != "folder"})
    results = replace(results, places=[(node.path, node.start_line, node.end_line) for node in nodes.items])
    first = nodes.items[0] if nodes.items else None
    # The line of its file is on the previous page, so a note has to say which file the symbol is in.
    if first and first.start_line and first.path != request.path:
        return replace(results, notes=(Note(NoteKind.INSIDE_FILE, f"continues inside {name_text(first.path)}"),))
    return results


def _find_related(engine: Engine, query: RelationQuery) -> RelationResults:
    request = cast("RelatedRequest", query.request)
    related = find_related(engine, request, query.wanted)
    hits = related.hits
    masks, is_json = engine.store.masks_of({hit.path for hit in hits}), query.shown.format == Format.JSON

    return RelationResults(
        count=len(hits),
        total=related.total,
        parts_of=lambda number, level: hit_parts(hits[number], level, has_numbers=query.shown.line_numbers),
        facts_of=lambda number, level: hit_facts(hits[number], level),
        paths=frozenset([related.path, *(hit.path for hit in hits)]),
        changed=related.changed,
        notes=(*_related_notes(related), *engine.model_notes()),
        ladders=lambda detail, _: ladders(detail, hits),
        related=related,
        masks_of=lambda number, level, _: hit_masks(hits[number], level, masks, is_json=is_json),
    )


def _find_references(engine: Engine, query: RelationQuery) -> RelationResults:
    request = cast("ReferencesRequest", query.request)
    return find_references(engine, request, query.wanted, query.shown.format)


def _related_notes(related: RelatedCode) -> Iterator[Note]:
    # Two notes and a short path, because a long note is clipped.
    path = name_text(related.path, _LONGEST_PATH_IN_NOTE)
    like = f"code similar to {path}:{related.line}, found {HOW_FOUND[related.how]}"
    yield Note(NoteKind.LIKE_WHAT, like)
    if related.is_limited:
        yield Note(NoteKind.NEAREST_ONLY, f"only the {related.total:,} most similar are listed")


_FINDERS: dict[type[object], Callable[[Engine, RelationQuery], RelationResults]] = {
    LinksRequest: _find_links,
    BacklinksRequest: _find_backlinks,
    BrokenLinksRequest: _find_broken,
    LinkSearchRequest: _find_linked,
    TreeRequest: _find_tree,
    RelatedRequest: _find_related,
    ReferencesRequest: _find_references,
}


def _every_category(engine: Engine, request: LinksRequest, wanted: Slice) -> RelationResults:
    path = request.path
    few = replace(wanted, limit=min(wanted.limit, request.most_incoming))
    slices = {category: few if category == Category.INCOMING else wanted for category in Category}
    parts = [(category, links_of_file(engine.store, path, category, slices[category])) for category in Category]
    links = [(category, link) for category, found in parts for link in found.items]
    firsts = {next((n for n, (c, _) in enumerate(links) if c == category), -1): category for category, _ in parts}

    def parts_of(number: int, level: str) -> Parts:
        category, link = links[number]
        head = [TextPart(PartKind.HEADING, f"{_TITLES[category]}\n")] if number in firsts else []
        text_of = incoming_text if category == Category.INCOMING else outgoing_text
        return [*head, *one_row(text_of(link, level))]

    def facts_of(number: int, level: str) -> dict[str, object]:
        category, link = links[number]
        return {"category": category.value, **link_facts(link, level)}

    return RelationResults(
        count=len(links),
        total=sum(found.total for _, found in parts),
        parts_of=parts_of,
        facts_of=facts_of,
        paths=frozenset([path, *(link.path for _, link in links), *(link.to for _, link in links if link.to_line)]),
        sections=tuple(Section(category.value, len(found.items), found.total) for category, found in parts),
        links=dict(parts),
        places=[(link.path, link.line, link.line) for _, link in links],
    )


def _links(engine: Engine, path: str, category: Category, wanted: Slice) -> RelationResults:
    found = links_of_file(engine.store, path, category, wanted)
    if category != Category.INCOMING:
        paths = {path, *(link.to for link in found.items if link.to_line)}
        return _link_lines(found, outgoing_text, paths, category)
    if not found.total:
        _check_known(engine, path)
    paths = {link.path for link in found.items}
    results = _link_lines(found, incoming_text, paths, category)
    return replace(results, notes=tuple(_within_notes(engine, path)))


def _within_notes(engine: Engine, path: str) -> Iterator[Note]:
    """Yield how many links between files inside a folder are not listed as links to it."""
    if count := count_links_within(engine.store, path):
        here = "the workspace" if path == ROOT else name_text(path, _LONGEST_PATH_IN_NOTE)
        links = f"{count_of(count, 'link')} between files inside {here} {'is' if count == 1 else 'are'} not listed"
        text = f"{links}; get_backlinks on a file lists those to it"
        yield Note(NoteKind.LINKS_WITHIN, text)


def _link_lines(
    found: Found[Link], text_of: Callable[[Link, str], str], paths: set[str], category: Category | None = None
) -> RelationResults:
    places = [(link.path, link.line, link.line) for link in found.items]
    links = {category: found} if category else {}
    return replace(line_results(found, text_of, link_facts, paths), links=links, places=places)


def _check_known(engine: Engine, path: str) -> None:
    """Reject a path that the index doesn't know, instead of saying that nothing links to it."""
    if path != ROOT and not engine.store.knows(path):
        suggestion = path_suggestion(engine.store, path, with_folders=True)
        raise PathError(f"{path} is not in the index", ErrorKind.UNKNOWN_PATH, suggestion=suggestion)


def _with_relative(request: RelationRequest, relative: Callable[[str], str]) -> RelationRequest:
    if isinstance(request, BrokenLinksRequest):
        return request  # Its path is a filter.
    names = ("has_links_to", "linked_from") if isinstance(request, LinkSearchRequest) else ("path",)
    # A link names the root of the workspace with a dot; the tree starts there without a path.
    root = "" if isinstance(request, TreeRequest | RelatedRequest | ReferencesRequest) else ROOT
    given = {name: value for name in names if (value := getattr(request, name))}
    changes: dict[str, Any] = {
        name: root if value.strip().rstrip("/") == ROOT else relative(value) for name, value in given.items()
    }
    return replace(request, **changes)
