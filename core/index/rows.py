"""What crosses the boundary of the store: the rows that a writer passes in, and the rows that readers get back.

Whatever engine keeps the index, these stay the same. There are tens of thousands of most of them, so they are named
tuples, which cost less than dataclasses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

Item = TypeVar("Item")

# Of chunks that are equally far from a query as the last one wanted, no more than this come along.
MOST_ON_EDGE = 256

# A vector as signs (one bit each, for the scan) and as bytes (for rescoring).
Vector = tuple[bytes, bytes]
# What is recorded of an index as a whole.
FactName = Literal["generation", "pending", "updated", "model", "dimension", "rules", "analysis", "links"]


# What a writer passes in


class SymbolRow(NamedTuple):
    """A symbol as it is stored; `depth` is how many symbols enclose it."""

    depth: int
    name: str
    kind: str
    signature: str
    doc: str
    returns: str
    start_line: int
    end_line: int
    name_line: int
    parent: str
    exported: bool
    modifiers: str


class WrittenLink(NamedTuple):
    """A link as written; if its text alone says where it leads, it is fixed and already has a state and a site."""

    line: int
    kind: str
    target: str
    part: str
    is_fixed: bool
    state: str | None
    site: str


class DeclaredRow(NamedTuple):
    """A fact that a file declares, used to resolve the links of other files."""

    kind: str
    name: str
    value: str


class WordColumns(NamedTuple):
    """The words of a chunk, already split, by where they come from."""

    path: str
    definitions: str
    content: str


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as it is stored; `start` and `length` are characters of the decoded file."""

    start_line: int
    end_line: int
    start: int
    length: int
    definitions: str
    words: WordColumns


@dataclass(frozen=True, slots=True)
class FileRows:
    """Everything the index keeps of one file; vectors are one per chunk, or none when there is no model."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    encoding: str
    language: str
    lines: int
    has_errors: bool
    chunks: tuple[ChunkRow, ...]
    symbols: tuple[SymbolRow, ...]
    vectors: Sequence[Vector] = ()
    links: tuple[WrittenLink, ...] = ()
    declared: tuple[DeclaredRow, ...] = ()


# What readers ask with


@dataclass(frozen=True, slots=True)
class Slice:
    """Which results of a list are wanted."""

    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class Found(Generic[Item]):
    """Some results of a list, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ChunkScope:
    """Which chunks a search considers: those of these files (None: all) that define this kind (empty: any)."""

    file_ids: frozenset[int] | None = None
    kind: str = ""

    @property
    def is_open(self) -> bool:
        """Whether every chunk is inside."""
        return self.file_ids is None and not self.kind

    def admits_file(self, file_id: int) -> bool:
        """Tell whether a file is inside."""
        return self.file_ids is None or file_id in self.file_ids

    def admits(self, file_id: int, definitions: str) -> bool:
        """Tell whether a chunk is inside."""
        return self.admits_file(file_id) and (not self.kind or f", {self.kind} " in f", {definitions}")


@dataclass(frozen=True, slots=True)
class WordQuery:
    """Words to look for: a chunk must have a rare word or a phrase; common words only add to its score.

    `weights` say how much a word counts in the path, in the definitions and in the text.
    """

    rare: tuple[str, ...]
    common: tuple[str, ...]
    phrases: tuple[str, ...]
    weights: tuple[float, float, float]


# What readers get


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Facts about a whole index; None when no run has recorded one yet.

    `generation` grows with every transaction, `pending` counts the files that a run has still to take in, `rules` and
    `analysis` say by which rules files were chosen and how they were read, and `links` says which links are to be
    resolved: all, those that are open, or none.
    """

    generation: int = 0
    pending: int | None = None
    updated: str = ""
    model: str = ""
    dimension: int = 0
    rules: str | None = None
    analysis: int | None = None
    links: str = "open"


class FileId(NamedTuple):
    """The id and the path of a file."""

    id: int
    path: str


class FileDigest(NamedTuple):
    """A file, and the hash of its content when it was indexed."""

    id: int
    path: str
    digest: str


class FileStamp(NamedTuple):
    """What tells whether a file is still the one that was indexed."""

    size: int
    mtime_ns: int
    digest: str


class LanguageTotals(NamedTuple):
    """Totals over the files of one language."""

    language: str
    files: int
    size: int
    chunks: int
    symbols: int


class ChunkPlace(NamedTuple):
    """Where a chunk is, and what it defines: all that ranking looks at."""

    chunk_id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    definitions: str


class ChunkSpan(NamedTuple):
    """The characters and lines of a file that a chunk covers."""

    chunk_id: int
    start: int
    length: int
    start_line: int
    end_line: int
    definitions: str


class ChunkSource(NamedTuple):
    """Where to read a chunk, and the content hash that its file must still have."""

    chunk_id: int
    path: str
    digest: str
    start: int
    length: int


class WordRow(NamedTuple):
    """A chunk with some of the words; `matched` has a 1 or a 0 for each rare word, each common word and each phrase."""

    chunk_id: int
    matched: str


class ChunkSigns(NamedTuple):
    """The signs of a chunk's vector, a bit each."""

    chunk_id: int
    signs: bytes


class SignMatch(NamedTuple):
    """A chunk, and in how many places its signs differ from those that were asked for."""

    chunk_id: int
    distance: float


class StoredVector(NamedTuple):
    """The vector of a chunk, a byte for each number."""

    chunk_id: int
    numbers: bytes


class DefiningChunk(NamedTuple):
    """A chunk that defines a name, inside `parent`."""

    chunk_id: int
    file_id: int
    definitions: str
    parent: str


class SymbolLabel(NamedTuple):
    """A symbol whose name is in a chunk, with what a hit shows of it."""

    chunk_id: int
    symbol_id: int
    name: str
    kind: str
    signature: str
    doc: str
    returns: str
    name_line: int
    start_line: int
    end_line: int
    parent: str


class NamedSymbol(NamedTuple):
    """A symbol found by name, and the chunk that holds its name."""

    symbol_id: int
    name: str
    kind: str
    parent: str
    exported: bool
    name_line: int
    chunk: ChunkPlace


class SymbolEntry(NamedTuple):
    """A symbol as the tree shows it."""

    depth: int
    name: str
    kind: str
    signature: str
    start_line: int
    end_line: int
    parent: str


class Heading(NamedTuple):
    """A heading of a note."""

    path: str
    name: str
    line: int


class StoredLink(NamedTuple):
    """A link to resolve, and where it led before; `state` is None when it has not been resolved yet."""

    id: int
    origin: str
    language: str
    line: int
    kind: str
    target: str
    part: str
    state: str | None
    path: str
    reason: str
    site: str
