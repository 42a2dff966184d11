"""Words are split in the same way at index and query time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.index.words import forms_of, split_words, stem
from keyhole.core.search.passages import QueryStems, stems_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserAvatar", "get user avatar getuseravatar"),
        ("get_user_avatar", "get user avatar getuseravatar"),
        ("GetUserAvatar", "get user avatar getuseravatar"),
        ("HTTPServer2", "http server 2 httpserver2"),
        ("parseURLs", "parse urls parseurls"),
        ("MAX_SIZE", "max size maxsize"),
        ("__init__", "init"),
        ("utf8", "utf 8 utf8"),
        ("größeÄndern", "grosse andern grosseandern"),
        ("naïve Café", "naive cafe"),
        ("ΑβγΔέλτα", "αβγ δελτα αβγδελτα"),
        ("検索abc", "検 索 abc"),
        ("a.b(c) + '_'", "a b c "),
        ("x" * 300, "x" * 64),
    ],
)
def test_examples(text: str, words: str) -> None:
    assert split_words(text) == words


@given(st.text())
def test_any_text_gives_bare_lower_case_words(text: str) -> None:
    words = split_words(text)
    assert words == words.casefold()
    assert all(word.isalnum() for word in words.split(" ") if word)


@given(st.lists(st.text(alphabet="abcdefgh", min_size=2, max_size=6), min_size=2, max_size=5))
def test_all_spellings_of_a_name_are_one(parts: list[str]) -> None:
    pascal = "".join(part.capitalize() for part in parts)
    camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
    assert (
        split_words("_".join(parts))
        == split_words(camel)
        == split_words(pascal)
        == split_words("_".join(parts).upper())
    )


@given(st.from_regex(r"[a-z]{1,12}(ation|ing|ed|s|es|y)?", fullmatch=True))
def test_forms_of_a_word_share_its_stem(word: str) -> None:
    forms = forms_of(word)
    assert forms[0] == word
    assert {stem(form) for form in forms} == {stem(word)}


def test_forms_of_a_word() -> None:
    assert {"compute", "computed", "computing", "computes"} <= set(forms_of("computed"))
    assert forms_of("h264") == ["h264"]


_PIECES = st.sampled_from(
    [
        "get",
        "Get",
        "_",
        "user",
        "USER",
        "Users",
        "größe",
        "İ",
        "ﬁnd",
        "find",
        "2",
        " ",
        ".",
        '"',
        "\n",
        "\r\n",
        "\u2028",
    ]
)


@given(st.lists(_PIECES, max_size=60).map("".join), st.lists(st.sampled_from(["get user", "größen find"]), max_size=1))
def test_lines_contain_the_same_as_if_every_line_were_split(text: str, quoted: list[str]) -> None:
    stems = frozenset(map(stem, ["getuser", "get", "users", "grosse", "find", "i", "2"]))
    found = QueryStems(stems, quoted).in_lines(text, 5)
    expected = {
        number: (stems_of(line) & stems) | {f'"{part}"' for part in quoted if part in line}
        for number, line in enumerate(text.split("\n"), 5)
    }
    assert list(found.items()) == [(number, contained) for number, contained in expected.items() if contained]


def test_the_best_lines_are_those_with_quoted_texts_then_those_with_most_words() -> None:
    texts = ["get", "get user", '"get user"', *["get"] * 9, "user get find"]
    found = {number: frozenset(text.split() if '"' not in text else [text]) for number, text in enumerate(texts, 1)}
    assert QueryStems(frozenset(["get"]), ["get user"]).best_lines(found) == [1, 2, 3, 4, 5, 6, 7, 13]
    few = {number: stems for number, stems in found.items() if number in (3, 4, 9)}
    assert QueryStems(frozenset(["get"]), ["get user"]).best_lines(few) == [3, 4, 9]
