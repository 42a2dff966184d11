"""The index of one workspace: reading its facts, and replacing a file's rows in one transaction."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw

from keyhole.core.errors import CorruptStoreError, StoreError
from keyhole.core.files.walk import Known, Stamp
from keyhole.core.index.connection import connect, explained, load_vectors, transaction
from keyhole.core.index.prepare import UNKNOWN_TIME, FileRows, SymbolRow, Vector
from keyhole.core.types import Skip, SkipReason


class Store:
    """An open index. Any process may read; who writes holds the writer's lock."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self.path = path
        self._db = connect(path, vfs=vfs)
        self._has_vectors = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the last one to close folds the write-ahead log in."""
        with explained(self.path):
            self._db.close()

    # Reading

    def prepare_search(self) -> None:
        """Make what searching needs besides the tables: the vocabulary, and which phrases a row has."""
        with explained(self.path):
            self._db.register_fts5_function("matched_phrases", _matched_phrases)
            self._db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, chunk_words, row)")
            self._db.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, chunk_words, instance)")

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a reading statement."""
        with explained(self.path):
            return list(self._db.execute(sql, values))

    def value(self, sql: str, *values: object) -> Any:
        """Return the first cell of the first row, or None."""
        with explained(self.path):
            return self._db.execute(sql, values).get

    def meta(self, key: str, default: Any = None) -> Any:
        """Return one fact about the index."""
        rows = self.query("SELECT value FROM meta WHERE key = ?", key)
        return rows[0][0] if rows else default

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside from one state of the index, whatever another process writes meanwhile."""
        with explained(self.path):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                # SQLite ends it by itself after some errors.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def known(self) -> Known:
        """Return what the last walk found, for the next one to build on."""
        return Known(
            files={path: (size, mtime) for path, size, mtime in self.query("SELECT path, size, mtime_ns FROM file")},
            skips={
                path: (Skip(path, SkipReason(reason), detail, bool(is_dir)), None if size is None else (size, mtime))
                for path, reason, detail, is_dir, size, mtime in self.query(
                    "SELECT path, reason, detail, is_dir, size, mtime_ns FROM skip"
                )
            },
            rule_files={path: (size, mtime) for path, size, mtime in self.query("SELECT * FROM rule_file")},
        )

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content hashes of those paths that are indexed."""
        rows = (self.query("SELECT path, digest FROM file WHERE path = ?", path) for path in paths)
        return dict(row[0] for row in rows if row)

    # Writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing, and count a new generation."""
        with explained(self.path), transaction(self._db):
            yield
            self.set_meta("generation", self.meta("generation", 0) + 1)

    def set_meta(self, key: str, value: object) -> None:
        """Record one fact about the index."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def replace_file(self, rows: FileRows) -> None:
        """Put a file's rows in the place of its old ones."""
        known_id = self.value("SELECT id FROM file WHERE path = ?", rows.path)
        if known_id is not None:
            self._remove_chunks(known_id)
            # Not `INSERT OR REPLACE`: it makes full text write out what it has gathered, for every file.
            self._db.execute("DELETE FROM file WHERE id = ?", (known_id,))
        file_id = known_id or self._next_id("file")
        self._db.execute("DELETE FROM skip WHERE path = ?", (rows.path,))
        self._db.execute(
            "INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                file_id,
                rows.path,
                rows.size,
                rows.mtime_ns,
                rows.digest,
                rows.encoding,
                rows.language,
                rows.lines,
                rows.has_errors,
            ),
        )
        first = self._next_id("chunk")
        self._db.executemany(
            "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (id_, file_id, chunk.start_line, chunk.end_line, chunk.start, chunk.length, chunk.definitions)
                for id_, chunk in enumerate(rows.chunks, first)
            ],
        )
        self._db.executemany(
            "INSERT INTO chunk_words (rowid, path, definitions, content) VALUES (?, ?, ?, ?)",
            [(id_, *chunk.words) for id_, chunk in enumerate(rows.chunks, first)],
        )
        kept = self._keep_symbols(file_id, rows.symbols) if known_id is not None else 0
        self._db.executemany(
            "INSERT INTO symbol VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(file_id, *symbol) for symbol in rows.symbols[kept:]],
        )
        self._add_vectors(first, rows.vectors)
        self._replace_links(file_id, rows, is_new=known_id is None)

    def put_resolutions(self, changes: Iterable[Sequence[object]]) -> None:
        """Write where links lead: state, path, reason and site, and the id of each."""
        self._db.executemany("UPDATE link SET state = ?, path = ?, reason = ?, site = ? WHERE id = ?", changes)

    def remove_file(self, path: str) -> None:
        """Take a file's rows out."""
        file_id = self.value("SELECT id FROM file WHERE path = ?", path)
        if file_id is None:
            return
        self._remove_chunks(file_id)
        for table in ("symbol", "link", "declared"):
            self._db.execute(f"DELETE FROM {table} WHERE file_id = ?", (file_id,))  # noqa: S608
        self._db.execute("DELETE FROM file WHERE id = ?", (file_id,))
        self._db.execute("UPDATE link SET state = NULL WHERE path = ?", (path,))
        self._resolve_later("all")

    def restamp_file(self, path: str, stamp: Stamp) -> None:
        """Record a new time for a file whose content is the same."""
        self._db.execute("UPDATE file SET size = ?, mtime_ns = ? WHERE path = ?", (*stamp, path))

    def put_skip(self, skip: Skip, stamp: Stamp | None = None) -> None:
        """Record that a path is passed over, and take out what was indexed of it."""
        # A name that cannot be shown is written with escapes, which may be the name of another file.
        if skip.reason != SkipReason.BAD_NAME:
            self.remove_file(skip.path)
        row = (skip.path, skip.reason.value, skip.detail, skip.is_dir, *(stamp or (None, None)))
        self._resolve_later("all")
        self._db.execute("INSERT OR REPLACE INTO skip VALUES (?, ?, ?, ?, ?, ?)", row)

    def remove_skip(self, path: str) -> None:
        """Forget that a path was passed over."""
        self._resolve_later("all")
        self._db.execute("DELETE FROM skip WHERE path = ?", (path,))

    def put_rule_files(self, stamps: dict[str, Stamp]) -> None:
        """Record the ignore files of the last walk."""
        self._db.execute("DELETE FROM rule_file")
        self._db.executemany("INSERT INTO rule_file VALUES (?, ?, ?)", [(path, *s) for path, s in stamps.items()])

    def add_trigrams(self, file_id: int, text: str) -> None:
        """Record which three-letter sequences a file has."""
        self._db.execute("INSERT INTO file_trigrams (rowid, content) VALUES (?, ?)", (file_id, text))
        self._db.execute("UPDATE file SET has_trigrams = 1 WHERE id = ?", (file_id,))

    def load_vectors(self) -> bool:
        """Make the vectors usable; False where sqlite-vec cannot be loaded."""
        self._has_vectors = load_vectors(self._db)
        return self._has_vectors

    def reset_vectors(self, dimension: int) -> None:
        """Drop all vectors, and make room for new ones of this many numbers, if any."""
        self._db.execute("DELETE FROM chunk_vector")
        if self._has_vectors:
            self._db.execute("DROP TABLE IF EXISTS chunk_bits")
            if dimension:
                self._db.execute(f"CREATE VIRTUAL TABLE chunk_bits USING vec0(signs bit[{int(dimension)}])")

    def merge_words(self) -> None:
        """Merge the parts in which the words were written; queries take a third less time for it."""
        with explained(self.path), suppress(apsw.FullError):  # a disk with no room for it loses nothing
            self._db.execute("INSERT INTO chunk_words (chunk_words) VALUES ('optimize')")

    def forget_digests(self) -> None:
        """Make the next walk read every file again; until then the old rows serve."""
        self._db.execute("UPDATE file SET digest = '', mtime_ns = ?", (UNKNOWN_TIME,))
        self._db.execute("DELETE FROM skip WHERE size IS NOT NULL")

    def _remove_chunks(self, file_id: int) -> None:
        """Take out a file's chunks, with everything that belongs to them, and its trigrams."""
        chunks = "SELECT id FROM chunk WHERE file_id = ?"
        self._db.execute(f"DELETE FROM chunk_words WHERE rowid IN ({chunks})", (file_id,))  # noqa: S608
        if self._has_vectors and self.meta("dimension"):
            self._db.execute(f"DELETE FROM chunk_bits WHERE rowid IN ({chunks})", (file_id,))  # noqa: S608
        self._db.execute(f"DELETE FROM chunk_vector WHERE chunk_id IN ({chunks})", (file_id,))  # noqa: S608
        self._db.execute("DELETE FROM chunk WHERE file_id = ?", (file_id,))
        self._db.execute(
            "DELETE FROM file_trigrams WHERE rowid IN (SELECT id FROM file WHERE id = ? AND has_trigrams)", (file_id,)
        )

    def _replace_links(self, file_id: int, rows: FileRows, *, is_new: bool) -> None:
        """Put a file's links in the place of its old ones, and have those of others resolved again that it touches."""
        declared = "SELECT kind, name, value FROM declared WHERE file_id = ? ORDER BY id"
        old = [] if is_new else list(self._db.execute(declared, (file_id,)))
        if old != list(rows.declared):
            self._db.execute("DELETE FROM declared WHERE file_id = ?", (file_id,))
            self._db.executemany(
                "INSERT INTO declared VALUES (NULL, ?, ?, ?, ?)", [(file_id, *fact) for fact in rows.declared]
            )
        has_links = not is_new and self._has_links(file_id, rows)
        if not has_links:
            self._db.execute("DELETE FROM link WHERE file_id = ?", (file_id,))
            self._db.executemany(
                """INSERT INTO link (file_id, line, kind, target, part, is_fixed, state, site)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                [(file_id, *link) for link in rows.links],
            )
        is_note = rows.language == "markdown"
        if is_note and not is_new:
            # Its headings may be others now.
            self._db.execute("UPDATE link SET state = NULL WHERE path = ? AND part <> ''", (rows.path,))
        if is_new or [fact for fact in old if fact[0] != "anchor"] != [f for f in rows.declared if f[0] != "anchor"]:
            self._resolve_later("all")
        elif is_note or not has_links:
            self._resolve_later("open")

    def _resolve_later(self, which: str) -> None:
        """Have `resolve_links` look at all links, or at those whose state is open."""
        if self.meta("links") not in (which, "all"):
            self.set_meta("links", which)

    def _has_links(self, file_id: int, rows: FileRows) -> bool:
        """Tell whether a file has the links it had, as after most edits: where they lead is known then."""
        written = "SELECT line, kind, target, part, is_fixed FROM link WHERE file_id = ? ORDER BY id"
        return list(self._db.execute(written, (file_id,))) == [link[:5] for link in rows.links]

    def _keep_symbols(self, file_id: int, new: Sequence[SymbolRow]) -> int:
        """Keep the symbols above the first that changed, and delete the rest: names lie far apart in their index."""
        old = list(self._db.execute("SELECT * FROM symbol WHERE file_id = ? ORDER BY id", (file_id,)))
        same = sum(1 for _ in takewhile(lambda pair: pair[0][2:] == pair[1], zip(old, new, strict=False)))
        self._db.executemany("DELETE FROM symbol WHERE id = ?", [row[:1] for row in old[same:]])
        return same

    def _add_vectors(self, first: int, vectors: Sequence[Vector]) -> None:
        if not vectors:
            return
        rows = list(enumerate(vectors, first))
        self._db.executemany("INSERT INTO chunk_vector VALUES (?, ?)", [(id_, small) for id_, (_, small) in rows])
        self._db.executemany(
            "INSERT INTO chunk_bits (rowid, signs) VALUES (?, vec_bit(?))", [(id_, signs) for id_, (signs, _) in rows]
        )

    def _next_id(self, table: str) -> int:
        return int(self._db.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").get)  # noqa: S608


def json_ids(ids: Iterable[int]) -> str:
    """Write ids as the JSON list that `json_each` reads."""
    return f"[{','.join(map(str, ids))}]"


def _matched_phrases(row: apsw.FTS5ExtensionApi, *arguments: Any) -> str:
    """Return, for each phrase of the query from a given one on, 1 when the row has it and 0 when not."""
    (first,) = arguments
    return "".join(["1" if row.phrase_columns(number) else "0" for number in range(first, row.phrase_count)])


def check_integrity(store: Store) -> list[str]:
    """Look through the whole file; return what is wrong, nothing when all is well."""
    problems = [str(row[0]) for row in store.query("PRAGMA integrity_check") if row[0] != "ok"]
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
