"""The index of one workspace in SQLite: all tables, and writes that affect several of them."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

import apsw

from keyhole.core.errors import CorruptStoreError, StoreError
from keyhole.core.index.chunk_table import ChunkTable
from keyhole.core.index.connection import INCREMENTAL, explained, transaction
from keyhole.core.index.file_document_table import FileDocumentTable
from keyhole.core.index.file_table import FileTable
from keyhole.core.index.link_lists import LinkLists
from keyhole.core.index.link_table import LinkTable
from keyhole.core.index.lock import has_writer
from keyhole.core.index.occurrence_table import OccurrenceTable
from keyhole.core.index.rows import FileRows, LanguageTotals
from keyhole.core.index.symbol_table import SymbolTable
from keyhole.core.index.trigram_table import TrigramTable
from keyhole.core.index.vector_table import VectorTable
from keyhole.core.index.word_table import WordTable
from keyhole.core.types.source_files import Skip, SkipReason, Stamp

# More unused pages than this are returned to the system after a run that wrote much.
_UNUSED_SHARE = 0.05


class Store(
    FileTable,
    FileDocumentTable,
    ChunkTable,
    SymbolTable,
    LinkTable,
    LinkLists,
    OccurrenceTable,
    WordTable,
    TrigramTable,
    VectorTable,
):
    """An open index. Every process may read; a writer must hold the writer lock."""

    def language_totals(self) -> list[LanguageTotals]:
        """Return the totals of each language, the one with the most files first."""
        return self.rows(
            LanguageTotals,
            """SELECT f.language, count(*), sum(f.size), ifnull(sum(c.n), 0), ifnull(sum(s.n), 0) FROM file f
                LEFT JOIN (SELECT file_id, count(*) n FROM chunk GROUP BY file_id) c ON c.file_id = f.id
                LEFT JOIN (SELECT file_id, count(*) n FROM symbol GROUP BY file_id) s ON s.file_id = f.id
                GROUP BY f.language ORDER BY count(*) DESC, f.language""",
        )

    def has_writer(self) -> bool:
        """Return whether a process is indexing."""
        return has_writer(self.path.parent)

    def is_abandoned(self) -> bool:
        """Return whether files are still to be indexed but no process is indexing."""
        if self.has_writer():
            return False
        # A writer may have finished since this connection's snapshot began, so read the current state.
        with Store(self.path, is_reader=True) as current:
            return current.facts().pending != 0

    # Writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything inside or nothing, and increase the generation if it changed indexed content."""
        with explained(self.path), transaction(self._db):
            self._has_changed = False
            yield
            if self._has_changed:
                self.set_fact("generation", self.facts().generation + 1)

    def revision(self) -> AbstractContextManager[None]:
        """Let each transaction inside appear to readers by itself, so that an interrupted run loses little."""
        return nullcontext()

    def announce(self, *, pending: int, total: int) -> None:
        """Record how many files are still to be indexed, of how many; no content changes, so the generation stays."""
        with explained(self.path), transaction(self._db):
            self.set_fact("pending", pending)
            self.set_fact("total", total)

    def wipe_deleted(self) -> None:
        """Remove from the file what was deleted from the tables: SQLite keeps it in unused pages and segments."""
        self.merge_words()
        self._merge_trigrams()
        self._merge_names()
        with explained(self.path), suppress(apsw.FullError, apsw.BusyError):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def shrink(self) -> None:
        """Return unused pages to the system, if there are many; merging words leaves some."""
        with explained(self.path), suppress(apsw.FullError, apsw.BusyError):
            if self.value("PRAGMA freelist_count") <= _UNUSED_SHARE * self.value("PRAGMA page_count"):
                return
            if self.value("PRAGMA auto_vacuum") == INCREMENTAL:
                self._db.execute("PRAGMA incremental_vacuum").fetchall()
            else:
                # An older version created this index. It can only be copied as a whole; the copy has the new mode.
                self._db.pragma("auto_vacuum", INCREMENTAL)
                self._db.execute("VACUUM")

    def replace_file(self, rows: FileRows) -> None:
        """Replace a file's rows."""
        self._has_changed = True
        known_id = self.file_id(rows.path)
        is_new = known_id is None
        role = "" if known_id is None else self._role_to_keep(known_id, rows)
        if not role:
            self._find_roles_later()
        if known_id is not None:
            self._remove_chunks(known_id)
            # `INSERT OR REPLACE` would make FTS5 write its pending data to disk for every file.
            self._delete_file(known_id)
            self._delete_document(known_id)
            self._delete_occurrences(known_id)
        file_id = known_id or self._next_id("file")
        self._delete_skip(rows.path)
        if rows.unparsed:
            self._put_skip(Skip(rows.path, SkipReason.UNPARSED, rows.unparsed), None)
        self._insert_file(file_id, rows, role)
        if rows.document:
            self._insert_document(file_id, rows.document)
        if rows.occurrences:
            self._insert_occurrences(file_id, rows.occurrences)
        first = self._insert_chunks(file_id, rows.chunks)
        self._insert_words(first, rows.chunks)
        self._replace_symbols(file_id, rows.symbols, is_new=is_new)
        self._add_vectors(first, rows.vectors)
        self._add_tokens(first, rows.tokens)
        self._replace_links(file_id, rows, is_new=is_new)

    def remove_file(self, path: str) -> None:
        """Delete a file's rows."""
        file_id = self.file_id(path)
        if file_id is None:
            return
        self._delete_skip(path)
        self._has_changed = True
        self._remove_chunks(file_id)
        self._delete_symbols(file_id)
        self._delete_links(file_id)
        self._delete_declared(file_id)
        self._delete_file(file_id)
        self._delete_document(file_id)
        self._delete_occurrences(file_id)
        self._reopen_links_to(path)
        self._find_roles_later()

    def put_skip(self, skip: Skip, stamp: Stamp | None = None) -> None:
        """Record that a path is skipped, and delete its rows."""
        # A bad name is recorded with escapes, and that text may be the name of another, indexed file.
        if skip.reason != SkipReason.BAD_NAME:
            self.remove_file(skip.path)
        # A file that is skipped for the same reason as before may only have been touched.
        if self.skip_of(skip.path) != skip:
            self._has_changed = True
            self._resolve_later("all")
        self._put_skip(skip, stamp)

    def remove_skip(self, path: str) -> None:
        """Delete the record that a path is skipped."""
        self._has_changed = True
        self._resolve_later("all")
        self._delete_skip(path)

    def _find_roles_later(self) -> None:
        """Make `update_roles` find the roles of all files, since they depend on each other."""
        if self.fact("roles") != "all":
            self.set_fact("roles", "all")

    def _remove_chunks(self, file_id: int) -> None:
        """Delete a file's chunks, with everything that belongs to them, and its trigrams."""
        # The chunks are deleted last because the other deletions look them up.
        self._delete_words(file_id)
        self._delete_vectors(file_id)
        self._delete_chunks(file_id)
        self._delete_trigrams(file_id)


def check_integrity(store: Store) -> list[str]:
    """Check the whole file; return the problems found."""
    problems = [line for line in store.column("PRAGMA integrity_check") if line != "ok"]
    try:
        store.query("INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')")
    except apsw.Error as error:
        problems.append(f"full text: {error}")
    return problems


def is_sound(path: Path) -> bool:
    """Return whether an index file can be opened and passes the integrity check; a missing file counts as sound."""
    if not path.exists():
        return True
    try:
        with Store(path) as store:
            store.known()
            return not check_integrity(store)
    except (CorruptStoreError, apsw.Error, ValueError, TypeError, AttributeError):
        return False
    except StoreError:
        return True  # a full disk, a lock or a newer version is not damage
