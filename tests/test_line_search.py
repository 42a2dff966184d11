"""Search by pattern: every matching line is a result, with its owner, its context and counts."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.core.config import load_settings
from keyhole.core.errors import QueryError
from keyhole.core.index.rows import ChunkSpan, SymbolEntry
from keyhole.core.search.owners import owners_of
from keyhole.core.search.regex import _chunks_with_lines, _for_lines, _matching_lines, chunk_of, compile_pattern
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode, Output
from keyhole.core.types.view_requests import Query, SearchRequest

Check = Callable[[str, str], None]

BACKOFF = SearchRequest("/backoff/")
_PADS = [(before, 60 + before // 2) for before in range(100, 200, 4)]


@pytest.mark.parametrize("detail", list(Detail))
def test_lines_at_each_level(detail: Detail, acme: Service, check_golden: Check) -> None:
    view = acme.search_view(replace(BACKOFF, detail_level=detail))
    check_golden(f"views/lines-{detail}.text", view.text)


def test_lines_with_context(acme: Service, check_golden: Check) -> None:
    check_golden("views/lines-context.text", acme.search_view(replace(BACKOFF, context_lines=1)).text)


@pytest.mark.parametrize("output", [Output.FILES, Output.COUNT])
def test_counts(output: Output, acme: Service, check_golden: Check) -> None:
    check_golden(f"views/lines-{output}.text", acme.search_view(replace(BACKOFF, output=output)).text)


def test_every_result_is_a_matching_line(acme: Service) -> None:
    answer = json.loads(acme.search_view(replace(BACKOFF, format=Format.JSON)).text)
    assert answer["total_count"] == answer["matching_lines"] == len(answer["results"]) == 5
    assert answer["matching_files"] == len({found["file_path"] for found in answer["results"]})
    for found in answer["results"]:
        lines = acme.read(found["file_path"]).text.split("\n")
        assert found["start_line"] == found["end_line"] == found["match_lines"][0]
        assert found["preview"] == lines[found["start_line"] - 1]
        assert found["preview"][found["column"] - 1 :].startswith("backoff")
        assert found["score"] == 1.0


def test_json_at_minimal_keeps_its_seven_keys(acme: Service) -> None:
    request = replace(BACKOFF, detail_level=Detail.MINIMAL, format=Format.JSON)
    seven = ["file_path", "language", "start_line", "end_line", "definitions", "preview", "score"]
    assert {tuple(found) for found in json.loads(acme.search_view(request).text)["results"]} == {tuple(seven)}


def test_pages_add_up_to_all_lines(acme: Service) -> None:
    whole = [line for line in acme.search_view(replace(BACKOFF, detail_level=Detail.MINIMAL)).text.split("\n") if line]
    places = [(hit.path, hit.line) for hit in acme.search_page(BACKOFF)[0].hits]
    paged = [
        (hit.path, hit.line)
        for offset in range(len(places))
        for hit in acme.search_page(replace(BACKOFF, limit=1, offset=offset))[0].hits
    ]
    assert paged == places
    assert whole[0].startswith(f"Results 1-{len(places)} of {len(places)} matching lines in ")


def test_the_default_is_a_hundred_lines(tmp_path: Path) -> None:
    service = _service(tmp_path, {"many.py": "x = 1\n" * 700})
    assert "Results 1-100 of 700 matching lines in 1 file. Next page: offset=100." in service.search_view(
        SearchRequest("/x/")
    ).text.replace("\n", " ")
    lowered = service.search_view(SearchRequest("/x/", limit=5_000))
    assert lowered.banner.startswith("Results 1-500 of 700")
    assert "limit=5000 is over the maximum; using limit=500" in lowered.text
    assert "context_lines=99 is over the maximum" in service.search_view(SearchRequest("/x/", context_lines=99)).text
    with pytest.raises(QueryError, match="context_lines must be 0 or more"):
        service.search_view(SearchRequest("/x/", context_lines=-1))
    words = service.search_view(SearchRequest("x", Mode.KEYWORD, output=Output.FILES)).text
    assert "Note: context_lines and output only apply to exact text and regular expressions." in words


def test_a_long_line_is_clipped_around_the_match(tmp_path: Path) -> None:
    line = f"{'a ' * 400}needle{' b' * 400}"
    service = _service(tmp_path, {"long.txt": f"{line}\n"})
    text = service.search_view(SearchRequest("/needle/")).text
    shown = text.split("\n")[-2]
    assert shown.startswith("long.txt:1:801: …")
    assert "needle" in shown
    assert shown.endswith("…")
    assert len(shown) < 230
    (found,) = json.loads(service.search_view(SearchRequest("/needle/", format=Format.JSON)).text)["results"]
    assert len(found["preview"]) == 200
    assert found["column"] == 801


def test_a_definition_belongs_to_what_is_around_it() -> None:
    outer = SymbolEntry(0, "Client", "class", "class Client", 1, 20, "")
    inner = SymbolEntry(1, "send", "method", "def send(self)", 3, 9, "Client")
    later = SymbolEntry(1, "close", "method", "def close(self)", 12, 14, "Client")
    owners = owners_of([outer, inner, later], [1, 2, 3, 4, 9, 10, 12, 13, 20, 21])
    names = {line: owner.name for line, owner in owners.items()}
    assert names == {
        2: "Client", 3: "Client", 4: "send", 9: "send", 10: "Client", 12: "Client", 13: "close", 20: "Client"
    }  # fmt: skip


pieces = st.sampled_from(["a", "b", ".", "a*", "(?:a|b)", "[ab]", r"\b", "^", "$", "x?", r"\w", "(?i)A", "|", r"\."])


@settings(max_examples=300)
@given(st.lists(pieces, min_size=1, max_size=5).map("".join), st.text("ab \n.A", max_size=30))
def test_matching_once_per_line_finds_the_same_lines(pattern: str, text: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except QueryError:
        return
    assert _matching_lines(_for_lines(pattern), text) == _matching_lines(compiled, text)
    assert _matching_lines(_for_lines(f"(?:{pattern})"), text) == _matching_lines(compiled, text)


def test_a_posix_class_is_not_taken_for_a_text(tmp_path: Path) -> None:
    service = _service(tmp_path, {"a.py": "def f():\n    return 1\n"})
    assert service.search_page(SearchRequest("/[[:space:]]return/"))[0].total == 1


@pytest.mark.parametrize("pattern", ["word[^,]*word", r"word\W+x\W+word", "word[[:space:]]x", "(?i)WORD"])
def test_a_match_ends_with_its_line(pattern: str, tmp_path: Path) -> None:
    service = _service(tmp_path, {"three.txt": "word x word\n" * 3})
    assert [hit.line for hit in service.search_page(SearchRequest(f"/{pattern}/"))[0].hits] == [1, 2, 3]


def test_nothing_follows_the_last_line(tmp_path: Path) -> None:
    service = _service(tmp_path, {"a.txt": "one\ntwo\n"})
    assert service.search_view(SearchRequest("/two/", context_lines=3)).text.endswith("  1- one\n  2: two\n")


@pytest.mark.parametrize("pattern", [r"b\na", "(?s)b.a", r"b\x0aa", r"b\x{a}a", r"b\012a"])
def test_a_match_over_two_lines_does_not_hide_the_next(pattern: str, tmp_path: Path) -> None:
    service = _service(tmp_path, {"two.txt": "a b\na b\na\n"})
    assert [hit.line for hit in service.search_page(SearchRequest(f"/{pattern}/"))[0].hits] == [1, 2]


def test_the_first_line_says_which_lines_are_masked(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5C"
    service = _service(tmp_path, {"a.py": f'OLD = "{token}"\n\nNEW = "{token}"  # word\n'})
    view = service.search_view(SearchRequest("/word/"))
    assert view.text == (
        "Result 1 of 1 matching line in 1 file. Masked 1 secret: a.py:3.\n"
        'a.py:3: NEW = "[secret: github-token]"  # word\n'
    )
    around = service.search_view(SearchRequest("/word/", context_lines=2))
    assert "Masked 2 secrets: a.py:1, a.py:3." in around.banner
    for request in (SearchRequest("/word/", format=Format.JSON), SearchRequest(f"/{token}/", format=Format.JSON)):
        assert token not in service.search_view(request).text


def test_no_part_of_a_mask_is_left_where_a_line_is_clipped(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5C"
    text = "".join(f"{'a' * before} {token} {'b ' * 300}word {'c ' * after} {token}\n" for before, after in _PADS)
    service = _service(tmp_path, {"a.txt": text})
    for request in (SearchRequest("/word/"), SearchRequest("/[ab] /", format=Format.JSON)):
        for part in service.search_view(replace(request, max_tokens=25_000)).text.split("[secret: ")[1:]:
            assert part.startswith("github-token]")


def test_a_line_after_a_definition_is_not_shown_as_part_of_it(tmp_path: Path) -> None:
    service = _service(tmp_path, {"a.py": "def send():\n    word = 1\n\n\nword = 2\n"})
    lines = service.search_view(SearchRequest("/word/")).text.split("\n")
    assert lines[1:-1] == ["a.py", "  in send", "  2: word = 1", "  at the top level", "  5: word = 2"]


def test_a_kind_only_admits_lines_of_its_chunks(tmp_path: Path) -> None:
    service = _service(tmp_path, {"a.py": "class A:\n    word = 1\n", "b.py": "def b():\n    word = 2\n"})
    assert [hit.path for hit in service.search_page(SearchRequest("/word/", kind="class"))[0].hits] == ["a.py"]


def _service(folder: Path, files: dict[str, str]) -> Service:
    for path, text in files.items():
        (folder / path).write_text(text)
    service = Service.open(folder)
    service.index()
    return service


@given(
    st.lists(st.sampled_from(["aa", "a", "ab", "b", "é", "\n", "\r\n", " "]), min_size=1, max_size=40).map("".join),
    st.lists(st.integers(1, 80), max_size=6),
    st.sampled_from(["a", "aa", "ab", "é", "b "]),
)
def test_a_quoted_text_is_found_in_the_chunks_where_lines_first_match(source: str, cuts: list[int], text: str) -> None:
    # Chunks may also start inside a line, as those of a very long line do.
    starts = [0, *sorted({cut for cut in cuts if cut < len(source)})]
    chunks = [ChunkSpan(start, start, end - start, 1, 1, "") for start, end in pairwise([*starts, len(source)])]
    lines = _matching_lines(_for_lines(re.escape(text)), source)
    expected = [chunk for chunk in chunks if chunk in {chunk_of(chunks, line.position) for line in lines}]
    assert list(_chunks_with_lines(text, source, chunks)) == expected


def test_a_quoted_text_of_several_lines_is_found(tmp_path: Path) -> None:
    tmp_path.joinpath("few.py").write_text("def start():\n    return 1\n\n\ndef stop():\n    return 2\n")
    service = Service(tmp_path, load_settings(tmp_path, {"cache_dir": tmp_path / "cache"}))
    service.index()
    assert [hit.path for hit in service.search(Query('function "1\n\n\ndef stop"', Mode.KEYWORD)).hits] == ["few.py"]
    assert not service.search(Query('function "1\n\ndef stop"', Mode.KEYWORD)).hits


def test_a_very_long_line_of_context_is_clipped_with_a_mark(tmp_path: Path) -> None:
    tmp_path.joinpath("long.py").write_text(f"X = '{'a' * 3_000}'\nPELICAN = 1\n{'b' * 2_000}\n")
    service = Service(tmp_path, load_settings(tmp_path, {"cache_dir": tmp_path / "cache"}))
    service.index()
    request = SearchRequest("/PELICAN/", detail_level=Detail.RICH, format=Format.JSON)
    (hit,) = json.loads(service.search_view(request).text)["results"]
    before, after = hit["context_before"].split("\n")[0], hit["context_after"].split("\n")[0]
    assert (len(before), before[-2:]) == (2_001, "a…")
    assert after == "b" * 2_000
