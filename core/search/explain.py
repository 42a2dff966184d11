"""Explains the rank of a file in the answer to a query, or why it is missing."""

from keyhole.core.index.protocols import SearchStore
from keyhole.core.search.engine import Engine
from keyhole.core.search.filters import admitted_roles, chunk_scope, path_suggestion
from keyhole.core.search.query import check_query, words_of
from keyhole.core.suggest import did_you_mean, suggest_inside
from keyhole.core.types.choices import Role
from keyhole.core.types.search_results import DroppedBy, Explanation
from keyhole.core.types.source_files import Candidate, Skip
from keyhole.core.types.view_requests import Query


def explain(engine: Engine, query: Query, found: Candidate | Skip | None, path: str, line: int | None) -> Explanation:
    """Follow a file through the search until a step drops it, or to its rank.

    `found` is the result of examining the path: a file to index or a skipped one; None if nothing is there.
    """
    check_query(query)
    store = engine.store
    file_id = store.file_id(path)
    if file_id is None:
        return Explanation(path, _not_indexed(store, path, found), dropped_by=DroppedBy.INDEX)
    role = store.roles_of([path])[path]
    if dropped := _filtered_out(store, query, file_id) or _wrong_role(query, role) or _wrong_change(query, path):
        parameter, verdict = dropped
        return Explanation(path, verdict, role=role, dropped_by=DroppedBy.FILTER, parameter=parameter)
    place = engine.place(query, path, line)
    if place is None:
        return Explanation(path, _no_match(store, query, path, line), role=role, dropped_by=DroppedBy.MATCHING)
    rank, total, hit = place
    page = (rank - 1) // query.limit + 1
    verdict = (
        f"ranked {_ordinal(rank)} of {total:,}, on page {page} (limit={query.limit}, offset={(page - 1) * query.limit})"
    )
    return Explanation(path, verdict, rank, page, total, hit, role=role)


def _not_indexed(store: SearchStore, path: str, found: Candidate | Skip | None) -> str:
    if found is None:
        return ". ".join(filter(None, ["not indexed: no such file", path_suggestion(store, path)]))
    if inside := suggest_inside(path, store.paths()):
        return f"a folder, not a file. {did_you_mean(inside)}"
    if isinstance(found, Skip):
        where = "" if found.path == path else f"its folder {found.path} is skipped: "
        return f"not indexed: {where}{found.text}"
    if skip := store.skip_of(path):
        return f"not indexed: {skip.text}"
    return "not indexed yet"


# The parameter of a filter that drops a file, and a sentence about it; None if the filters admit the file.
Drop = tuple[str, str] | None


def _filtered_out(store: SearchStore, query: Query, file_id: int) -> Drop:
    chunks = store.chunks_of_file(file_id)
    for name, only in (
        ("path", Query(query.text, path=query.path)),
        ("language", Query(query.text, language=query.language)),
        ("kind", Query(query.text, kind=query.kind)),
    ):
        scope = chunk_scope(store, only)
        if not scope.is_open and not any(scope.admits(file_id, chunk.definitions) for chunk in chunks):
            return name, f"filtered out by {name}={getattr(query, name)}"
    return None


def _wrong_role(query: Query, role: Role) -> Drop:
    for name, value, only in (
        ("role", query.role, Query(query.text, role=query.role)),
        ("include_tests", "false", Query(query.text, include_tests=query.include_tests)),
    ):
        if role not in admitted_roles(only):
            return name, f"filtered out by {name}={value}: the role of the file is {role}"
    return None


def _wrong_change(query: Query, path: str) -> Drop:
    if query.changed is None or query.changed.admits(path):
        return None
    has_changed = "has not changed" if query.changed.is_wanted else "has changed"
    return "changed", f"filtered out by changed={query.changed}: the file {has_changed} since the last commit"


def _no_match(store: SearchStore, query: Query, path: str, line: int | None) -> str:
    if line is not None:
        return f"no chunk at line {line} matches the query"
    indexed = store.words_in(path)
    missing = [word for word in words_of(query.text) if word not in indexed]
    return f"does not match: it does not contain {', '.join(missing[:10])}" if missing else "does not match"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
