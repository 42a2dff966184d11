"""Changing one member of a JSON file as text, so that comments, order and layout of everything else stay.

Reads JSON with what editors allow besides: comments, and a comma after the last member.
"""

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Node:
    """A value and where it stands in the text."""

    start: int
    end: int
    value: object
    members: "list[Member]" = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """A member of an object; `comma` is where the one behind it stands, if there is one."""

    key: str
    start: int
    node: Node
    comma: int | None = None


class _Reader:
    """Reads a whole text, or raises ValueError with a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.comments: list[int] = []

    def document(self) -> Node:
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            self._fail("something follows the end")
        return node

    def _value(self, depth: int) -> Node:
        self._skip()
        if depth > _DEEPEST:
            self._fail("it is nested too deeply")
        start, first = self._at, self._text[self._at : self._at + 1]
        if first == "{":
            return self._object(start, depth)
        if first == "[":
            return self._array(start, depth)
        if first == '"':
            value = self._string()
            return Node(start, self._at, value)
        scalar = _SCALAR.match(self._text, self._at)
        if scalar is None:
            self._fail("a value is expected")
        self._at = scalar.end()
        return Node(start, self._at, json.loads(scalar.group()))

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        self._at += 1
        while not self._closes("}"):
            if members and members[-1].comma is None:
                self._fail("a comma is expected")
            key_start = self._at
            if self._text[key_start : key_start + 1] != '"':
                self._fail("a name in quotes is expected")
            key = self._string()
            self._skip()
            self._expect(":")
            members.append(Member(key, key_start, self._value(depth + 1)))
            members[-1].comma = self._comma()
        return Node(start, self._at, {member.key: member.node.value for member in members}, members)

    def _array(self, start: int, depth: int) -> Node:
        values: list[object] = []
        comma: int | None = self._at
        self._at += 1
        while not self._closes("]"):
            if comma is None:
                self._fail("a comma is expected")
            values.append(self._value(depth + 1).value)
            comma = self._comma()
        return Node(start, self._at, values)

    def _string(self) -> str:
        try:
            value, self._at = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._fail(f"a text is wrong ({error.msg})")
        return str(value)

    def _closes(self, bracket: str) -> bool:
        self._skip()
        if self._text[self._at : self._at + 1] == bracket:
            self._at += 1
            return True
        if self._at >= len(self._text):
            self._fail(f"{bracket} is missing")
        return False

    def _comma(self) -> int | None:
        self._skip()
        if self._text[self._at : self._at + 1] != ",":
            return None
        self._at += 1
        return self._at - 1

    def _expect(self, character: str) -> None:
        if self._text[self._at : self._at + 1] != character:
            self._fail(f"{character} is expected")
        self._at += 1

    def _skip(self) -> None:
        """Pass over space and comments."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            opening = self._text[self._at : self._at + 2]
            if opening not in ("//", "/*"):
                return
            self.comments.append(self._at)
            end = self._text.find("\n" if opening == "//" else "*/", self._at + 2)
            if end < 0 and opening == "/*":
                self._fail("a comment does not end")
            self._at = len(self._text) if end < 0 else end + (0 if opening == "//" else 2)

    def _fail(self, problem: str) -> NoReturn:
        raise ValueError(f"line {self._text.count(chr(10), 0, self._at) + 1}: {problem}")


def parse(text: str) -> object:
    """Read a text; nothing at all is an empty object."""
    return _read(text)[0].value


def set_entry(text: str, section: str, name: str, entry: dict[str, object]) -> str:
    """Put an entry into a section of the file; what else an entry of that name has is kept."""
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
    """Take an entry out; the text as it is when there is none."""
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


def _read(text: str) -> tuple[Node, list[int]]:
    reader = _Reader(text if text.strip() else "{}")
    try:
        root = reader.document()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(root.value, dict):
        raise ValueError("it is not an object")  # the file is wrong, not the call
    return root, reader.comments


def _member(node: Node, key: str) -> Member | None:
    return next((member for member in reversed(node.members) if member.key == key), None)


class _Layout:
    """How a file is laid out."""

    def __init__(self, text: str, root: Node, newline: str) -> None:
        self._text = text
        self.newline = newline
        first = self.indent_of(root.members[0].start) if root.members else ""
        self.unit = first or "  "

    def indent_of(self, position: int) -> str:
        """Return the space at the beginning of the line of a position."""
        line = self._text[self._text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def json(self, value: object, indent: str) -> str:
        """Write a value whose first line is indented already."""
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)


def _insert(text: str, node: Node, key: str, value: object, layout: _Layout) -> str:
    """Add a member at the end of an object, behind whatever comments stand there."""
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
