"""Writing the tables `link` and `declared`: the links of files, what they resolve to, and declarations."""

from collections.abc import Iterable

from keyhole.core.index.meta_table import MetaTable
from keyhole.core.index.rows import DeclaredRow, FileRows, StoredLink, WrittenLink
from keyhole.core.links.link_types import Declared, Resolution

_ANCHORS = """SELECT file.path, anchor.name FROM file JOIN (
        SELECT file_id, name, id FROM symbol UNION ALL SELECT file_id, name, NULL FROM declared WHERE kind = 'anchor'
    ) anchor ON anchor.file_id = file.id WHERE language = 'markdown'"""


class LinkTable(MetaTable):
    """Links and declarations of files, and which links still have to be resolved."""

    # Resolving

    def links_to_resolve(self, *, every: bool) -> list[StoredLink]:
        """Return the unresolved links, or every link that depends on other files; grouped by file."""
        # Links whose own text makes them external never change.
        condition = "NOT is_fixed" if every else "state IS NULL"
        return self.rows(
            StoredLink,
            f"""SELECT link.id, file.path, language, line, kind, target, part, state, link.path, reason, site
                FROM link JOIN file ON file.id = file_id WHERE {condition} ORDER BY link.file_id, link.id""",  # noqa: S608
        )

    def put_resolutions(self, changes: Iterable[tuple[int, Resolution]]) -> None:
        """Record the resolutions of links, given with their ids."""
        rows = [(*found, link_id) for link_id, found in changes]
        self._has_changed = self._has_changed or bool(rows)
        self._db.executemany("UPDATE link SET state = ?, path = ?, reason = ?, site = ? WHERE id = ?", rows)

    def declarations(self) -> list[tuple[str, Declared]]:
        """Return the declarations of all files except anchors, each with the file's path."""
        rows = self.query(
            """SELECT path, kind, name, value FROM declared JOIN file ON file.id = file_id
                WHERE kind <> 'anchor' ORDER BY path, declared.id"""
        )
        return [(path, Declared(*fact)) for path, *fact in rows]

    def anchors(self) -> dict[str, tuple[str, ...]]:
        """Return the headings and other anchors of every note, by path."""
        notes = self.column("SELECT path FROM file WHERE language = 'markdown'")
        found: dict[str, list[str]] = {path: [] for path in notes}
        for path, name in self.query(_ANCHORS):
            found[path].append(name)
        return {path: tuple(names) for path, names in found.items()}

    def anchors_of(self, path: str) -> tuple[str, ...] | None:
        """Return the headings and other anchors of one note; None if the path is not a note."""
        rows = self.query(f"{_ANCHORS} AND file.path = ?", path)
        is_note = rows or self.query("SELECT 1 FROM file WHERE path = ? AND language = 'markdown'", path)
        return tuple(name for _, name in rows) if is_note else None

    # Writing

    def _replace_links(self, file_id: int, rows: FileRows, *, is_new: bool) -> None:
        """Replace the links and declarations of a file, and mark the links that this affects as unresolved."""
        old = [] if is_new else self._declared_by(file_id)
        if old != list(rows.declared):
            if old:
                self._delete_declared(file_id)
            self._db.executemany(
                "INSERT INTO declared (file_id, kind, name, value) VALUES (?, ?, ?, ?)",
                [(file_id, *fact) for fact in rows.declared],
            )
        has_links = not is_new and self._has_links(file_id, rows.links)
        if not has_links:
            if not is_new:
                self._delete_links(file_id)
            self._db.executemany(
                """INSERT INTO link (file_id, line, kind, target, part, is_fixed, state, site)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                [(file_id, *link) for link in rows.links],
            )
        is_note = rows.language == "markdown"
        if is_note and not is_new:
            # The headings of the note may have changed.
            self._db.execute("UPDATE link SET state = NULL WHERE path = ? AND part <> ''", (rows.path,))
        if is_new or without_anchors(old) != without_anchors(rows.declared):
            self._resolve_later("all")
        elif is_note or not has_links:
            self._resolve_later("open")

    def _reopen_links_to(self, path: str) -> None:
        """Mark the links to a path as unresolved."""
        self._db.execute("UPDATE link SET state = NULL WHERE path = ?", (path,))
        self._resolve_later("all")

    def _resolve_later(self, which: str) -> None:
        """Make `resolve_links` resolve all links, or those without a state ("open")."""
        if self.fact("links") not in (which, "all"):
            self.set_fact("links", which)

    def _has_links(self, file_id: int, links: tuple[WrittenLink, ...]) -> bool:
        """Return whether a file still has the same links, as after most edits; they keep their resolutions."""
        written = "SELECT line, kind, target, part, is_fixed FROM link WHERE file_id = ? ORDER BY id"
        return self.query(written, file_id) == [link[:5] for link in links]

    def _declared_by(self, file_id: int) -> list[DeclaredRow]:
        return self.rows(DeclaredRow, "SELECT kind, name, value FROM declared WHERE file_id = ? ORDER BY id", file_id)

    def _delete_links(self, file_id: int) -> None:
        self._db.execute("DELETE FROM link WHERE file_id = ?", (file_id,))

    def _delete_declared(self, file_id: int) -> None:
        self._db.execute("DELETE FROM declared WHERE file_id = ?", (file_id,))


def without_anchors(declared: Iterable[DeclaredRow]) -> list[DeclaredRow]:
    """Return the declarations that links of other files may depend on."""
    return [fact for fact in declared if fact.kind != "anchor"]
