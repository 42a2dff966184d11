"""The two parts of what an index stores about a file, and their packed form in the content store.

`TextFacts` is what the text alone gives, in a language. `PlaceFacts` is what depends on the path too: the model reads
it with every chunk, the document of a file starts with it, and names such as `package.json` or `test_a.py` say how to
read a text. So a file that was moved is embedded again, but not parsed.

Both parts are packed as JSON and the bytes of their arrays, in the format of zlib. The words of chunks are an array
too, because they are most of a text, and JSON takes longer.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from keyhole.core.index.rows import ChunkRow, DeclaredRow, DocumentRow, SymbolRow, Vector, WordColumns, WrittenLink

# Higher levels take several times as long and save little. Vectors hardly get smaller at any level.
_TEXT_LEVEL, _PLACE_LEVEL = 1, 0
_LENGTH_BYTES = 4


class TextFacts(NamedTuple):
    """What a text gives, whatever its path; the words of its path are missing from its chunks."""

    language: str
    lines: int
    has_errors: bool
    chunks: tuple[ChunkRow, ...]
    symbols: tuple[SymbolRow, ...]
    links: tuple[WrittenLink, ...]
    # For the document of the file: the names of what it defines, and its first comment.
    names: str
    comment: str
    occurrences: bytes


class PlaceFacts(NamedTuple):
    """What a text gives at a path; vectors and tokens are one per chunk, or none without a model."""

    content_hint: str
    declared: tuple[DeclaredRow, ...]
    document: DocumentRow
    vectors: Sequence[Vector]
    tokens: Sequence[bytes]


def pack_text(part: TextFacts) -> bytes:
    """Return a part as bytes."""
    chunks = [(*chunk[:5], chunk.words.definitions, len(chunk.words.content)) for chunk in part.chunks]
    facts = [*part[:3], chunks, part.symbols, part.links, part.names, part.comment]
    words = "".join([chunk.words.content for chunk in part.chunks])
    return _packed(facts, [part.occurrences, words.encode("utf-8", "surrogatepass")], _TEXT_LEVEL)


def unpack_text(packed: bytes) -> TextFacts:
    """Return the part that was packed."""
    facts, (occurrences, words) = _unpacked(packed)
    language, lines, has_errors, chunks, symbols, links, names, comment = facts
    return TextFacts(
        language,
        lines,
        has_errors,
        tuple(_chunk_rows(chunks, words.decode("utf-8", "surrogatepass"))),
        tuple(starmap(SymbolRow, symbols)),
        tuple(starmap(WrittenLink, links)),
        names,
        comment,
        occurrences,
    )


def _chunk_rows(chunks: Iterable[list[Any]], words: str) -> Iterator[ChunkRow]:
    start = 0
    for *cells, definitions, length in chunks:
        yield ChunkRow._make([*cells, WordColumns("", definitions, words[start : start + length])])
        start += length


def pack_place(part: PlaceFacts) -> bytes:
    """Return a part as bytes."""
    arrays = [*part.document, *(signs for signs, _ in part.vectors), *(each for _, each in part.vectors), *part.tokens]
    return _packed([part.content_hint, part.declared, len(part.vectors)], arrays, _PLACE_LEVEL)


def unpack_place(packed: bytes) -> PlaceFacts:
    """Return the part that was packed."""
    (hint, declared, count), (words, vector, *arrays) = _unpacked(packed)
    vectors = list(zip(arrays[:count], arrays[count : 2 * count], strict=True))
    return PlaceFacts(
        hint, tuple(starmap(DeclaredRow, declared)), DocumentRow(words, vector), vectors, arrays[2 * count :]
    )


def _packed(facts: list[Any], arrays: list[bytes], level: int) -> bytes:
    header = json.dumps([facts, [len(array) for array in arrays]], separators=(",", ":")).encode()
    return zlib.compress(b"".join([len(header).to_bytes(_LENGTH_BYTES, "little"), header, *arrays]), level)


def _unpacked(packed: bytes) -> tuple[list[Any], list[bytes]]:
    content = zlib.decompress(packed)
    start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
    facts, lengths = json.loads(content[_LENGTH_BYTES:start])
    return facts, list(_slices(content, start, lengths))


def _slices(content: bytes, start: int, lengths: Iterable[int]) -> Iterator[bytes]:
    for length in lengths:
        yield content[start : start + length]
        start += length
