"""Requests as front ends send them."""

from dataclasses import dataclass

from keyhole.core.types.choices import Detail, Format, MapLevel, Mode, Output


@dataclass(frozen=True, slots=True)
class ChangedFilter:
    """Admits the files that changed since the last commit, or all others; everything in a new folder is new."""

    is_wanted: bool
    files: frozenset[str]
    new_folders: frozenset[str] = frozenset()

    def admits(self, path: str) -> bool:
        """Return whether a file is among those wanted."""
        return self._is_changed(path) == self.is_wanted

    def _is_changed(self, path: str) -> bool:
        if path in self.files or "" in self.new_folders:
            return True
        # Most workspaces have few new folders, and a path has few folders.
        return bool(self.new_folders) and any(
            character == "/" and path[:end] in self.new_folders for end, character in enumerate(path)
        )

    def __str__(self) -> str:
        return "yes" if self.is_wanted else "no"


@dataclass(frozen=True, slots=True)
class Query:
    """A search: the text, the mode, the filters and the page."""

    text: str
    mode: Mode = Mode.AUTO
    path: str = ""
    language: str = ""
    kind: str = ""
    include_tests: bool = True
    limit: int = 10
    offset: int = 0
    # Whether the first of several pages ends before weak results.
    may_end_early: bool = False
    output: Output = Output.LINES
    # Roles of files, separated by commas; those with a minus sign are left out.
    role: str = ""
    changed: ChangedFilter | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as a front end sends it; fields that are None or empty get their default."""

    query: str
    mode: Mode | None = None
    path: str = ""
    language: str = ""
    kind: str = ""
    include_tests: bool = True
    detail_level: Detail = Detail.COMPACT
    limit: int | None = None
    offset: int = 0
    cursor: str = ""
    max_tokens: int | None = None
    format: Format = Format.TEXT
    context_lines: int = 0
    output: Output = Output.LINES
    line_numbers: bool = True
    role: str = ""
    # Only files that changed since the last commit, or only others; agents have no such parameter.
    changed: bool | None = None


@dataclass(frozen=True, slots=True)
class MapRequest:
    """A request for a map; `symbol` is a name, a dotted name or the line where a definition starts."""

    path: str
    level: MapLevel = MapLevel.AUTO
    symbol: str = ""
    symbols_each: int = 50
    offset: int = 0
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request for lines of one or several files; columns count the characters of a line."""

    paths: tuple[str, ...]
    start_line: int = 1
    start_column: int = 1
    max_lines: int | None = None
    max_tokens: int | None = None
    format: Format = Format.TEXT
    line_numbers: bool = True
