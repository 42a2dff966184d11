"""Changing one table of a TOML file as text, so that comments, order and layout of everything else stay.

Only tables with a header of their own are understood; what is written otherwise is refused, never guessed.
"""

import json
import re
import tomllib

_HEADER = re.compile(r"^[ \t]*\[\[?([^\]\n]*)\]", re.MULTILINE)
# Not at the end of the file only.
_EMPTY_LINE = re.compile(r"(?:[ \t]*\r?\n)?")


def parse(text: str) -> dict[str, object]:
    """Read a text."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def set_entry(text: str, section: str, name: str, entry: dict[str, object]) -> str:
    """Put a table into a section of the file; what else a table of that name has is kept."""
    found = _entry(parse(text), section, name)
    if found is not None and found | entry == found:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    written = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    if found is None:
        gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
        return text + gap + newline.join([f"[{section}.{name}]", *written]) + newline
    start, end = _own_lines(text, f"{section}.{name}")
    body = text[start:end]
    for key in entry:
        body = re.sub(rf"(?m)^[ \t]*{re.escape(key)}[ \t]*=.*(?:\n|\Z)", "", body)
    return text[:start] + newline.join(written) + newline + body + text[end:]


def remove_entry(text: str, section: str, name: str) -> str:
    """Take a table out, and the tables inside it."""
    if _entry(parse(text), section, name) is None:
        return text
    path = f"{section}.{name}"
    headers = [(match.start(), _name(match)) for match in _HEADER.finditer(text)]
    ends = [*(start for start, _ in headers[1:]), len(text)]
    for (start, header), end in reversed(list(zip(headers, ends, strict=True))):
        if header == path or header.startswith(f"{path}."):
            text = text[:start] + text[_last_line_end(text, start, end) :]
    return text


def _last_line_end(text: str, start: int, end: int) -> int:
    """Find where a table ends: comments and empty lines behind its last line are not its own."""
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and lines[-1].strip()[:1] in ("", "#"):
        end -= len(lines.pop())
    # One empty line goes with it.
    return end + len(_EMPTY_LINE.match(text, end)[0])  # type: ignore[index]  # it matches nothing, too


def _entry(table: dict[str, object], section: str, name: str) -> dict[str, object] | None:
    inside = table.get(section)
    found = inside.get(name) if isinstance(inside, dict) else None
    return found if isinstance(found, dict) else None


def _own_lines(text: str, path: str) -> tuple[int, int]:
    """Find the lines of a table, without its header."""
    headers = list(_HEADER.finditer(text))
    for match, following in zip(headers, [*headers[1:], None], strict=True):
        if _name(match) == path:
            line_end = text.find("\n", match.end())
            start = len(text) if line_end < 0 else line_end + 1
            return start, following.start() if following else len(text)
    raise ValueError(f"{path} is not a table with a header of its own")


def _name(header: re.Match[str]) -> str:
    return ".".join(part.strip().strip("\"'") for part in header[1].split("."))
