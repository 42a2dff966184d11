"""Where the values of a JSON text stand, so that each of them can be shown exactly as the server wrote it."""

import json
import re
from dataclasses import dataclass
from typing import NoReturn

OPENING, CLOSING = "[{", {"[": "]", "{": "}"}
_BLANKS = re.compile(r"[ \t\n\r]*")
# A longer number could not be cut inside, so a text that holds one is shown as lines.
_LONGEST_NUMBER = 100


@dataclass(frozen=True, slots=True)
class JsonChild:
    """An element of an array or a member of an object; a member starts at its key, and `value` is after the colon."""

    start: int
    value: int
    end: int


def is_json(text: str, start: int = 0) -> bool:
    """Return whether the text from `start` on is exactly one array or object."""
    if text[start : start + 1] not in ("[", "{"):
        return False
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return after_blanks(text, end) == len(text)


def value_end(text: str, start: int) -> int:
    """Return where the value that starts here ends; raise ValueError if there is none."""
    return _DECODER.raw_decode(text, start)[1]


def children(text: str, start: int) -> list[JsonChild]:
    """Return the elements or members of the array or object that starts here; the text must be valid JSON."""
    is_object, found = text[start] == "{", []
    at = after_blanks(text, start + 1)
    while text[at] not in "]}":
        first = at
        if is_object:
            at = after_colon(text, at)
        value, at = at, value_end(text, at)
        found.append(JsonChild(first, value, at))
        at = after_blanks(text, at)
        if text[at] == ",":
            at = after_blanks(text, at + 1)
    return found


def after_blanks(text: str, at: int) -> int:
    """Return the position of the next character that is not blank."""
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def after_colon(text: str, key: int) -> int:
    """Return where the value of the key that starts here begins."""
    return after_blanks(text, after_blanks(text, value_end(text, key)) + 1)


def comma_after(text: str, child: JsonChild) -> int:
    """Return the position of the comma after a child that is not the last one."""
    return after_blanks(text, child.end)


def safe_string_position(text: str, at: int, start: int) -> int:
    """Return the last position up to `at` where a JSON string can be cut; its characters begin at `start`."""
    at = _before_escape(text, at, start)
    # The two escapes of one character outside the basic plane stay together.
    if text[at : at + 2] == "\\u" and text[at + 2 : at + 4].lower() in ("dc", "dd", "de", "df") and at - 6 >= start:
        before = text[at - 6 : at]
        if before[:2] == "\\u" and before[2:4].lower() in ("d8", "d9", "da", "db"):
            return _before_escape(text, at - 6, start)
    return at


def _before_escape(text: str, at: int, start: int) -> int:
    for back in range(at - 1, max(start, at - 6) - 1, -1):
        if text[back] != "\\":
            continue
        run = back
        while run > start and text[run - 1] == "\\":
            run -= 1
        begins_escape = (back - run) % 2 == 0
        if begins_escape:
            return back if back + (6 if text[back + 1 : back + 2] == "u" else 2) > at else at
        return at
    return at


def _number(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("the number is too long")
    return 0


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_no_constant)
