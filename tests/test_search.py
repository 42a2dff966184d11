"""Search: every mode, filter and odd query, on a small workspace with a real index and a real model."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyhole.core.errors import ErrorKind, PathError, QueryError, StoreError
from keyhole.core.files.read import SourceReader, read_source
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.lock import writer_lock
from keyhole.core.index.store import Store
from keyhole.core.links.requests import BacklinksRequest, BrokenLinksRequest, LinksRequest, TreeRequest
from keyhole.core.search import lexical
from keyhole.core.search.engine import Engine
from keyhole.core.search.regex import required_texts
from keyhole.core.service import Service
from keyhole.core.types.choices import Format, Mode
from keyhole.core.types.inventory import Progress
from keyhole.core.types.search_results import Hit, SearchResult
from keyhole.core.types.view_requests import MapRequest, Query, SearchRequest

FILES = {
    "src/net/retry.py": '''
class RetryPolicy:
    """Decides whether to go on."""

    def next_delay(self, attempt: int) -> float:
        """Return the seconds to wait before the given attempt."""
        return min(self.cap, self.base * 2**attempt)


def getUserAvatar(user):
    raise LookupError("no avatar for this user, upload one first")
''',
    "src/net/client.py": """
from .retry import RetryPolicy

DEFAULT_TIMEOUT_SECONDS = 30


class Client:
    def send(self, request):
        # hand the request over, again and again
        return RetryPolicy().next_delay(3)
""",
    "src/paint.js": "export function drawColour(canvas) {\n  // paint the canvas\n  return canvas.fill('colour');\n}\n",
    "tests/test_retry.py": "def test_retry_policy():\n    assert RetryPolicy().next_delay(1) == 2\n",
    "docs/guide.md": "# Retry policy\n\nHow the retry policy waits, with a timeout.\n",
    "src/文字.py": "def 検索する(文字列):\n    # データベースを検索する\n    return 1\n\ndef größe_ändern(): pass\n",
    "src/quotes.py": 'SQL = "SELECT * FROM t WHERE a NEAR b OR c -d"\n',
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """Build the workspace and its index once."""
    base = tmp_path_factory.mktemp("search")
    for path, text in FILES.items():
        target = base / "project" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        os.utime(target, ns=(10**18, 10**18))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYHOLE_CACHE_DIR", str(base / "cache"))
        patch.setenv("KEYHOLE_INDEX_MODEL", str(model_folder))
        Service.open(base / "project").index()
    return base


@pytest.fixture
def service(built: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(built / "cache"))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", str(model_folder))
    return Service.open(built / "project")


@pytest.fixture
def own(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Return a new workspace without vectors, which the test may change."""
    shutil.copytree(built / "project", tmp_path / "project")
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", "none")
    service = Service.open(tmp_path / "project")
    service.index()
    return service


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


@pytest.mark.parametrize(
    ("text", "mode", "first"),
    [
        ("RetryPolicy", Mode.AUTO, "src/net/retry.py"),
        ("retry_policy", Mode.KEYWORD, "src/net/retry.py"),
        ("user avatar", Mode.KEYWORD, "src/net/retry.py"),
        ("get_user_avatar", Mode.KEYWORD, "src/net/retry.py"),
        ("no avatar for this user", Mode.KEYWORD, "src/net/retry.py"),
        ("timeout seconds", Mode.KEYWORD, "src/net/client.py"),
        ("draw", Mode.SEMANTIC, "src/paint.js"),
        ("paint", Mode.HYBRID, "src/paint.js"),
        ("Client.send", Mode.SYMBOL, "src/net/client.py"),
        ("Client.send", Mode.KEYWORD, "src/net/client.py"),
        ("next_dealy", Mode.SYMBOL, "src/net/retry.py"),
        ("drawcol", Mode.SYMBOL, "src/paint.js"),
        (r"/2\*\*\w+/", Mode.AUTO, "src/net/retry.py"),
        (r"canvas\.fill", Mode.REGEX, "src/paint.js"),
        ("検索", Mode.AUTO, "src/文字.py"),
        ("データベース", Mode.KEYWORD, "src/文字.py"),
        ("grosse andern", Mode.KEYWORD, "src/文字.py"),
        ("größe_ändern", Mode.SYMBOL, "src/文字.py"),
    ],
)
def test_the_right_file_comes_first(service: Service, text: str, mode: Mode, first: str) -> None:
    assert paths(service.search(Query(text, mode)))[0] == first


