"""The types of the store's interface: rows that a writer passes in, and rows that readers get back.

They do not depend on the storage engine. Most are named tuples because there are tens of thousands of them, and named
tuples cost less than dataclasses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

from keyhole.core.masking import Mask
from keyhole.core.types.choices import Role
from keyhole.core.types.source_files import Stamp

Item = TypeVar("Item")

# The most chunks to return in addition because they are as far from the query as the last wanted one.
MOST_ON_EDGE = 256

# A vector as signs (one bit per number, for the scan) and as bytes (for rescoring).
Vector = tuple[bytes, bytes]
# The facts recorded about a whole index.
FactName = Literal[
    "generation", "pending", "total", "updated", "model", "dimension", "rules", "analysis", "links", "secrets", "roles"
]


# Rows that a writer passes in


class SymbolRow(NamedTuple):
    """A symbol as stored; `depth` is the number of symbols that enclose it."""

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
    """A link as written; `is_fixed` if its text alone determines its target, and then it has a state and a site."""

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
    """The words of a chunk, already split, by origin."""

    path: str
    definitions: str
    content: str


class ChunkRow(NamedTuple):
    """A chunk as stored; `start` and `length` count characters of the decoded file."""

    start_line: int
    end_line: int
    start: int
    length: int
    definitions: str
    words: WordColumns


class DocumentRow(NamedTuple):
    """The document of a file as stored: its words as cells, and its vector as bytes, empty without a model."""

    words: bytes
    vector: bytes


class StoreNews(NamedTuple):
    """For the content store: new entries, entries whose use is to be recorded, and whether it knew the text."""

    new: tuple[tuple[bytes, bytes], ...] = ()
    used: tuple[bytes, ...] = ()
    is_reused: bool = False


_NO_NEWS = StoreNews()


@dataclass(frozen=True, slots=True)
class FileRows:
    """Everything the index stores about one file; vectors and tokens are one per chunk, or none without a model."""

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
    tokens: Sequence[bytes] = ()
    links: tuple[WrittenLink, ...] = ()
    declared: tuple[DeclaredRow, ...] = ()
    ctime_ns: int = 0
    inode: int = 0
    # Why the file has no symbols although its language does; empty if it was parsed.
    unparsed: str = ""
    masked: tuple[Mask, ...] = ()
    # What the text says about the role of the file.
    content_hint: str = ""
    document: DocumentRow | None = None
    # Every name with its role, as syntax/occurrences.py packs them; empty if the file has none.
    occurrences: bytes = b""
    # The version of the analysis that made these rows.
    analysis: int = 0
    # The text with masked secrets, if the index keeps it.
    text: str | None = None
    # Not for the index.
    news: StoreNews = _NO_NEWS


# Parameters of readers


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a list to return."""

    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class Found(Generic[Item]):
    """Part of a list, and the number of results in the whole list."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ChunkScope:
    """The chunks that a search considers: those in these files (None: all) that define this kind (empty: any).

    `chunk_ids` are the only ones that contain what must be there word for word; None if nothing must.
    """

    file_ids: frozenset[int] | None = None
    kind: str = ""
    chunk_ids: frozenset[int] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the scope includes every chunk."""
        return self.file_ids is None and not self.kind and self.chunk_ids is None

    def admits_file(self, file_id: int) -> bool:
        """Return whether the scope includes a file."""
        return self.file_ids is None or file_id in self.file_ids

    def admits(self, file_id: int, definitions: str) -> bool:
        """Return whether the filters include a chunk with these definitions."""
        return self.admits_file(file_id) and (not self.kind or f", {self.kind} " in f", {definitions}")

    def admits_chunk(self, chunk: "ChunkPlace") -> bool:
        """Return whether the scope includes a chunk."""
        return self.admits(chunk.file_id, chunk.definitions) and (
            self.chunk_ids is None or chunk.chunk_id in self.chunk_ids
        )


@dataclass(frozen=True, slots=True)
class WordQuery:
    """Words to search for: a chunk must contain a rare word or a phrase; common words only add to its score.

    `weights` are the weights of a word in the path, in the definitions and in the text.
    """

    rare: tuple[str, ...]
    common: tuple[str, ...]
    phrases: tuple[str, ...]
    weights: tuple[float, float, float]


