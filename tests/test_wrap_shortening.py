"""Shortened answers of wrapped servers: they fit, say what is left out, and their pages are the answer again."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rebuilt_answers import Result, all_pages, block_text, rebuilt_texts

from keyhole.core.clients import profile_named
from keyhole.core.wrap.shortening.answer_budget import AnswerBudget, TokenBudget, client_budget
from keyhole.core.wrap.shortening.cut_answers import Shortener
from keyhole.core.wrap.shortening.kept_answers import KeptAnswers
from keyhole.core.wrap.shortening.more_tool import answer_more

SMALL = TokenBudget(1_000)
RECORDED = Path(__file__).parent / "fixtures" / "wrap" / "answers.zip"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptAnswers:
    return KeptAnswers(tmp_path_factory.mktemp("kept"))


def text_result(*texts: str) -> Result:
    return {"content": [{"type": "text", "text": text} for text in texts]}


def fits(result: Result, budget: AnswerBudget) -> bool:
    return budget.fits(result["content"], result.get("structuredContent"), is_error=bool(result.get("isError")))


def pages_of(result: Result, kept: KeptAnswers, budget: AnswerBudget = SMALL) -> list[Result]:
    """Return all pages of an answer, each of which fits; only one if the answer fits as it is."""
    shortener = Shortener(budget, kept, "keyhole_more")
    if shortener.is_small(result):
        return [result]
    short = shortener.shortened(result, None)
    pages = list(all_pages(short, lambda call: answer_more(call, kept, budget, "keyhole_more")))
    assert all(fits(page, budget) for page in pages)
    return pages


def check_rebuilt(result: Result, kept: KeptAnswers, budget: AnswerBudget = SMALL) -> list[Result]:
    pages = pages_of(result, kept, budget)
    if len(pages) > 1:
        rebuilt = rebuilt_texts(pages)
        assert [rebuilt[place] for place in sorted(rebuilt)] == [block_text(block) for block in result["content"]]
    return pages


WORDS = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    ["ok", "naïve", "日本語", "😀😀", 'a "quote" \\ and\nline', "\u2028", "x" * 60]
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)
LONG = st.builds(lambda text, count: text * count, WORDS, st.integers(20, 150))
RECORDS = st.lists(
    VALUES | st.dictionaries(st.sampled_from(["id", "body", "tags"]), VALUES | LONG), min_size=1, max_size=6
)
STYLES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (",", ":")}]
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    records = draw(RECORDS) * draw(st.integers(1, 12))
    whole: Any = draw(
        st.sampled_from(
            [
                records,
                {"items": records, "total": 7},
                {"data": {"items": records}},
                dict(enumerate(records)),
                [[records]],
            ]
        )
    )
    blanks = draw(st.sampled_from(["", "\n", "  \n"]))
    return blanks + json.dumps(whole, **draw(STYLES)) + blanks


LINES = st.lists(st.text(st.characters(codec="utf-8"), max_size=200) | LONG | st.just(""), min_size=1, max_size=20)


@settings(max_examples=30)
@given(json_texts())
def test_pages_of_json_are_json_and_rebuild_it(kept: KeptAnswers, text: str) -> None:
    pages = check_rebuilt(text_result(text), kept)
    for page in pages:
        assert isinstance(json.loads(page["content"][0]["text"]), type(json.loads(text)))


@settings(max_examples=30)
@given(LINES, st.integers(1, 12))
def test_pages_of_text_rebuild_it(kept: KeptAnswers, lines: list[str], count: int) -> None:
    check_rebuilt(text_result("\n".join(lines * count)), kept)


@settings(max_examples=10)
@given(st.lists(json_texts() | LINES.map("\n".join), min_size=2, max_size=12))
def test_pages_of_many_blocks_rebuild_them(kept: KeptAnswers, texts: list[str]) -> None:
    check_rebuilt(text_result(*texts), kept)


@settings(max_examples=30)
@given(json_texts() | LINES.map(lambda lines: "\n".join(lines * 5)), st.sampled_from(["vscode", "copilot", "opencode"]))
def test_pages_fit_what_a_client_delivers(kept: KeptAnswers, text: str, client: str) -> None:
    budget = client_budget(profile_named(client))
    assert budget
    check_rebuilt(text_result(text * 2), kept, budget)


def recorded_answers() -> dict[str, Result]:
    """Return answers of real servers, which bench/wrap/budget_answers.py recorded."""
    with ZipFile(RECORDED) as packed:
        return {name: json.loads(packed.read(name)) for name in packed.namelist()}


@pytest.mark.parametrize("name", list(recorded_answers()))
def test_pages_of_recorded_answers_rebuild_them(kept: KeptAnswers, name: str) -> None:
    result = recorded_answers()[name]
    check_rebuilt(result, kept, TokenBudget(1_500))
    check_rebuilt({"content": result["content"]}, kept, TokenBudget(5_000))