def test_a_member_is_found_in_the_owner_it_is_asked_of(own: Service) -> None:
    for number in range(12):
        (own.root / f"other_{number}.py").write_text(
            f"class Other{number}:\n    def send(self, client):\n        client.send()\n"
        )
    own.index()
    hit = own.search(Query("Client.send", Mode.KEYWORD)).hits[0]
    assert (hit.path, hit.name) == ("src/net/client.py", "send")
    assert "in the named owner" in {signal.name for signal in hit.signals}


def test_auto_says_what_it_chose_with_vectors(service: Service) -> None:
    # Hybrid is what people expect, and a pattern says what it is, so only another choice is worth a note.
    found = service.search(Query("retry"))
    assert (found.mode, found.notes) == (Mode.HYBRID, ())


def test_auto_says_what_it_chose_without_vectors(own: Service) -> None:
    assert own.search(Query("retry")).notes[0].text == "mode=auto chose keyword"
    found = own.search(Query("/retry/"))
    assert (found.mode, found.notes) == (Mode.REGEX, ())


def test_a_hit_is_labelled_by_its_best_definition(service: Service) -> None:
    hit = service.search(Query("next_delay", Mode.KEYWORD)).hits[0]
    assert (hit.kind, hit.name, hit.line) == ("method", "next_delay", 5)
    assert hit.signature == "def next_delay(self, attempt: int) -> float"
    assert hit.doc == "Return the seconds to wait before the given attempt."
    assert service.search(Query("guide timeout", Mode.KEYWORD, path="docs")).hits[0].kind == "section"


def test_a_class_names_its_methods(service: Service) -> None:
    (hit,) = service.search(Query("RetryPolicy", Mode.SYMBOL, kind="class")).hits
    assert hit.key_methods == ("next_delay",)


def test_passages_are_the_source_with_lines_around_it(service: Service) -> None:
    hit = service.search(Query("next_delay attempt", Mode.KEYWORD)).hits[0]
    passage = hit.passage
    assert passage
    assert hit.path == "src/net/retry.py"
    assert passage.match_lines[:3] == (5, 6, 7)
    assert passage.text in FILES[hit.path]
    assert passage.text.count("\n") == hit.end_line - hit.start_line + 1
    (content,) = passage.content
    assert passage.before + content.text + passage.after in FILES[hit.path]
    assert (content.start_line, content.end_line) == hit.named_lines


def test_no_passage_is_taken_from_a_file_that_has_changed(own: Service) -> None:
    (own.root / "src/net/retry.py").write_text("edited = True\n" * 40)
    with Store(own.folder / INDEX_FILE) as store:
        engine = Engine(store, SourceReader(own.root, 10**6))
        result = engine.search(Query("next_delay attempt", Mode.KEYWORD))
    assert result.changed == {"src/net/retry.py"}
    assert all((hit.passage is None) == (hit.path in result.changed) for hit in result.hits)


def test_a_symbol_on_a_line_of_several_chunks_is_shown_from_its_start(own: Service) -> None:
    (own.root / "src/long.py").write_text(f"ENDLESS_LINE = [{'1, ' * 10_000}]\n")
    own.index()
    (hit,) = own.search(Query("ENDLESS_LINE", Mode.SYMBOL)).hits
    with Store(own.folder / INDEX_FILE) as store:
        chunks = store.query("SELECT chunk.id FROM chunk JOIN file ON file.id = file_id WHERE path = 'src/long.py'")
    assert len(chunks) > 1
    assert hit.chunk_id == min(chunks)[0]


