"""Editing one member of a JSON file as text, so that comments, order and layout of the rest do not change."""

import json

from keyhole.core.syntax.jsonc import JsonMember, JsonNode, parse_jsonc, read_jsonc


def parse(text: str) -> dict[str, object]:
    """Parse a text; an empty text is an empty object."""
    return _check_object(parse_jsonc(text if text.strip() else "{}"))


def set_entry(text: str, section: str, name: str, entry: dict[str, object]) -> str:
    """Return the text with an entry added to a section; other members of an existing entry are kept."""
    text = text if text.strip() else "{}\n"
    root, comments = _read(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    place = _member(root, section)
    if place is None:
        return _insert(text, root, section, {name: entry}, _Layout(text, root, newline))
    if not isinstance(place.node.value, dict):
        raise ValueError(f"{section} is not an object")
    found = _member(place.node, name)
    if found is None:
        return _insert(text, place.node, name, entry, _Layout(text, root, newline))
    kept = found.node.value if isinstance(found.node.value, dict) else {}
    merged = kept | entry
    if merged == found.node.value:
        return text
    if any(found.node.start < comment < found.node.end for comment in comments):
        raise ValueError(f"{section}.{name} has comments, which would be lost")
    layout = _Layout(text, root, newline)
    written = layout.json(merged, layout.indent_of(found.start))
    return text[: found.node.start] + written + text[found.node.end :]


def remove_entry(text: str, section: str, name: str) -> str:
    """Return the text without an entry; unchanged if there is no such entry."""
    root, _ = _read(text)
    place = _member(root, section)
    found = _member(place.node, name) if place else None
    if place is None or found is None:
        return text
    end = found.node.end if found.comma is None else found.comma + 1
    start = found.start
    before = place.node.members[place.node.members.index(found) - 1] if place.node.members[0] is not found else None
    kept = text[:start]
    if found.comma is None and before and before.comma is not None:
        kept = text[: before.comma] + text[before.comma + 1 : start]
    line_start, rest = kept.rstrip(" \t"), text[end:].lstrip(" \t")
    if line_start.endswith("\n") and rest[:1] in ("\r", "\n"):
        return line_start + rest[rest.index("\n") + 1 :]
    return kept + text[end:]


def _read(text: str) -> tuple[JsonNode, list[int]]:
    root, comments = read_jsonc(text if text.strip() else "{}")
    _check_object(root.value)
    return root, comments


def _check_object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("not an object")  # a ValueError: the file is wrong, not the type of an argument
    return value


def _member(node: JsonNode, key: str) -> JsonMember | None:
    return next((member for member in reversed(node.members) if member.key == key), None)


class _Layout:
    """The indentation and line ends of a file."""

    def __init__(self, text: str, root: JsonNode, newline: str) -> None:
        self._text = text
        self.newline = newline
        first = self.indent_of(root.members[0].start) if root.members else ""
        self.unit = first or "  "

    def indent_of(self, position: int) -> str:
        """Return the indentation of the line at a position."""
        line = self._text[self._text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def json(self, value: object, indent: str) -> str:
        """Return a value as JSON, with every line but the first indented."""
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)


def _insert(text: str, node: JsonNode, key: str, value: object, layout: _Layout) -> str:
    """Return the text with a member added at the end of an object, after any comments there."""
    outer = layout.indent_of(node.start)
    indent = layout.indent_of(node.members[-1].start) if node.members else outer + layout.unit
    if node.members and "\n" not in text[node.start : node.members[-1].start]:
        indent = outer + layout.unit
    written = f"{json.dumps(key)}: {layout.json(value, indent)}"
    last = node.members[-1] if node.members else None
    inside = node.start + 1 if last is None else last.node.end
    comma = "," if last and last.comma is None else ""
    between = text[inside : node.end - 1].rstrip()
    return (
        f"{text[:inside]}{comma}{between}{layout.newline}{indent}{written}{layout.newline}{outer}{text[node.end - 1 :]}"
    )
