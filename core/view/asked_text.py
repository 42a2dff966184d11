"""What a call of an agent asked, in a few words: the query, the path or the symbol, and the arguments that matter."""

from collections.abc import Callable, Mapping

from keyhole.core.types.calls import Call
from keyhole.core.untrusted_text import JOINERS
from keyhole.core.view.text import json_line, one_line

# The names of tools in lists; `tool:` in the filter takes them too.
SHORT_TOOLS: Mapping[str, str] = {
    "search_code": "search",
    "map_file": "map",
    "read_file": "read",
    "find_references": "refs",
    "get_tree": "tree",
    "get_links": "links",
    "get_backlinks": "backlinks",
    "search_by_links": "by-links",
    "find_broken_links": "broken",
    "find_related": "related",
    "index_status": "status",
    "resources/read": "resource",
}
# Arguments that say how to write an answer rather than what to look for; the Arguments tab has them.
_QUIET = {"format", "line_numbers", "cursor"}
# The end of a path tells more than its start.
_ABOUT_FILES = ("map_file", "read_file", "get_links", "get_backlinks", "find_broken_links", "resources/read")
_SHORT_NAMES = {
    "language": "lang",
    "detail_level": "detail",
    "max_tokens": "tokens",
    "include_tests": "tests",
    "context_lines": "context",
}
_Given = dict[str, object]


def short_tool(tool: str) -> str:
    """Return the short name of a tool; a tool that is not ours keeps its name."""
    return SHORT_TOOLS.get(tool, tool)


def asked_text(call: Call, longest: int = 200) -> str:
    """Return what a call asked on one line; a path that is too long loses its start, everything else its end."""
    if not call.arguments:
        return "arguments too long to record"[:longest]
    given = dict(call.parameters)
    # A wrapped server may have a tool with the name of one of ours.
    take_subject = None if call.server else _SUBJECTS.get(call.tool)
    subject = take_subject(given) if take_subject else ""
    rest = " ".join(_argument(name, value) for name, value in given.items() if name not in _QUIET)
    if len(subject) + 4 > longest and call.tool in _ABOUT_FILES:
        return _start_cut(subject, longest)
    return end_cut(f"{subject} {rest}".strip(), longest)


def _start_cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"…{text[1 - longest :].lstrip(JOINERS)}"


def end_cut(text: str, longest: int) -> str:
    """Clip a text at its end."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip(JOINERS)}…"


def _argument(name: str, value: object) -> str:
    shown = {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
    written = one_line(value) if isinstance(value, str) else json_line(value)
    return f"{one_line(_SHORT_NAMES.get(name, name))}={shown or written}"


def _taken(given: _Given, name: str) -> str:
    """Take a text out of the arguments; other values stay there."""
    value = given.get(name)
    return one_line(str(given.pop(name))) if isinstance(value, str) and value else ""


def _query(given: _Given) -> str:
    return _taken(given, "query")


def _read(given: _Given) -> str:
    first, most = given.pop("start_line", None), given.pop("max_lines", None)
    paths = given.pop("paths", None)
    named = [_taken(given, "path"), *(one_line(str(path)) for path in (paths if isinstance(paths, list) else []))]
    several = ", ".join(name for name in named if name)
    return several + _line_range(first, most)


def _line_range(first: object, most: object) -> str:
    start = first if isinstance(first, int) else 1
    if isinstance(most, int):
        return f":{start}-{start + most - 1}"
    return f":{start}-" if isinstance(first, int) and start > 1 else ""


def _place(given: _Given) -> str:
    symbol, path, line = _taken(given, "symbol"), _taken(given, "path"), given.pop("line", None)
    place = f"{path}:{line}" if path and isinstance(line, int) and line else path
    return " in ".join(part for part in (symbol, place) if part)


def _map(given: _Given) -> str:
    path, symbol = _taken(given, "path"), _taken(given, "symbol")
    return f"{path} {symbol}".strip()


def _tree(given: _Given) -> str:
    pattern = _taken(given, "pattern")
    return " in ".join(part for part in (pattern, _map(given)) if part) or "."


def _path(given: _Given) -> str:
    return _taken(given, "path")


def _address(given: _Given) -> str:
    return _taken(given, "uri")


_SUBJECTS: Mapping[str, Callable[[_Given], str]] = {
    "search_code": _query,
    "map_file": _map,
    "read_file": _read,
    "find_references": _place,
    "get_tree": _tree,
    "get_links": _path,
    "get_backlinks": _path,
    "find_broken_links": _path,
    "find_related": _place,
    "resources/read": _address,
}
