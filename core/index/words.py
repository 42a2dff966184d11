"""Splitting text into the words that are indexed and searched: one function for both.

`getUserAvatar`, `get_user_avatar` and `GetUserAvatar` all give `get user avatar getuseravatar`: the
parts, so that plain words find them, and the whole, so that the name itself is rare and ranks high.
"""

import re
import unicodedata
from itertools import filterfalse

# A longer run is data (a hash, base64), of which only the start is worth keeping.
_LONGEST_WORD = 200
_LONGEST_KEPT = 64
_CACHE_LIMIT = 200_000
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "ed", "er", "es", "s", "e", "y")
_SHORTEST_STEM = 4

_WORD = re.compile(r"\w+")
_ASCII_TO_SPACE = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_PARTS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Scripts written without spaces: each character is a word, and a phrase finds a run of them.
_UNSPACED = re.compile("([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")


def split_words(text: str) -> str:
    """Return the words of a text, lower-case and without accents, separated by spaces."""
    # Nearly all source is ASCII, where this finds the same words three times as fast.
    words = text.translate(_ASCII_TO_SPACE).split() if text.isascii() else _WORD.findall(text)
    return " ".join(map(_split_known.__getitem__, words))


class _Splits(dict[str, str]):
    """Remembers how each word splits: code repeats few words very often."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _CACHE_LIMIT:
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
    # The same rule in any script: split a word of A, a and 0 that has the same shape.
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


# Not Snowball's stemmer: its stems cannot be turned back into words, so they would have to be in the index too. With
# each word of a query expanded to all words of its Snowball stem, the tune half of bench/quality.py gave NDCG@10 of
# 0.620 by words (0.621 with these endings, 0.614 without any) and 0.683 hybrid (0.688, 0.672), and a word took 57 us
# instead of 2 (snowballstemmer 3.1.1).
def stem(word: str) -> str:
    """Cut a common English ending off, so that `computed` meets `compute`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def forms_of(word: str) -> list[str]:
    """Return the word and every other one that has its stem."""
    if not word.isalpha():
        return [word]
    base = stem(word)
    return list(dict.fromkeys([word, *(base + ending for ending in ("", *_ENDINGS) if stem(base + ending) == base)]))
