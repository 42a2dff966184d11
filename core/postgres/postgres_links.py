"""Writing the tables `link` and `declared`: the links of files, what they resolve to, and declarations."""

from collections.abc import Iterable

from keyhole.core.index.link_table import without_anchors
from keyhole.core.index.rows import DeclaredRow, FileRows, StoredLink, WrittenLink
from keyhole.core.links.link_types import Declared, Resolution
from keyhole.core.postgres.postgres_facts import PostgresFacts

_ANCHORS = """SELECT path, anchor.name FROM file JOIN (
        SELECT file_id, name, id FROM symbol WHERE repo = %(repo)s
        UNION ALL SELECT file_id, name, NULL FROM declared WHERE repo = %(repo)s AND kind = 'anchor'
    ) anchor ON anchor.file_id = file.id WHERE file.repo = %(repo)s AND language = 'markdown'"""
_IN_ORDER = " ORDER BY anchor.file_id, anchor.id NULLS LAST"
_NOTES = "SELECT path FROM file WHERE repo = %(repo)s AND language = 'markdown'"


class PostgresLinks(PostgresFacts):
    """Links and declarations of files, and which links still have to be resolved."""

    # Resolving

    def links_to_resolve(self, *, every: bool) -> list[StoredLink]:
        """Return the unresolved links, or every link that depends on other files; grouped by file."""
        # Links whose own text makes them external never change.
        condition = "NOT is_fixed" if every else "state IS NULL"
        return self.rows(
            StoredLink,
            f"""SELECT link.id, file.path, language, line, kind, target, part, state, link.path, reason, site
                FROM link JOIN file ON file.repo = link.repo AND file.id = file_id
                WHERE link.repo = %(repo)s AND {condition} ORDER BY link.file_id, link.id""",  # noqa: S608
        )

    def put_resolutions(self, changes: Iterable[tuple[int, Resolution]]) -> None:
        """Record the resolutions of links, given with their ids."""
        rows = list(changes)
        self._has_changed = self._has_changed or bool(rows)
        self.query(
            """UPDATE link SET state = new.state, path = new.path, reason = new.reason, site = new.site
                FROM unnest(%(ids)s::bigint[], %(states)s::text[], %(paths)s::text[], %(reasons)s::text[],
                    %(sites)s::text[]) new(id, state, path, reason, site)
                WHERE repo = %(repo)s AND link.id = new.id""",
            ids=[link_id for link_id, _ in rows],
            states=[str(found.state) for _, found in rows],
            paths=[found.path for _, found in rows],
            reasons=[str(found.reason) for _, found in rows],
            sites=[found.site for _, found in rows],
        )

    def declarations(self) -> list[tuple[str, Declared]]:
        """Return the declarations of all files except anchors, each with the file's path."""
        rows = self.query(
            """SELECT path, kind, name, value FROM declared JOIN file ON file.repo = declared.repo AND file.id = file_id
                WHERE declared.repo = %(repo)s AND kind <> 'anchor' ORDER BY path, declared.id"""
        )
        return [(path, Declared(*fact)) for path, *fact in rows]

    def anchors(self) -> dict[str, tuple[str, ...]]:
        """Return the headings and other anchors of every note, by path."""
        found: dict[str, list[str]] = {path: [] for path in self.column(_NOTES)}
        for path, name in self.query(_ANCHORS + _IN_ORDER):
            found[path].append(name)
        return {path: tuple(names) for path, names in found.items()}

    def anchors_of(self, path: str) -> tuple[str, ...] | None:
        """Return the headings and other anchors of one note; None if the path is not a note."""
        names = [name for _, name in self.query(f"{_ANCHORS} AND path = %(path)s{_IN_ORDER}", path=path)]
        is_note = names or self.query(f"{_NOTES} AND path = %(path)s", path=path)
        return tuple(names) if is_note else None

    # Writing

    def _replace_links(self, file_id: int, rows: FileRows, *, is_new: bool) -> None:
        """Replace the links and declarations of a file, and mark the links that this affects as unresolved."""
        old = [] if is_new else self._declared_by(file_id)
        if old != list(rows.declared):
            if old:
                self._delete_of("declared", file_id)
            ids = self._new_ids("declared", len(rows.declared))
            self._add("declared", [(id_, file_id, *fact) for id_, fact in zip(ids, rows.declared, strict=True)])
        has_links = not is_new and self._has_links(file_id, rows.links)
        if not has_links:
            if not is_new:
                self._delete_of("link", file_id)
            self._add_links(file_id, rows.links)
        is_note = rows.language == "markdown"
        if is_note and not is_new:
            # The headings of the note may have changed.
            reopened = "UPDATE link SET state = NULL WHERE repo = %(repo)s AND path = %(path)s AND part <> ''"
            self.direct(reopened, path=rows.path)
        if is_new or without_anchors(old) != without_anchors(rows.declared):
            self._resolve_later("all")
        elif is_note or not has_links:
            self._resolve_later("open")

    def _add_links(self, file_id: int, links: tuple[WrittenLink, ...]) -> None:
        ids = self._new_ids("link", len(links))
        self._add(
            "link",
            [
                (
                    id_,
                    file_id,
                    link.line,
                    link.kind,
                    link.target,
                    link.part,
                    link.is_fixed,
                    link.state,
                    "",
                    "",
                    link.site,
                )
                for id_, link in zip(ids, links, strict=True)
            ],
        )

    def _reopen_links_to(self, path: str) -> None:
        """Mark the links to a path as unresolved; new links, which may wait to be written, have no path yet."""
        self.direct("UPDATE link SET state = NULL WHERE repo = %(repo)s AND path = %(path)s", path=path)
        self._resolve_later("all")

    def _resolve_later(self, which: str) -> None:
        """Make `resolve_links` resolve all links, or those without a state ("open")."""
        if self.facts().links not in (which, "all"):
            self.set_fact("links", which)

    def _has_links(self, file_id: int, links: tuple[WrittenLink, ...]) -> bool:
        """Return whether a file still has the same links, as after most edits; they keep their resolutions."""
        written = """SELECT line, kind, target, part, is_fixed FROM link
            WHERE repo = %(repo)s AND file_id = %(file_id)s ORDER BY id"""
        return self.direct(written, file_id=file_id) == [link[:5] for link in links]

    def _declared_by(self, file_id: int) -> list[DeclaredRow]:
        declared = "SELECT kind, name, value FROM declared WHERE repo = %(repo)s AND file_id = %(file_id)s ORDER BY id"
        return [DeclaredRow(*fact) for fact in self.direct(declared, file_id=file_id)]

    def _delete_of(self, table: str, file_id: int) -> None:
        """Delete the rows of a file in one table."""
        self.direct(f"DELETE FROM {table} WHERE repo = %(repo)s AND file_id = %(file_id)s", file_id=file_id)  # noqa: S608
