"""Words are split in the same way at index and query time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.index.words import forms_of, split_words, stem


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
