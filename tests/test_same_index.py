"""The same files give the same answers, whatever was written, moved, deleted or searched before."""

import itertools
import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fresh_index import Request, answer, different_answers, open_service
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyhole.core.errors import CursorError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    LinkSearchRequest,
    LinksRequest,
    RelatedRequest,
    Relation,
    TreeRequest,
)
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.view_requests import SearchRequest

TICKS = itertools.count()
# An example takes about half a second, so there are fewer than of other properties.
EXAMPLES = settings.default.max_examples // 8 if settings.default else 12

# Few texts for many paths, so that many chunks are equally good.
TEXTS = (
    "def retry(call):\n    return backoff(call)\n",
    "def retry(call):\n    return backoff(call)\n\n\ndef again(file):\n    return retry(file)\n",
    "from pkg.a import retry\n\n\nclass Parser:\n    def parse(self, path):\n        return read(path)\n",
    "import pkg.b, pkg.a\nfrom pkg.a import retry, again\n\n\ndef Retry(path):\n    return draw(path)\n",
    "# Retry\n\nSee [parse](pkg/a.py), [[b]] and [again](two.md#again).\n\n## Again\n\nRead the file again.\n",
    "# Again\n\n## Again\n\n[back](one.md#retry-1) [[one#Retry]] [gone](gone.md)\n\n# Retry\n\n# Retry\n",
    "retry backoff parse\n" * 3,
    "".join(f"def paint_{n}(path):\n    # {'draw a file with colour ' * 30}\n    return {n}\n\n" for n in range(4)),
    "",
)
PATHS = ("pkg/a.py", "pkg/b.py", "pkg/c.py", "b/retry.py", "tests/test_a.py", "one.md", "two.md", "b.md", "a/b.txt")

REQUESTS: tuple[Request, ...] = (
    *(SearchRequest("retry", mode=mode) for mode in Mode),
    SearchRequest("retry backoff", mode=Mode.KEYWORD),
    SearchRequest("parse the path", detail_level=Detail.RICH),
    SearchRequest("draw file again", mode=Mode.KEYWORD, limit=2),
    SearchRequest("retry", mode=Mode.KEYWORD, limit=2, offset=2),
    SearchRequest("Pkg.retry", kind="function"),
    SearchRequest("retri", mode=Mode.SYMBOL),
    SearchRequest("nothing_like_it", mode=Mode.SYMBOL),
    SearchRequest("retry", kind="nonsense"),
    SearchRequest("retry", path="pkg/z.py"),
    SearchRequest("/re.ry|pain/"),
    SearchRequest("again", path="pkg", include_tests=False),
    SearchRequest("retry", role="-test,-docs"),
    RelatedRequest("pkg/a.py", 1),
    RelatedRequest("one.md", 3),
    RelatedRequest(symbol="retry"),
    *(LinksRequest(path) for path in ("pkg/c.py", "one.md", "two.md")),
    *(BacklinksRequest(path) for path in ("pkg/a.py", "one.md", "pkg")),
    BrokenLinksRequest(),
    LinkSearchRequest(has_links_to="pkg/a.py"),
    LinkSearchRequest(broken=True),
    TreeRequest(),
    TreeRequest("pkg/a.py"),
    TreeRequest(relation=Relation.DESCENDANTS, symbols=True),
)


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    # Older than the clock's resolution, like the files of a real workspace, and a different time at each write.
    os.utime(root / path, ns=(10**18, 10**18 + next(TICKS)))


def assert_same_as_fresh(service: Service, model: str, requests: tuple[Request, ...] = REQUESTS) -> None:
    with TemporaryDirectory() as cache:
        fresh = open_service(service.root, Path(cache), model)
        fresh.index()
        for request in different_answers(service, fresh, requests):
            # Compared once more, so that a failure shows both.
            assert answer(service, request) == answer(fresh, request), request
        fresh.close()


STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.tuples(st.just("write at the same time"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("move"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("ignore"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("search"), st.just(""), st.sampled_from(["retry", "/draw/", "again"])),
    st.tuples(st.just("index"), st.just(""), st.just("")),
)


def do(service: Service, step: tuple[str, str, str]) -> None:
    what, path, value = step
    root = service.root
    if what == "write":
        write(root, path, value)
    elif what == "write at the same time" and (root / path).exists():
        status = (root / path).stat()
        (root / path).write_text((root / path).read_text().swapcase())
        os.utime(root / path, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif what == "delete":
        (root / path).unlink(missing_ok=True)
    elif what == "move" and (root / path).exists():
        (root / value).parent.mkdir(parents=True, exist_ok=True)
        (root / path).replace(root / value)
    elif what == "ignore":
        write(root, ".gitignore", f"{path}\n")
    elif what == "search":
        service.search_view(SearchRequest(value))
    elif what == "index":
        service.index()


@given(steps=st.lists(STEPS, min_size=3, max_size=14))
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_answers_after_any_changes_are_those_of_a_fresh_index(
    model_folder: Path, steps: list[tuple[str, str, str]]
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        for path, text in zip(PATHS, TEXTS, strict=True):
            write(root, path, text)
        service = open_service(root, root.parent / "cache", str(model_folder))
        service.index()
        for step in steps:
            do(service, step)
        service.index()
        assert_same_as_fresh(service, str(model_folder))
        service.close()


@pytest.fixture
def crowd(tmp_path: Path, model_folder: Path) -> Iterator[Service]:
    """Make a workspace with more equally good chunks than any list of candidates takes, and edit some files."""
    root = tmp_path / "crowd"
    for number in range(320):
        write(root, f"f{number:03}.py", f"def retry(path):\n    return backoff(path, {number % 3})\n")
    service = open_service(root, tmp_path / "cache", str(model_folder))
    service.index()
    for number in range(0, 320, 7):
        text = (root / f"f{number:03}.py").read_text()
        write(root, f"f{number:03}.py", "something_else = 1\n" * 9)
        service.index() if number % 5 == 0 else None
        write(root, f"f{number:03}.py", text)
    (root / "f005.py").replace(root / "g005.py")
    service.index()
    yield service
    service.close()


def test_more_equal_chunks_than_candidates(crowd: Service, model_folder: Path) -> None:
    requests: list[Request] = [
        SearchRequest(text, mode=mode, limit=50, offset=offset, detail_level=Detail.MINIMAL)
        for text in ("retry", "retry backoff", "path")
        for mode in Mode
        for offset in (0, 100, 150, 250)
    ]
    requests += [RelatedRequest("f006.py", 1, limit=50), RelatedRequest(symbol="retry", limit=50)]
    assert_same_as_fresh(crowd, str(model_folder), tuple(requests))


def test_a_chunk_id_is_made_of_path_first_line_and_content(crowd: Service) -> None:
    (found,) = json.loads(crowd.search_view(SearchRequest("retry", path="f006.py", format=Format.JSON)).text)["results"]
    facts = "\0".join(("f006.py", "1", (crowd.root / "f006.py").read_text()))
    assert found["chunk_id"] == blake2b(facts.encode(), digest_size=6).hexdigest()
    assert len(found["chunk_id"]) == 12


def test_the_statistics_of_words_do_not_count_deleted_chunks(
    crowd: Service, tmp_path: Path, model_folder: Path
) -> None:
    fresh = open_service(crowd.root, tmp_path / "fresh", str(model_folder))
    fresh.index()
    totals = []
    for service in (crowd, fresh):
        with Store(service.folder / INDEX_FILE) as store:
            totals.append(store.value("SELECT hex(block) FROM chunk_words_data WHERE id = 1"))
    assert totals[0] == totals[1]


def first_page(service: Service, text: str) -> str:
    """Return the cursor to the second page."""
    request = SearchRequest(text, mode=Mode.KEYWORD, limit=2, format=Format.JSON)
    cursor: str = json.loads(service.search_view(request).text)["pagination"]["cursor"]
    return cursor


def test_a_cursor_outlives_the_trigrams_that_a_first_regex_search_records(crowd: Service) -> None:
    cursor = first_page(crowd, "retry")
    generation = crowd.inventory().generation
    crowd.search_view(SearchRequest("/ret.y/"))
    with Store(crowd.folder / INDEX_FILE) as store:
        assert store.files_without_trigrams() == []
    assert crowd.inventory().generation == generation
    page = SearchRequest("retry", mode=Mode.KEYWORD, limit=2, cursor=cursor)
    assert "f002.py" in crowd.search_view(page).text


def test_a_cursor_outlives_an_index_run_that_only_finds_new_times(crowd: Service) -> None:
    cursor = first_page(crowd, "retry")
    os.utime(crowd.root / "f001.py", ns=(10**18, 10**18 - 1))
    assert crowd.index().changed == 0
    page = SearchRequest("retry", mode=Mode.KEYWORD, limit=2, cursor=cursor)
    assert "f002.py" in crowd.search_view(page).text
    write(crowd.root, "f001.py", "def retry(): pass\n")
    assert crowd.index().changed == 1
    with pytest.raises(CursorError, match="the index has changed"):
        crowd.search_view(page)
