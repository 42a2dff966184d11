"""The index of repositories on a PostgreSQL server: all tables, and writes that affect several of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.types.json import Jsonb

from keyhole.core.index.rows import FileRows, LanguageTotals
from keyhole.core.postgres.postgres_chunks import PostgresChunks
from keyhole.core.postgres.postgres_files import PostgresFiles
from keyhole.core.postgres.postgres_link_lists import PostgresLinkLists
from keyhole.core.postgres.postgres_links import PostgresLinks
from keyhole.core.postgres.postgres_names import PostgresNames
from keyhole.core.postgres.postgres_symbols import PostgresSymbols
from keyhole.core.postgres.postgres_texts import PostgresTexts
from keyhole.core.postgres.postgres_trigrams import PostgresTrigrams
from keyhole.core.postgres.postgres_vectors import PostgresVectors
from keyhole.core.postgres.postgres_words import PostgresWords
from keyhole.core.postgres.repository_lock import has_writer_on
from keyhole.core.postgres.server_connection import connect, explained
from keyhole.core.types.source_files import Skip, SkipReason, Stamp

_OF_CHUNKS = ("chunk_signs", "chunk_vector", "chunk_tokens")
_OF_FILES = ("chunk", "file_document", "file_occurrences", "file_name", "file_trigrams", "file_text")


class PostgresStore(
    PostgresFiles,
    PostgresChunks,
    PostgresSymbols,
    PostgresLinks,
    PostgresLinkLists,
    PostgresNames,
    PostgresWords,
    PostgresTrigrams,
    PostgresTexts,
    PostgresVectors,
):
    """An open index. Everyone may read; a writer must hold the writer lock of the repository."""

    # The transaction that makes a whole revision appear at once, if there is one.
    _is_in_revision = False

    @property
    def is_frozen(self) -> bool:
        """Whether a reader must not be kept; on a server it may."""
        return False

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the index, even while another process writes."""
        with super().snapshot():
            self._keep_facts(may_keep=True)
            try:
                yield
            finally:
                self._keep_facts(may_keep=False)

    def language_totals(self) -> list[LanguageTotals]:
        """Return the totals of each language, the one with the most files first."""
        return self.rows(
            LanguageTotals,
            """SELECT f.language, count(*), sum(f.size)::bigint, coalesce(sum(c.n), 0)::bigint,
                    coalesce(sum(s.n), 0)::bigint
                FROM file f
                LEFT JOIN (SELECT file_id, count(*) n FROM chunk WHERE repo = %(repo)s GROUP BY file_id) c
                    ON c.file_id = f.id
                LEFT JOIN (SELECT file_id, count(*) n FROM symbol WHERE repo = %(repo)s GROUP BY file_id) s
                    ON s.file_id = f.id
                WHERE f.repo = %(repo)s GROUP BY f.language ORDER BY count(*) DESC, f.language""",
        )

    def has_writer(self) -> bool:
        """Return whether a process is indexing."""
        with explained(self.url):
            return any(has_writer_on(self._db, number) for number in self.repositories.numbers)

    def is_abandoned(self) -> bool:
        """Return whether files are still to be indexed but no process is indexing."""
        if self.has_writer():
            return False
        # A writer may have finished since this connection's snapshot began, so read the current state.
        with PostgresStore(self.url, self.repositories) as current:
            return current.facts().pending != 0

    # Writing

    @contextmanager
    def revision(self) -> Iterator[None]:
        """Make all transactions inside appear to readers at once, at the end, or not at all."""
        self._is_in_revision = True
        try:
            with self._whole_transaction():
                yield
        finally:
            self._is_in_revision = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything inside or nothing, and increase the generation if it changed indexed content."""
        if self._is_in_revision:
            with self._counted_change():
                yield
            return
        with self._whole_transaction(), self._counted_change():
            yield

    @contextmanager
    def _whole_transaction(self) -> Iterator[None]:
        with explained(self.url):
            self._db.execute("BEGIN")
        self._next_ids.clear()
        self._keep_facts(may_keep=True)
        try:
            self._note_old_rows()
            yield
            self._write_words()
            self._write_waiting()
            self._end("COMMIT")
        finally:
            self._forget_words()
            self._waiting.clear()
            self._waiting_paths.clear()
            self._more.clear()
            self._keep_facts(may_keep=False)
            self._end("ROLLBACK")

    @contextmanager
    def _counted_change(self) -> Iterator[None]:
        self._has_changed = False
        yield
        self._write_counts()
        if self._has_changed:
            self.set_fact("generation", self.facts().generation + 1)
        self._write_waiting()

    def announce(self, *, pending: int, total: int) -> None:
        """Record how many files are still to be indexed, of how many; readers see that before the revision ends."""
        put = """INSERT INTO fact (repo, name, value) VALUES (%(repo)s, 'pending', %(pending)s),
            (%(repo)s, 'total', %(total)s) ON CONFLICT (repo, name) DO UPDATE SET value = excluded.value"""
        values = {"repo": self.repository, "pending": Jsonb(pending), "total": Jsonb(total)}
        with explained(self.url), connect(self.url) as db:
            db.execute(put, values)
        self._keep_facts(may_keep=self._is_in_revision)

    def merge_words(self) -> None:
        """Make searches after many changes as fast as they can be."""
        super().merge_words()
        self._sort_in_trigrams()

    def wipe_deleted(self) -> None:
        """Do nothing: no statement can read deleted rows, and the server's autovacuum reuses their room."""

    def shrink(self) -> None:
        """Do nothing: the server's autovacuum reuses unused room."""

    def replace_file(self, rows: FileRows) -> None:
        """Replace a file's rows."""
        self._has_changed = True
        self._settle(rows.path)
        known_id = self._id_of(rows.path)
        is_new = known_id is None
        role = "" if known_id is None else self._role_to_keep(known_id, rows)
        if not role:
            self._find_roles_later()
        if known_id is not None:
            self._delete_rows(known_id)
        file_id = known_id or self._new_ids("file", 1)[0]
        self._delete_skip(rows.path)
        if rows.unparsed:
            self._put_skip(Skip(rows.path, SkipReason.UNPARSED, rows.unparsed), None)
        self._insert_file(file_id, rows, role)
        if rows.text is not None:
            self._add_text(file_id, rows.text)
            self._add_trigrams(file_id, rows.text)
        if rows.document:
            self._add_document(file_id, rows.document)
        if rows.occurrences:
            self._add_occurrences(file_id, rows.occurrences)
        chunk_ids = self._new_ids("chunk", len(rows.chunks))
        words = self._add_words(file_id, chunk_ids, rows.chunks)
        self._insert_chunks(file_id, chunk_ids, rows.chunks, words)
        self._count(chunks=len(words), words=sum(words))
        self._replace_symbols(file_id, rows.symbols, is_new=is_new)
        self._add_vectors(chunk_ids, rows.vectors)
        self._add_tokens(chunk_ids, rows.tokens)
        self._replace_links(file_id, rows, is_new=is_new)
        self._note_written(rows.path)

    def remove_file(self, path: str) -> None:
        """Delete a file's rows."""
        self._settle(path)
        file_id = self._id_of(path)
        if file_id is None:
            return
        self._delete_skip(path)
        self._has_changed = True
        self._delete_rows(file_id)
        for table in ("symbol", "link", "declared"):
            self._delete_of(table, file_id)
        self._reopen_links_to(path)
        self._find_roles_later()

    def put_skip(self, skip: Skip, stamp: Stamp | None = None) -> None:
        """Record that a path is skipped, and delete its rows."""
        self._settle(skip.path)
        # A bad name is recorded with escapes, and that text may be the name of another, indexed file.
        if skip.reason != SkipReason.BAD_NAME and self._id_of(skip.path) is not None:
            self.remove_file(skip.path)
        # A file that is skipped for the same reason as before may only have been touched.
        if self._skip_at(skip.path) != skip:
            self._has_changed = True
            self._resolve_later("all")
        self._put_skip(skip, stamp)
        self._note_written(skip.path)

    def remove_skip(self, path: str) -> None:
        """Delete the record that a path is skipped."""
        self._settle(path)
        self._has_changed = True
        self._resolve_later("all")
        self._delete_skip(path)

    def _find_roles_later(self) -> None:
        """Make `update_roles` find the roles of all files, since they depend on each other."""
        if self.facts().roles != "all":
            self.set_fact("roles", "all")

    def _delete_rows(self, file_id: int) -> None:
        """Delete a file with everything except symbols, links and declarations, of which most stay after an edit."""
        of_file = "SELECT id FROM chunk WHERE repo = %(repo)s AND file_id = %(file_id)s"
        sizes = """SELECT count(*), coalesce(sum(words), 0)::bigint FROM chunk
            WHERE repo = %(repo)s AND file_id = %(file_id)s"""
        chunks, words = self.direct(sizes, file_id=file_id)[0]
        self._count(chunks=-chunks, words=-words)
        self._delete_words(file_id)
        # The chunks are deleted after what is looked up with them.
        for table in _OF_CHUNKS:
            self.direct(f"DELETE FROM {table} WHERE repo = %(repo)s AND chunk_id IN ({of_file})", file_id=file_id)  # noqa: S608
        for table in _OF_FILES:
            self._delete_of(table, file_id)
        self.direct("DELETE FROM file WHERE repo = %(repo)s AND id = %(file_id)s", file_id=file_id)
