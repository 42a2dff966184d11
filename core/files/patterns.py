"""The patterns of an ignore file, matched as git does: the last one that fits a path decides.

Only the path itself is matched, never the folders above it: a walk has asked about those before. RE2
matches all patterns of a file at once, in time that no pattern can blow up.
"""

import re
from collections.abc import Iterator
from typing import Any

# So many patterns are compiled together; larger sets need more memory than RE2 takes.
_SET_SIZE = 1_000
_SET_MEMORY = 64 << 20

_TOKEN = re.compile(r"\\.|\[[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*\]|\*+|\?|.", re.DOTALL)
_CLASS_NAME = re.compile(r"\[:[a-z]+:\]")


class PatternList:
    """The lines of an ignore file, compiled; a line that git would not understand matches nothing."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._is_negated: dict[int, bool] = {}
        translated: list[tuple[int, str]] = []
        for index, line in enumerate(lines):
            if pattern := _translate(line):
                self._is_negated[index] = line.startswith("!")
                translated.append((index, pattern))
        starts = range(0, len(translated), _SET_SIZE)
        self._sets = [part for start in starts for part in _compile(translated[start : start + _SET_SIZE])]

    def last_match(self, path: str, *, is_dir: bool) -> tuple[int, bool] | None:
        """Return the line that decides about a path, and whether it ignores it."""
        subject = f"{path}/" if is_dir else path
        last = -1
        for indexes, compiled in self._sets:
            if matches := compiled.Match(subject):
                last = max(last, indexes[max(matches)])
        return None if last < 0 else (last, not self._is_negated[last])


def _compile(patterns: list[tuple[int, str]]) -> Iterator[tuple[list[int], Any]]:
    """Compile patterns into one set; when that fails, halve them until the ones at fault are left out."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    options.dot_nl = True
    try:
        compiled = re2.Set.FullMatchSet(options)
        for _, pattern in patterns:
            compiled.Add(pattern)
        compiled.Compile()
    except re2.error:
        if len(patterns) > 1:
            middle = len(patterns) // 2
            yield from _compile(patterns[:middle])
            yield from _compile(patterns[middle:])
        return
    yield [index for index, _ in patterns], compiled


def _translate(line: str) -> str:
    """Turn a line into a regular expression for a whole path, folders ending in a slash."""
    text = _without_trailing_space(line.rstrip("\r\n"))
    if text.startswith("#"):
        return ""
    text = text.removeprefix("!")
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    is_anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return ""
    tokens = _TOKEN.findall(text)
    if tokens[-1] == "\\" or (tokens[-1] == "[" and len(tokens) == 1):
        return ""
    body = _join(tokens)
    return ("" if is_anchored else "(?:.*/)?") + body + ("/" if only_folders else "/?")


def _without_trailing_space(line: str) -> str:
    stripped = line.rstrip(" ")
    escapes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if escapes % 2 and stripped != line else stripped


def _join(tokens: list[str]) -> str:
    pieces: list[str] = []
    position = 0
    while position < len(tokens):
        piece = tokens[position]
        starts_segment = position == 0 or tokens[position - 1] == "/"
        follows = tokens[position + 1] if position + 1 < len(tokens) else ""
        if piece == "**" and starts_segment and follows == "/":
            pieces.append("(?:.*/)?")
            position += 1
        elif piece == "**" and starts_segment and not follows and position:
            pieces.append(".+")
        else:
            pieces.append(_piece(piece))
        position += 1
    return "".join(pieces)


def _piece(text: str) -> str:
    if text.startswith("*"):
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if text.startswith("\\"):
        return re.escape(text[1:])
    if text.startswith("[") and len(text) > 2:
        return _bracket(text[1:-1])
    return re.escape(text)


def _bracket(inside: str) -> str:
    """Translate a bracket expression; it never matches a slash."""
    negated = inside[:1] in ("!", "^")
    inside = inside[1:] if negated else inside
    parts = re.findall(r"\[:[a-z]+:\]|\\.|.", inside, re.DOTALL)
    escaped = [
        part if _CLASS_NAME.fullmatch(part) or part == "-" else re.escape(part[-1]) if part[0] == "\\" else _safe(part)
        for part in parts
    ]
    body = "".join(escaped)
    return f"[^/{body}]" if negated else f"[{body}]"


def _safe(character: str) -> str:
    return f"\\{character}" if character in "[]^&~|" else character
