"""What an index holds, told from its tables."""

from collections import Counter
from pathlib import Path
from typing import Any

from keyhole.core.files.ignore import rules_fingerprint
from keyhole.core.files.walk import Known, Scan, scan
from keyhole.core.index.store import Store
from keyhole.core.types import IndexedFile, Inventory, LanguageCount, Skip, SkipReason, Status

_COUNTS = """
SELECT f.language, count(*), sum(f.size), sum(c.n), sum(s.n) FROM file f
    LEFT JOIN (SELECT file_id, count(*) n FROM chunk GROUP BY file_id) c ON c.file_id = f.id
    LEFT JOIN (SELECT file_id, count(*) n FROM symbol GROUP BY file_id) s ON s.file_id = f.id
    GROUP BY f.language ORDER BY count(*) DESC, f.language
"""


def read_status(root: Path, path: Path, *, max_bytes: int) -> Status:
    """Read the index, if there is one, and compare it with the files as they are."""
    facts: dict[str, Any] = {}
    rows: list[tuple[Any, ...]] = []
    known = Known()
    if path.exists():
        with Store(path) as store, store.snapshot():
            known = store.known()
            facts = dict(store.query("SELECT key, value FROM meta"))
            rows = store.query(_COUNTS)
    known.rules_hold = facts.get("rules") == rules_fingerprint(max_bytes)
    found = scan(root, max_bytes=max_bytes, known=known)
    languages = tuple(LanguageCount(name, files, chunks or 0, symbols or 0) for name, files, _, chunks, symbols in rows)
    skips = sorted(found.skips + [known.skips[same][0] for same in found.same_skips], key=lambda skip: skip.path)
    return Status(
        root=str(root),
        index_path=str(path),
        index_bytes=_size_on_disk(path),
        generation=facts.get("generation", 0),
        updated=facts.get("updated", ""),
        model=facts.get("model", ""),
        pending=facts.get("pending", len(found.candidates)),
        stale=count_changes(known, found),
        files=sum(count.files for count in languages),
        size=sum(size for _, _, size, _, _ in rows),
        chunks=sum(count.chunks for count in languages),
        symbols=sum(count.symbols for count in languages),
        languages=languages,
        skipped=dict(Counter(skip.reason.value for skip in skips)),
        skips=tuple(skips),
    )


def read_inventory(store: Store) -> Inventory:
    """List what the index knows, without a look at the files."""
    skips = store.query("SELECT path, reason, detail, is_dir FROM skip ORDER BY path")
    return Inventory(
        files=tuple(IndexedFile(*row) for row in store.query("SELECT path, language, lines FROM file ORDER BY path")),
        skips=tuple(Skip(path, SkipReason(reason), detail, bool(is_dir)) for path, reason, detail, is_dir in skips),
        kinds=tuple(
            row[0] for row in store.query("SELECT kind FROM symbol GROUP BY kind ORDER BY count(*) DESC, kind")
        ),
        generation=store.meta("generation", 0),
    )


def count_changes(known: Known, found: Scan) -> int:
    """Count the files that an index run would read or remove."""
    candidates = {candidate.path for candidate in found.candidates}
    return len(candidates) + len(known.files.keys() - candidates - set(found.same_files))


def _size_on_disk(path: Path) -> int:
    return sum(_file_size(path.with_name(path.name + suffix)) for suffix in ("", "-wal"))


def _file_size(path: Path) -> int:
    """Return the size of a file; 0 for the log, which goes whenever the last process closes the index."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
