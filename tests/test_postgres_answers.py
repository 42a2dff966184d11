"""PostgreSQL gives the same answers as SQLite: every method of the store, and whole answers of every kind."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from acme import write_acme
from fresh_index import Request, answer, without_history
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_same_index import PATHS, REQUESTS, STEPS, TEXTS, do, write
from vault import write_vault

from keyhole.core.config import load_settings
from keyhole.core.index.protocols import FactStore, IndexStore, ReferenceStore, RelationStore, SearchStore, WriterStore
from keyhole.core.index.rows import ChunkRow, ChunkScope, FileRows, Found, Slice, WordColumns, WordQuery
from keyhole.core.links.link_types import LinkState
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    LinkSearchRequest,
    LinksRequest,
    ReferenceRelation,
    ReferencesRequest,
    RelatedRequest,
    Relation,
    TreeRequest,
)
from keyhole.core.postgres import postgres_words
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.repository_set import first_id, repository_of
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest


@dataclass(frozen=True)
class Pair:
    """The same workspace, indexed on both engines."""

    sqlite: Service
    postgres: Service

    def close(self) -> None:
        self.sqlite.close()
        self.postgres.close()


def pair_at(root: Path, cache: Path, url: str, model: str) -> Pair:
    def service(**others: object) -> Service:
        found = Service(root, load_settings(root, {"index.model": model, "index.workers": 1, **others}))
        found.index()
        return found

    return Pair(service(cache_dir=cache / "sqlite"), service(cache_dir=cache / "postgres", **{"store.url": url}))


def write_crowd(root: Path) -> Path:
    """Make a workspace with more equally good chunks than any list of candidates takes."""
    for number in range(300):
        write(root, f"f{number:03}.py", f"def retry(path):\n    return backoff(path, {number % 3})\n")
    return root


WORKSPACES: dict[str, Callable[[Path], Path]] = {
    "acme": write_acme,
    "vault": partial(write_vault, notes=60, links=6, hub_links=20),
    "crowd": write_crowd,
}


@pytest.fixture(scope="module", params=WORKSPACES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, store_url: str, model_folder: Path
) -> Iterator[Pair]:
    base = tmp_path_factory.mktemp(request.param)
    root = WORKSPACES[request.param](base / request.param)
    # A file that has just changed is recorded without its time. The second index would have it, the first not.
    time.sleep(0.1)
    found = pair_at(root, base / "cache", store_url, str(model_folder))
    yield found
    found.close()


# Whole answers


def requests_for(pair: Pair) -> Iterator[Request]:
    paths = [file.path for file in pair.sqlite.inventory().files]
    some = paths[:: max(1, len(paths) // 3)]
    names = sorted({place.name for place in pair.sqlite.symbol_places()})[:3]
    yield from REQUESTS
    for text in ("retry backoff path", "garden river", *names[:1]):
        yield from (SearchRequest(text, mode=mode) for mode in Mode)
        yield SearchRequest(text, detail_level=Detail.RICH, limit=3, offset=2)
    yield SearchRequest("/[gr]e\\w+y/")
    yield SearchRequest("return", path=some[0].partition("/")[0], kind="function")
    yield SearchRequest('"return" path', language="python", role="-test")
    for path in some:
        yield from (
            LinksRequest(path),
            BacklinksRequest(path),
            RelatedRequest(path, 2),
            TreeRequest(path, symbols=True),
        )
    yield from (LinkSearchRequest(has_links_to=path) for path in some)
    yield from (LinkSearchRequest(external_domains=("example.org",)), LinkSearchRequest(broken=True))
    yield BrokenLinksRequest(limit=50)
    yield TreeRequest(relation=Relation.DESCENDANTS, symbols=True, limit=50)
    for relation in ReferenceRelation:
        yield from (ReferencesRequest(name, relation=relation) for name in names)


def test_whole_answers_are_the_same(pair: Pair) -> None:
    requests = list(requests_for(pair))
    assert any("1." in answer(pair.sqlite, request) for request in requests), "there is something to compare"
    for request in requests:
        assert answer(pair.postgres, request) == answer(pair.sqlite, request), request
        in_json = replace(request, format=Format.JSON)
        found, expected = (json.loads(text) if text.startswith("{") else text for text in both(pair, in_json))
        for facts in (found, expected):
            if isinstance(facts, dict):
                del facts["latency_ms"], facts["truncation_info"]["estimated_chars"]
                del facts["truncation_info"]["estimated_tokens"]
        # Cursors and generations too.
        assert found == expected, request


def both(pair: Pair, request: Request) -> tuple[str, str]:
    return answer(pair.postgres, request), answer(pair.sqlite, request)


def test_pages_continue_from_cursors(pair: Pair) -> None:
    for text in ("retry", "garden", "path"):
        cursors = ["", ""]
        for _ in range(4):
            pages = [
                without_history(found.search_view(SearchRequest(text, limit=3, cursor=at, format=Format.JSON)).text)
                for found, at in zip((pair.postgres, pair.sqlite), cursors, strict=True)
            ]
            assert pages[0] == pages[1]
            cursors = [
                json.loads(found.search_view(SearchRequest(text, limit=3, cursor=at, format=Format.JSON)).text)[
                    "pagination"
                ]["cursor"]
                for found, at in zip((pair.postgres, pair.sqlite), cursors, strict=True)
            ]
            if not all(cursors):
                break


def test_maps_reads_and_the_status_are_the_same(pair: Pair) -> None:
    for file in pair.sqlite.inventory().files[:5]:
        assert pair.postgres.map_view(MapRequest(file.path)).text == pair.sqlite.map_view(MapRequest(file.path)).text
        read = ReadRequest((file.path,))
        assert pair.postgres.read_view(read).text == pair.sqlite.read_view(read).text
    assert pair.postgres.inventory() == pair.sqlite.inventory()
    assert pair.postgres.symbol_places() == pair.sqlite.symbol_places()
    assert pair.postgres.sample_queries() == pair.sqlite.sample_queries()
    own, other = pair.postgres.status(), pair.sqlite.status()
    ignored = {"index_path": "", "index_bytes": 0, "updated": ""}
    assert replace(own, **ignored) == replace(other, **ignored)  # type: ignore[arg-type]


# Every method of the store

_NOT_COMPARED = {
    # Lifecycle and writing; the answers after them are compared.
    *("load_vectors", "prepare_search", "close", "snapshot", "is_frozen", "has_writer", "is_abandoned"),
    *("transaction", "revision", "announce", "set_fact", "replace_file", "remove_file", "restamp_file", "put_skip"),
    *("remove_skip", "distrust_skip", "put_rule_files", "wipe_deleted", "shrink", "forget_digests", "reset_vectors"),
    *("merge_words", "add_trigrams", "put_resolutions", "put_roles"),
}


def calls_of(  # noqa: C901, PLR0912, PLR0915  # one table of calls
    store: IndexStore,
) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Yield calls of every method that reads, with what this index contains."""
    files = store.files_in()
    paths, ids = [file.path for file in files], [file.id for file in files]
    chunks = [span.chunk_id for spans in store.chunks_of_files(ids).values() for span in spans]
    folders = ["", ".", *sorted({path.rpartition("/")[0] for path in paths if "/" in path})[:4]]
    names = [*store.symbol_names()[:8], "Retry", "nothing", "of two"]
    lines = [(path, line) for path in paths[:4] for line in (1, 2, 5, 9)]
    labels = store.symbols_in_chunks(chunks)
    signs = sorted(found.signs for found in store.all_signs())[:2]
    page, states = Slice(5, 1), tuple(LinkState)
    reasons = sorted({link.reason for link in store.links_to_resolve(every=True) if link.reason})
    scopes = [
        ChunkScope(),
        ChunkScope(frozenset(ids[::2])),
        ChunkScope(kind="function"),
        ChunkScope(None, "", frozenset(chunks[::3])),
    ]
    queries = [
        WordQuery(("retry", "backoff"), ("path",), ("retry path", "backoff path"), (1.0, 2.0, 1.0)),
        WordQuery(("garden",), (), (), (1.0, 1.0, 1.0)),
        WordQuery(("river", "md"), ("garden", "bridge"), ("garden river",), (1.0, 2.0, 1.0)),
    ]
    for name in (
        "facts", "files_in", "paths", "declarations", "skips", "count_files", "count_chunks", "count_skips", "known",
        "unparsed", "files_without_trigrams", "stored_roles", "anchors", "languages", "kinds", "all_signs",
        "symbol_names", "sites", "linked_paths", "indexed_files", "symbol_places", "kinds_by_count", "language_totals",
    ):  # fmt: skip
        yield name, (), {}
    for name in (
        "roles_of", "masks_of", "digests", "file_stamps", "names_of_files", "definitions_in", "holders_in",
        "imports_in", "files_at", "headings_of", "count_links_to",
    ):  # fmt: skip
        yield name, (paths[::2],), {}
        yield name, ([],), {}
    for path in [*paths[:6], "none", "half \udc80"]:
        for name in ("file_id", "skip_of", "anchors_of", "words_in", "symbols_of_file", "knows", "count_links_from"):
            yield name, (path,), {}
        yield "chunk_at", (path, 3), {}
        yield "imports_of", (["retry", "path"], ids), {}
        yield "symbols_of_file", (path, 1, page), {}
        yield "links_to", ([path], paths[0], page), {}
    for folder in folders:
        for name in (
            "paths_in",
            "count_files_in",
            "count_links_within",
            "count_links_into",
            "knows",
            "count_links_from",
        ):
            yield name, (folder,), {}
        yield "links_into", (folder, page), {}
        yield "count_symbols_in", (folder, 3), {}
    for name in names:
        yield "files_with_name", (name,), {}
        yield "definitions_named", (name,), {}
        yield "symbols_named", ([name, "retry"],), {}
        yield from (("defining_chunks", (name, scope, 7), {}) for scope in scopes)
    yield "definitions_of_names", ([*names, *map(str.upper, names), "none", "half \udc80"],), {}
    yield "definitions_of_names", ([],), {}
    for name in ("chunk_places", "chunk_sources", "vectors_of", "token_ids", "symbols_in_chunks"):
        yield name, (chunks[::2],), {}
    for name in ("file_facts", "file_documents", "chunks_of_files"):
        yield name, (ids[::2],), {}
    for file_id in ids[:4]:
        yield "chunks_of_file", (file_id,), {}
        yield "links_from", (file_id, states, page), {}
    for label in labels[:: max(1, len(labels) // 20)]:
        owner = next(file.id for file in files if label.chunk_id in {c.chunk_id for c in store.chunks_of_file(file.id)})
        yield "methods_of", (owner, label, 4), {}
    for query in queries:
        for scope in scopes:
            yield "word_matches", (query, scope, 9, 2), {}
            yield "count_word_matches", (query, scope), {}
        yield "chunks_with_words", ([*query.rare, *query.common], chunks[::2], 10), {}
    yield "word_counts", (["retry", "garden", "none"],), {}
    for own in signs:
        yield from (("nearest_by_signs", (own, scope, 5), {}) for scope in scopes)
    yield from (("files_with_trigrams", (wanted,), {}) for wanted in ([], ["ret"], ["GAR", "den"], ["xyz"]))
    yield "definitions_around", (lines,), {}
    yield "symbols_around", (lines,), {}
    yield "symbols_of_files", ([(path, 2) for path in paths[:5]],), {}
    yield "largest_symbols", (["python", "markdown"], 5), {}
    yield "broken_links", (reasons, None, page), {}
    yield "broken_links", (reasons, frozenset(ids[::2]), page), {}
    yield "count_broken_links", (reasons,), {}
    yield "count_links", states, {}
    yield "count_links_outside", (["Example.org", "python"],), {}
    yield "count_outdated_files", (3,), {}
    yield "outdated_files", (3,), {}
    yield from (("links_to_resolve", (), {"every": every}) for every in (True, False))


def comparable(found: object) -> object:
    """Return what a method gave, without the order of rows, which many methods leave open; answers check the order."""
    if isinstance(found, dict):
        return {key: comparable(value) for key, value in found.items()}
    is_list = isinstance(found, list) or (type(found) is tuple and not hasattr(found, "_fields"))
    return sorted(map(repr, cast("list[object]", found))) if is_list else found


def without_repository(found: Any, repository: int) -> Any:
    """Return what a method gave, with ids as a store of one repository has them."""
    if isinstance(found, dict):
        return {without_repository(key, repository): without_repository(found[key], repository) for key in found}
    if isinstance(found, list | tuple | set):
        parts = [without_repository(part, repository) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    if isinstance(found, Found):
        return Found(without_repository(found.items, repository), found.total)
    is_id = type(found) is int and repository_of(found) == repository
    return found - first_id(repository) if is_id else found


def test_every_method_of_the_store_gives_the_same(pair: Pair) -> None:
    with pair.sqlite.engines.lend() as own, pair.postgres.engines.lend() as other:
        called = set()
        assert isinstance(other.store, PostgresStore)
        # Ids differ, so each store is asked with its own.
        for (name, arguments, named), (same, theirs, _) in zip(calls_of(own.store), calls_of(other.store), strict=True):
            called.add(name)
            assert name == same
            found = without_repository(getattr(other.store, name)(*theirs, **named), other.store.repository)
            expected = getattr(own.store, name)(*arguments, **named)
            if name == "facts":
                found, expected = replace(found, updated=""), replace(expected, updated="")
            assert comparable(found) == comparable(expected), (name, arguments)
    public = {name for protocol in PROTOCOLS for name in vars(protocol) if not name.startswith("_")}
    assert called | _NOT_COMPARED == public | _NOT_COMPARED


PROTOCOLS = (FactStore, SearchStore, RelationStore, ReferenceStore, WriterStore, IndexStore)

# Words: any texts, any queries

WORDS = st.sampled_from(["a", "b", "c", "d", "e_f", "größe", "字"])
TEXT = st.lists(WORDS, max_size=12).map(" ".join)
QUERY = st.builds(
    WordQuery,
    rare=st.lists(WORDS, min_size=1, max_size=3, unique=True).map(tuple),
    common=st.lists(WORDS, max_size=2, unique=True).map(tuple),
    phrases=st.lists(st.lists(WORDS, min_size=2, max_size=3).map(" ".join), max_size=3, unique=True).map(tuple),
    weights=st.sampled_from([(1.0, 2.0, 1.0), (1.0, 1.0, 1.0), (0.5, 3.0, 1.25)]),
)


def rows_of(path: str, chunks: list[tuple[str, str, str]]) -> FileRows:
    found = tuple(ChunkRow(n + 1, n + 1, n, 1, "function f", WordColumns(*words)) for n, words in enumerate(chunks))
    return FileRows(path, 1, 1, "d", "utf-8", "python", len(chunks), False, found, ())


@given(
    files=st.lists(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5), min_size=1, max_size=5),
    queries=st.lists(QUERY, min_size=1, max_size=4),
)
@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_words_are_ranked_the_same(
    files: list[list[tuple[str, str, str]]], queries: list[WordQuery], two_stores: tuple[IndexStore, PostgresStore]
) -> None:
    for store in two_stores:
        with store.transaction():
            for path in store.paths():
                store.remove_file(path)
            for number, chunks in enumerate(files):
                store.replace_file(rows_of(f"{number}.py", chunks))
    own, other = two_stores
    for query in queries:
        for scope, same in zip(scopes_after(0), scopes_after(first_id(other.repository)), strict=True):
            found = other.word_matches(query, same, 6), other.count_word_matches(query, same)
            expected = own.word_matches(query, scope, 6), own.count_word_matches(query, scope)
            assert without_repository(found, other.repository) == expected, query


def test_words_of_many_files_are_changed_file_by_file(
    two_stores: tuple[IndexStore, PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Words are written several times for each block of files.
    monkeypatch.setattr(postgres_words, "_MOST_WAITING", 40)
    query = WordQuery(("a", "only7"), ("b",), ("a b",), (1.0, 2.0, 1.0))

    def rows(number: int, more: str) -> FileRows:
        texts = [("p", "f", f"a {more} only{number}"), ("p", more, f"b a b{' x' * number}")]
        return rows_of(f"{number}.py", texts)

    def are_same() -> bool:
        found = [
            (s.word_matches(query, ChunkScope(), 300), s.count_word_matches(query, ChunkScope())) for s in two_stores
        ]
        counts = [store.word_counts(["a", "b", "only7", "gone", "x"]) for store in two_stores]
        words = [store.words_in("7.py") for store in two_stores]
        same = found[0] == without_repository(found[1], two_stores[1].repository)
        return same and counts[0] == counts[1] and words[0] == words[1]

    for store in two_stores:
        with store.transaction():
            for path in store.paths():
                store.remove_file(path)
            for number in range(150):
                store.replace_file(rows(number, "gone" if number % 3 else "b"))
    assert are_same()
    for store in two_stores:
        with store.transaction():
            for number in range(0, 150, 7):
                store.remove_file(f"{number}.py")
            for number in (7, 8, 100):
                store.replace_file(rows(number, "b"))
            # The second change of a file must see the first one.
            store.replace_file(rows(8, "new"))
    assert are_same()


def scopes_after(first: int) -> tuple[ChunkScope, ...]:
    files, chunks = (frozenset(first + number for number in numbers) for numbers in ([1, 2], [1, 3, 4]))
    return ChunkScope(), ChunkScope(files), ChunkScope(chunk_ids=chunks)


@pytest.fixture(scope="module")
def two_stores(tmp_path_factory: pytest.TempPathFactory, store_url: str) -> Iterator[tuple[IndexStore, PostgresStore]]:
    from keyhole.core.index.store import Store
    from keyhole.core.postgres.postgres_home import PostgresHome

    folder = tmp_path_factory.mktemp("words")
    home = PostgresHome(store_url, "words", folder)
    with Store(folder / "index.db") as own, home.open_index() as other:
        own.prepare_search()
        yield own, other
    home.close()


# Changes


@given(steps=st.lists(STEPS, min_size=3, max_size=10))
@settings(
    max_examples=2,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_answers_after_any_changes_are_the_same(
    steps: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory, store_url: str, model_folder: Path
) -> None:
    base = tmp_path_factory.mktemp("changes")
    root = base / "project"
    for path, text in zip(PATHS, TEXTS, strict=True):
        write(root, path, text)
    pair = pair_at(root, base / "cache", store_url, str(model_folder))
    for step in steps:
        do(pair.sqlite, step)
        if step[0] in ("search", "index"):
            do(pair.postgres, step)
    pair.sqlite.index()
    pair.postgres.index()
    for request in REQUESTS:
        assert answer(pair.postgres, request) == answer(pair.sqlite, request), request
    pair.close()


def test_a_changed_file_is_indexed_again_before_it_is_answered(tmp_path: Path, store_url: str) -> None:
    write(tmp_path / "w", "a.py", "def before():\n    return 1\n")
    found = Service(tmp_path / "w", load_settings(tmp_path / "w", {"index.model": "none", "store.url": store_url}))
    found.index()
    write(tmp_path / "w", "a.py", "\n\ndef before():\n    return 2\n")
    assert "a.py:3" in found.search_view(SearchRequest("before")).text
    found.close()