def test_common_words_count_but_do_not_choose(own: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        (own.root / f"src/common{number}.py").write_text("def shared():\n    return 'ordinary'\n")
    (own.root / "src/a_rare.py").write_text("def rare():\n    return 'peculiar'\n")
    (own.root / "src/b_both.py").write_text("def both():\n    return 'peculiar, ordinary'\n")
    own.index()
    monkeypatch.setattr(lexical, "_MOST_CHUNKS", 2)
    result = own.search(Query("ordinary or peculiar", Mode.KEYWORD))
    assert paths(result) == ["src/b_both.py", "src/a_rare.py"]
    assert result.total == 2


def test_every_hit_carries_its_breakdown(service: Service) -> None:
    hit = service.search(Query("RetryPolicy", Mode.HYBRID)).hits[0]
    names = [signal.name for signal in hit.signals]
    assert {"contains the words", "defines a type of that name"} <= set(names)
    by_meaning = service.search(Query("backoff", Mode.HYBRID)).hits[0].signals
    assert "fits by meaning" in [signal.name for signal in by_meaning]
    assert hit.score == 1.0


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"path": "src"}, {"src/net/retry.py", "src/net/client.py"}),
        ({"path": "src/net/"}, {"src/net/retry.py", "src/net/client.py"}),
        ({"path": "src/net/retry.py"}, {"src/net/retry.py"}),
        ({"path": "*.md"}, {"docs/guide.md"}),
        ({"path": "**/test_*.py"}, {"tests/test_retry.py"}),
        ({"path": "src/*/c*.py"}, {"src/net/client.py"}),
        ({"language": "python"}, {"src/net/retry.py", "src/net/client.py", "tests/test_retry.py"}),
        ({"language": "py", "include_tests": False}, {"src/net/retry.py", "src/net/client.py"}),
        ({"language": "Markdown"}, {"docs/guide.md"}),
        ({"kind": "class"}, {"src/net/retry.py", "src/net/client.py"}),
        ({"include_tests": False}, {"src/net/retry.py", "src/net/client.py", "docs/guide.md"}),
        ({"role": "source"}, {"src/net/retry.py", "src/net/client.py"}),
        ({"role": "docs,test"}, {"docs/guide.md", "tests/test_retry.py"}),
        ({"role": "-test, -docs"}, {"src/net/retry.py", "src/net/client.py"}),
    ],
)
@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.REGEX, Mode.HYBRID])
def test_filters(service: Service, filters: dict[str, str], expected: set[str], mode: Mode) -> None:
    text = {Mode.REGEX: "[Rr]etry.?[Pp]olicy"}.get(mode, "retry policy")
    result = service.search(Query(text, mode, **filters))  # type: ignore[arg-type]
    found = set(paths(result))
    assert expected <= found if mode == Mode.HYBRID else expected == found
    if mode != Mode.HYBRID:
        assert result.total == len(result.hits)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"language": "pyhton"}, "unknown language 'pyhton'. Did you mean python"),
        ({"role": "tests"}, "unknown role 'tests'. Did you mean test"),
        (
            {"role": "-xyz"},
            "unknown role 'xyz'. Choose from: source, test, fixture, example, docs, config, locale, data",
        ),
        ({"kind": "clas"}, "the index has no symbols of kind 'clas'. Did you mean class"),
        ({"path": "src/nett"}, "no indexed file matches path 'src/nett'. Did you mean src/net"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"offset": -1}, "offset must be 0 or more"),
    ],
)
def test_unknown_values_name_the_nearest(service: Service, filters: dict[str, object], message: str) -> None:
    with pytest.raises(QueryError) as caught:
        service.search(Query("retry", **filters))  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_bad_pattern_is_pointed_at(service: Service) -> None:
    with pytest.raises(QueryError) as caught:
        service.search(Query("re[try", Mode.REGEX))
    assert "add ], or write \\[ for the character\n  re[try\n    ^" in str(caught.value)


