"""The patterns of an ignore file, matched as git matches them: the last pattern that matches a path decides.

Only the path itself is matched, not the folders above it: the walk has checked those before.

The library pathspec is not used because it is slower and differs more from git. bench/ignore_rules.py compared both
with git on 687 .gitignore files of public projects and 40,379 paths made from them (pathspec 1.1.1, RE2 backend). This
module agrees with git on every path. pathspec differs on 12 paths of 3 files, where it does not re-include paths for
`!*/` or `!x/**`, and a walk takes 1.3 times as long. It also rejects a whole file because of one `[[:alpha:]]` or 2,500
lines.
"""

from collections.abc import Iterator
from threading import Lock

from keyhole.core.files.globs import ExpressionSet, compile_set, translate_glob

# The number of patterns compiled together; larger sets would exceed RE2's memory limit.
_SET_SIZE = 1_000
# A read checks the ignore files of every folder above it. One may be a megabyte: compiling it takes seconds, and the
# result takes 60 times as much memory.
_MOST_CHARACTERS_KEPT = 2_000_000


class PatternList:
    """The lines of an ignore file, compiled; a line that git cannot parse matches nothing."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._is_negated: dict[int, bool] = {}
        translated: list[tuple[int, str]] = []
        for index, line in enumerate(lines):
            if pattern := _translate(line):
                self._is_negated[index] = line.startswith("!")
                translated.append((index, pattern))
        starts = range(0, len(translated), _SET_SIZE)
        self._sets = [part for start in starts for part in _compile(translated[start : start + _SET_SIZE])]

    def last_match(self, path: str, *, is_dir: bool) -> tuple[int, bool] | None:
        """Return the index of the line that decides about a path, and whether it ignores the path."""
        subject = f"{path}/" if is_dir else path
        last = -1
        for indexes, compiled in self._sets:
            if matches := compiled.Match(subject):
                last = max(last, indexes[max(matches)])
        return None if last < 0 else (last, not self._is_negated[last])


class CompiledFiles:
    """Compiled ignore files by their content, the latest ones; thread-safe."""

    def __init__(self, most_characters: int = _MOST_CHARACTERS_KEPT) -> None:
        self._most_characters = most_characters
        self._kept: dict[str, PatternList] = {}
        self._lock = Lock()

    def compile(self, content: str) -> PatternList:
        """Return the patterns of a file, compiled now or before."""
        patterns = self._kept.get(content) or PatternList(content.split("\n"))
        with self._lock:
            # Removed and added again as the latest one, so that the oldest one is the first to go.
            self._kept.pop(content, None)
            self._kept[content] = patterns
            while len(self._kept) > 1 and sum(map(len, self._kept)) > self._most_characters:
                del self._kept[next(iter(self._kept))]
        return patterns


def _compile(patterns: list[tuple[int, str]]) -> Iterator[tuple[list[int], ExpressionSet]]:
    """Compile patterns into one set; if that fails, split it in halves until only the invalid patterns are left out."""
    compiled = compile_set([pattern for _, pattern in patterns])
    if compiled is not None:
        yield [index for index, _ in patterns], compiled
    elif len(patterns) > 1:
        middle = len(patterns) // 2
        yield from _compile(patterns[:middle])
        yield from _compile(patterns[middle:])


def _translate(line: str) -> str | None:
    """Translate a line to a regular expression for a whole path, where folders end in a slash."""
    text = _without_trailing_space(line.rstrip("\r\n"))
    if text.startswith("#"):
        return None
    text = text.removeprefix("!")
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    is_anchored = "/" in text
    body = translate_glob(text.removeprefix("/"))
    if body is None:
        return None
    return ("" if is_anchored else "(?:.*/)?") + body + ("/" if only_folders else "/?")


def _without_trailing_space(line: str) -> str:
    stripped = line.rstrip(" ")
    escapes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if escapes % 2 and stripped != line else stripped
