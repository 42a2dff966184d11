"""Links as the index has them: of a file, to a path, broken ones, and files by their links."""

import json
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from keyhole.core.errors import PathError, QueryError
from keyhole.core.index.store import Store
from keyhole.core.links.link_types import BROKEN
from keyhole.core.links.markdown import domain_of
from keyhole.core.links.prose import AnchorNames
from keyhole.core.links.requests import Category, LinkSearchRequest
from keyhole.core.search.filters import Filter
from keyhole.core.types import Query

Item = TypeVar("Item")

_BROKEN = ", ".join(f"'{reason}'" for reason in BROKEN)
_FROM = "link CROSS JOIN file ON file.id = file_id"
_COLUMNS = "file.path, file.language, line, kind, target, part, state, link.path, reason, site"
_LEADS_THERE = "link.path IN (?, ?) AND link.path <> '' AND state = 'internal'"
_BY_LINE, _BY_PLACE = "line, link.id", "file.path, line, link.id"


@dataclass(frozen=True, slots=True)
class Link:
    """A link where it stands, and where it leads: `to` is a path of the workspace, `site` a domain or package.

    `to_line` is the line of the heading that it names; 0 where it names none.
    """

    path: str
    language: str
    line: int
    kind: str
    target: str
    part: str
    state: str
    to: str
    reason: str
    site: str
    to_line: int = 0

    @property
    def is_broken(self) -> bool:
        """Whether somebody should mend it."""
        return self.reason in BROKEN

    @property
    def names_anchor(self) -> bool:
        """Whether it leads to a place inside a file."""
        return bool(self.part) and self.kind != "import" and self.state == "internal" and not self.reason

    @property
    def written(self) -> str:
        """The link much as its file has it."""
        if self.kind == "wikilink":
            return f"[[{self.target}{'#' if self.part else ''}{self.part}]]"
        if self.kind == "link":
            return f"{self.target}{'#' if self.part else ''}{self.part}"
        # What an import takes from a module is told when it is a module itself.
        if self.part and self.language == "python" and self.part == _module_name(self.to):
            return f"{self.target}{'' if self.target.endswith('.') else '.'}{self.part}"
        return self.target


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """A file that answers to a question about links, and how many of its links do."""

    path: str
    language: str
    links: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Which results of a list are wanted."""

    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class Found(Generic[Item]):
    """Some results of a list, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


def links_of_file(store: Store, path: str, category: Category, wanted: Slice) -> Found[Link]:
    """Return the links of a file in one category."""
    if category == Category.INCOMING:
        return links_to(store, path, wanted)
    file_id = store.value("SELECT id FROM file WHERE path = ?", path)
    if file_id is None:
        raise PathError(f"{path} is not indexed, so its links are not known; keyhole status tells why")
    states = "state = 'external'" if category == Category.EXTERNAL else "state IN ('internal', 'unresolved')"
    found = _links(store, f"file_id = ? AND {states}", [file_id], wanted, _BY_LINE)
    return Found(_at_headings(store, found.items), found.total)


def links_to(store: Store, path: str, wanted: Slice) -> Found[Link]:
    """Return what leads to a path from other files; to a file of Go also what imports its package, the folder."""
    elsewhere = "file_id IS NOT (SELECT id FROM file WHERE path = ?)"
    return _links(store, f"{_LEADS_THERE} AND {elsewhere}", [*_places(path), path], wanted, _BY_PLACE)


def broken_links(store: Store, path: str, reason: str, wanted: Slice) -> Found[Link]:
    """Return links that lead nowhere, below a folder or in files that match a glob."""
    if reason and reason not in BROKEN:
        raise QueryError(f"unknown reason {reason!r}; there are: {', '.join(BROKEN)}")
    condition, values = ("reason = ?", [reason]) if reason else (f"reason IN ({_BROKEN})", [])
    if path:
        condition += " AND file_id IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(sorted(Filter(store, Query("", path=path)).ids or ())))
    return _links(store, f"{condition} AND reason <> '' AND state <> 'repeated'", [*values], wanted, _BY_PLACE)


