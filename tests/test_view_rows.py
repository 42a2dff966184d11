"""Lines as a view shows them, and the rows they take when they are wrapped."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content, Span

from keyhole.core.untrusted_text import visible
from keyhole.tui.row_map import PlainRows, RowPlace, WrappedRows, row_starts
from keyhole.tui.shown_line import ShownLine
from keyhole.tui.text_finder import Finding, Match, matches_in, needle_of

CHARACTERS = st.sampled_from("ab  c\t\x1b\u200d数界é\u0301👩❤\ufe0f\ud800-")
LINES = st.text(alphabet=CHARACTERS, max_size=60)
PROSE = st.lists(st.text(alphabet="abcde数 ", max_size=50), max_size=300)


def rows_of(text: str, width: int) -> list[str]:
    starts = list(row_starts(text, width))
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


# Lines


@given(LINES)
def test_every_character_of_a_line_has_its_place(line: str) -> None:
    shown = ShownLine(line)
    places = [shown.place_of(offset) for offset in range(len(line) + 1)]
    assert places == sorted(set(places))
    assert (places[0], places[-1]) == (0, len(shown.text))
    assert "\t" not in shown.text
    for offset, character in enumerate(line):
        piece = shown.text[places[offset] : places[offset + 1]]
        assert piece in (character, visible(character)) if character != "\t" else not piece.strip()
        assert {shown.offset_of(place) for place in range(places[offset], places[offset + 1])} == {offset}
    assert shown.offset_of(len(shown.text)) == len(line)


def test_colours_follow_the_characters_over_tabs() -> None:
    shown = ShownLine("\ta\tbc\x1b")
    assert shown.text == "    a   bc\\x1b"
    content = shown.content(Content(shown.visible, spans=[Span(1, 2, "red"), Span(3, 5, "blue")]))
    assert content.plain == shown.text
    assert content.spans == [Span(4, 5, "red"), Span(8, 10, "blue")]


# Rows


@given(LINES.map(lambda line: ShownLine(line).text), st.integers(1, 20))
@example("❤\ufe0f" * 5, 3)
@example("word " * 4 + " " * 30, 9)
def test_the_rows_of_a_line_are_the_line_and_fit(text: str, width: int) -> None:
    rows = rows_of(text, width)
    assert "".join(rows) == text
    assert all(rows) or rows == [""]
    for row in rows:
        # One space may be beyond the edge, and one character can be wider than the whole row.
        assert cell_len(row.removesuffix(" ")) <= width or len(row) == 1


def test_words_stay_whole_if_they_fit() -> None:
    assert rows_of("one two three four", 9) == ["one two ", "three ", "four"]
    assert rows_of("one two three", 7) == ["one two ", "three"]
    assert rows_of("    abcdefghij", 8) == ["    abcd", "efghij"]
    assert rows_of("数据 数据", 5) == ["数据 ", "数据"]


def test_a_very_long_line_is_cut_without_looking_at_it() -> None:
    assert row_starts("ab " * 100_000, 100) == range(0, 300_000, 100)
    assert row_starts("数" * 20_000, 101) == range(0, 20_000, 50)


def wrapped(lines: list[str], width: int) -> WrappedRows:
    return WrappedRows(lines, lambda number: len(row_starts(lines[number], width)), width)


@given(PROSE, st.integers(2, 12), st.integers(0, 299), st.integers(1, 40))
def test_measured_rows_are_the_rows_of_the_lines(lines: list[str], width: int, line: int, height: int) -> None:
    rows = wrapped(lines, width)
    if not lines:
        assert (rows.total, rows.locate(0), rows.settle(0, height)) == (0, RowPlace(0), 0)
        return
    line %= len(lines)
    # Near a place that was gone to, each row follows the one before.
    top = rows.settle(rows.row_of(RowPlace(line)), height)
    assert rows.locate(top) == RowPlace(line)
    expected = [
        RowPlace(number, part)
        for number in range(line, len(lines))
        for part in range(len(row_starts(lines[number], width)))
    ][:height]
    assert [rows.locate(top + y) for y in range(len(expected))] == expected
    # Once all is measured, the rows are exact from the first to the last.
    for number in range(len(lines)):
        rows.row_of(RowPlace(number))
    assert rows.total == sum(len(row_starts(text, width)) for text in lines)
    assert [rows.row_of(rows.locate(row)) for row in range(rows.total)] == list(range(rows.total))


@given(PROSE, st.integers(2, 12), st.lists(st.integers(0, 5_000), max_size=8))
def test_measuring_leaves_the_first_line_in_place(lines: list[str], width: int, tops: list[int]) -> None:
    rows = wrapped(lines, width)
    for top in tops:
        before = rows.locate(min(top, max(0, rows.total - 1)))
        after = rows.locate(rows.settle(rows.row_of(before), 20))
        assert before.line == after.line
        assert after.part <= before.part


def test_blocks_that_are_measured_above_move_the_first_line_along() -> None:
    lines = ["a quite long line " * (number % 7) for number in range(1_000)]
    for line in (70, 130, 700):
        rows = wrapped(lines, 11)
        top = rows.settle(rows.row_of(RowPlace(line)), 200)
        assert rows.locate(top) == RowPlace(line)
        assert top == rows.row_of(RowPlace(line))


def test_only_lines_near_the_screen_are_measured() -> None:
    lines, asked = ["x" * 300] * 100_000, list[int]()
    rows = WrappedRows(lines, lambda number: asked.append(number) or 4, 100)  # type: ignore[func-returns-value]
    rows.settle(rows.row_of(RowPlace(50_000)), 30)
    assert len(asked) <= 4 * 64
    assert rows.locate(rows.row_of(RowPlace(50_000))) == RowPlace(50_000)


def test_plain_rows_are_lines() -> None:
    rows = PlainRows(3)
    assert (rows.total, rows.locate(2), rows.row_of(RowPlace(1)), rows.settle(1, 5)) == (3, RowPlace(2), 1, 1)


# Finding


def found(text: str, lines: list[str], origin: int = 0) -> Finding:
    finding = Finding(text, origin)
    finding.add(list(matches_in(lines, 0, len(lines), needle_of(text))))
    finding.is_complete = True
    finding.first()
    return finding


def test_case_counts_only_if_there_is_a_capital() -> None:
    lines = ["Get get GET", "İ.get"]
    assert len(found("get", lines).matches) == 4
    assert [match.start for match in found("Get", lines).matches] == [0]
    assert found("g.t", lines).matches == []


def test_matches_are_stepped_through_from_where_the_view_is() -> None:
    finding = found("a", ["a", "b", "a a", "a"], origin=1)
    assert (finding.current, finding.count_text) == (Match(2, 0, 1), "2 of 4")
    assert [finding.step(1), finding.step(1), finding.step(1)] == [Match(2, 2, 3), Match(3, 0, 1), Match(0, 0, 1)]
    assert (finding.step(-1), finding.count_text) == (Match(3, 0, 1), "4 of 4")


def test_what_is_not_there_says_so() -> None:
    finding = found("zz", ["a"])
    assert (finding.step(1), finding.count_text, finding.is_in_vain) == (None, "No matches", True)
    assert (found("", ["a"]).count_text, Finding("a", 0).count_text) == ("", "Searching…")
