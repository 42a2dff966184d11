"""The words of a chunk as rows: how often each is in each column, and where, as bits.

The places of the path, the definitions and the text follow each other, with one free place between them. So the words
of a phrase are at places that follow each other exactly if they do so in one column.
"""

import re
from typing import NamedTuple

from keyhole.core.index.rows import WordColumns
from keyhole.core.postgres.server_connection import BitString

# As SQLite's tokenizer `ascii` splits: index/words.py has already split and folded the words.
_TOKEN = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")


class WordPlaces(NamedTuple):
    """A word of a chunk."""

    word: str
    in_path: int
    in_definitions: int
    in_text: int
    places: BitString


def tokens_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, as they are stored."""
    return tuple(_TOKEN.findall(text))


def word_sizes(columns: WordColumns) -> tuple[int, int, int]:
    """Return how many words the path, the definitions and all three columns have."""
    path, definitions, text = (len(tokens_of(column)) for column in columns)
    return path, definitions, path + definitions + text


def word_places(columns: WordColumns) -> list[WordPlaces]:
    """Return every distinct word of a chunk."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    place = -1
    for number, column in enumerate(columns):
        place += number > 0
        for word in tokens_of(column):
            place += 1
            counts, places = found.setdefault(word, ([0, 0, 0], []))
            counts[number] += 1
            places.append(place)
    return [
        WordPlaces(word, counts[0], counts[1], counts[2], _as_bits(places, place + 1))
        for word, (counts, places) in found.items()
    ]


def _as_bits(places: list[int], length: int) -> BitString:
    bits = bytearray((length + 7) // 8)
    for place in places:
        bits[place >> 3] |= 0x80 >> (place & 7)
    return BitString.of(bytes(bits), length)