@pytest.mark.parametrize("text", ["", "   \n"])
def test_an_empty_query_is_an_error(service: Service, text: str) -> None:
    with pytest.raises(QueryError, match="the query is empty"):
        service.search(Query(text))


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.KEYWORD, Mode.SYMBOL, Mode.HYBRID])
@pytest.mark.parametrize(
    "text",
    [
        '"',
        "*",
        "NEAR(",
        "a NEAR b OR c -d",
        "AND OR NOT",
        "!!!",
        "--",
        "'; DROP TABLE file; --",
        "retry " * 1_600,
        "\0",
        "{a} : b",
    ],
)
def test_odd_queries_are_answered(service: Service, text: str, mode: Mode) -> None:
    assert service.search(Query(text, mode)).total >= 0


def test_a_query_beyond_all_measure_is_an_error(service: Service) -> None:
    with pytest.raises(QueryError, match="the limit is 10,000"):
        service.search(Query("x" * 10_001))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=60), mode=st.sampled_from([Mode.AUTO, Mode.KEYWORD, Mode.SYMBOL, Mode.REGEX]))
def test_no_query_breaks_the_search(service: Service, text: str, mode: Mode) -> None:
    try:
        result = service.search(Query(text, mode))
    except QueryError:
        return
    assert len(result.hits) <= result.query.limit


@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.HYBRID, Mode.SYMBOL, Mode.REGEX])
def test_pages_concatenate_to_the_whole(service: Service, mode: Mode) -> None:
    text = "retr" if mode in (Mode.SYMBOL, Mode.REGEX) else "retry policy delay user"
    whole = service.search(Query(text, mode, limit=50))
    pages: list[Hit] = []
    while len(pages) < whole.total:
        pages += service.search(Query(text, mode, limit=2, offset=len(pages))).hits
    assert [(hit.chunk_id, hit.name) for hit in pages] == [(hit.chunk_id, hit.name) for hit in whole.hits]
    assert service.search(Query(text, mode, offset=whole.total)).hits == ()


@pytest.mark.parametrize("text", ["retry policy", "RetryPolicy", "next_delay"])
def test_keyword_pages_go_on_beyond_the_pool(own: Service, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    whole = {hit.chunk_id for hit in own.search(Query(text, Mode.KEYWORD, limit=50)).hits}
    monkeypatch.setattr("keyhole.core.search.engine.POOL_SIZE", 2)
    pages: list[Hit] = []
    while hits := own.search(Query(text, Mode.KEYWORD, limit=1, offset=len(pages))).hits:
        pages += hits
    assert len(pages) == len(whole)
    assert {hit.chunk_id for hit in pages} == whole
    assert "outside the ranked pool" in pages[-1].signals[0].detail


def test_nothing_found_comes_with_a_suggestion(service: Service) -> None:
    result = service.search(Query("RetryyPoliicy", Mode.KEYWORD))
    assert result.total == 0
    assert result.nothing
    assert "RetryPolicy" in result.nothing.closest
    assert service.search(Query("zzz qqq", Mode.KEYWORD)).nothing


def test_a_mode_that_needs_vectors_says_so(own: Service) -> None:
    with pytest.raises(QueryError, match="mode=semantic needs vectors"):
        own.search(Query("retry", Mode.SEMANTIC))


def test_a_workspace_without_an_index_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="no index yet"):
        Service.open(tmp_path / "empty").search(Query("x"))


# Freshness


def test_a_changed_file_is_served_as_it_is_now(own: Service) -> None:
    target = own.root / "src/net/retry.py"
    target.write_text("# moved\n" * 40 + target.read_text())
    hit = own.search(Query("next_delay", Mode.KEYWORD)).hits[0]
    assert (hit.path, hit.line) == ("src/net/retry.py", 45)
    assert "def next_delay" in target.read_text().split("\n")[hit.line - 1]


