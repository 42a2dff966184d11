"""The format of the index file: its version, the reason for each change, and the migrations.

Version  Why it changed
1        files, skips, chunks and their full text
2        chunks have the list of their `definitions`; it is empty in a migrated index
3        trigrams of files, filled by the first regex search
4        links between files, and the declarations used to resolve them
5        symbols are indexed by file and depth, so the tree can count them without reading them
6        signs of vectors in an ordinary table, which sqlite-vec compares with its public functions
7        times of change and inodes of files, so that an edit with the same size and time is seen
8        secrets are masked, and `masked` says where; the next run reads every file again
9        for ranking: roles of files, tokens of chunks, and a document per file with its words and its vector; and for
         each file the `analysis` that made its rows, so that searches can use them until the file is read again
10       every name in each file with its role, and the files of each name
"""

from collections.abc import Callable, Iterator

import apsw

from keyhole.core.index.extension import load_vectors

VERSION = 10
# "Khol" in ASCII; distinguishes an index from other SQLite files.
APPLICATION_ID = 0x4B686F6C

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    digest TEXT NOT NULL,
    encoding TEXT NOT NULL,
    language TEXT NOT NULL,
    lines INTEGER NOT NULL,
    has_errors INTEGER NOT NULL,
    has_trigrams INTEGER NOT NULL DEFAULT 0,
    masked TEXT NOT NULL DEFAULT '',  -- JSON: first line, last line and kind of each masked secret
    content_hint TEXT NOT NULL DEFAULT '',  -- what the text says about the role; empty in a migrated index
    role TEXT NOT NULL DEFAULT '',          -- empty until all files are indexed
    analysis INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE skip (
    path TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    is_dir INTEGER NOT NULL,
    size INTEGER,      -- of a file that was skipped for its content: until one of these four
    mtime_ns INTEGER,  -- changes, it is not read again
    ctime_ns INTEGER,
    inode INTEGER
) WITHOUT ROWID;

-- The ignore files that the last run used.
CREATE TABLE rule_file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    start INTEGER NOT NULL,   -- offset in characters of the decoded file
    length INTEGER NOT NULL,
    definitions TEXT NOT NULL
);
CREATE INDEX chunk_by_file ON chunk (file_id);

CREATE TABLE symbol (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL,
    returns TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    name_line INTEGER NOT NULL,
    parent TEXT NOT NULL,
    exported INTEGER NOT NULL,
    modifiers TEXT NOT NULL
);
CREATE INDEX symbol_by_name ON symbol (name COLLATE NOCASE);

-- index/words.py has already split the words, so the tokenizer only splits at spaces.
CREATE VIRTUAL TABLE chunk_words USING fts5(
    path, definitions, content, content='', contentless_delete=1, tokenize='ascii'
);

