"""The index of one workspace, kept in SQLite: all its tables, and what is written across several of them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from keyhole.core.errors import CorruptStoreError, StoreError
from keyhole.core.files.walk import Stamp
from keyhole.core.index.chunk_table import ChunkTable
from keyhole.core.index.connection import explained, load_vectors, transaction
from keyhole.core.index.database import json_ids
from keyhole.core.index.file_table import FileTable
from keyhole.core.index.link_lists import LinkLists
from keyhole.core.index.link_table import LinkTable
from keyhole.core.index.rows import FileRows, LanguageTotals, SignBlock, StoredVector, Vector
from keyhole.core.index.symbol_table import SymbolTable
from keyhole.core.index.trigram_table import TrigramTable
from keyhole.core.index.word_table import WordTable
from keyhole.core.types import Skip, SkipReason


class Store(FileTable, ChunkTable, SymbolTable, LinkTable, LinkLists, WordTable, TrigramTable):
    """An open index. Every process may read; who writes holds the writer's lock."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        super().__init__(path, vfs=vfs)
        self._has_vectors = False

    def language_totals(self) -> list[LanguageTotals]:
        """Return what the files of each language add up to, the commonest first."""
        return self.rows(
            LanguageTotals,
            """SELECT f.language, count(*), sum(f.size), ifnull(sum(c.n), 0), ifnull(sum(s.n), 0) FROM file f
                LEFT JOIN (SELECT file_id, count(*) n FROM chunk GROUP BY file_id) c ON c.file_id = f.id
                LEFT JOIN (SELECT file_id, count(*) n FROM symbol GROUP BY file_id) s ON s.file_id = f.id
                GROUP BY f.language ORDER BY count(*) DESC, f.language""",
        )

    # Writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing, and count a new generation."""
        with explained(self.path), transaction(self._db):
            yield
            self.set_fact("generation", self.facts().generation + 1)

    def replace_file(self, rows: FileRows) -> None:
        """Replace a file's rows."""
        known_id = self.file_id(rows.path)
        is_new = known_id is None
        if known_id is not None:
            self._remove_chunks(known_id)
            # Not `INSERT OR REPLACE`: it makes full text write out what it has gathered, for every file.
            self._delete_file(known_id)
        file_id = known_id or self._next_id("file")
        self._delete_skip(rows.path)
        self._insert_file(file_id, rows)
        first = self._insert_chunks(file_id, rows.chunks)
        self._insert_words(first, rows.chunks)
        self._replace_symbols(file_id, rows.symbols, is_new=is_new)
        self._add_vectors(first, rows.vectors)
        self._replace_links(file_id, rows, is_new=is_new)

    def remove_file(self, path: str) -> None:
        """Delete a file's rows."""
        file_id = self.file_id(path)
        if file_id is None:
            return
        self._remove_chunks(file_id)
        self._delete_symbols(file_id)
        self._delete_links(file_id)
        self._delete_declared(file_id)
        self._delete_file(file_id)
        self._reopen_links_to(path)

    def put_skip(self, skip: Skip, stamp: Stamp | None = None) -> None:
        """Record that a path is skipped, and delete what was indexed of it."""
        # A name that cannot be shown is written with escapes, which may be the name of another file.
        if skip.reason != SkipReason.BAD_NAME:
            self.remove_file(skip.path)
        self._resolve_later("all")
        self._put_skip(skip, stamp)

    def remove_skip(self, path: str) -> None:
        """Forget that a path was skipped."""
        self._resolve_later("all")
        self._delete_skip(path)

    def _remove_chunks(self, file_id: int) -> None:
        """Delete a file's chunks, with everything that belongs to them, and its trigrams."""
        # The chunks go last: the other tables find their rows by them.
        self._delete_words(file_id)
        chunks = "SELECT id FROM chunk WHERE file_id = ?"
        if self._has_vectors and self.facts().dimension:
            self._db.execute(f"DELETE FROM chunk_bits WHERE rowid IN ({chunks})", (file_id,))  # noqa: S608
        self._db.execute(f"DELETE FROM chunk_vector WHERE chunk_id IN ({chunks})", (file_id,))  # noqa: S608
        self._delete_chunks(file_id)
        self._delete_trigrams(file_id)

    # Vectors

    def load_vectors(self) -> bool:
        """Make the vectors usable; False where sqlite-vec cannot be loaded."""
        self._has_vectors = load_vectors(self._db)
        return self._has_vectors

    def sign_blocks(self) -> list[SignBlock]:
        """Return the signs of all vectors, in the blocks that sqlite-vec keeps them in."""
        return self.rows(
            SignBlock,
            """SELECT validity, rowids, vectors FROM chunk_bits_chunks
                JOIN chunk_bits_vector_chunks00 signs ON signs.rowid = chunk_id""",
        )

    def vectors_of(self, chunk_ids: Iterable[int]) -> list[StoredVector]:
        """Return the vectors of those of these chunks that have one."""
        return self.rows(
            StoredVector,
            "SELECT chunk_id, vector FROM json_each(?) near JOIN chunk_vector ON chunk_id = near.value",
            json_ids(chunk_ids),
        )

    def reset_vectors(self, dimension: int) -> None:
        """Delete all vectors, and prepare for new ones of this dimension, if any."""
        self._db.execute("DELETE FROM chunk_vector")
        if self._has_vectors:
            self._db.execute("DROP TABLE IF EXISTS chunk_bits")
            if dimension:
                self._db.execute(f"CREATE VIRTUAL TABLE chunk_bits USING vec0(signs bit[{int(dimension)}])")

    def _add_vectors(self, first: int, vectors: Sequence[Vector]) -> None:
        if not vectors:
            return
        rows = list(enumerate(vectors, first))
        self._db.executemany(
            "INSERT INTO chunk_vector (chunk_id, vector) VALUES (?, ?)", [(id_, small) for id_, (_, small) in rows]
        )
        self._db.executemany(
            "INSERT INTO chunk_bits (rowid, signs) VALUES (?, vec_bit(?))", [(id_, signs) for id_, (signs, _) in rows]
        )


def check_integrity(store: Store) -> list[str]:
    """Look through the whole file; return what is wrong, nothing when all is well."""
    problems = [problem for problem in store.column("PRAGMA integrity_check") if problem != "ok"]
    try:
        store.query("INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')")
    except apsw.Error as error:
        problems.append(f"full text: {error}")
    return problems


def is_sound(path: Path) -> bool:
    """Tell whether an index file can be opened and read through; one that is not there is sound."""
    if not path.exists():
        return True
    try:
        with Store(path) as store:
            store.known()
            return not check_integrity(store)
    except (CorruptStoreError, apsw.Error, ValueError, TypeError, AttributeError):
        return False
    except StoreError:
        return True  # no room, in use, or made by a newer keyhole: none of it is damage
