"""Reads: lines of files within a budget, page by page to the end."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keyhole.core.errors import PathError, QueryError
from keyhole.core.service import Service
from keyhole.core.types.choices import Format
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.missing import Refusal
from keyhole.core.types.syntax import Outline
from keyhole.core.types.view_requests import MapRequest, ReadRequest
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.reads.read_view import READ_BYTES, parse_read_request, read_view
from keyhole.core.view.usage import observed
from keyhole.core.view.writing import View

Check = Callable[[str, str], None]
FIXTURES = Path(__file__).parent / "fixtures" / "languages"
SAMPLES = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.glob("*/*"))
PARAMETER = re.compile(r"(start_line|start_column)=(\d+)")


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Open an empty workspace."""
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return Service.open(tmp_path / "project")


def write(service: Service, name: str, content: str | bytes) -> str:
    (service.root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def read(service: Service, *paths: str, **changes: Any) -> View:
    return service.read_view(ReadRequest(paths, **changes))


def facts(view: View) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = json.loads(view.text)["results"]
    return results


def body(view: View) -> str:
    """Return the text after the heading of the only file, without line numbers or fence."""
    text = re.split(r"^── .* ──\n", view.text, maxsplit=1, flags=re.MULTILINE)[1]
    if text.startswith("`"):
        fence, _, rest = text.partition("\n")
        return rest.removesuffix(f"{fence}\n")
    return re.sub(r"^\d+\t", "", text, flags=re.MULTILINE)


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


# Goldens


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_read_of_every_language(sample: str, check_golden: Check) -> None:
    view = read(Service.open(FIXTURES), sample, start_line=2, max_lines=8)
    check_golden(f"reads/{sample}.txt", view.text)


def test_a_read_as_json(check_golden: Check) -> None:
    view = read(Service.open(FIXTURES), "go/sample.go", max_lines=4, format=Format.JSON)
    check_golden("reads/window.json", view.text)


# Line windows


def test_five_hundred_lines_unless_another_number_is_asked_for(service: Service) -> None:
    path = write(service, "many.txt", numbered(2_140))
    view = read(service, path)
    assert view.banner == "Lines 1-500 of 2,140 (partial). Next page: start_line=501."
    assert body(view) == numbered(500)
    assert view.truncation.reason is None
    (result,) = facts(read(service, path, start_line=2_001, max_lines=2_000, format=Format.JSON))
    told = {key: result[key] for key in ("total_lines", "returned_lines", "start_line", "is_truncated")}
    assert told == {"total_lines": 2_140, "returned_lines": 140, "start_line": 2_001, "is_truncated": False}
    assert result["next_start_line"] is None
    clamped = read(service, path, max_lines=2_001)
    assert "\nNote: max_lines=2001 is over the maximum; using max_lines=2000.\n" in clamped.text
    assert clamped.banner == "Lines 1-2,000 of 2,140 (partial). Next page: start_line=2001."


def test_a_page_ends_at_the_end_of_a_line(service: Service) -> None:
    view = read(service, write(service, "many.txt", numbered(400)), max_tokens=1_000)
    shown = body(view)
    way = re.fullmatch(
        r"Lines 1-(\d+) of 400 \(partial\)\. Budget 1,000 tokens: (\d+)-400 left out\. Next page: start_line=\2\.",
        view.banner,
    )
    assert way
    assert shown == numbered(int(way.group(1)))
    assert int(way.group(2)) == int(way.group(1)) + 1
    assert view.truncation.reason == "token_limit"
    assert view.truncation.estimated_tokens > 950


def test_characters_and_bytes_are_limited_too(service: Service) -> None:
    path = write(service, "spaces.txt", (" " * 900 + "\n") * 200)
    view = read(service, path, max_tokens=25_000)
    assert view.truncation.reason == "character_limit"
    assert 78_000 < len(view.text) <= 80_000
    assert "Limit 80,000 characters: 89-200 left out." in view.banner


@pytest.mark.parametrize(
    ("changes", "banner"),
    [
        ({"start_line": 4}, "Nothing at start_line=4: the file has 3 lines. Last page: start_line=1."),
        (
            {"start_line": 9, "max_lines": 2},
            "Nothing at start_line=9: the file has 3 lines. Last page: start_line=3.",
        ),
        ({"start_column": 9}, "Nothing at start_column=9: line 1 has 7 columns. Read it: start_column=1."),
    ],
)
def test_past_the_end(service: Service, changes: dict[str, int], banner: str) -> None:
    path = write(service, "three.txt", numbered(3))
    view = read(service, path, **changes)
    assert view.banner == banner
    assert view.truncation.returned_count == 0
    (result,) = facts(read(service, path, **changes, format=Format.JSON))
    assert (result["returned_lines"], result["is_truncated"], result["content"]) == (0, False, "")


def test_an_empty_file(service: Service) -> None:
    assert read(service, write(service, "empty.py", "")).banner == "The file is empty."


@pytest.mark.parametrize(
    ("content", "shown", "said"),
    [
        (b"a\r\nb\r\n", "a\nb\n", "── a.txt │ 6 B │ Text │ CRLF line endings ──"),
        (b"a\nb", "a\nb\n", "── a.txt │ 3 B │ Text │ no final newline ──"),
        (b"\xef\xbb\xbfa\n", "a\n", "── a.txt │ 5 B │ Text ──"),
        ("é\n検\n".encode("utf-16"), "é\n検\n", "── a.txt │ 10 B │ Text │ utf-16 ──"),
        (b"caf\xe9\n", "café\n", "── a.txt │ 5 B │ Text │ cp1252 ──"),
        (b"\x1b[31mred\x07\rx\tT\n", "\\x1b[31mred\\x07\\rx\tT\n", "── a.txt │ 14 B │ Text ──"),
    ],
)
def test_text_of_every_sort(service: Service, content: bytes, shown: str, said: str) -> None:
    view = read(service, write(service, "a.txt", content))
    assert body(view) == shown
    assert said in view.text


def test_front_matter_stays_at_the_top(service: Service) -> None:
    front = "---\ntitle: Guide\ntags: [a, b]\n---\n"
    path = write(service, "guide.md", front + "".join(f"\n# Part {n}\n\nText.\n" for n in range(900)))
    view = read(service, path, max_tokens=4_000)
    assert "Map of this file, from map_file" in view.text
    assert body(view).startswith(front)


# Lines too long for any budget


@pytest.mark.parametrize("form", list(Format))
def test_a_line_of_five_megabytes(service: Service, form: Format) -> None:
    line = '{"key": "' + "word and 🙂 more; " * 290_000 + '"}'
    path = write(service, "line.json", line + "\nlast\n")
    assert len(line) > 4_500_000
    view = read(service, path, format=form)
    way = re.search(
        r"columns 1-([\d,]+) of ([\d,]+)\. .*: line 1 clipped\. Next page: (start_line=1 start_column=\d+)",
        view.banner,
    )
    assert way
    assert int(way.group(2).replace(",", "")) == len(line) + 1
    shown = int(way.group(1).replace(",", ""))
    assert shown > 10_000
    assert (facts(view)[0]["content"] if form == Format.JSON else body(view).removesuffix("\n")) == line[:shown]
    assert view.truncation.reason == "single_result_too_large"
    near_end = read(service, path, start_column=len(line) - 3, format=form)
    assert near_end.banner == f"Lines 1-2 of 2 (partial), line 1 from column {len(line) - 3:,}."
    assert (facts(near_end)[0]["content"] if form == Format.JSON else body(near_end)) == f"{line[-4:]}\nlast\n"


# Several files


def test_small_files_leave_their_share_to_larger_ones(service: Service) -> None:
    small, large = numbered(20), "word " * 15 + "\n"
    for name, text in {"a.txt": large * 400, "b.txt": small, "c.txt": large * 400, "d.txt": small}.items():
        write(service, name, text)
    results = facts(read(service, "a.txt", "b.txt", "c.txt", "d.txt", max_tokens=4_000, format=Format.JSON))
    a, b, c, d = (result["returned_lines"] for result in results)
    assert (b, d) == (20, 20)
    assert abs(a - c) <= 1
    alone = facts(read(service, "a.txt", max_tokens=4_000, format=Format.JSON))[0]["returned_lines"]
    assert a + c > 0.75 * alone


def test_the_headings_of_several_files_can_be_followed(service: Service) -> None:
    for name in ("a.txt", "b.txt"):
        write(service, name, numbered(300))
    view = read(service, "a.txt", "b.txt", max_tokens=1_000)
    assert view.banner == (
        "2 of 2 files, 2 partial. Budget 1,000 tokens: lines left out. Next page: the start_line in each heading."
    )
    way = re.search(r"^── b\.txt │ lines 1-(\d+) of 300 .* │ next start_line=(\d+) ──$", view.text, re.MULTILINE)
    assert way
    assert body(read(service, "b.txt", start_line=int(way.group(2)), max_lines=1)) == f"line {int(way.group(1)) + 1}\n"


def test_one_bad_path_among_several_is_reported_in_its_place(service: Service) -> None:
    write(service, "a.txt", "a\n")
    write(service, ".env", "KEY=1\n")
    view = read(service, "a.txt", ".env", "../x", "a.txt")
    assert view.banner == "1 of 3 files, 2 not served."
    assert "── .env ──\n.env is not served: secret" in view.text
    assert "── ../x ──\n../x is outside the workspace; paths are relative to its root\n" in view.text
    assert "KEY" not in view.text
    assert "secret" in facts(read(service, "a.txt", ".env", format=Format.JSON))[1]["error"]
    nothing = read(service, ".env", "../x")
    assert nothing.banner == "0 of 2 files, 2 not served."
    with pytest.raises(PathError, match="secret"):
        read(service, ".env")


def test_paths_that_do_not_fit_are_left_out_with_a_count(service: Service) -> None:
    paths = [write(service, f"a_file_with_quite_a_long_name_{number}.txt", "text\n") for number in range(50)]
    view = read(service, *paths, max_tokens=1_000)
    assert view.banner == (
        "8 of 50 files. Budget 1,000 tokens: 42 files left out. Read the last 42 paths in another call."
    )
    shown = 0
    while paths:
        view = read(service, *paths, max_tokens=1_000)
        shown += view.text.count("\n1\ttext\n")
        left_out = re.search(r"Read the last (\d+) paths", view.banner)
        paths = paths[-int(left_out.group(1)) :] if left_out else []
    assert shown == 50


# The map of a large file


def functions(count: int) -> str:
    return "".join(f'def function_{n}(first):\n    """Do step {n}."""\n    return first\n\n' for n in range(count))


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("tokens", [1_000, 4_000, 25_000])
def test_the_first_page_of_a_large_file_has_its_map(service: Service, tokens: int, form: Format) -> None:
    path = write(service, "many.py", functions(900))
    view = read(service, path, max_tokens=tokens, format=form)
    shown = facts(view)[0]["map"] if form == Format.JSON else view.text.partition("── ")[0]
    assert "File Map: many.py\n3,600 lines │ " in shown
    assert "def function_0(first): [1-3]\n" in shown
    text = facts(view)[0]["content"] if form == Format.JSON else body(view)
    assert len(text) > len(shown)
    assert functions(900).startswith(text)
    for other in (read(service, path, start_line=2, max_tokens=tokens), read(service, write(service, "few.py", "x\n"))):
        assert "map" not in other.text


def test_where_there_is_no_map(service: Service) -> None:
    assert "map" not in read(service, write(service, "long.log", numbered(5_000))).text
    large = read(service, write(service, "large.py", functions(20) + "# more\n" * 400_000))
    assert "\nUse map_file(path) for a map of this file.\n── " in large.text


# Files that change


def test_a_file_that_changed_or_went_since_it_was_indexed(service: Service) -> None:
    path = write(service, "a.py", "old = 1\n")
    service.index()
    write(service, path, "new = 2\n")
    assert body(read(service, path)) == "new = 2\n"
    (service.root / path).unlink()
    message = r"a\.py was deleted since it was indexed"
    with pytest.raises(PathError, match=message):
        read(service, path)
    with pytest.raises(PathError, match=message):
        service.map_view(MapRequest(path))
    with pytest.raises(PathError, match="is not a file in the workspace"):
        read(service, "never.py")


def test_a_file_too_large_to_be_indexed_is_read(service: Service) -> None:
    path = write(service, "large.txt", numbered(200_000))
    assert (service.root / path).stat().st_size > service.settings.index.max_file_bytes
    assert body(read(service, path, start_line=123_456, max_lines=2)) == "line 123456\nline 123457\n"


# Requests


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start_line": 0}, "start_line must be 1 or more, not 0"),
        ({"start_column": 0}, "start_column must be 1 or more, not 0"),
        ({"max_lines": 0}, "max_lines must be from 1 to 2,000, not 0"),
        ({"max_tokens": 1}, "max_tokens must be from 1,000 to 25,000, not 1"),
        ({"paths": ("a",) * 51}, "paths must name 1 to 50 files, not 51"),
        ({"paths": ()}, "paths must name 1 to 50 files, not 0"),
    ],
)
def test_nonsense_is_an_error(service: Service, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        service.read_view(replace(ReadRequest(("a.py",)), **changes))


def test_a_refusal_cannot_break_the_budget() -> None:
    request = ReadRequest(("a", "b"), max_tokens=1_000)
    refusals = [Refusal("🙂" * 900, "🙂" * 900) for _ in range(2)]
    view = read_view(refusals, parse_read_request(request), lambda _: Outline("text"))
    assert measure(view.text).tokens <= 1_000
    assert measure(view.text).bytes <= READ_BYTES


def test_what_the_budget_did_to_a_read_is_observed(service: Service) -> None:
    with observed() as seen:
        read(service, write(service, "many.txt", numbered(400)), max_tokens=1_000)
        read(service, "many.txt", max_lines=3)
    assert [usage.info.reason for usage in seen] == ["token_limit", None]
    assert [usage.completeness for usage in seen] == [Completeness.LEFT_OUT, Completeness.PARTIAL]


def test_the_read_is_the_same_through_the_command_line(service: Service) -> None:
    write(service, "a.txt", numbered(90))
    write(service, "b.txt", "\x1b[31mred\r\n")
    options = ["--start-line", "1", "--start-column", "2", "--max-lines", "50", "--budget", "1000"]
    command = [sys.executable, "-m", "keyhole", "read", "a.txt", "b.txt", *options]
    done = subprocess.run(command, cwd=service.root, capture_output=True, text=True, check=True)
    assert done.stdout == read(service, "a.txt", "b.txt", start_column=2, max_lines=50, max_tokens=1_000).text
