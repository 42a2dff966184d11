"""What is wrong with a regular expression, and what to write instead.

RE2 names the kind of an error and usually the piece of the pattern that caused it, in terse words and without a
position. This module finds the position and says what to do.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from keyhole.core.masking import mask_text
from keyhole.core.untrusted_text import visible

# How much of a long pattern is shown around the error.
_SHOWN_BEFORE, _SHOWN_AFTER = 60, 60
_LONGEST_PIECE = 40
# RE2's own limit, also for repeats inside repeats.
_MOST_REPEATS = 1_000
_REVERSED_COUNTS = re.compile(r"\{(\d+),(\d+)\}")
_GROUP_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[()]", re.DOTALL)
_LARGE_REPEAT = re.compile(r"\{\d{2,}[,}]")
_NO_BACKREFERENCES = "backreferences are not supported; write the text again"


@dataclass(frozen=True, slots=True)
class PatternError:
    """The reason, and where in the pattern, if there is one place."""

    reason: str
    place: int | None


def pattern_error(pattern: str, message: str) -> PatternError:
    """Return what RE2's message means for a pattern."""
    kind, _, piece = message.partition(": ")
    explain = _KINDS.get(kind)
    if explain is None:
        return PatternError("RE2 can't read this pattern; simplify it", None)
    # Part of a token would not be masked later.
    masked = mask_text(piece)
    shown = masked if len(masked) <= _LONGEST_PIECE else f"{masked[:_LONGEST_PIECE]}…"
    return PatternError(explain(shown), _place_of(kind, pattern, piece))


def pointed_out(pattern: str, place: int | None) -> str:
    """Return the pattern on its own line with a mark under the place; of a long pattern, what is around the place."""
    before, after = mask_text(pattern[: place or 0]), mask_text(pattern[place or 0 :])
    whole = mask_text(pattern)
    if before + after != whole:
        # The place is inside a token, so it can't be shown.
        before, after, place = "", whole, None
    before = _on_one_line(f"…{before[-_SHOWN_BEFORE:]}" if len(before) > _SHOWN_BEFORE else before)
    after = _on_one_line(f"{after[:_SHOWN_AFTER]}…" if len(after) > _SHOWN_AFTER else after)
    mark = "" if place is None else f"\n  {' ' * len(before)}^"
    return f"\n  {before}{after}{mark}"


def _on_one_line(text: str) -> str:
    """Return a text in which nothing moves the mark: no line ends, no tabs, and escapes as they will be shown."""
    return visible(re.sub(r"\s", " ", text))


def _place_of(kind: str, pattern: str, piece: str) -> int | None:
    if kind in (_MISSING_BRACKET, _EXTRA_BRACKET):
        return _unmatched(pattern, is_open=kind == _MISSING_BRACKET)
    if kind == _TOO_LARGE:
        large = _LARGE_REPEAT.search(pattern)
        return large.start() if large else None
    if kind == _TRAILING:
        return len(pattern) - 1
    place = pattern.find(piece) if piece else -1
    return place if place >= 0 else None


def _unmatched(pattern: str, *, is_open: bool) -> int | None:
    """Return where the last open bracket that is never closed stands, or the first closing one that was not opened."""
    opened: list[int] = []
    for token in _GROUP_OR_CLASS.finditer(pattern):
        if token.group() == "(":
            opened.append(token.start())
        elif token.group() == ")":
            if not opened and not is_open:
                return token.start()
            del opened[-1:]
    return opened[-1] if opened and is_open else None


def _escape(piece: str) -> str:
    if piece[1:2].isdigit() or piece[1:2] in ("g", "k"):
        return _NO_BACKREFERENCES
    if piece == r"\Z":
        return r"\Z is not supported; use \z for the end of the text"
    if piece[1:2] in ("x", "u", "U"):
        return rf"{piece} is not a character; write \x{{00e9}} with the character's number, or the character itself"
    return rf"unknown escape {piece}; write \\ for a backslash"


def _character_class(piece: str) -> str:
    if piece.startswith((r"\p", r"\P")):
        return rf"unknown Unicode class {piece}; use a category such as \pL or a script such as \p{{Greek}}"
    if piece.startswith("[:"):
        return f"unknown class {piece}; use one such as [:alpha:], [:digit:] or [:space:]"
    return f"the range {piece} is backwards; write the smaller character first"


def _group(piece: str) -> str:
    if piece.startswith(("(?=", "(?!", "(?<=", "(?<!")):
        return "lookahead and lookbehind are not supported; match the text around it too"
    if piece == "(?P":
        return f"{_NO_BACKREFERENCES}. A named group is (?P<name>...)"
    if piece == "(?>":
        return "atomic groups are not supported; use (?:...)"
    if piece == "(?(":
        return "conditions are not supported; write both cases with |"
    if piece == "(?#":
        return "comments are not supported; remove (?#...)"
    return f"unknown group {piece}; use (?:...) for a group, or flags such as (?i)"


def _repeat_of_repeat(piece: str) -> str:
    if piece.endswith("+"):
        return f"possessive repeats are not supported; use {piece[:-1]} instead of {piece}"
    return f"{piece} repeats a repeat; put the first one in a group: (?:...)"


def _repeat_size(piece: str) -> str:
    counts = _REVERSED_COUNTS.fullmatch(piece)
    if counts and int(counts[1]) > int(counts[2]):
        return f"in {piece} the first number must not be larger than the second"
    return f"{piece} repeats too often; the limit is {_MOST_REPEATS:,}, with nested repeats multiplied"


_MISSING_BRACKET, _EXTRA_BRACKET, _TRAILING = "missing )", "unexpected )", "trailing \\"
_TOO_LARGE = "pattern too large - compile failed"
# RE2's Python binding gives only a message, so its words are the key here.
_KINDS: dict[str, Callable[[str], str]] = {
    _MISSING_BRACKET: lambda _: r"a ( is never closed; add ), or write \( for the character",
    _EXTRA_BRACKET: lambda _: r"a ) has no ( before it; remove it, or write \) for the character",
    "missing ]": lambda _: r"a [ is never closed; add ], or write \[ for the character",
    _TRAILING: lambda _: r"it ends with a backslash; write \\ for the character",
    "no argument for repetition operator": lambda piece: (
        rf"there is nothing before {piece} to repeat; write \{piece} for the character"
    ),
    "invalid repetition size": _repeat_size,
    "bad repetition operator": _repeat_of_repeat,
    "invalid perl operator": _group,
    "invalid named capture group": lambda piece: (
        f"{piece} is not a group name; write (?P<name>...) with letters, digits and _"
    ),
    "invalid escape sequence": _escape,
    "invalid character class": _character_class,
    "invalid character class range": _character_class,
    "invalid UTF-8": lambda _: "it is not valid text; remove the bytes that are not UTF-8",
    _TOO_LARGE: lambda _: "it is too large; use smaller repeat counts or fewer alternatives",
}