def test_a_file_that_no_longer_answers_drops_out(own: Service) -> None:
    (own.root / "src/net/retry.py").write_text("nothing = 1\n")
    (own.root / "src/net/client.py").unlink()
    assert paths(own.search(Query("next_delay", Mode.KEYWORD))) == ["tests/test_retry.py"]


def test_a_new_file_is_found_after_the_next_index_run(own: Service) -> None:
    (own.root / "new.py").write_text("def brand_new_name(): pass\n")
    own.index()
    assert paths(own.search(Query("brand_new_name"))) == ["new.py"]


def test_while_another_process_writes_stale_hits_are_left_out(own: Service) -> None:
    (own.root / "src/net/retry.py").write_text("nothing = 1\n")
    with own._workspace.home.writer_lock(wait=False):
        result = own.search(Query("next_delay", Mode.KEYWORD))
    assert "src/net/retry.py" not in paths(result)
    assert "changing right now" in result.notes[-1].text


def test_a_page_of_a_file_that_keeps_changing_says_so_and_leads_on(own: Service) -> None:
    lines = [f"def grown_{number}(): return {number}\n" + "    # sediment\n" * 80 for number in range(40)]
    (own.root / "log.py").write_text("".join(lines))
    own.index()
    total = own.search(Query("sediment", Mode.KEYWORD, path="log.py")).total
    assert total >= 20
    (own.root / "log.py").write_text("changed = 1\n")
    with own._workspace.home.writer_lock(wait=False):
        first = own.search_view(SearchRequest("sediment", Mode.KEYWORD, "log.py", limit=10))
        last = own.search_view(SearchRequest("sediment", Mode.KEYWORD, "log.py", limit=10, offset=total - 1))
        data = json.loads(
            own.search_view(SearchRequest("sediment", Mode.KEYWORD, "log.py", limit=10, format=Format.JSON)).text
        )
    why = "the files are changing right now. Try again in a few seconds."
    assert first.text == f"Results 1-10 of {total} not shown: {why} Next page: offset=10.\n"
    assert last.text == f"Result {total} of {total} not shown: {why}\n"
    assert data["pagination"]["has_more"]
    assert data["truncation_info"]["next"] == "offset=10"


def test_after_a_page_with_some_files_that_change_the_next_page_repeats_nothing(own: Service) -> None:
    (own.root / "src/net/retry.py").write_text("nothing = 1\n")
    with own._workspace.home.writer_lock(wait=False):
        result, view = own.search_page(SearchRequest("retry", Mode.KEYWORD, limit=3))
    assert (len(result.hits), result.unshown.count) == (2, 1)
    assert "Next page: offset=3." in view.banner
    assert "1 result of this page not shown: the files are changing right now" in view.text


def test_searching_during_the_first_index_says_how_much_is_missing(own: Service) -> None:
    with Store(own.folder / "index.db") as store:
        store.announce(pending=41, total=0)
    with writer_lock(own.folder, wait=False):
        notes = [note.text for note in own.search(Query("retry")).notes]
    assert "the index is being built; remaining files: 41" in notes


def test_a_killed_index_run_is_not_called_under_way(own: Service) -> None:
    """The writer lock ends with the process that held it, whatever the index says about pending files."""
    unfinished = "the last index run did not finish, 159 of 200 files are indexed"
    with Store(own.folder / "index.db") as store:
        store.announce(pending=41, total=200)
    assert f"{unfinished}; run keyhole index to continue" in [note.text for note in own.search(Query("retry")).notes]
    banner = f"Nothing found yet: {unfinished}; run keyhole index to continue."
    assert own.search_view(SearchRequest("absent", Mode.KEYWORD)).banner == banner
    assert own.relation_view(BrokenLinksRequest(path="src")).banner == banner
    with pytest.raises(QueryError) as caught:
        own.search(Query("retry", path="absent.py"))
    assert caught.value.kind == ErrorKind.INTERRUPTED
    assert caught.value.problem.endswith(f": {unfinished}")
    own.index()
    assert own.search_view(SearchRequest("absent", Mode.KEYWORD)).banner.startswith(
        "Nothing found: no match for 'absent'"
    )


