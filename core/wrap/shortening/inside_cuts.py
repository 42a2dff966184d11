"""Where a record that is too large for any page may be cut: in plain text, in a JSON string, or in a JSON value."""

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from keyhole.core.wrap.shortening.json_spans import (
    CLOSING,
    OPENING,
    JsonChild,
    after_blanks,
    after_colon,
    children,
    comma_after,
    safe_string_position,
    value_end,
)
from keyhole.core.wrap.shortening.layouts import Cut

# How far a cut moves back to the end of a line, or of a word.
_LINE_REACH, _WORD_REACH = 2_000, 100
# Keys of the path to a value are repeated on each page; a longer key is shortened there, and a longer path ends there.
_LONGEST_KEY, _LONGEST_PATH = 40, 400


class _WantedCut(NamedTuple):
    """A cut is wanted up to `at`; values of up to `small` characters stay whole."""

    at: int
    small: int


@dataclass(frozen=True, slots=True)
class PlainCuts:
    """Cuts a line of plain text, rather between words."""

    text: str

    def of(self, text: str) -> "PlainCuts":
        """Return the same for another text."""
        return PlainCuts(text)

    def last_cut(self, start: int, end: int, at: int, small: int) -> Cut | None:
        """Return the last cut up to `at`."""
        at = min(at, end)
        space = self.text.rfind(" ", max(start, at - _WORD_REACH), at) if small and at < end else -1
        at = space + 1 if space > start else at
        return Cut(at, at) if at > start else None


@dataclass(frozen=True, slots=True)
class StringCuts:
    """Cuts between the characters of a JSON string, never inside an escape."""

    text: str

    def of(self, text: str) -> "StringCuts":
        """Return the same for another text."""
        return StringCuts(text)

    def last_cut(self, start: int, end: int, at: int, small: int) -> Cut | None:
        """Return the last cut up to `at`."""
        at = _string_cut(self.text, start, min(at, end), small)
        return Cut(at, at) if at > start else None


@dataclass(frozen=True, slots=True)
class JsonCuts:
    """Cuts inside a JSON value, so that both sides are valid JSON if the path to the value is written again.

    `are_members` says that records are members of an object, with a key, instead of values.
    """

    text: str
    are_members: bool = False
    _known: dict[int, tuple[list[JsonChild], list[int]]] = field(default_factory=dict)

    def of(self, text: str) -> "JsonCuts":
        """Return the same for another text."""
        return JsonCuts(text, self.are_members)

    def last_cut(self, start: int, end: int, at: int, small: int) -> Cut | None:
        """Return the last cut up to `at`; values of up to `small` characters stay whole."""
        first = after_blanks(self.text, start)
        if first >= end:
            return None
        value = after_colon(self.text, first) if self.are_members else first
        whole, wanted = JsonChild(first, value, value_end(self.text, value)), _WantedCut(at, small)
        look = self._in_member if self.are_members else self._in_value
        return look(whole, wanted, Cut(start, start), None)

    def _in_member(self, member: JsonChild, wanted: _WantedCut, around: Cut, best: Cut | None) -> Cut | None:
        key = self.text[member.start : member.value]
        if wanted.at > member.value:
            path = Cut(0, 0, around.closer, around.opener + _short_key(key))
            return self._in_value(member, wanted, path, best)
        first, last = member.start + 1, value_end(self.text, member.start) - 1
        if last - first <= _LONGEST_KEY:
            return best
        place = _string_cut(self.text, first, min(wanted.at, last), wanted.small)
        return Cut(place, place, '":null' + around.closer, around.opener + '"') if place > first else best

    def _in_value(self, value: JsonChild, wanted: _WantedCut, around: Cut, best: Cut | None) -> Cut | None:
        """Return the last cut in a value; `around` has the brackets and keys that are open around it."""
        start = value.value
        kind = self.text[start]
        if kind == '"':
            place = _string_cut(self.text, start + 1, min(wanted.at, value.end - 1), wanted.small)
            return Cut(place, place, f'"{around.closer}', f'{around.opener}"') if place > start + 1 else best
        if kind not in OPENING or len(around.opener) > _LONGEST_PATH:
            return best
        found, after_commas = self._children(start)
        number = bisect_right(after_commas, wanted.at)
        path = Cut(0, 0, CLOSING[kind] + around.closer, around.opener + kind)
        if number:
            best = Cut(after_commas[number - 1] - 1, after_commas[number - 1], path.closer, path.opener)
        if not found or wanted.at <= found[number].start or found[number].end - found[number].start <= wanted.small:
            return best
        look = self._in_member if kind == "{" else self._in_value
        return look(found[number], wanted, path, best)

    def _children(self, start: int) -> tuple[list[JsonChild], list[int]]:
        if start not in self._known:
            found = children(self.text, start)
            self._known[start] = found, [comma_after(self.text, child) + 1 for child in found[:-1]]
        return self._known[start]


def _short_key(key: str) -> str:
    if len(key) <= _LONGEST_KEY:
        return key
    name = json.loads(key.rstrip(" \t\r\n:"), strict=False)
    return json.dumps(f"{name[: _LONGEST_KEY // 2]}…", ensure_ascii=False) + ":"


def _string_cut(text: str, start: int, at: int, small: int) -> int:
    """Return where to cut the characters of a JSON string that begins at `start`."""
    if small:
        line = text.rfind("\\n", max(start, at - _LINE_REACH), at)
        if line > start and safe_string_position(text, line, start) == line:
            return line + 2
        space = text.rfind(" ", max(start, at - _WORD_REACH), at)
        if space > start:
            return space + 1
    return safe_string_position(text, at, start)
