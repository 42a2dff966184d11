"""Fuzzy matching of names: what matches, which match is best, and that many names at once give the same."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.core.search.fuzzy_scores import LONGEST_NAME, best_match, folded, words_of
from keyhole.core.search.name_matcher import NameMatcher

FILES = (
    "db/models/query.py",
    "db/models/query_utils.py",
    "db/models/sql/query.py",
    "docs/ref/models/querysets.txt",
    "db/migrations/questioner.py",
    "contrib/admin/static/admin/js/jquery.init.js",
    "tests/db_typecasts/tests.py",
    "README.md",
    "src/HttpRequest.java",
    "src/http_request.py",
)


def matcher_of(names: tuple[str, ...] | list[str]) -> NameMatcher:
    return NameMatcher(names, [name.rfind("/") + 1 for name in names])


def found_in(names: tuple[str, ...] | list[str], typed: str, limit: int = 1_000) -> list[str]:
    return [names[number] for number in matcher_of(names).find(typed, limit).best]


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("dbmqry", "db/models/query.py"),
        ("query.py", "db/models/query.py"),
        ("sqlq", "db/models/sql/query.py"),
        ("query utils", "db/models/query_utils.py"),
        ("utils query", "db/models/query_utils.py"),
        ("readme", "README.md"),
        ("hr", "src/http_request.py"),
        ("HR", "src/HttpRequest.java"),
        ("h_r", "src/http_request.py"),
        ("tests", "tests/db_typecasts/tests.py"),
        ("'sql", "db/models/sql/query.py"),
        ("^src py$", "src/http_request.py"),
        ("query !sql !utils .py", "db/models/query.py"),
    ],
)
def test_the_best_match_is_the_one_that_people_mean(typed: str, best: str) -> None:
    assert found_in(FILES, typed)[0] == best


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("zzz", []),
        ("^db md$", []),
        ("READme", []),
        ("README", ["README.md"]),
        ("'qry", []),
        ("^README.md$", ["README.md"]),
        ("!e", []),
        ("$", []),
    ],
)
def test_what_does_not_match_is_not_found(typed: str, names: list[str]) -> None:
    assert found_in(FILES, typed) == names


def test_without_words_every_name_is_found_in_its_order() -> None:
    for typed in ("", "   ", "!", "'", "^"):
        assert found_in(FILES, typed) == list(FILES)
    assert matcher_of(FILES).find("", 3).best == (0, 1, 2)
    assert matcher_of(FILES).find("", 3).count == len(FILES)
    assert matcher_of(()).find("x", 3).count == 0


def test_the_count_is_that_of_all_matches() -> None:
    names = [f"file{number}.py" for number in range(500)]
    found = matcher_of(names).find("file", 10)
    assert (found.count, len(found.best)) == (500, 10)
    # The shortest first, then in their order.
    assert found.best == tuple(range(10))


def test_letters_of_any_language_match() -> None:
    names = [
        "straße/überblick.md",
        "docs/обзор.md",
        "İstanbul.txt",
        "ΣΊΣΥΦΟΣ.txt",
        "\udcff/broken.py",
        "日本語/資料.md",
    ]
    assert found_in(names, "ÜBER") == []
    assert found_in(names, "über") == [names[0]]
    assert found_in(names, "обз") == [names[1]]
    assert found_in(names, "istan") == [names[2]]
    assert found_in(names, "σίσυφος") == [names[3]]
    assert found_in(names, "brkn") == [names[4]]
    assert found_in(names, "資") == [names[5]]


def test_a_very_long_name_is_clipped() -> None:
    name = "a" * LONGEST_NAME + "b"
    assert found_in([name], "ab") == []
    assert best_match(name, 0, words_of("ab")[0]) is None
    assert found_in([name], "a" * 5_000) == [name]


# The letters of the names are few, so that they repeat and there are many ways to match.
LETTERS = "abA_/.1\u00df\u0130"
NAMES = st.lists(st.text(LETTERS, min_size=1, max_size=10) | st.just(""), min_size=2, max_size=10)
WORDS = ("a", "b", "ab", "ba", "aba", "A", "aA", "a1", "^a", "^ab", "a$", "'ab", "'ba", "!b", "!^a", "\u00dfa", "i")
TYPED = st.lists(st.sampled_from(WORDS), max_size=2).map(" ".join)


@given(NAMES, TYPED)
@example(["b/ab", "aab"], "ab")
@example(["", "a"], "a")
def test_many_names_at_once_score_like_each_alone(names: list[str], typed: str) -> None:
    alone = []
    for number, name in enumerate(names):
        score = 0
        for word in words_of(typed):
            match = best_match(name, name.rfind("/") + 1, word)
            if (match is None) != word.is_unwanted:
                break
            score += match[0] if match else 0
        else:
            alone.append((-score, len(name) if typed else 0, number))
    found = matcher_of(names).find(typed, 100)
    assert [(-score, number) for number, score in zip(found.best, found.scores, strict=True)] == [
        (score, number) for score, _, number in sorted(alone)
    ]
    assert found.count == len(found.best)


@given(st.text(LETTERS, max_size=12), st.text("abA_/1ß'^$", min_size=1, max_size=5))
def test_a_match_is_the_letters_in_their_order(name: str, typed: str) -> None:
    for word in words_of(typed):
        match = best_match(name, 0, word)
        letters = iter(name if word.minds_case else folded(name))
        if match is None:
            assert word.is_exact or not all(letter in letters for letter in word.text)
            continue
        _, places = match
        assert list(places) == sorted(set(places))
        assert "".join((name if word.minds_case else folded(name))[place] for place in places) == word.text


@given(NAMES, st.lists(TYPED, max_size=3))
@example(["ba", "ab"], ["^a", "'a"])
@settings(max_examples=50)
def test_the_queries_before_do_not_matter(names: list[str], queries: list[str]) -> None:
    used = matcher_of(names)
    for typed in queries:
        for end in range(len(typed) + 1):
            assert used.find(typed[:end], 3) == matcher_of(names).find(typed[:end], 3)


def test_what_is_kept_is_limited_and_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.core.search.name_matcher._MOST_PLACES", 20)
    matcher = matcher_of(FILES)
    for typed in ("dbmqry", "dbmqr", "sql query", "dbmqry"):
        assert matcher.find(typed, 3) == matcher_of(FILES).find(typed, 3)
        assert matcher._kept_places == sum(len(ends.places) for ends in matcher._kept.values())
        assert matcher._kept_places <= 20
    matcher.forget()
    assert not matcher._kept
    assert matcher.find("dbmqry", 3) == matcher_of(FILES).find("dbmqry", 3)


@given(NAMES, TYPED, st.integers(1, 4))
@settings(max_examples=50)
def test_a_limit_keeps_the_best(names: list[str], typed: str, limit: int) -> None:
    every, some = matcher_of(names).find(typed, 100), matcher_of(names).find(typed, limit)
    assert (some.count, some.best) == (every.count, every.best[:limit])
