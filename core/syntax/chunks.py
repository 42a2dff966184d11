"""cAST: split a file along its syntax tree into chunks of similar size that cover it without gaps or overlaps.

A node that is too large is replaced by its children; a node that fits is an atom. Atoms are then merged, in order, up
to the size limit. Chunks start at the start of a line, so that a range of lines identifies them; only a line longer
than the limit is split inside.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from keyhole.core.types.syntax import Chunk, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

# The limits of a chunk: characters other than white space, and bytes.
CHUNK_SIZE = 1_500
CHUNK_BYTES = 6_000
# A chunk of at least this size ends where a large node begins or ends.
_BREAK_SIZE = CHUNK_SIZE // 3

_SPACE = b" \t\n\r\f\v"
# White space, and the continuation bytes of UTF-8 characters.
_NOT_COUNTED = _SPACE + bytes(range(0x80, 0xC0))


class _Atom(NamedTuple):
    """A range of source that is not split further; `depth` counts the opened nodes around it."""

    start: int
    end: int
    depth: int


def cut_chunks(source: bytes, root: "Node | None", symbols: Iterable[Symbol]) -> tuple[Chunk, ...]:
    """Split UTF-8 source into chunks; without a tree, at blank lines and lines."""
    if not source:
        return ()
    nodes = _open_nodes(source, root) if root is not None else _paragraphs(source)
    spans = _merge(source, _cut_large(source, _align(source, nodes)))
    return tuple(_number(source, spans, sorted((s.name_line, f"{s.kind} {s.name}") for s in symbols)))


def count_characters(piece: bytes) -> int:
    """Count the characters of UTF-8 source that are not white space."""
    return len(piece.translate(None, _NOT_COUNTED))


def _fits(source: bytes, start: int, end: int) -> bool:
    length = end - start
    return length <= CHUNK_SIZE or (length <= CHUNK_BYTES and count_characters(source[start:end]) <= CHUNK_SIZE)


def _open_nodes(source: bytes, root: "Node") -> Iterator[_Atom]:
    """Replace every node that is too large by its children, and yield the others in order."""
    pending = [(root, 0)]
    note_start = note_end = -1
    while pending:
        node, depth = pending.pop()
        start, end = node.start_byte, node.end_byte
        if not _fits(source, start, end) and node.child_count:
            pending += [(child, depth + 1) for child in reversed(node.children)]
            continue
        # A comment or attribute stays together with the node right below it.
        if note_start >= 0 and source.count(b"\n", note_end, start) <= 1 and _fits(source, note_start, end):
            start = note_start
        if node.type.endswith(("comment", "attribute_item")):
            note_start, note_end = start, end
        else:
            note_start = -1
        yield _Atom(start, end, depth)


def _paragraphs(source: bytes) -> Iterator[_Atom]:
    """Split at blank lines: at the last one within the limit, or else at the next one."""
    start = 0
    while start < len(source):
        gap = source.rfind(b"\n\n", start, start + CHUNK_SIZE)
        if gap < 0:
            gap = source.find(b"\n\n", start)
        end = len(source) if gap < 0 else gap + 2
        yield _Atom(start, end, 0)
        start = end


def _align(source: bytes, atoms: Iterable[_Atom]) -> Iterator[_Atom]:
    """Move the starts of atoms to line starts, and join atoms that share a line."""
    start, depth, position = 0, 0, 0
    for atom in atoms:
        # If there is no line feed since the start of the last atom, this atom is on the same line.
        line_start = source.rfind(b"\n", position, atom.start) + 1
        position = atom.start
        if line_start > start and not source[line_start : atom.start].strip(_SPACE):
            yield _Atom(start, line_start, depth)
            start, depth = line_start, atom.depth
    if start < len(source):
        yield _Atom(start, len(source), depth)


def _cut_large(source: bytes, atoms: Iterable[_Atom]) -> Iterator[_Atom]:
    """Split atoms that are too large but have no children."""
    for atom in atoms:
        if _fits(source, atom.start, atom.end):
            yield atom
        else:
            yield from _cut_at_lines(source, atom)


def _cut_at_lines(source: bytes, atom: _Atom) -> Iterator[_Atom]:
    """Split an atom at its lines, and a line over the limit between characters."""
    start = atom.start
    while start < atom.end:
        line_end = source.find(b"\n", start, atom.end) + 1 or atom.end
        end = line_end
        while not _fits(source, start, end):
            end = start + max(CHUNK_SIZE, (end - start) // 2)
            if end - start <= CHUNK_SIZE * 2:
                end = start + CHUNK_SIZE
            while end < line_end and 0x80 <= source[end] < 0xC0:
                end -= 1
        yield _Atom(start, end, atom.depth)
        start = end


def _merge(source: bytes, atoms: Iterable[_Atom]) -> Iterator[tuple[int, int]]:
    """Merge neighbouring atoms up to the limit, preferring to stop where an opened node begins or ends."""
    start = end = size = depth = 0
    for atom in atoms:
        added = count_characters(source[atom.start : atom.end])
        breaks = atom.depth != depth and size > _BREAK_SIZE
        if end > start and (breaks or size + added > CHUNK_SIZE or atom.end - start > CHUNK_BYTES):
            yield start, end
            start, size = end, 0
        end, size, depth = atom.end, size + added, atom.depth
    if end > start:
        yield start, end


def _number(source: bytes, spans: Iterable[tuple[int, int]], names: list[tuple[int, str]]) -> Iterator[Chunk]:
    """Yield a chunk for each span, with its lines and the definitions that start in it."""
    line = 1
    for start, end in spans:
        breaks = source.count(b"\n", start, end)
        last = line + breaks - (source[end - 1] == 0x0A)
        opens_line = start == 0 or source[start - 1] == 0x0A
        first_name = bisect_left(names, (line if opens_line else line + 1,))
        definitions = [name for _, name in names[first_name : bisect_left(names, (last + 1,))]]
        yield Chunk(line, last, source[start:end].decode("utf-8"), tuple(definitions))
        line += breaks
