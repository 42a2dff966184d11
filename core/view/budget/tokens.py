"""How many tokens a text costs, estimated offline without any tokenizer.

A text is counted in a few terms, such as its words, its letters and its runs of punctuation, and each term has a
weight fitted on real code by bench/tokens.py. docs/tokens.md says how near that comes to real tokenizers.

Weights are whole thousandths of a token, and no term reaches over a line end, so a text weighs exactly what its lines
weigh together, and a page can be fitted into a budget line by line. No weight is negative, so adding text never
makes the whole lighter.
"""

from collections.abc import Container, Iterator, Mapping
from string import ascii_letters, ascii_uppercase, digits
from types import MappingProxyType

MILLI = 1_000
# It counts more tokens for code than OpenAI's tokenizers do, so what fits by this count mostly fits by theirs.
DEFAULT_TOKENIZER = "claude"

_ASCII = bytes(range(0x80))
_LETTERS, _CAPITALS, _DIGITS = (text.encode() for text in (ascii_letters, ascii_uppercase, digits))
_SPACES = b" \r"
_PUNCTUATION = _ASCII.translate(None, _LETTERS + _DIGITS + _SPACES + b"\t\n")
# Characters that people draw lines with: eighty in a row are a token or two.
_RULES = b"-=*#~"

_RUNS = {
    "words": _LETTERS,
    "runs of capitals": _CAPITALS,
    "numbers": _DIGITS,
    "runs of punctuation": _PUNCTUATION,
    "rules": _RULES,
    "runs of spaces": _SPACES,
    "runs of tabs": b"\t",
}
_CHARACTERS = {
    "letters": _LETTERS,
    "digits": _DIGITS,
    "rule characters": _RULES,
    "other punctuation": _PUNCTUATION.translate(None, _RULES),
    "spaces": _SPACES,
    "tabs": b"\t",
    "line ends": b"\n",
}
# Tokenizers join a line end to punctuation before it, but not to a word.
_LINE_ENDS_AFTER_WORDS = "line ends after words"
# Beyond ASCII, the first byte of a character in UTF-8 is enough to guess its script.
_OTHER_CHARACTERS = {
    "accented letters": bytes(range(0xC2, 0xCA)),
    "Greek and Cyrillic": bytes(range(0xCA, 0xD6)),
    "West and South Asian": bytes(range(0xD6, 0xE2)),
    "symbols": b"\xe2\xee\xef",
    "East Asian": bytes(range(0xE3, 0xEE)),
    "emoji": bytes(range(0xF0, 0xF5)),
}
_ALL_CHARACTERS = {**_CHARACTERS, **_OTHER_CHARACTERS}
TERMS = (*_RUNS, *_CHARACTERS, _LINE_ENDS_AFTER_WORDS, *_OTHER_CHARACTERS)

TOKENIZERS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "claude": {
            "words": 523,
            "runs of capitals": 337,
            "numbers": 418,
            "runs of punctuation": 887,
            "rules": 426,
            "runs of spaces": 0,
            "runs of tabs": 1221,
            "letters": 98,
            "digits": 295,
            "rule characters": 50,
            "other punctuation": 226,
            "spaces": 15,
            "tabs": 125,
            "line ends": 446,
            "line ends after words": 596,
            "accented letters": 3732,
            "Greek and Cyrillic": 665,
            "West and South Asian": 1292,
            "symbols": 1343,
            "East Asian": 1387,
            "emoji": 3405,
        },
        "o200k": {
            "words": 120,
            "runs of capitals": 198,
            "numbers": 891,
            "runs of punctuation": 643,
            "rules": 375,
            "runs of spaces": 309,
            "runs of tabs": 1019,
            "letters": 101,
            "digits": 258,
            "rule characters": 26,
            "other punctuation": 304,
            "spaces": 26,
            "tabs": 125,
            "line ends": 337,
            "line ends after words": 1569,
            "accented letters": 3314,
            "Greek and Cyrillic": 247,
            "West and South Asian": 435,
            "symbols": 1228,
            "East Asian": 958,
            "emoji": 4000,
        },
    }
)


def estimate_tokens(text: str, tokenizer: str = DEFAULT_TOKENIZER) -> int:
    """Estimate how many tokens a text costs, rounded up."""
    return -(-token_weight(text, tokenizer) // MILLI)


def token_weight(text: str, tokenizer: str = DEFAULT_TOKENIZER) -> int:
    """Estimate in thousandths of a token; the weights of whole lines add up exactly."""
    weights, total = _HEAVY[tokenizer], 0
    for term, count in count_terms(text, weights):
        if count:
            total += weights[term] * count
    return total


def most_weight(text: str) -> int:
    """Return the most that a text of this length can weigh, without counting its terms."""
    return len(text) * (_HEAVIEST_ASCII if text.isascii() else _HEAVIEST)


def count_terms(text: str, asked: Container[str] = TERMS) -> Iterator[tuple[str, int]]:
    """Yield each of the `asked` terms that can occur in a text, with its count."""
    # A lone surrogate can't be encoded normally, but it has to be counted.
    encoded = text.encode("utf-8", "surrogatepass")
    # Deleting bytes, or blanking them out and splitting, is faster than a regular expression.
    for term, mask in _RUN_MASKS.items():
        if term in asked and (term != "runs of tabs" or b"\t" in encoded):
            yield term, len(encoded.translate(mask).split())
    yield _LINE_ENDS_AFTER_WORDS, encoded.translate(_WORDS_AND_LINE_ENDS).count(b"x\n")
    # Each kind is deleted once counted, so the next one has less to scan.
    for term, members in (_CHARACTERS if text.isascii() else _ALL_CHARACTERS).items():
        rest = encoded.translate(None, members)
        yield term, len(encoded) - len(rest)
        encoded = rest


def _mask(members: bytes, kept: bytes = b"") -> bytes:
    """Return a table that turns members into x, and all other bytes except the kept ones into blanks."""
    return bytes(byte if byte in kept else b"x"[0] if byte in members else b" "[0] for byte in range(256))


_RUN_MASKS = {term: _mask(members) for term, members in _RUNS.items()}
_WORDS_AND_LINE_ENDS = _mask(_LETTERS + _DIGITS, kept=b"\n")

# A term without weight need not be counted.
_HEAVY = {name: {term: weight for term, weight in weights.items() if weight} for name, weights in TOKENIZERS.items()}


def _heaviest(weights: Mapping[str, int], term_members: Mapping[str, bytes], byte: int) -> int:
    """Return the weight of a single character on its own, which starts every run it can be in."""
    return sum(weights[term] for term, members in term_members.items() if byte in members)


_HEAVIEST_ASCII = max(
    _heaviest(TOKENIZERS[DEFAULT_TOKENIZER], {**_RUNS, **_CHARACTERS, _LINE_ENDS_AFTER_WORDS: b"\n"}, byte)
    for byte in _ASCII
)
_HEAVIEST = max(_HEAVIEST_ASCII, *(TOKENIZERS[DEFAULT_TOKENIZER][term] for term in _OTHER_CHARACTERS))
