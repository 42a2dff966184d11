"""What is wrong with a regular expression: every kind of RE2's errors, in our own words and at the right place."""

import pytest
from canaries import text_of

from keyhole.core.errors import QueryError
from keyhole.core.search.regex import compile_pattern
from keyhole.core.untrusted_text import LONGEST_ERROR

# Pattern, a piece of the message, and the column of the mark.
CASES = [
    ("f(a", "a ( is never closed", 1),
    (r"[(]\((x", "a ( is never closed", 5),
    ("a)b", "a ) has no ( before it", 1),
    ("[a", "a [ is never closed", 0),
    ("[z-a]", "the range z-a is backwards", 1),
    ("a**", "** repeats a repeat", 1),
    ("a++", "possessive repeats are not supported; use + instead of ++", 1),
    ("*a", r"nothing before * to repeat; write \* for the character", 0),
    (r"x\q", r"unknown escape \q", 1),
    (r"x\Z", r"use \z for the end of the text", 1),
    (r"(a)\1", "backreferences are not supported", 3),
    (r"C:\\1(", "a ( is never closed", 5),
    (r"\xZZ", "is not a character", 0),
    ("(?P<n", "is not a group name", 0),
    ("(?P=n)", "backreferences are not supported", 0),
    ("a(?=b)", "lookahead and lookbehind are not supported", 1),
    ("(?<!a)b", "lookahead and lookbehind are not supported", 0),
    ("(?>a)", "atomic groups are not supported", 0),
    ("(?(1)a)", "conditions are not supported", 0),
    ("(?#c)", "comments are not supported", 0),
    ("(?z)", "unknown group (?z", 0),
    (r"\p{Foo}", r"unknown Unicode class \p{Foo}", 0),
    ("[[:foo:]]", "unknown class [:foo:]", 1),
    ("ab\\", "it ends with a backslash", 2),
    ("a{5000}", "{5000} repeats too often; the limit is 1,000", 1),
    ("(a{100}){100}", "the limit is 1,000, with nested repeats multiplied", 2),
    ("a{2,1}", "in {2,1} the first number must not be larger", 1),
    # Python's own parser would blame \p here, which RE2 supports.
    (r"\pL{500}", "it is too large; use smaller repeat counts", 3),
    ("x\ud800y", "a character that is not valid text", 1),
]


@pytest.mark.parametrize(("pattern", "words", "column"), CASES, ids=[ascii(case[0]) for case in CASES])
def test_every_kind_in_our_words(pattern: str, words: str, column: int) -> None:
    with pytest.raises(QueryError) as raised:
        compile_pattern(pattern)
    reason, line, mark = raised.value.problem.split("\n")
    assert words in reason
    assert "b'" not in reason
    assert line == f"  {pattern}".replace("\ud800", "\\ud800")
    assert mark == f"  {' ' * column}^"


def test_a_long_pattern_is_shown_around_the_place() -> None:
    with pytest.raises(QueryError) as raised:
        compile_pattern("x" * 300 + "\t\u200b(" + "y" * 300)
    _, line, mark = raised.value.problem.split("\n")
    assert line[mark.index("^")] == "("
    assert line.startswith("  …x")
    assert line.endswith("y…")
    assert len(raised.value.problem) < LONGEST_ERROR


TOKEN = "ghp_" + text_of(36)


@pytest.mark.parametrize(
    "pattern",
    [
        f"{TOKEN}aaa(",
        f"{TOKEN} {'x' * 45}(",
        f"({'x' * 40} {TOKEN}",
        f"x{'y' * 30} (?P<{TOKEN}",
        f"[[:{'y' * 30}-{TOKEN}:]]",
        f"{TOKEN}**",
        f"{'z' * 70}**{TOKEN}",
        f"{TOKEN}\ud800",
    ],
)
def test_no_part_of_a_token_is_shown(pattern: str) -> None:
    with pytest.raises(QueryError) as raised:
        compile_pattern(pattern)
    shown = raised.value.problem
    assert not [start for start in range(4, 36) if TOKEN[start : start + 5] in shown], shown


def test_the_mark_stays_under_the_place_when_a_token_is_masked() -> None:
    with pytest.raises(QueryError) as raised:
        compile_pattern(f"{TOKEN} (a")
    _, line, mark = raised.value.problem.split("\n")
    assert line == "  [secret: github-token] (a"
    assert line[mark.index("^")] == "("


def test_a_token_around_the_place_is_masked() -> None:
    webhook = "hooks.slack" + f".com/services/{text_of(20)}++{text_of(20)}"
    with pytest.raises(QueryError) as raised:
        compile_pattern(webhook)
    assert webhook[-12:] not in raised.value.problem
    assert "[secret: slack-webhook]" in raised.value.problem