def files_by_links(store: Store, request: LinkSearchRequest, wanted: Slice) -> Found[LinkedFile]:
    """Return the files that answer to everything that is asked, those with the most such links first."""
    counts = [store.query(sql, *values) for sql, values in _conditions(request)]
    if not counts:
        raise QueryError("ask for something: has_links_to, linked_from, external_domains or broken")
    matching = set.intersection(*({row[0] for row in rows} for rows in counts))
    links: dict[str, int] = {}
    for rows in counts:
        for path, number in rows:
            links[path] = links.get(path, 0) + number
    ordered = sorted(matching, key=lambda path: (-links[path], path))
    page = ordered[wanted.offset : wanted.offset + wanted.limit]
    languages = dict(
        store.query("SELECT file.path, language FROM json_each(?) JOIN file ON file.path = value", json.dumps(page))
    )
    return Found(tuple(LinkedFile(path, languages.get(path, ""), links[path]) for path in page), len(matching))


def _conditions(request: LinkSearchRequest) -> list[tuple[str, list[Any]]]:
    """Write a statement for each question: it gives paths, and how many links answer."""
    start, end = f"SELECT file.path, count(*) FROM {_FROM} WHERE", "GROUP BY file_id"  # noqa: S608
    asked: list[tuple[str, list[Any]]] = []
    if request.has_links_to:
        asked.append((f"{start} {_LEADS_THERE} {end}", _places(request.has_links_to)))
    if request.linked_from:
        stands_there = "file_id = (SELECT id FROM file WHERE path = ?) AND state = 'internal'"
        sql = f"SELECT path, count(*) FROM link WHERE {stands_there} GROUP BY path"  # noqa: S608
        asked.append((sql, [request.linked_from]))
    if request.external_domains:
        names = [domain_of(name) if "://" in name else name.removeprefix("www.") for name in request.external_domains]
        sites = " OR ".join(["site = ? COLLATE NOCASE OR site LIKE ? ESCAPE '\\'"] * len(names))
        values = [value for name in names for value in (name, f"%.{_escaped(name)}")]
        asked.append((f"{start} site <> '' AND state = 'external' AND ({sites}) {end}", values))
    if request.broken:
        asked.append((f"{start} reason IN ({_BROKEN}) AND reason <> '' AND state <> 'repeated' {end}", []))
    return asked


def _links(store: Store, condition: str, values: list[Any], wanted: Slice, order: str) -> Found[Link]:
    rows = store.query(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
        *values,
        wanted.limit,
        wanted.offset,
    )
    total = store.value(f"SELECT count(*) FROM link WHERE {condition}", *values)  # noqa: S608
    return Found(tuple(Link(*row) for row in rows), total)


def _at_headings(store: Store, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Tell of links that name a heading which line it is on."""
    notes = sorted({link.to for link in links if link.names_anchor})
    rows = store.query(
        """SELECT file.path, name, start_line FROM json_each(?)
            JOIN file ON file.path = value AND language = 'markdown'
            JOIN symbol ON file_id = file.id ORDER BY symbol.id""",
        json.dumps(notes),
    )
    headings: dict[str, list[tuple[str, int]]] = {path: [] for path in notes}
    for path, name, line in rows:
        headings[path].append((name, line))
    names = {path: AnchorNames([name for name, _ in found]) for path, found in headings.items()}

    def line_of(link: Link) -> int:
        number = names[link.to].find(link.part) if link.names_anchor else None
        return 0 if number is None else headings[link.to][number][1]

    return tuple(replace(link, to_line=line) if (line := line_of(link)) else link for link in links)


def _places(path: str) -> list[str]:
    """Return what a link to a file may name: itself, and what else stands for it."""
    return [path, path.rpartition("/")[0] or "." if path.endswith(".go") else path]


def _module_name(path: str) -> str:
    return path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