def test_a_run_that_ends_after_a_snapshot_began_was_not_interrupted(own: Service) -> None:
    with Store(own.folder / "index.db") as writer, Store(own.folder / "index.db", is_reader=True) as reader:
        writer.announce(pending=41, total=200)
        with reader.snapshot():
            assert reader.facts().pending == 41
            assert reader.is_abandoned()
            writer.announce(pending=0, total=200)
            assert not reader.is_abandoned()


@pytest.mark.files_only("on a server, a revision appears at once, so nothing of it is found before")
def test_a_cold_index_says_on_the_first_line_how_far_it_is(own: Service, tmp_path: Path) -> None:
    """Search while a real first run is under way."""
    root = tmp_path / "cold"
    root.mkdir()
    for number in range(450):
        (root / f"m{number}.py").write_text(f"def function_{number}(): ...\n")
    service = Service(root, own.settings)
    banners: dict[int, str] = {}

    def look(progress: Progress) -> None:
        # After the announcement, and after each of the two batches of 200 files.
        if progress.done in (0, 201, 401):
            banners[progress.done] = service.search_view(SearchRequest("absent", Mode.KEYWORD)).banner

    service.index(on_progress=look)
    assert banners == {
        done: f"Nothing found yet: the index is being built, {done // 200 * 200} of 450 files so far."
        for done in (0, 201, 401)
    }
    assert service.search_view(SearchRequest("absent", Mode.KEYWORD)).banner.startswith("Nothing found: no match for")


# Regular expressions


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"def get_\w+_display", ["def get_", "_display"]),
        (r"(foo|bar)baz", ["baz"]),
        (r"(abcd)+x?efg", ["abcd", "efg"]),
        (r"(?:longer)?", []),
        (r"ab", []),
        (r"[abc]def", ["def"]),
        (r"(", []),
    ],
)
def test_texts_that_every_match_contains(pattern: str, texts: list[str]) -> None:
    assert required_texts(pattern) == texts


def test_trigrams_spare_files_that_cannot_match(own: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    own.search(Query("/first search makes them/"))
    read: list[str] = []

    def spy(files: SourceReader, path: str) -> object:
        read.append(path)
        return read_source(files.root, path, max_bytes=files.max_bytes)

    monkeypatch.setattr(SourceReader, "read", spy)
    result = own.search(Query(r"/drawColour\(/"))
    assert paths(result) == ["src/paint.js"]
    assert set(read) == {"src/paint.js"}
    assert result.hits[0].line == 1


def test_trigrams_follow_a_changed_file(own: Service) -> None:
    own.search(Query("/first/"))
    (own.root / "src/paint.js").write_text("function secondVersion() {}\n")
    own.index()
    assert paths(own.search(Query("/secondVersion/"))) == ["src/paint.js"]
    assert own.search(Query("/drawColour/")).total == 0


# The open index


def test_an_index_that_was_replaced_is_opened_again(own: Service) -> None:
    assert own.search(Query("RetryPolicy")).total
    other = Service(own.root, own.settings)
    other.clear()
    with pytest.raises(StoreError, match="no index yet"):
        own.search(Query("RetryPolicy"))
    other.index()
    assert own.search(Query("RetryPolicy")).total


def test_an_index_that_was_replaced_unnoticed_is_opened_again(own: Service) -> None:
    assert not own.search(Query("brand_new")).total
    (own.root / "src/brand.py").write_text("def brand_new(): ...\n")
    other = Service(own.root, own.settings)
    other.clear()
    other.index()
    assert own.search(Query("brand_new")).total == 1


def test_many_threads_can_search_in_parallel(own: Service) -> None:
    queries = ["RetryPolicy", "next_delay", "/return/", "paint canvas"] * 10
    expected = [paths(own.search(Query(text))) for text in queries]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: paths(own.search(Query(text))), queries)) == expected


