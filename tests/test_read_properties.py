"""Properties of every read, for any text."""

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_reads import PARAMETER, body, facts

from keyhole.core.types.choices import Format
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline
from keyhole.core.types.view_requests import ReadRequest
from keyhole.core.view.budget.sizes import Budget, measure
from keyhole.core.view.reads.line_window import Position, cut_window, open_window
from keyhole.core.view.reads.read_view import parse_read_request, read_view
from keyhole.core.view.reads.source_style import SourceStyle
from keyhole.core.view.text import source_text
from keyhole.core.view.writing import View

pieces = st.text(alphabet="aZ9 _`(🙂検é\t\x1b\x85\u2028\r", max_size=30)
ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\x0c"])
stretches = st.builds(lambda piece, end, times: (piece + end) * times, pieces, ends, st.integers(1, 150))
giants = st.builds(str.__mul__, pieces, st.integers(1, 400))
contents = st.lists(stretches | giants, max_size=8).map("".join)


class AsItIs(SourceStyle):
    """Writes parts of lines without a line end, which makes it easy to stop at any character."""

    def columns(self, text: str) -> str:
        return text


def test_the_two_characters_of_a_line_end_stay_together() -> None:
    window = open_window("a" * 50 + "\r\nb\r\n", Position(), 2)
    piece = cut_window(window, Budget(25_000, 51), AsItIs(Format.JSON, line_numbers=True))
    assert (piece.text, piece.next) == ("a" * 50, Position(1, 51))


def open_source(path: str, text: str) -> SourceFile:
    return SourceFile(path, len(text.encode()), 0, "", "utf-8", text)


def view_of(request: ReadRequest, *texts: str) -> View:
    sources = [open_source(path, text) for path, text in zip(request.paths, texts, strict=True)]
    return read_view(sources, parse_read_request(request), lambda _: Outline("text"))


@given(contents, st.integers(1, 700), st.integers(1_000, 3_000), st.sampled_from(Format), st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_pages_are_the_file(text: str, max_lines: int, tokens: int, form: Format, line_numbers: bool) -> None:
    request = ReadRequest(("a.txt",), max_lines=max_lines, max_tokens=tokens, format=form, line_numbers=line_numbers)
    pages: list[str] = []
    while True:
        view = view_of(request, text)
        assert parse_read_request(request).budget.admits(measure(view.text))
        assert view.truncation.estimated_tokens == measure(view.text).tokens
        assert len(view.banner.splitlines()) == 1
        page = facts(view)[0]["content"] if form == Format.JSON else body(view)
        # Part of a line is shown with a line end that the file does not have there.
        pages.append(page.removesuffix("\n") if form == Format.TEXT and ", columns " in view.banner else page)
        way = dict(PARAMETER.findall(view.banner.partition("Next page: ")[2]))
        assert view.truncation.next == " ".join(f"{name}={value}" for name, value in way.items())
        if not way:
            break
        place = {"start_line": 1, "start_column": 1} | {name: int(value) for name, value in way.items()}
        request = replace(request, **place)
    assert "".join(pages) == (text if form == Format.JSON else source_text(text))


@given(
    st.lists(contents, min_size=2, max_size=12),
    st.integers(1, 700),
    st.integers(1_000, 25_000),
    st.tuples(st.sampled_from(Format), st.booleans()),
    st.sampled_from(["a", "🙂" * 90]),
)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_several_files_keep_within_one_budget(
    texts: list[str], max_lines: int, tokens: int, style: tuple[Format, bool], name: str
) -> None:
    paths = tuple(f"{name}{n}" for n in range(len(texts)))
    request = ReadRequest(paths, 1, 1, max_lines, tokens, *style)
    view = view_of(request, *texts)
    assert parse_read_request(request).budget.admits(measure(view.text))
    if request.format == Format.JSON:
        results = facts(view)
        assert results
        for text, result in zip(texts, results, strict=False):
            assert text.startswith(result["content"])
            assert result["is_truncated"] == (len(result["content"]) < len(text))
            if text and tokens > 2_000:
                assert result["content"]
        left_out = re.search(r"Read the last (\d+) paths", view.banner)
        assert len(texts) - len(results) == (int(left_out.group(1)) if left_out else 0)