CREATE TABLE chunk_vector (chunk_id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
"""
_DEPTHS = "CREATE INDEX symbol_by_depth ON symbol (file_id, depth);"
_SIGNS = "CREATE TABLE chunk_signs (chunk_id INTEGER PRIMARY KEY, signs BLOB NOT NULL);"
# What ranking needs besides words and vectors of chunks: the distinct tokens of each chunk, and a short document about
# each file (index/file_document.py), with its words and its vector, which is empty without a model.
_RANKING = """
CREATE TABLE chunk_tokens (chunk_id INTEGER PRIMARY KEY, tokens BLOB NOT NULL);
CREATE TABLE file_document (file_id INTEGER PRIMARY KEY, words BLOB NOT NULL, vector BLOB NOT NULL);
"""
# Narrows down the files that may contain a text. One row per file and no positions keep it small.
_TRIGRAMS = """
CREATE VIRTUAL TABLE file_trigrams USING fts5(
    content, content='', contentless_delete=1, tokenize='trigram', detail='none'
);
"""
# One record per file with all its names (syntax/occurrences.py), and the files that contain a name. Names are separated
# by spaces; they may contain any other sign, such as `operator<<` or `valid?`.
_NAMES = """
CREATE TABLE file_occurrences (file_id INTEGER PRIMARY KEY, names BLOB NOT NULL);
CREATE VIRTUAL TABLE file_names USING fts5(
    names, content='', contentless_delete=1, detail='none',
    tokenize="ascii tokenchars '_$@#?!=-:<>+*/%&|^~.,;()[]{}\\`'"
);
"""
# Links as written, and what they resolve to; `state` is NULL until a link is resolved.
_LINKS = """
CREATE TABLE link (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    part TEXT NOT NULL,
    is_fixed INTEGER NOT NULL,   -- external by its text alone, independent of other files
    state TEXT,
    path TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    site TEXT NOT NULL DEFAULT ''
);
CREATE INDEX link_by_file ON link (file_id);
CREATE INDEX link_by_path ON link (path) WHERE path <> '';
CREATE INDEX link_by_reason ON link (reason) WHERE reason <> '';
CREATE INDEX link_by_site ON link (site) WHERE site <> '';

CREATE TABLE declared (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL
);
CREATE INDEX declared_by_file ON declared (file_id);
"""


def create(db: apsw.Connection) -> None:
    """Create the tables of an empty index."""
    db.execute(_TABLES + _DEPTHS + _SIGNS + _RANKING + _TRIGRAMS + _NAMES + _LINKS)
    db.pragma("application_id", APPLICATION_ID)
    db.pragma("user_version", VERSION)


def migrate(db: apsw.Connection) -> None:
    """Migrate an older index to the current version, one version at a time."""
    for version in range(int(db.pragma("user_version")), VERSION):
        MIGRATIONS[version](db)
        db.pragma("user_version", version + 1)


def _add_definitions(db: apsw.Connection) -> None:
    """Give chunks an empty list of definitions; the full-text index does not change."""
    db.execute("ALTER TABLE chunk ADD COLUMN definitions TEXT NOT NULL DEFAULT ''")


def _add_trigrams(db: apsw.Connection) -> None:
    """Add the table of trigrams, empty."""
    db.execute(
        "ALTER TABLE file ADD COLUMN has_trigrams INTEGER NOT NULL DEFAULT 0" + _TRIGRAMS.replace("CREATE", ";CREATE")
    )


def _add_links(db: apsw.Connection) -> None:
    """Add the tables of links, empty; a file's links are added when it changes, or when all files are read again."""
    db.execute(_LINKS)


def _add_depths(db: apsw.Connection) -> None:
    """Replace the SQL index of symbols by file with one by file and depth."""
    db.execute("DROP INDEX symbol_by_file;" + _DEPTHS)


def _add_signs(db: apsw.Connection) -> None:
    """Copy the signs out of sqlite-vec's own table, which only sqlite-vec can read."""
    db.execute(_SIGNS)
    if not db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'chunk_bits'").get:
        return
    if load_vectors(db):
        db.execute("INSERT INTO chunk_signs (chunk_id, signs) SELECT rowid, signs FROM chunk_bits")
        db.execute("DROP TABLE chunk_bits")
    else:
        # Without a recorded model, the next run embeds every file again.
        db.execute("DELETE FROM chunk_vector; DELETE FROM meta WHERE key IN ('model', 'dimension')")


def _add_change_times(db: apsw.Connection) -> None:
    """Add times of change and inodes as unknown, so that the next run compares the content of each file once."""
    for table, constraint in (("file", "NOT NULL DEFAULT 0"), ("skip", ""), ("rule_file", "NOT NULL DEFAULT 0")):
        for column in ("ctime_ns", "inode"):
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column} INTEGER {constraint}")
    _count_words_again(db)


def _count_words_again(db: apsw.Connection) -> None:
    """Correct the totals of the full-text index: before version 3.54, SQLite did not subtract deleted rows from them.

    FTS5 stores the number of rows and the number of words in each column, and the same numbers of words for each row.
    """
    totals = [0] * 4
    for (sizes,) in db.execute("SELECT sz FROM chunk_words_docsize"):
        for column, size in enumerate((1, *_numbers_in(sizes))):
            totals[column] += size
    record = b"".join(map(_as_bytes, totals))
    db.execute("UPDATE chunk_words_data SET block = ? WHERE id = 1", (record,))


def _numbers_in(record: bytes) -> Iterator[int]:
    """Yield the numbers of a record, which have seven bits per byte; the last byte of a number is below 128."""
    number = 0
    for byte in record:
        number = number << 7 | byte & 127
        if byte < 128:
            yield number
            number = 0


def _as_bytes(number: int) -> bytes:
    parts = [number & 127]
    while number := number >> 7:
        parts.append(number & 127 | 128)
    return bytes(reversed(parts))


def _add_masks(db: apsw.Connection) -> None:
    """Add the list of masks, and record that nothing is masked yet, so that files with secrets are read again."""
    db.execute("ALTER TABLE file ADD COLUMN masked TEXT NOT NULL DEFAULT ''")
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('secrets', 'unmasked')")


def _add_ranking(db: apsw.Connection) -> None:
    """Add what ranking needs, empty; index runs read the files again, because their analysis is an older one."""
    db.execute("ALTER TABLE file ADD COLUMN content_hint TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE file ADD COLUMN role TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE file ADD COLUMN analysis INTEGER NOT NULL DEFAULT 0")
    db.execute(_RANKING)
    db.execute("INSERT OR IGNORE INTO meta (key, value) SELECT 'analysis', 0 WHERE EXISTS (SELECT 1 FROM file)")
    db.execute("UPDATE file SET analysis = (SELECT value FROM meta WHERE key = 'analysis')")


def _add_names(db: apsw.Connection) -> None:
    """Add the names in files, empty; index runs read the files again, because their analysis is an older one."""
    db.execute(_NAMES)


MIGRATIONS: dict[int, Callable[[apsw.Connection], None]] = {
    1: _add_definitions,
    2: _add_trigrams,
    3: _add_links,
    4: _add_depths,
    5: _add_signs,
    6: _add_change_times,
    7: _add_masks,
    8: _add_ranking,
    9: _add_names,
}
