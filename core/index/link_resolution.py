"""Links in the index: what each file's rows say, resolved against all paths once a run has taken them in.

A link is resolved when it is new, when what it leads to has other headings, or, should any path or
declaration have come or gone, together with all others. No file is read again for it.
"""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from keyhole.core.index.store import Store
from keyhole.core.links.link_types import Declared, LinkKind, LinkState, Origin, Resolution
from keyhole.core.links.paths import Paths
from keyhole.core.links.prose import Anchors
from keyhole.core.links.resolve import Resolver

# id, path, language, line, kind, target, part, and what is known: state, where to, reason, site
_Row = tuple[Any, ...]
_LINKS = """SELECT link.id, file.path, language, line, kind, target, part, state, link.path, reason, site
    FROM link JOIN file ON file.id = file_id WHERE {} ORDER BY link.file_id, link.id"""
_NOTES = "SELECT path FROM file WHERE language = 'markdown'"
_ANCHORS = """SELECT file.path, anchor.name FROM file JOIN (
        SELECT file_id, name, id FROM symbol UNION ALL SELECT file_id, name, NULL FROM declared WHERE kind = 'anchor'
    ) anchor ON anchor.file_id = file.id WHERE language = 'markdown'"""


def resolve_links(store: Store) -> None:
    """Bring every link up to date with the paths there are, inside the caller's transaction."""
    which = store.meta("links", "open")
    if not which:
        return
    is_all = which == "all"
    # What is external by its own text alone stays so.
    rows = store.query(_LINKS.format("NOT is_fixed" if is_all else "state IS NULL"))
    if rows:
        store.put_resolutions(_changes(rows, _resolver(store, _all_anchors(store) if is_all else _anchors_of(store))))
    store.set_meta("links", "")


def _changes(rows: list[_Row], resolver: Resolver) -> Iterable[tuple[object, ...]]:
    """Yield what is to be written: state, path, reason, site and id of each link that changed."""
    for (path, language), group in groupby(rows, key=itemgetter(1, 2)):
        origin = Origin(path, language)
        seen: set[tuple[int, Resolution]] = set()
        for id_, _, _, line, kind, target, part, *known in group:
            found = resolver.resolve(origin, kind, target, part)
            state = found.state
            if kind == LinkKind.IMPORT:
                # One statement may take several names from one file.
                state = LinkState.REPEATED if (line, found) in seen else state
                seen.add((line, found))
            fresh = (state, found.path, found.reason, found.site)
            if tuple(known) != fresh:
                yield (*fresh, id_)


def _resolver(store: Store, anchors: Anchors) -> Resolver:
    files = [row[0] for row in store.query("SELECT path FROM file")]
    skips = store.query("SELECT path, is_dir FROM skip")
    paths = Paths(files, (path for path, is_dir in skips if not is_dir), (path for path, is_dir in skips if is_dir))
    declared = store.query(
        """SELECT path, kind, name, value FROM declared JOIN file ON file.id = file_id
            WHERE kind <> 'anchor' ORDER BY path, declared.id"""
    )
    return Resolver(paths, [(path, Declared(*fact)) for path, *fact in declared], anchors)


def _anchors_of(store: Store) -> Anchors:
    """Look up the headings of a note, and what other anchors it has, when they are asked for."""

    def anchors(path: str) -> tuple[str, ...] | None:
        rows = store.query(f"{_ANCHORS} AND file.path = ?", path)
        is_note = rows or store.query("SELECT 1 FROM file WHERE path = ? AND language = 'markdown'", path)
        return tuple(name for _, name in rows) if is_note else None

    return anchors


def _all_anchors(store: Store) -> Anchors:
    """Look up the anchors of every note at once."""
    found: dict[str, list[str]] = {row[0]: [] for row in store.query(_NOTES)}
    for path, name in store.query(_ANCHORS):
        found[path].append(name)
    return lambda path: tuple(found[path]) if path in found else None
