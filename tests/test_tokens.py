"""The token estimate: sums over lines are exact, more text never costs less, and it is close to real tokenizers."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.view.budget.tokens import (
    DEFAULT_TOKENIZER,
    MILLI,
    TERMS,
    TOKENIZERS,
    estimate_tokens,
    most_weight,
    token_weight,
)

FIXTURES = Path(__file__).parent / "fixtures"
# True counts of the files in fixtures/languages, written by bench/tokens.py --count-fixtures.
TRUE_COUNTS: dict[str, dict[str, int]] = json.loads((FIXTURES / "tokens.json").read_text())

tokenizers = st.sampled_from(sorted(TOKENIZERS))
# Text with runs that could cross line ends, and with all kinds of characters.
texts = st.text(st.sampled_from("abXY09 \t\r\n.(-=_éжש中→🔑\ud800"))


@given(st.lists(texts, max_size=8), tokenizers)
def test_a_text_weighs_exactly_what_its_lines_weigh_together(blocks: list[str], tokenizer: str) -> None:
    text = "\n".join(blocks)
    lines = [f"{block}\n" for block in blocks[:-1]] + blocks[-1:]
    assert token_weight(text, tokenizer) == sum(token_weight(line, tokenizer) for line in lines)


@given(texts, st.text(), texts, tokenizers)
def test_more_text_never_weighs_less(before: str, text: str, after: str, tokenizer: str) -> None:
    assert token_weight(before + text + after, tokenizer) >= token_weight(text, tokenizer)


@given(st.text(), tokenizers)
def test_the_estimate_is_the_weight_in_whole_tokens_rounded_up(text: str, tokenizer: str) -> None:
    weight, estimate = token_weight(text, tokenizer), estimate_tokens(text, tokenizer)
    assert 0 <= estimate * MILLI - weight < MILLI


@given(st.characters(), tokenizers)
def test_only_nothing_is_free(character: str, tokenizer: str) -> None:
    assert token_weight("", tokenizer) == estimate_tokens("", tokenizer) == 0
    assert token_weight(character, tokenizer) > 0


def test_every_tokenizer_has_a_weight_for_every_term() -> None:
    assert DEFAULT_TOKENIZER in TOKENIZERS
    for weights in TOKENIZERS.values():
        assert set(weights) == set(TERMS)
        assert min(weights.values()) >= 0


@pytest.mark.parametrize("tokenizer", sorted(TRUE_COUNTS))
def test_near_the_true_counts_of_small_files_in_each_language(tokenizer: str) -> None:
    counts = TRUE_COUNTS[tokenizer]
    found = {path.parent.name for path in (FIXTURES / "languages").glob("*/sample.*")}
    assert {Path(name).parent.name for name in counts} == found
    errors = [
        estimate_tokens((FIXTURES / "languages" / name).read_text(), tokenizer) / count - 1
        for name, count in counts.items()
    ]
    assert sum(map(abs, errors)) / len(errors) <= 0.08
    assert max(map(abs, errors)) <= 0.20


@given(st.text())
def test_no_text_weighs_more_than_the_most_that_its_length_allows(text: str) -> None:
    assert token_weight(text) <= most_weight(text)
