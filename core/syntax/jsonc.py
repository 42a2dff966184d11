"""Parsing JSON with the extensions that editors allow: comments, and a comma after the last member."""

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_MAX_DEPTH = 200
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class JsonNode:
    """A value and its position in the text."""

    start: int
    end: int
    value: object
    members: "list[JsonMember]" = field(default_factory=list)


@dataclass(slots=True)
class JsonMember:
    """A member of an object; `comma` is the position of the comma after it, if there is one."""

    key: str
    start: int
    node: JsonNode
    comma: int | None = None


class _Reader:
    """Parses a whole text, or raises ValueError with the line number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.comments: list[int] = []

    def document(self) -> JsonNode:
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            self._fail("unexpected text after the end")
        return node

    def _value(self, depth: int) -> JsonNode:
        self._skip()
        if depth > _MAX_DEPTH:
            self._fail("nested too deeply")
        start, first = self._at, self._text[self._at : self._at + 1]
        if first == "{":
            return self._object(start, depth)
        if first == "[":
            return self._array(start, depth)
        if first == '"':
            value = self._string()
            return JsonNode(start, self._at, value)
        scalar = _SCALAR.match(self._text, self._at)
        if scalar is None:
            self._fail("expected a value")
        self._at = scalar.end()
        return JsonNode(start, self._at, json.loads(scalar.group()))

    def _object(self, start: int, depth: int) -> JsonNode:
        members: list[JsonMember] = []
        self._at += 1
        while not self._closes("}"):
            if members and members[-1].comma is None:
                self._fail("expected a comma")
            key_start = self._at
            if self._text[key_start : key_start + 1] != '"':
                self._fail("expected a name in quotes")
            key = self._string()
            self._skip()
            self._expect(":")
            members.append(JsonMember(key, key_start, self._value(depth + 1)))
            members[-1].comma = self._comma()
        return JsonNode(start, self._at, {member.key: member.node.value for member in members}, members)

    def _array(self, start: int, depth: int) -> JsonNode:
        values: list[object] = []
        comma: int | None = self._at
        self._at += 1
        while not self._closes("]"):
            if comma is None:
                self._fail("expected a comma")
            values.append(self._value(depth + 1).value)
            comma = self._comma()
        return JsonNode(start, self._at, values)

    def _string(self) -> str:
        try:
            value, self._at = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._fail(f"invalid string ({error.msg})")
        return str(value)

    def _closes(self, bracket: str) -> bool:
        self._skip()
        if self._text[self._at : self._at + 1] == bracket:
            self._at += 1
            return True
        if self._at >= len(self._text):
            self._fail(f"missing {bracket}")
        return False

    def _comma(self) -> int | None:
        self._skip()
        if self._text[self._at : self._at + 1] != ",":
            return None
        self._at += 1
        return self._at - 1

    def _expect(self, character: str) -> None:
        if self._text[self._at : self._at + 1] != character:
            self._fail(f"expected {character}")
        self._at += 1

    def _skip(self) -> None:
        """Skip white space and comments."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            opening = self._text[self._at : self._at + 2]
            if opening not in ("//", "/*"):
                return
            self.comments.append(self._at)
            end = self._text.find("\n" if opening == "//" else "*/", self._at + 2)
            if end < 0 and opening == "/*":
                self._fail("comment is never closed")
            self._at = len(self._text) if end < 0 else end + (0 if opening == "//" else 2)

    def _fail(self, problem: str) -> NoReturn:
        raise ValueError(f"line {self._text.count(chr(10), 0, self._at) + 1:,}: {problem}")


def parse_jsonc(text: str) -> object:
    """Return the value of a text, or raise ValueError with the line number."""
    # Most files are plain JSON, which the standard library parses thirty times as fast.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return read_jsonc(text)[0].value


def read_jsonc(text: str) -> tuple[JsonNode, list[int]]:
    """Return the nodes of a text with their positions, and the starts of its comments; or raise ValueError."""
    reader = _Reader(text)
    try:
        return reader.document(), reader.comments
    except RecursionError:
        raise ValueError("nested too deeply") from None