# Rows that readers get back


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Facts about a whole index; a fact is None if no run has recorded it yet.

    `generation` increases with every transaction that changes indexed content. `pending` counts the files that are
    still to be indexed, of `total`. `rules` identifies the version of the ignore rules, and `analysis` the version of
    the analysis that last read every file; until a run has read them all again, answers use the old rows. `secrets` is
    the fingerprint of what the user has decided about secrets. `links` says which links must be resolved: "all", "open"
    (those without a state) or none. `roles` is "all" if the roles of files must be found again.
    """

    generation: int = 0
    pending: int | None = None
    total: int = 0
    updated: str = ""
    model: str = ""
    dimension: int = 0
    rules: str | None = None
    analysis: int | None = None
    links: str = "open"
    secrets: str | None = None
    roles: str = "all"


class FileId(NamedTuple):
    """The id, the path and the role of a file."""

    id: int
    path: str
    role: Role


class StoredRole(NamedTuple):
    """The role of a file as recorded, and the facts that it is found by; it is empty if it has not been found yet."""

    id: int
    path: str
    language: str
    content_hint: str
    role: str


class FileFacts(NamedTuple):
    """What ranking needs to know about a file."""

    id: int
    path: str
    language: str
    lines: int
    role: Role


class FileDigest(NamedTuple):
    """A file and its content hash when it was indexed."""

    id: int
    path: str
    digest: str


class FileStamp(NamedTuple):
    """The stamp and the content hash of a file when it was indexed."""

    stamp: Stamp
    digest: str


class LanguageTotals(NamedTuple):
    """Totals over the files of one language."""

    language: str
    files: int
    size: int
    chunks: int
    symbols: int


class ChunkPlace(NamedTuple):
    """The position of a chunk, what it defines and the role of its file; ranking needs nothing else."""

    chunk_id: int
    file_id: int
    path: str
    language: str
    start_line: int
    end_line: int
    definitions: str
    file_lines: int
    role: Role


class ChunkSpan(NamedTuple):
    """The characters and lines of a file that a chunk covers."""

    chunk_id: int
    start: int
    length: int
    start_line: int
    end_line: int
    definitions: str


class ChunkSource(NamedTuple):
    """The file and offset of a chunk, and the content hash that the file must still have."""

    chunk_id: int
    path: str
    digest: str
    start: int
    length: int


class WordRow(NamedTuple):
    """A chunk that contains some of the words.

    `matched` has 1 or 0 for each rare word, common word and phrase; the larger `bm25`, the better.
    """

    chunk_id: int
    matched: str
    bm25: float


class ChunkSigns(NamedTuple):
    """The signs of a chunk's vector, one bit per number."""

    chunk_id: int
    signs: bytes


class SignMatch(NamedTuple):
    """A chunk, and the number of bits in which its signs differ from those of the query."""

    chunk_id: int
    distance: float


class StoredVector(NamedTuple):
    """The vector of a chunk, one byte per number."""

    chunk_id: int
    numbers: bytes


class StoredTokens(NamedTuple):
    """The ids of the distinct tokens of a chunk, sorted, in the model's `token_type`."""

    chunk_id: int
    ids: bytes


class DefinitionRow(NamedTuple):
    """A symbol with its file, as references are resolved to it."""

    id: int
    path: str
    language: str
    name: str
    kind: str
    parent: str
    signature: str
    start_line: int
    end_line: int
    name_line: int
    depth: int
    modifiers: str

    @property
    def qualified_name(self) -> str:
        """The name with the names around it."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


class ImportRow(NamedTuple):
    """An import of a file: what is written, and the path in the workspace that it means, if it means one."""

    origin: str
    line: int
    target: str
    part: str
    state: str
    path: str


class NamedImport(NamedTuple):
    """An import of a known file, which brings a known name."""

    line: int
    target: str
    part: str
    path: str


class NamesOfFile(NamedTuple):
    """A file with all its names, as syntax/occurrences.py packs them."""

    file_id: int
    path: str
    language: str
    role: str
    names: bytes


class StoredDocument(NamedTuple):
    """The document of a file: its words as cells, and its vector, one byte per number, empty without a model."""

    file_id: int
    words: bytes
    vector: bytes


class DefiningChunk(NamedTuple):
    """A chunk that defines a name, inside `parent`; `lines` are those of the definition."""

    chunk_id: int
    parent: str
    lines: int


class SymbolLabel(NamedTuple):
    """A symbol with lines in a chunk, and the facts that a hit shows."""

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
    """A symbol found by name, how many lines it has, and the chunk that contains its name."""

    symbol_id: int
    name: str
    kind: str
    parent: str
    exported: bool
    name_line: int
    lines: int
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


class SymbolPlace(NamedTuple):
    """The name of a symbol, and where it is defined."""

    name: str
    # The names of the symbols around it, with dots between them.
    parent: str
    kind: str
    path: str
    line: int


class Heading(NamedTuple):
    """A heading of a note."""

    path: str
    name: str
    line: int


class StoredLink(NamedTuple):
    """A link to resolve, and its previous resolution; `state` is None if it has not been resolved yet."""

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
