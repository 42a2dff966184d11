"""Reading JSON with what editors allow besides: comments, and a comma after the last member."""

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class JsonNode:
    """A value and where it stands in the text."""

    start: int
    end: int
    value: object
    members: "list[JsonMember]" = field(default_factory=list)


@dataclass(slots=True)
class JsonMember:
    """A member of an object; `comma` is where the one behind it stands, if there is one."""

    key: str
    start: int
    node: JsonNode
    comma: int | None = None


class _Reader:
    """Reads a whole text, or raises ValueError with a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.comments: list[int] = []

    def document(self) -> JsonNode:
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            self._fail("something follows the end")
        return node

    def _value(self, depth: int) -> JsonNode:
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
            return JsonNode(start, self._at, value)
        scalar = _SCALAR.match(self._text, self._at)
        if scalar is None:
            self._fail("a value is expected")
        self._at = scalar.end()
        return JsonNode(start, self._at, json.loads(scalar.group()))

    def _object(self, start: int, depth: int) -> JsonNode:
        members: list[JsonMember] = []
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
            members.append(JsonMember(key, key_start, self._value(depth + 1)))
            members[-1].comma = self._comma()
        return JsonNode(start, self._at, {member.key: member.node.value for member in members}, members)

    def _array(self, start: int, depth: int) -> JsonNode:
        values: list[object] = []
        comma: int | None = self._at
        self._at += 1
        while not self._closes("]"):
            if comma is None:
                self._fail("a comma is expected")
            values.append(self._value(depth + 1).value)
            comma = self._comma()
        return JsonNode(start, self._at, values)

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
        """Skip space and comments."""
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


def parse_jsonc(text: str) -> object:
    """Return the value of a text, or raise ValueError with a line."""
    # Most files are plain JSON, which is read thirty times as fast by this.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return read_jsonc(text)[0].value


def read_jsonc(text: str) -> tuple[JsonNode, list[int]]:
    """Return where everything stands in a text, and where its comments begin; or raise ValueError with a line."""
    reader = _Reader(text)
    try:
        return reader.document(), reader.comments
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