# Explanations


@pytest.mark.parametrize(
    ("asked", "path", "verdict"),
    [
        (SearchRequest("RetryPolicy"), "src/net/retry.py", "ranked 1st of"),
        (SearchRequest("retry policy", limit=2), "docs/guide.md", "on page"),
        (SearchRequest("RetryPolicy", path="docs"), "src/net/retry.py", "filtered out by path=docs"),
        (SearchRequest("RetryPolicy", language="markdown"), "src/net/retry.py", "filtered out by language=markdown"),
        (SearchRequest("retry", kind="class"), "tests/test_retry.py", "filtered out by kind=class"),
        (SearchRequest("retry", include_tests=False), "tests/test_retry.py", "filtered out by include_tests=false"),
        (
            SearchRequest("retry", role="docs"),
            "tests/test_retry.py",
            "filtered out by role=docs: the role of the file is",
        ),
        (SearchRequest("avatar"), "src/paint.js", "does not match: it does not contain avatar"),
        (SearchRequest("retry"), "debug.log", "not indexed: ignored: *.log (.gitignore:2)"),
        (
            SearchRequest("retry"),
            "build/x.py",
            "not indexed: its folder build is skipped: ignored: build/ (.gitignore:1)",
        ),
        (SearchRequest("retry"), "blob.txt", "not indexed: binary"),
        (SearchRequest("retry"), "late.py", "not indexed yet"),
        (SearchRequest("retry"), "missing.py", "not indexed: no such file"),
        (SearchRequest("retry"), ".env", "not indexed: secret"),
    ],
)
def test_explain(own: Service, asked: SearchRequest, path: str, verdict: str) -> None:
    (own.root / "build").mkdir()
    for name, text in {
        ".gitignore": "build/\n*.log\n",
        "debug.log": "",
        "build/x.py": "",
        "blob.txt": "\0",
        ".env": "",
    }.items():
        (own.root / name).write_text(text)
    own.index()
    (own.root / "late.py").write_text("")
    found = own.explain(asked, path).verdict
    assert verdict in found
    # An answer reads the same everywhere, so it names no command.
    assert "keyhole " not in found


def test_explain_a_line(own: Service) -> None:
    found = own.explain(SearchRequest("next_delay"), "src/net/client.py", 8)
    assert found.rank > 1
    assert found.hit is not None
    assert found.hit.path == "src/net/client.py"
    assert own.explain(SearchRequest("next_delay"), "src/net/client.py", 900).rank == 0


def test_bytes_that_are_not_utf_8_are_an_unknown_path(own: Service) -> None:
    path = os.fsdecode(b"\xff.py")
    for request in (BacklinksRequest(path=path), TreeRequest(path=path), LinksRequest(path=path)):
        with pytest.raises(PathError):
            own.relation_view(request)
    for ask in (own.read, lambda path: own.map_view(MapRequest(path))):
        with pytest.raises(PathError):
            ask(path)
    assert own.explain(SearchRequest("word"), path).rank == 0


def test_chunks_with_words_are_the_same_by_lookup_and_by_scan(own: Service) -> None:
    with Store(own.folder / INDEX_FILE) as store:
        every = {place.chunk_id for place in store.chunk_places(range(1, 1 + store.count_chunks()))}
        for words in (["the"], ["return", "self"], ["retry", "nowhere"], ["nowhere"]):
            asked = sorted(every)[::2]
            looked_up, scanned = (store.chunks_with_words(words, asked, count) for count in (10**9, 0))
            assert looked_up == scanned <= set(asked)
            assert bool(scanned) == (words != ["nowhere"])
