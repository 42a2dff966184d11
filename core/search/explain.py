"""Why a file is where it is in the answer to a query, or why it is not there."""

from keyhole.core.index.store import Store
from keyhole.core.search.engine import Engine
from keyhole.core.search.filters import Filter, role_of
from keyhole.core.search.query import check_query, words_of
from keyhole.core.types import Candidate, Explanation, Query, Skip


def explain(engine: Engine, query: Query, found: Candidate | Skip, path: str, line: int | None) -> Explanation:
    """Follow a file through the pipeline until it drops out, or to its place in the ranking."""
    check_query(query)
    store = engine.store
    if dropped := _not_indexed(store, path, found) or _filtered_out(store, query, path):
        return Explanation(path, dropped)
    place = engine.place(query, path, line)
    if place is None:
        return Explanation(path, _no_match(store, query, path, line))
    rank, total, hit = place
    page = (rank - 1) // query.limit + 1
    verdict = (
        f"ranked {_ordinal(rank)} of {total:,}, on page {page} (limit={query.limit}, offset={(page - 1) * query.limit})"
    )
    return Explanation(path, verdict, rank, page, total, hit)


def _not_indexed(store: Store, path: str, found: Candidate | Skip) -> str:
    if store.query("SELECT 1 FROM file WHERE path = ?", path):
        return ""
    if isinstance(found, Skip):
        place = "" if found.path == path else f", since {found.path} is"
        return f"not indexed: {found.reason}{place}: {found.detail}"
    skipped = store.query("SELECT reason, detail FROM skip WHERE path = ?", path)
    if skipped:
        return f"not indexed: {skipped[0][0]}: {skipped[0][1]}"
    return "not indexed yet: run keyhole index"


def _filtered_out(store: Store, query: Query, path: str) -> str:
    ((file_id,),) = store.query("SELECT id FROM file WHERE path = ?", path)
    for name, only in (
        ("path", Query(query.text, path=query.path)),
        ("language", Query(query.text, language=query.language)),
        ("kind", Query(query.text, kind=query.kind)),
    ):
        admitted = Filter(store, only)
        definitions = store.query("SELECT definitions FROM chunk WHERE file_id = ?", file_id)
        if not admitted.is_open and not any(admitted.admits(file_id, row[0]) for row in definitions):
            return f"filtered out by {name}={getattr(query, name)}"
    if not query.include_tests and role_of(path) == "test":
        return "filtered out by include_tests=false: it is a test"
    return ""


def _no_match(store: Store, query: Query, path: str, line: int | None) -> str:
    if line is not None:
        return f"no chunk at line {line} matches the query"
    indexed = {
        row[0]
        for row in store.query(
            """SELECT DISTINCT term FROM instances WHERE doc IN
                (SELECT chunk.id FROM chunk JOIN file ON file.id = file_id WHERE file.path = ?)""",
            path,
        )
    }
    missing = [word for word in words_of(query.text) if word not in indexed]
    return f"does not match: it has none of the words {', '.join(missing[:10])}" if missing else "does not match"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
