"""The boundary of the store: what writing, searching and relations ask of an index, whatever engine keeps it.

`Store` keeps it in SQLite. No table, column or statement is known beyond this line.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from keyhole.core.files.walk import Known, Stamp
from keyhole.core.index.rows import (
    ChunkPlace,
    ChunkScope,
    ChunkSource,
    ChunkSpan,
    DefiningChunk,
    FactName,
    FileDigest,
    FileId,
    FileRows,
    FileStamp,
    Found,
    Heading,
    IndexFacts,
    NamedSymbol,
    Slice,
    StoredLink,
    StoredVector,
    SymbolEntry,
    SymbolLabel,
    WordQuery,
    WordRow,
)
from keyhole.core.links.link_types import Declared, Link, LinkState, Resolution
from keyhole.core.types import IndexedFile, Skip


class FactStore(Protocol):
    """What everyone asks."""

    def facts(self) -> IndexFacts:
        """Return what is known of the index as a whole."""

    def file_id(self, path: str) -> int | None:
        """Return the number of a file; None when it is not indexed."""

    def files_in(self, language: str = "") -> list[FileId]:
        """Return every file, or those in one language."""

    def paths(self) -> list[str]:
        """Return the path of every file."""

    def count_chunks(self) -> int:
        """Count all chunks."""

    def count_skips(self) -> int:
        """Count the paths that are passed over."""

    def load_vectors(self) -> bool:
        """Make the vectors usable; False where that cannot be done."""


class WriterStore(FactStore, Protocol):
    """What bringing an index up to date needs; all but reading happens inside a transaction."""

    def transaction(self) -> AbstractContextManager[None]:
        """Write all or nothing, and count a new generation."""

    def set_fact(self, name: FactName, value: int | str) -> None:
        """Record one fact about the index."""

    def known(self) -> Known:
        """Return what the last walk found, for the next one to build on."""

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content hashes of those paths that are indexed."""

    def count_files(self) -> int:
        """Count all files."""

    def replace_file(self, rows: FileRows) -> None:
        """Put a file's rows in the place of its old ones."""

    def remove_file(self, path: str) -> None:
        """Take a file's rows out."""

    def restamp_file(self, path: str, stamp: Stamp) -> None:
        """Record a new time for a file whose content is the same."""

    def put_skip(self, skip: Skip, stamp: Stamp | None = None) -> None:
        """Record that a path is passed over, and take out what was indexed of it."""

    def remove_skip(self, path: str) -> None:
        """Forget that a path was passed over."""

    def put_rule_files(self, stamps: dict[str, Stamp]) -> None:
        """Record the ignore files of the last walk."""

    def forget_digests(self) -> None:
        """Make the next walk read every file again; until then the old rows serve."""

    def reset_vectors(self) -> None:
        """Drop all vectors."""

    def merge_words(self) -> None:
        """Put in order what was written bit by bit, for queries to take less time."""

    def files_without_trigrams(self) -> list[FileDigest]:
        """Return the files whose trigrams are not recorded yet."""

    def add_trigrams(self, file: FileDigest, text: str) -> None:
        """Record which three-letter sequences a file has, unless it has changed or has them by now."""

    def skips(self) -> list[Skip]:
        """Return every path that is passed over, in order."""

    def links_to_resolve(self, *, every: bool) -> list[StoredLink]:
        """Return the links that nobody has resolved yet, or every one that other files decide; by file."""

    def put_resolutions(self, changes: Iterable[tuple[int, Resolution]]) -> None:
        """Write where links lead, each with its number."""

    def declarations(self) -> list[tuple[str, Declared]]:
        """Return what files declare, anchors aside, each with the file's path."""

    def anchors(self) -> dict[str, tuple[str, ...]]:
        """Return the headings and other anchors of every note."""

    def anchors_of(self, path: str) -> tuple[str, ...] | None:
        """Return the headings and other anchors of one note; None for what is no note."""


