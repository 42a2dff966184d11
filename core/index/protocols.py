"""The interface of the index, as updates, search and relations use it; it does not depend on the storage engine.

`Store` implements it with SQLite. Code outside `core/index` uses no table, column or SQL statement.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from keyhole.core.files.walk import Known
from keyhole.core.index.rows import (
    ChunkPlace,
    ChunkScope,
    ChunkSigns,
    ChunkSource,
    ChunkSpan,
    DefiningChunk,
    DefinitionRow,
    FactName,
    FileDigest,
    FileFacts,
    FileId,
    FileRows,
    FileStamp,
    Found,
    Heading,
    ImportRow,
    IndexFacts,
    LanguageTotals,
    NamedImport,
    NamedSymbol,
    NamesOfFile,
    Slice,
    StoredDocument,
    StoredLink,
    StoredRole,
    StoredTokens,
    StoredVector,
    SymbolEntry,
    SymbolLabel,
    SymbolPlace,
    WordQuery,
    WordRow,
)
from keyhole.core.links.link_types import Declared, Link, LinkState, Resolution
from keyhole.core.masking import Mask
from keyhole.core.types.choices import Role
from keyhole.core.types.inventory import IndexedFile
from keyhole.core.types.source_files import Candidate, Skip, Stamp


class FactStore(Protocol):
    """The methods that updates, search and relations all need."""

    def facts(self) -> IndexFacts:
        """Return the facts about the whole index."""

    def file_id(self, path: str) -> int | None:
        """Return the id of a file; None if it is not indexed."""

    def files_in(self, language: str = "") -> list[FileId]:
        """Return every file, or those in one language."""

    def roles_of(self, paths: Iterable[str]) -> dict[str, Role]:
        """Return the roles of the paths that are indexed."""

    def paths(self) -> list[str]:
        """Return the path of every file, in order."""

    def declarations(self) -> list[tuple[str, Declared]]:
        """Return the declarations of all files except anchors, each with the file's path."""

    def skips(self) -> list[Skip]:
        """Return every skipped path, in order."""

    def masks_of(self, paths: Iterable[str]) -> dict[str, tuple[Mask, ...]]:
        """Return what is masked in those of the files that have masks."""

    def count_files(self) -> int:
        """Count all files."""

    def count_chunks(self) -> int:
        """Count all chunks."""

    def count_outdated_files(self, analysis: int) -> int:
        """Count the files whose rows another version of the analysis made."""

    def count_skips(self) -> int:
        """Count the skipped paths."""

    def load_vectors(self) -> bool:
        """Make the vectors usable; return False if that is not possible."""


class WriterStore(FactStore, Protocol):
    """The methods that an update needs; every write must be inside a transaction."""

    def transaction(self) -> AbstractContextManager[None]:
        """Commit everything inside or nothing, and increase the generation if it changed indexed content."""

    def revision(self) -> AbstractContextManager[None]:
        """Make the transactions inside appear to readers at once, if the engine can; otherwise one by one."""

    def announce(self, *, pending: int, total: int) -> None:
        """Record how many files are still to be indexed, of how many; the generation stays."""

    def set_fact(self, name: FactName, value: int | str) -> None:
        """Record one fact about the index."""

    def known(self) -> Known:
        """Return the results of the last walk, for the next one to reuse."""

    def outdated_files(self, analysis: int) -> list[Candidate]:
        """Return the files whose rows another version of the analysis made, in the order of their paths."""

    def unparsed(self) -> list[Skip]:
        """Return the indexed files that could not be parsed."""

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content hashes of the paths that are indexed."""

    def replace_file(self, rows: FileRows) -> None:
        """Replace a file's rows."""

    def remove_file(self, path: str) -> None:
        """Delete a file's rows."""

    def restamp_file(self, path: str, stamp: Stamp) -> None:
        """Record a new stamp for a file whose content has not changed."""

    def put_skip(self, skip: Skip, stamp: Stamp | None = None) -> None:
        """Record that a path is skipped, and delete its rows."""

    def remove_skip(self, path: str) -> None:
        """Delete the record that a path is skipped."""

    def distrust_skip(self, path: str) -> None:
        """Make the next walk read a skipped file again, even if this run ends before it does."""

    def put_rule_files(self, stamps: dict[str, Stamp]) -> None:
        """Record the ignore files of the last walk."""

    def wipe_deleted(self) -> None:
        """Remove from the file what was deleted from the tables."""

    def forget_digests(self) -> None:
        """Make the next walk read every file again; searches use the old rows until then."""

    def reset_vectors(self) -> None:
        """Delete all vectors and tokens."""

    def merge_words(self) -> None:
        """Merge the segments of the full-text index, which makes queries faster."""

    def shrink(self) -> None:
        """Return unused room to the system, if there is much."""

    def files_without_trigrams(self) -> list[FileDigest]:
        """Return the files whose trigrams are not recorded yet."""

    def add_trigrams(self, file: FileDigest, text: str) -> None:
        """Record the trigrams of a file, unless the file has changed or already has them."""

    def links_to_resolve(self, *, every: bool) -> list[StoredLink]:
        """Return the unresolved links, or every link that depends on other files; grouped by file."""

    def put_resolutions(self, changes: Iterable[tuple[int, Resolution]]) -> None:
        """Record the resolutions of links, given with their ids."""

    def stored_roles(self) -> list[StoredRole]:
        """Return the recorded role of every file, and the facts that it is found by."""

    def put_roles(self, changes: Iterable[tuple[int, Role]]) -> None:
        """Record the roles of files, given with their ids."""

    def anchors(self) -> dict[str, tuple[str, ...]]:
        """Return the headings and other anchors of every note, by path."""

    def anchors_of(self, path: str) -> tuple[str, ...] | None:
        """Return the headings and other anchors of one note; None if the path is not a note."""


