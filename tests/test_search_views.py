"""Views of real searches: pages to the end, steps in the banner, cursors, limits and their notes."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_views import LONG, make_hit, make_result, with_passage

from keyhole.core.errors import CursorError, QueryError
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.view_requests import Query, ReadRequest, SearchRequest
from keyhole.core.view.budget.sizes import Budget
from keyhole.core.view.lists.cursor import read_cursor, request_key, write_cursor
from keyhole.core.view.lists.listing import ListView, Shown
from keyhole.core.view.lists.search_view import search_view
from keyhole.core.view.usage import observed, utilisation


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Index a workspace in which many files match the same query."""
    base = tmp_path_factory.mktemp("views")
    for number in range(40):
        lines = "".join(f"    total += weigh({step}, total)\n" for step in range(number + 3))
        path = base / f"project/src/part_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'def weigh_{number}(total):\n    """Weigh part {number}."""\n{lines}    return total\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYHOLE_CACHE_DIR", str(base / "cache"))
        patch.setenv("KEYHOLE_INDEX_MODEL", "none")  # only search by words has exact totals
        service = Service.open(base / "project")
    service.index()
    return service


REQUESTS = [
    SearchRequest("weigh total", detail_level=detail, limit=limit, max_tokens=tokens, format=form)
    for detail in Detail
    for limit in (1, 7, 50)
    for tokens in (1_000, 3_000)
    for form in Format
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_pages_concatenate_to_the_whole_list(service: Service, request_: SearchRequest) -> None:
    whole = [hit.path for hit in service.search(Query("weigh total", limit=1_000)).hits]
    assert len(whole) == 40
    seen: list[str] = []
    request: SearchRequest | None = request_
    while request is not None:
        view = service.search_view(request)
        assert view.truncation.estimated_tokens <= view.truncation.limit_tokens
        seen += shown_paths(view)
        following = re.search(r"Next page: (offset=\d+)", view.banner)
        request = replace(request_, **parameters(following.group(1))) if following else None
    assert seen == whole


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_every_way_in_the_banner_works(service: Service, request_: SearchRequest) -> None:
    view = service.search_view(request_)
    if promised := re.search(r"Show (\d+) results: (detail_level=minimal)\.", view.banner):
        followed = service.search_view(replace(request_, **parameters(promised.group(2))))
        assert len(followed.plan.levels) == int(promised.group(1)) > len(view.plan.levels)
    if promised := re.search(r"Full detail of (\d+): ((?:offset|limit)=\d+)\.", view.banner):
        followed = service.search_view(replace(request_, **parameters(promised.group(2))))
        number = int(promised.group(1))
        assert re.match(rf"Results? {number}\b", followed.banner)
        assert followed.plan.levels[0] != view.plan.levels[number - 1]
        assert len(followed.text) > 0


def test_the_ways_out_of_an_end_and_of_a_result_too_large_work(service: Service) -> None:
    beyond = service.search_view(SearchRequest("weigh total", limit=7, offset=999))
    (offset,) = re.findall(r"Last page: (offset=\d+)", beyond.banner)
    last = service.search_view(SearchRequest("weigh total", limit=7, **parameters(offset)))
    assert last.banner == "Results 36-40 of 40 files."

    result = make_result((make_hit(0, path="src/part_39.py", start_line=3, end_line=9),))
    result = with_passage(result, LONG)
    too_large = search_view(result, Shown(Detail.RICH, budget=Budget(1_000)))
    (start,) = re.findall(r"Read it: read_file (start_line=\d+)\.", too_large.banner)
    read = service.read_view(ReadRequest(("src/part_39.py",), **parameters(start), max_lines=7))
    lines = (service.root / "src/part_39.py").read_text().splitlines()[2:9]
    assert read.text.endswith("".join(f"{number}\t{line}\n" for number, line in enumerate(lines, 3)))


def test_a_cursor_continues_where_the_answer_ended(service: Service) -> None:
    request = SearchRequest("weigh total", limit=7, format=Format.JSON)
    first = json.loads(service.search_view(request).text)
    second = service.search_view(replace(request, cursor=first["pagination"]["cursor"]))
    assert second.text.split("latency")[0] == service.search_view(replace(request, offset=7)).text.split("latency")[0]


def test_a_cursor_of_another_request_is_refused(service: Service) -> None:
    cursor = json.loads(service.search_view(SearchRequest("weigh", limit=3, format=Format.JSON)).text)["pagination"]
    with pytest.raises(CursorError, match="belongs to another request"):
        service.search_view(SearchRequest("total", cursor=cursor["cursor"]))


def test_a_stale_cursor_is_refused(service: Service) -> None:
    request = SearchRequest("weigh", limit=3, format=Format.JSON)
    cursor = json.loads(service.search_view(request).text)["pagination"]["cursor"]
    (service.root / "src/added.py").write_text("def added(): ...\n")
    service.index()
    with pytest.raises(CursorError, match="the index has changed since"):
        service.search_view(replace(request, cursor=cursor))
    (service.root / "src/added.py").unlink()
    service.index()


@given(st.text(max_size=60))
def test_a_made_up_cursor_is_refused(text: str) -> None:
    with pytest.raises(CursorError, match="not a cursor from keyhole"):
        read_cursor(text, request_key("any"))


@given(st.integers(0, 2**40), st.integers(0, 2**31), st.data())
def test_a_forged_cursor_is_refused(generation: int, offset: int, data: st.DataObject) -> None:
    key = request_key("search", "weigh")
    cursor = write_cursor(key, generation, offset)
    assert read_cursor(cursor, key) == (offset, generation)
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from("abcXYZ019-_").filter(lambda letter: letter != cursor[place]))
    with pytest.raises(CursorError):
        read_cursor(cursor[:place] + other + cursor[place + 1 :], key)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (SearchRequest("weigh", limit=0), "limit must be from 1 to 50, not 0"),
        (SearchRequest("weigh", limit=-3), "limit must be from 1 to 50, not -3"),
        (SearchRequest("weigh", offset=-1), "offset must be 0 or more, not -1"),
        (SearchRequest("weigh", max_tokens=999), "max_tokens must be from 1,000 to 25,000, not 999"),
    ],
)
def test_nonsense_is_an_error(service: Service, request_: SearchRequest, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        service.search_view(request_)


def test_lowered_values_have_a_note(service: Service) -> None:
    view = service.search_view(SearchRequest("weigh", limit=51, max_tokens=99_999))
    assert "Note: limit=51 is over the maximum; using limit=50.\n" in view.text
    assert "Note: max_tokens=99999 is over the maximum; using max_tokens=25000.\n" in view.text
    assert service.search_view(SearchRequest("weigh", limit=200, detail_level=Detail.MINIMAL)).page.limit == 200


def test_the_page_and_the_mode_come_from_the_settings(service: Service) -> None:
    chosen = service.settings.model_copy(
        update={"search": service.settings.search.model_copy(update={"top_k": 4, "mode": Mode.SYMBOL})}
    )
    view = Service(service.root, chosen).search_view(SearchRequest("weigh_1"))
    assert view.page.limit == 4
    assert "(1.00) def weigh_1(total)" in view.text


def shown_paths(view: ListView) -> list[str]:
    if view.text.startswith("{"):
        return [result["file_path"] for result in json.loads(view.text)["results"]]
    return re.findall(r"^(src/part_\d+\.py):\d+", view.text, re.MULTILINE)


def parameters(text: str) -> dict[str, Any]:
    """Read `offset=8` as a caller would."""
    name, _, value = text.partition("=")
    return {name: int(value) if value.isdigit() else Detail(value)}


# Metrics


def test_truncation_and_utilisation_are_told(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "keyhole.view")
    with observed() as seen:
        service.search_view(SearchRequest("weigh total", limit=50, max_tokens=1_000))
        service.search_view(SearchRequest("weigh total", limit=1))
    assert [usage.info.reason for usage in seen] == ["token_limit", None]
    full, empty = (utilisation(usage.info) for usage in seen)
    assert full > 0.9
    assert empty < 0.1
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "'weigh total': shortened (token_limit)" in record.message


def test_the_view_is_the_same_through_the_command_line(service: Service) -> None:
    command = "from keyhole.core.cli.main import main; main()", "search", "weigh total", "--detail", "rich"
    done = subprocess.run(
        [sys.executable, "-c", *command, "--budget", "1500", "--root", str(service.root)],
        env={
            "KEYHOLE_CACHE_DIR": str(service.settings.cache_dir),
            "KEYHOLE_INDEX_MODEL": "none",
            "HOME": "/nowhere",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    request = SearchRequest("weigh total", detail_level=Detail.RICH, max_tokens=1_500)
    assert done.stdout == service.search_view(request).text


def test_a_page_comes_with_the_hits_it_was_written_from(service: Service) -> None:
    request = SearchRequest("weigh total", limit=7, max_tokens=1_000)
    result, view = service.search_page(request)
    assert view == service.search_view(request)
    assert shown_paths(view) == [hit.path for hit in result.hits][: len(view.plan.levels)]
