"""Searches of the table `link`: pages of links, and the number of matching links of each file."""

import json
from collections.abc import Sequence

from keyhole.core.index.database import Database
from keyhole.core.index.file_table import inside
from keyhole.core.index.rows import Found, Slice
from keyhole.core.links.link_types import ROOT, Link, LinkState

# CROSS JOIN makes SQLite start with the few links that match, not with every file.
_FROM = "link CROSS JOIN file ON file.id = file_id"
_BY_LINE, _BY_PLACE = "line, link.id", "file.path, line, link.id"


class LinkLists(Database):
    """Links by the file that contains them, by target, and by why they are broken."""

    def links_from(self, file_id: int, states: Sequence[LinkState], wanted: Slice) -> Found[Link]:
        """Return the links of a file that have one of these states, sorted by line."""
        return self._links(f"file_id = ? AND state IN ({_marks(states)})", [file_id, *states], wanted, _BY_LINE)

    def links_to(self, places: Sequence[str], excluded: str, wanted: Slice) -> Found[Link]:
        """Return the links to any of these paths, except those from the excluded file."""
        not_excluded = "file_id IS NOT (SELECT id FROM file WHERE path = ?)"
        return self._links(f"{_leads_to(places)} AND {not_excluded}", [*places, excluded], wanted, _BY_PLACE)

    def links_into(self, folder: str, wanted: Slice) -> Found[Link]:
        """Return the links to a folder itself, and those from outside to what is inside it."""
        return self._links(*_enters(folder), wanted, _BY_PLACE)

    def count_links_within(self, folder: str) -> int:
        """Count the links from a file inside a folder to another path inside it; `links_into` does not list these."""
        condition = f"{_IS_INSIDE} AND file_id IN {_FILES_INSIDE}"
        bounds = inside(_real(folder))
        counted = f"SELECT count(*) FROM link WHERE {condition} AND link.path <> ?"  # noqa: S608
        return int(self.value(counted, *bounds, *bounds, folder))

    def broken_links(self, reasons: Sequence[str], file_ids: frozenset[int] | None, wanted: Slice) -> Found[Link]:
        """Return the links that are broken for one of these reasons, in these files (None: all files)."""
        condition, values = _is_broken(reasons), list[object](reasons)
        if file_ids is not None:
            condition += " AND file_id IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(sorted(file_ids)))
        return self._links(condition, values, wanted, _BY_PLACE)

    def count_links_to(self, places: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file point to one of these paths."""
        return self._counts(_leads_to(places), places)

    def count_links_into(self, folder: str) -> dict[str, int]:
        """Return how many of the links that `links_into` lists each file has."""
        return self._counts(*_enters(folder))

    def count_links_from(self, path: str) -> dict[str, int]:
        """Return how many links of a file, or of the files inside a folder, point to each path outside of it."""
        bounds = inside(_real(path))
        rows = self.query(
            f"""SELECT path, count(*) FROM link
                WHERE (file_id = (SELECT id FROM file WHERE path = ?) OR file_id IN {_FILES_INSIDE})
                    AND state = 'internal' AND NOT (path > ? AND path < ?) GROUP BY path""",  # noqa: S608
            path,
            *bounds,
            *bounds,
        )
        return dict(rows)

    def count_links_outside(self, sites: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file point to one of these packages or domains, subdomains included."""
        condition = " OR ".join(["site = ? COLLATE NOCASE OR site LIKE ? ESCAPE '\\'"] * len(sites))
        values = [value for site in sites for value in (site, f"%.{_escaped(site)}")]
        return self._counts(f"site <> '' AND state = 'external' AND ({condition})", values)

    def sites(self) -> list[str]:
        """Return every package and domain that a link points to, most linked first."""
        return self.column(
            """SELECT site FROM link WHERE site <> '' AND state = 'external'
                GROUP BY site ORDER BY count(*) DESC, site"""
        )

    def linked_paths(self) -> list[str]:
        """Return every path that a link points to."""
        return self.column("SELECT DISTINCT path FROM link WHERE path <> '' AND state = 'internal'")

    def count_links(self, *states: LinkState) -> int:
        """Count the links that have one of these states."""
        return int(self.value(f"SELECT count(*) FROM link WHERE state IN ({_marks(states)})", *states))  # noqa: S608

    def count_broken_links(self, reasons: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file are broken for one of these reasons."""
        return self._counts(_is_broken(reasons), reasons)

    def _links(self, condition: str, values: Sequence[object], wanted: Slice, order: str) -> Found[Link]:
        links = self.rows(
            Link,
            f"""SELECT file.path, file.language, line, kind, target, part, state, link.path, reason, site
                FROM {_FROM} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?""",  # noqa: S608
            *values,
            wanted.limit,
            wanted.offset,
        )
        total = self.value(f"SELECT count(*) FROM link WHERE {condition}", *values)  # noqa: S608
        return Found(tuple(links), int(total))

    def _counts(self, condition: str, values: Sequence[object]) -> dict[str, int]:
        sql = f"SELECT file.path, count(*) FROM {_FROM} WHERE {condition} GROUP BY file_id"  # noqa: S608
        return dict(self.query(sql, *values))


# The SQL indexes on these columns exclude empty values, and SQLite uses them only for conditions that do so too.


_IS_INSIDE = "link.path > ? AND link.path < ? AND link.path <> '' AND state = 'internal'"
_FILES_INSIDE = "(SELECT id FROM file WHERE path > ? AND path < ?)"


def _enters(folder: str) -> tuple[str, list[object]]:
    """Return the condition for links to a folder itself or from outside into it, and its values."""
    bounds = inside(_real(folder))
    condition = f"({_leads_to([folder])} OR {_IS_INSIDE} AND file_id NOT IN {_FILES_INSIDE})"
    return condition, [folder, *bounds, *bounds]


def _real(folder: str) -> str:
    """Return a folder as the start of paths; the root of the workspace has no name there."""
    return "" if folder == ROOT else folder


def _leads_to(places: Sequence[str]) -> str:
    return f"link.path IN ({_marks(places)}) AND link.path <> '' AND state = 'internal'"


def _is_broken(reasons: Sequence[str]) -> str:
    return f"reason IN ({_marks(reasons)}) AND reason <> '' AND state <> 'repeated'"


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _escaped(text: str) -> str:
    """Return a text escaped so that LIKE matches it literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
