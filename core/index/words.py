"""Splitting text into words, in the same way for indexing and for searching.

`getUserAvatar`, `get_user_avatar` and `GetUserAvatar` all become `get user avatar getuseravatar`: the parts, so that
plain words match, and the whole name, which is rare and therefore ranks high.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import filterfalse

# A longer word is data (a hash, base64), and only its start is kept.
_LONGEST_WORD = 200
_LONGEST_KEPT = 64
CACHE_LIMIT = 200_000
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "ed", "er", "es", "s", "e", "y")
_SHORTEST_STEM = 4

_WORD = re.compile(r"\w+")
_ASCII_TO_SPACE = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_PARTS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Scripts written without spaces: each character is a word, and several match as a phrase.
_UNSPACED_SET = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_UNSPACED = re.compile(f"({_UNSPACED_SET})")
_UNSPACED_RUN = re.compile(f"{_UNSPACED_SET}+")


def split_words(text: str) -> str:
    """Return the words of a text, lower-case and without accents, separated by spaces."""
    return " ".join(map(_split_known.__getitem__, written_words(text)))


def written_words(text: str) -> list[str]:
    """Return the words of a text as written, names not split into their parts."""
    # Nearly all source is ASCII, and for ASCII `translate` gives the same words three times as fast.
    return text.translate(_ASCII_TO_SPACE).split() if text.isascii() else _WORD.findall(text)


def parts_in(text: str) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Yield the start and end of each word of a text, and those of its parts: both of `user` and `Name` in `userName`.

    A word of which the positions are lost when accents are removed counts as one part.
    """
    for match in _WORD.finditer(text):
        start, word = match.start(), match.group()
        shape = word if word.isascii() else _shape_of(word)
        parts = [(start + part.start(), start + part.end()) for part in _PARTS.finditer(shape)] if shape else []
        yield start, match.end(), parts or [match.span()]


def unspaced_runs(text: str) -> list[str]:
    """Return the parts of a text in scripts without spaces, where several characters make a word."""
    return _UNSPACED_RUN.findall(text)


def _shape_of(word: str) -> str:
    """Return the shape of a word, with the same positions; nothing if these are lost."""
    bare = _without_accents(word)
    return "".join(map(_shape, bare)) if len(bare) == len(word) else ""


class _Splits(dict[str, str]):
    """A cache of how each word splits, since code repeats few words very often."""

    def __missing__(self, word: str) -> str:
        if len(self) >= CACHE_LIMIT:
            self.clear()
        split = self[word] = _split_word(word)
        return split


def _split_word(word: str) -> str:
    if not word.isascii():
        return _split_foreign(_without_accents(word))
    if len(word) > _LONGEST_WORD:
        return word[:_LONGEST_KEPT].lower()
    if word.isalpha() and (word.islower() or word.istitle()):
        return word.lower()
    parts = " ".join(_PARTS.findall(word)).lower()
    return f"{parts} {parts.replace(' ', '')}" if " " in parts else parts


def _split_foreign(word: str) -> str:
    if len(word) > _LONGEST_WORD:
        word = word[:_LONGEST_KEPT]
    if word.isalpha() and not any(map(str.isupper, word[1:])) and not _UNSPACED.search(word):
        return word.casefold()
    spaced = _UNSPACED.sub(r" \1 ", word)
    # Apply the ASCII rule to any script: split the word's shape, written with A, a and 0.
    shape = "".join(_shape(character) for character in spaced)
    parts = [spaced[part.start() : part.end()].casefold() for part in _PARTS.finditer(shape)]
    return " ".join([*parts, "".join(parts)] if len(parts) > 1 and spaced == word else parts)


def _shape(character: str) -> str:
    if character.isupper():
        return "A"
    if character.isdigit():
        return "0"
    return "a" if character.isalnum() else "_"


def _without_accents(word: str) -> str:
    bare = "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFKD", word)))
    return unicodedata.normalize("NFKC", bare)


_split_known = _Splits()


# Snowball's stemmer is not used: its stems cannot be turned back into words, so the index would need them too. With
# each word of a query expanded to all words with its Snowball stem, the tune half of bench/quality.py had an NDCG@10 of
# 0.620 in keyword mode (0.621 with these endings, 0.614 without stemming) and 0.683 in hybrid mode (0.688, 0.672), and
# a word took 57 us instead of 2 (snowballstemmer 3.1.1).
@lru_cache(maxsize=CACHE_LIMIT)
def stem(word: str) -> str:
    """Return a word without its common English ending, so that `computed` matches `compute`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def forms_of(word: str) -> list[str]:
    """Return the word and other forms with the same stem."""
    if not word.isalpha():
        return [word]
    base = stem(word)
    return list(dict.fromkeys([word, *(base + ending for ending in ("", *_ENDINGS) if stem(base + ending) == base)]))
