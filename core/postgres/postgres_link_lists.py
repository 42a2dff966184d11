"""Searches of the table `link`: pages of links, and the number of matching links of each file."""

from collections.abc import Sequence

from keyhole.core.index.file_table import inside
from keyhole.core.index.rows import Found, Slice
from keyhole.core.links.link_types import ROOT, Link, LinkState
from keyhole.core.postgres.repository_rows import RepositoryRows

_FROM = "link JOIN file ON file.repo = link.repo AND file.id = file_id WHERE link.repo = %(repo)s"
_BY_LINE, _BY_PLACE = "line, link.id", "file.path, line, link.id"
# The SQL indexes on these columns exclude empty values, and are used only for conditions that do so too.
_LEADS_TO = "link.path = ANY(%(places)s::text[]) AND link.path <> '' AND state = 'internal'"
_IS_BROKEN = "reason = ANY(%(reasons)s::text[]) AND reason <> '' AND state <> 'repeated'"
_IS_INSIDE = "link.path > %(first)s AND link.path < %(last)s AND link.path <> '' AND state = 'internal'"
_FILES_INSIDE = "(SELECT id FROM file WHERE repo = %(repo)s AND path > %(first)s AND path < %(last)s)"
_ENTERS = f"({_LEADS_TO} OR {_IS_INSIDE} AND file_id NOT IN {_FILES_INSIDE})"


class PostgresLinkLists(RepositoryRows):
    """Links by the file that contains them, by target, and by why they are broken."""

    def links_from(self, file_id: int, states: Sequence[LinkState], wanted: Slice) -> Found[Link]:
        """Return the links of a file that have one of these states, sorted by line."""
        condition = "file_id = %(file_id)s AND state = ANY(%(states)s::text[])"
        return self._links(condition, wanted, _BY_LINE, file_id=file_id, states=list(map(str, states)))

    def links_to(self, places: Sequence[str], excluded: str, wanted: Slice) -> Found[Link]:
        """Return the links to any of these paths, except those from the excluded file."""
        own = "(SELECT id FROM file WHERE repo = %(repo)s AND path = %(excluded)s)"
        condition = f"{_LEADS_TO} AND file_id IS DISTINCT FROM {own}"
        return self._links(condition, wanted, _BY_PLACE, places=list(places), excluded=excluded)

    def links_into(self, folder: str, wanted: Slice) -> Found[Link]:
        """Return the links to a folder itself, and those from outside to what is inside it."""
        return self._links(_ENTERS, wanted, _BY_PLACE, places=[folder], **_bounds_of(folder))

    def count_links_within(self, folder: str) -> int:
        """Count the links from a file inside a folder to another path inside it; `links_into` does not list these."""
        counted = f"""SELECT count(*) FROM link WHERE repo = %(repo)s AND {_IS_INSIDE} AND file_id IN {_FILES_INSIDE}
            AND link.path <> %(folder)s"""  # noqa: S608
        return int(self.value(counted, folder=folder, **_bounds_of(folder)))

    def broken_links(self, reasons: Sequence[str], file_ids: frozenset[int] | None, wanted: Slice) -> Found[Link]:
        """Return the links that are broken for one of these reasons, in these files (None: all files)."""
        condition, values = _IS_BROKEN, dict[str, object](reasons=list(map(str, reasons)))
        if file_ids is not None:
            condition += " AND file_id = ANY(%(file_ids)s::bigint[])"
            values["file_ids"] = sorted(file_ids)
        return self._links(condition, wanted, _BY_PLACE, **values)

    def count_links_to(self, places: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file point to one of these paths."""
        return self._counts(_LEADS_TO, places=list(places))

    def count_links_into(self, folder: str) -> dict[str, int]:
        """Return how many of the links that `links_into` lists each file has."""
        return self._counts(_ENTERS, places=[folder], **_bounds_of(folder))

    def count_links_from(self, path: str) -> dict[str, int]:
        """Return how many links of a file, or of the files inside a folder, point to each path outside of it."""
        rows = self.query(
            f"""SELECT path, count(*) FROM link WHERE repo = %(repo)s
                AND (file_id = (SELECT id FROM file WHERE repo = %(repo)s AND path = %(path)s)
                    OR file_id IN {_FILES_INSIDE})
                AND state = 'internal' AND NOT (path > %(first)s AND path < %(last)s) GROUP BY path ORDER BY path""",  # noqa: S608
            path=path,
            **_bounds_of(path),
        )
        return dict(rows)

    def count_links_outside(self, sites: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file point to one of these packages or domains, subdomains included."""
        condition = """site <> '' AND state = 'external' AND EXISTS (
            SELECT 1 FROM unnest(%(sites)s::text[]) wanted(site)
            WHERE lower(link.site) = lower(wanted.site COLLATE "C")
                OR right(lower(link.site), length(wanted.site) + 1) = '.' || lower(wanted.site COLLATE "C"))"""
        return self._counts(condition, sites=list(sites))

    def sites(self) -> list[str]:
        """Return every package and domain that a link points to, most linked first."""
        return self.column(
            """SELECT site FROM link WHERE repo = %(repo)s AND site <> '' AND state = 'external'
                GROUP BY site ORDER BY count(*) DESC, site"""
        )

    def linked_paths(self) -> list[str]:
        """Return every path that a link points to."""
        linked = "SELECT DISTINCT path FROM link WHERE repo = %(repo)s AND path <> '' AND state = 'internal'"
        return self.column(f"{linked} ORDER BY path")

    def count_links(self, *states: LinkState) -> int:
        """Count the links that have one of these states."""
        counted = "SELECT count(*) FROM link WHERE repo = %(repo)s AND state = ANY(%(states)s::text[])"
        return int(self.value(counted, states=list(map(str, states))))

    def count_broken_links(self, reasons: Sequence[str]) -> dict[str, int]:
        """Return how many links of each file are broken for one of these reasons."""
        return self._counts(_IS_BROKEN, reasons=list(map(str, reasons)))

    def _links(self, condition: str, wanted: Slice, order: str, **values: object) -> Found[Link]:
        links = self.rows(
            Link,
            f"""SELECT file.path, file.language, line, kind, target, part, state, link.path, reason, site
                FROM {_FROM} AND {condition} ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s""",  # noqa: S608
            limit=wanted.limit if wanted.limit >= 0 else None,
            offset=wanted.offset,
            **values,
        )
        total = self.value(f"SELECT count(*) FROM link WHERE repo = %(repo)s AND {condition}", **values)  # noqa: S608
        return Found(tuple(links), int(total))

    def _counts(self, condition: str, **values: object) -> dict[str, int]:
        counted = (
            f"SELECT file.path, count(*) FROM {_FROM} AND {condition} GROUP BY file_id, file.path ORDER BY file_id"  # noqa: S608
        )
        return dict(self.query(counted, **values))


def _bounds_of(folder: str) -> dict[str, object]:
    """Return the values of a condition for paths inside a folder; the root of the workspace has no name there."""
    first, last = inside("" if folder == ROOT else folder)
    return {"first": first, "last": last}