class SearchStore(FactStore, Protocol):
    """What search needs."""

    def prepare_search(self) -> None:
        """Make ready to be searched."""

    def languages(self) -> list[str]:
        """Return every language that a file is in."""

    def kinds(self) -> list[str]:
        """Return every kind of symbol there is."""

    def skip_of(self, path: str) -> Skip | None:
        """Return why a path is passed over, if it is."""

    def file_stamps(self, paths: Iterable[str]) -> dict[str, FileStamp]:
        """Return size, time and hash of those paths that are indexed."""

    def files_with_trigrams(self, trigrams: Sequence[str]) -> list[FileDigest]:
        """Return the files that can contain all of some trigrams, by path."""

    def chunk_places(self, chunk_ids: Iterable[int]) -> list[ChunkPlace]:
        """Return where some chunks are, in no order."""

    def chunk_sources(self, chunk_ids: Iterable[int]) -> list[ChunkSource]:
        """Return where to read some chunks, those of a file together."""

    def chunks_of_file(self, file_id: int) -> list[ChunkSpan]:
        """Return the chunks of a file, in order."""

    def chunk_at(self, path: str, line: int) -> ChunkSpan | None:
        """Return the chunk that a line is in, or the last one before it."""

    def word_counts(self, words: Iterable[str]) -> dict[str, int]:
        """Count the chunks that have each word; a word that no chunk has is not there."""

    def words_in(self, path: str) -> set[str]:
        """Return every word that stands in a file."""

    def word_matches(self, query: WordQuery, scope: ChunkScope, limit: int, offset: int = 0) -> list[WordRow]:
        """Return the chunks that BM25 puts first."""

    def count_word_matches(self, query: WordQuery, scope: ChunkScope) -> int:
        """Count every chunk that `word_matches` could return."""

    def nearest_by_signs(self, signs: bytes, scope: ChunkScope, count: int) -> list[int]:
        """Return the chunks whose signs differ least from these, in no order; equally far ones come along."""

    def vectors_of(self, chunk_ids: Iterable[int]) -> list[StoredVector]:
        """Return the vectors of those of some chunks that have one, in the order of paths and lines."""

    def symbol_names(self) -> list[str]:
        """Return every name that is defined, once."""

    def symbols_named(self, names: Iterable[str]) -> list[NamedSymbol]:
        """Return the symbols of exactly these names; one on a line that several chunks share comes once for each."""

    def defining_chunks(self, name: str, limit: int) -> list[DefiningChunk]:
        """Return the chunks in which a name is defined, in upper or lower case."""

    def symbols_in_chunks(self, chunk_ids: Iterable[int]) -> list[SymbolLabel]:
        """Return the symbols whose names stand in some chunks."""

    def methods_of(self, file_id: int, owner: SymbolLabel, limit: int) -> list[str]:
        """Name the first methods of a class, the exported ones before the others."""


class RelationStore(FactStore, Protocol):
    """What links and the tree need."""

    def knows(self, path: str) -> bool:
        """Tell whether a path is a file, a folder with files, or one that is passed over."""

    def files_at(self, paths: Iterable[str]) -> list[IndexedFile]:
        """Return those of some files that are indexed, in no order."""

    def paths_in(self, folder: str) -> list[str]:
        """Return the paths of all files inside a folder, in order."""

    def count_files_in(self, folder: str) -> int:
        """Count the files inside a folder, at any depth."""

    def symbols_of_file(self, path: str, max_depth: int = ..., wanted: Slice = ...) -> list[SymbolEntry]:
        """Return the symbols of a file that lie less deep than this, in order."""

    def symbols_of_files(self, asked: Sequence[tuple[str, int]]) -> dict[str, list[SymbolEntry]]:
        """Return the symbols of several files, each down to a depth of its own."""

    def count_symbols_in(self, folder: str, max_depth: int) -> dict[str, int]:
        """Count the symbols of each file in a folder, without reading them; deeper folders show fewer levels."""

    def headings_of(self, notes: Sequence[str]) -> list[Heading]:
        """Return the headings of some notes, in order."""

    def links_from(self, file_id: int, states: Sequence[LinkState], wanted: Slice) -> Found[Link]:
        """Return the links of a file that have one of some states, by line."""

    def links_to(self, places: Sequence[str], besides: str, wanted: Slice) -> Found[Link]:
        """Return what leads to one of some paths, from any file but one."""

    def broken_links(self, reasons: Sequence[str], file_ids: frozenset[int] | None, wanted: Slice) -> Found[Link]:
        """Return the links that lead nowhere for one of some reasons, in some files (None: in all)."""

    def count_links_to(self, places: Sequence[str]) -> dict[str, int]:
        """Count, by file, the links that lead to one of some paths."""

    def count_links_from(self, path: str) -> dict[str, int]:
        """Count the links of a file by the path they lead to."""

    def count_links_outside(self, sites: Sequence[str]) -> dict[str, int]:
        """Count, by file, the links that lead to a domain or package, or to a domain below it."""

    def count_broken_links(self, reasons: Sequence[str]) -> dict[str, int]:
        """Count, by file, the links that lead nowhere for one of some reasons."""


class IndexStore(WriterStore, SearchStore, RelationStore, Protocol):
    """All of it, as one open index offers it; and what lists of everything need."""

    def close(self) -> None:
        """Let go of the index."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read everything inside from one state of the index, whatever another process writes meanwhile."""

    def indexed_files(self) -> list[IndexedFile]:
        """Return every file, by path."""

    def kinds_by_count(self) -> list[str]:
        """Return every kind of symbol there is, the commonest first."""
