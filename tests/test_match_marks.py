"""What is marked of a query in lines and paths: the same that the search matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.index.words import parts_in, split_words, stem
from keyhole.core.search.match_marks import PatternMarks, WordMarks, joined, marks_of
from keyhole.core.search.query import words_of
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query
from keyhole.tui.hit_marks import NameMarks

ANY = st.text(alphabet=st.sampled_from("abcXYZ019_ .-()éßñ数据İ\t"), max_size=40)
# Without letters that become two, of which one letter would be a word.
LETTERS = st.text(alphabet=st.sampled_from("abcXYZ019_ .-()éñ数据\t"), max_size=40)


def marked(query: str, line: str, mode: Mode = Mode.HYBRID) -> list[str]:
    return [line[start:end] for start, end in marks_of(Query(query), mode).spans(line)]


@pytest.mark.parametrize(
    ("query", "line", "expected"),
    [
        ("user avatar", "def getUserAvatars(users, user_avatar, i):", ["UserAvatars", "users", "user_avatar"]),
        ("QuerySet.filter", "class QuerySet: filter(query_set)", ["QuerySet", "filter", "query_set"]),
        ("query set", "class QuerySet, _query", ["QuerySet", "query"]),
        ("computed", "compute computing computer Computes", ["compute", "computing", "computer", "Computes"]),
        ("how does it get the file", "get the file and files", ["file", "files"]),
        ("a b", "a_b a b ab", ["a_b", "a", "b", "ab"]),
        ("i", "for i in items: i_x", ["i"]),
        ('"as is" thing', "things as is As is", ["things", "as is"]),
        ('"as is"', "is as is", ["as is"]),
        ("数据库", "数 = 数据库()", ["数据库"]),
        ("Größe", "size GRÖSSE größe", ["GRÖSSE", "größe"]),
        ("naive", "naïve NaïveBayes", ["naïve", "Naïve"]),
        ("cafe", "cafe\u0301 x", ["cafe"]),
    ],
)
def test_words_are_marked_as_the_search_matches_them(query: str, line: str, expected: list[str]) -> None:
    assert marked(query, line) == expected


def test_a_pattern_is_marked_where_it_matches_and_not_in_paths() -> None:
    assert marked(r"/de[fg] \w+/", "def foo, deg bar", Mode.REGEX) == ["def foo", "deg bar"]
    assert marked("mode", "a Mode of mode", Mode.REGEX) == ["mode"]
    assert marked('"a.b"', "axb a.b", Mode.REGEX) == ["a.b"]
    assert marked("/x*/", "axxa", Mode.REGEX) == ["xx"]
    assert marks_of(Query("/src/"), Mode.REGEX).path_spans("src/a.py") == []
    assert marks_of(Query("src"), Mode.HYBRID).path_spans("src/a.py") == [(0, 3)]


def test_a_search_by_symbol_marks_parts_of_names() -> None:
    assert marked("filt", "def filter(prefilter)", Mode.SYMBOL) == ["filt", "filt"]
    assert marked("QuerySet.filter", "QuerySet().filter(set)", Mode.SYMBOL) == ["QuerySet", "filter"]


def test_a_pattern_over_several_lines_is_marked_in_the_text() -> None:
    marks = marks_of(Query(r"/foo\n *bar/"), Mode.REGEX).within("x foo\n  bar foo\nbar\n")
    lines = ["x foo", "  bar foo", "bar", ""]
    assert [marks.spans(line, number) for number, line in enumerate(lines, 1)] == [
        [(2, 5)],
        [(0, 5), (6, 9)],
        [(0, 3)],
        [],
    ]
    assert PatternMarks("foo").within("foo") == PatternMarks("foo")


def test_a_long_line_has_limits() -> None:
    assert len(WordMarks(words=("ab",)).spans("ab " * 1_000_000)) == 500
    assert len(PatternMarks("ab").spans("ab " * 1_000_000)) == 500


def test_a_name_is_marked_as_a_whole_word_once_on_its_line() -> None:
    marks = NameMarks("get", 2, WordMarks(words=("user",)))
    assert marks.spans("def get(self): get user", 2) == [(4, 7), (19, 23)]
    assert marks.spans("get user", 3) == [(4, 8)]
    assert NameMarks("get").spans("get getter get") == [(0, 3), (11, 14)]


@given(ANY)
def test_parts_are_inside_their_words_and_in_order(text: str) -> None:
    for start, end, parts in parts_in(text):
        ends = [start, *(place for part in parts for place in part), end]
        assert ends == sorted(ends)
        assert all(left < right for left, right in parts)


@given(st.text(alphabet="abcXYZ019_", min_size=1, max_size=20))
def test_parts_are_those_of_the_index(word: str) -> None:
    ((_, _, parts),) = parts_in(word)
    pieces = [word[left:right].lower() for left, right in parts]
    indexed = split_words(word).split()
    assert (pieces == indexed[: len(pieces)]) or not indexed


@given(LETTERS, LETTERS)
def test_a_line_is_marked_if_it_has_a_word_of_the_query(query: str, line: str) -> None:
    spans = marks_of(Query(query), Mode.HYBRID).spans(line)
    assert spans == joined(spans)
    assert all(0 <= start < end <= len(line) for start, end in spans)
    # One letter is only marked where it is a word of its own, and scripts without spaces are matched as written.
    words = {stem(word) for word in words_of(query) if len(word) > 1 and word.isascii()}
    if words & {stem(word) for word in split_words(line).split()}:
        assert spans