class SearchStore(FactStore, Protocol):
    """The methods that search needs."""

    def prepare_search(self) -> None:
        """Prepare the open index for searching."""

    def languages(self) -> list[str]:
        """Return every language that has a file, in order."""

    def kinds(self) -> list[str]:
        """Return every kind of symbol, in order."""

    def skip_of(self, path: str) -> Skip | None:
        """Return the skip of a path; None if it is not skipped."""

    def file_stamps(self, paths: Iterable[str]) -> dict[str, FileStamp]:
        """Return the stamps and content hashes of the paths that are indexed."""

    def files_with_trigrams(self, trigrams: Sequence[str]) -> list[FileDigest]:
        """Return the files that may contain all these trigrams, sorted by path."""

    def chunk_places(self, chunk_ids: Iterable[int]) -> list[ChunkPlace]:
        """Return the positions of these chunks, in no particular order."""

    def chunk_sources(self, chunk_ids: Iterable[int]) -> list[ChunkSource]:
        """Return the files and offsets of these chunks, grouped by file."""

    def chunks_of_file(self, file_id: int) -> list[ChunkSpan]:
        """Return the chunks of a file, in order."""

    def chunks_of_files(self, file_ids: Iterable[int]) -> dict[int, list[ChunkSpan]]:
        """Return the chunks of several files, in order."""

    def chunk_at(self, path: str, line: int) -> ChunkSpan | None:
        """Return the chunk that contains a line, or else the last one before it."""

    def word_counts(self, words: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each word; words that occur nowhere are missing."""

    def words_in(self, path: str) -> set[str]:
        """Return every word in a file."""

    def word_matches(self, query: WordQuery, scope: ChunkScope, limit: int, offset: int = 0) -> list[WordRow]:
        """Return the best chunks, ranked by BM25; equally good ones in the order of path and line."""

    def count_word_matches(self, query: WordQuery, scope: ChunkScope) -> dict[int, int]:
        """Count the chunks of each file that `word_matches` could return, by the id of the file."""

    def chunks_with_words(self, words: Collection[str], chunk_ids: Collection[int], occurrences: int) -> set[int]:
        """Return which of these chunks contain one of these words; `occurrences` is in how many chunks they all are."""

    def all_signs(self) -> list[ChunkSigns]:
        """Return the signs of every vector, in no particular order."""

    def nearest_by_signs(self, signs: bytes, scope: ChunkScope, count: int) -> list[int]:
        """Return the chunks whose signs differ least from these, ties included, in no particular order."""

    def vectors_of(self, chunk_ids: Iterable[int]) -> list[StoredVector]:
        """Return the vectors of the chunks that have one, in no particular order."""

    def token_ids(self, chunk_ids: Iterable[int]) -> list[StoredTokens]:
        """Return the tokens of the chunks whose tokens are recorded, in no particular order."""

    def file_facts(self, file_ids: Iterable[int]) -> list[FileFacts]:
        """Return what ranking needs to know about these files, in no particular order."""

    def file_documents(self, file_ids: Iterable[int]) -> list[StoredDocument]:
        """Return the documents of the files that have one, in no particular order."""

    def symbol_names(self) -> list[str]:
        """Return every defined name once, in order."""

    def symbols_named(self, names: Iterable[str]) -> list[NamedSymbol]:
        """Return the symbols with exactly these names, once for each chunk that contains the line of the name."""

    def defining_chunks(self, name: str, scope: ChunkScope, limit: int) -> list[DefiningChunk]:
        """Return the first chunks by path and line that define a name, ignoring case."""

    def symbols_in_chunks(self, chunk_ids: Iterable[int]) -> list[SymbolLabel]:
        """Return the symbols with lines in these chunks, in order."""

    def methods_of(self, file_id: int, owner: SymbolLabel, limit: int) -> list[str]:
        """Return the names of up to `limit` methods of a class, exported ones first."""


class ReferenceStore(FactStore, Protocol):
    """The methods that references need."""

    def files_with_name(self, name: str) -> list[NamesOfFile]:
        """Return the files that contain a name, in either case, sorted by path."""

    def names_of_files(self, paths: Iterable[str]) -> list[NamesOfFile]:
        """Return the names of these files, sorted by path."""

    def definitions_named(self, name: str) -> list[DefinitionRow]:
        """Return the symbols with exactly this name, by path and line."""

    def definitions_of_names(self, names: Iterable[str]) -> list[DefinitionRow]:
        """Return the symbols with exactly one of these names, by path and line."""

    def definitions_in(self, paths: Iterable[str]) -> list[DefinitionRow]:
        """Return the symbols of these files, by path and line."""

    def holders_in(self, paths: Iterable[str]) -> list[DefinitionRow]:
        """Return what has members in these files: classes and the like, and methods that stand outside theirs."""

    def imports_in(self, paths: Iterable[str]) -> list[ImportRow]:
        """Return the imports of these files, by path and line."""

    def imports_of(self, names: Iterable[str], file_ids: Iterable[int]) -> list[tuple[int, NamedImport]]:
        """Return those imports of these files that bring one of these names, or a whole module."""

    def definitions_around(self, lines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[DefinitionRow]]:
        """Return the symbols around each of these lines of files, the outermost first."""


class RelationStore(FactStore, Protocol):
    """The methods that links and the tree need."""

    def knows(self, path: str) -> bool:
        """Return whether a path is an indexed file, a folder of indexed files, or a skipped path."""

    def files_at(self, paths: Iterable[str]) -> list[IndexedFile]:
        """Return the files of the paths that are indexed, in no particular order."""

    def paths_in(self, folder: str) -> list[str]:
        """Return the paths of all files inside a folder, in order."""

    def count_files_in(self, folder: str) -> int:
        """Count the files inside a folder, at any depth."""

    def symbols_of_file(self, path: str, max_depth: int = ..., wanted: Slice = ...) -> list[SymbolEntry]:
        """Return the symbols of a file with a depth below `max_depth`, in order."""

    def symbols_of_files(self, depths: Sequence[tuple[str, int]]) -> dict[str, list[SymbolEntry]]:
        """Return the symbols of several files, each given with its own depth limit."""

    def symbols_around(self, lines: Sequence[tuple[str, int]]) -> dict[tuple[str, int], SymbolEntry]:
        """Return the innermost symbol around each of these lines of files, for lines that have one."""

    def count_symbols_in(self, folder: str, max_depth: int) -> dict[str, int]:
        """Count the symbols of each file in a folder; `max_depth` counts folders and symbols from the root."""

    def headings_of(self, notes: Sequence[str]) -> list[Heading]:
        """Return the headings of these notes, in order."""

    def links_from(self, file_id: int, states: Sequence[LinkState], wanted: Slice) -> Found[Link]:
        """Return the links of a file that have one of these states, sorted by line."""

    def links_to(self, places: Sequence[str], excluded: str, wanted: Slice) -> Found[Link]:
        """Return the links to any of these paths, except those from the excluded file."""

    def links_into(self, folder: str, wanted: Slice) -> Found[Link]:
        """Return the links to a folder itself, and those from outside to what is inside it."""

    def count_links_within(self, folder: str) -> int:
        """Count the links from a file inside a folder to another path inside it; `links_into` does not list these."""

    def broken_links(self, reasons: Sequence[str], file_ids: frozenset[int] | None, wanted: Slice) -> Found[Link]:
        """Return the links that are broken for one of these reasons, in these files (None: all files)."""

    def count_links_to(self, places: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file point to one of these paths."""

    def count_links_into(self, folder: str) -> dict[str, int]:
        """Return how many of the links that `links_into` lists each file has."""

    def count_links_from(self, path: str) -> dict[str, int]:
        """Return how many links of a file, or of the files inside a folder, point to each path outside of it."""

    def count_links_outside(self, sites: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file point to one of these packages or domains, subdomains included."""

    def sites(self) -> list[str]:
        """Return every package and domain that a link points to, most linked first."""

    def linked_paths(self) -> list[str]:
        """Return every path that a link points to."""

    def count_links(self, *states: LinkState) -> int:
        """Count the links that have one of these states."""

    def count_broken_links(self, reasons: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file are broken for one of these reasons."""


class IndexStore(WriterStore, SearchStore, RelationStore, ReferenceStore, Protocol):
    """All methods of an open index: the three interfaces above, and lists of the whole index."""

    @property
    def is_frozen(self) -> bool:
        """Whether the index is open without the right to write; such a reader must not be kept."""
        ...

    def has_writer(self) -> bool:
        """Return whether a process is indexing."""

    def is_abandoned(self) -> bool:
        """Return whether files are still to be indexed but no process is indexing."""

    def close(self) -> None:
        """Close the index."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read everything inside from one state of the index, even while another process writes."""

    def indexed_files(self) -> list[IndexedFile]:
        """Return every file, sorted by path."""

    def symbol_places(self) -> list[SymbolPlace]:
        """Return every symbol with its place, in the order of paths and lines."""

    def largest_symbols(self, languages: Sequence[str], limit: int) -> list[SymbolPlace]:
        """Return public definitions at the top level of files in these languages, longest first."""

    def kinds_by_count(self) -> list[str]:
        """Return every kind of symbol, most frequent first."""

    def language_totals(self) -> list[LanguageTotals]:
        """Return the totals of each language, the one with the most files first."""
