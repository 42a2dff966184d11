"""Messages and other texts in the code as queries for the place that has them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import NamedTuple

MOST_PER_FILE = 2
_FEWEST_WORDS = 3
# Only letters, digits and the signs of ordinary sentences, so that it is a text and not code, a path or a pattern.
_TEXT = re.compile(rb"""(?<=[(=,\[: ])(["'])([A-Za-z][A-Za-z0-9 ,.:;%()-]{15,80})\1(?=[),;\]: \n])""")
_WORD = re.compile(r"[A-Za-z]{2,}")


class FoundText(NamedTuple):
    """A text in quotes that stands on one line of one file."""

    query: str
    path: str
    line: int


def choose_texts(files: Mapping[str, bytes], answers: Iterable[str], random: Random) -> Iterator[FoundText]:
    """Yield texts in random order that occur once in all files, in one of those that may be an answer."""
    everything = b"\n".join(files.values())
    found = [text for path in sorted(answers) for text in _texts_in(path, files[path])]
    random.shuffle(found)
    used: dict[str, int] = {}
    for text in found:
        if used.get(text.path, 0) < MOST_PER_FILE and everything.count(text.query.encode()) == 1:
            used[text.path] = used.get(text.path, 0) + 1
            yield text


def _texts_in(path: str, content: bytes) -> Iterator[FoundText]:
    for match in _TEXT.finditer(content):
        query = match[2].decode().strip()
        words = _WORD.findall(query)
        if len(words) >= _FEWEST_WORDS and sum(map(len, words)) > len(query) / 2:
            yield FoundText(query, path, content.count(b"\n", 0, match.start()) + 1)
