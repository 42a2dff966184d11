"""The document of a file: a short text about the whole file, to find out what the file as a whole is about.

It has the path, the names of what the file defines and its first comment. Its words are stored as hashes of their stems
with counts, eight bytes each: comparing some hundred files with a query then takes a fraction of a millisecond, where
full text would have to look up every form of every word, and score every file that contains one.
"""

import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from keyhole.core.index.words import CACHE_LIMIT, split_words, stem
from keyhole.core.syntax.first_comment import COMMENT_LIMIT, first_comment
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.syntax import Analysis, Outline, Symbol

# Names beyond this many characters are left out; those of inner definitions first.
_MOST_NAME_CHARACTERS = 6_000
# More words in a path could overflow their count.
_MOST_PATH_WORDS = 200

# A cell is the hash of a stem above three counts: in the path, in the definitions, in the comment.
COUNT_SHIFTS = (24, 12, 0)
COUNT_MASKS = (0xFF, 0xFFF, 0xFFF)
HASH_SHIFT = 32


class FileDocument(NamedTuple):
    """The three parts of a document."""

    path: str
    definitions: str
    comment: str

    @property
    def text(self) -> str:
        """The document as the model embeds it."""
        return "\n".join(self)


def document_of(analysis: Analysis) -> FileDocument:
    """Return the document of a file."""
    outline, language = analysis.outline, BY_ID[analysis.outline.language]
    names = _names(outline, every=language.has_definitions)
    comment = first_comment(analysis.source.text, language) or _first_doc(outline)
    return FileDocument(analysis.source.path, _joined(names), comment[:COMMENT_LIMIT])


def pack_words(document: FileDocument) -> bytes:
    """Return the words of a document as cells."""
    cells: dict[str, int] = {}
    path, *others = (split_words(text).split() for text in document)
    for shift, words in zip(COUNT_SHIFTS, (path[:_MOST_PATH_WORDS], *others), strict=True):
        for word in map(stem, words):
            cells[word] = cells.get(word, 0) + (1 << shift)
    return struct.pack(f"<{len(cells)}Q", *[_hash(word) << HASH_SHIFT | counts for word, counts in cells.items()])


def hash_of_word(word: str) -> int:
    """Return the hash of a word's stem, the same in every process."""
    return _hash(stem(word))


@lru_cache(maxsize=CACHE_LIMIT)
def _hash(stemmed: str) -> int:
    return crc32(stemmed.encode("utf-8", "surrogatepass"))


def _names(outline: Outline, *, every: bool) -> Iterator[str]:
    """Yield the names of definitions, outer ones first; of prose the headings, and of data nothing."""
    level: Iterable[Symbol] = outline.symbols
    while level:
        yield from (symbol.name for symbol in level if every or symbol.kind == "section")
        level = [child for symbol in level for child in symbol.children]


def _joined(names: Iterable[str]) -> str:
    kept, room = list[str](), _MOST_NAME_CHARACTERS
    for name in names:
        room -= len(name) + 1
        if room < 0:
            break
        kept.append(name)
    return " ".join(kept)


def _first_doc(outline: Outline) -> str:
    """Return the first doc comment of a definition, for a file without a comment of its own."""
    return next((symbol.doc for symbol in outline.walk() if symbol.doc), "")
