"""The patterns of an ignore file, matched as git does: the last one that fits a path decides.

Only the path itself is matched, never the folders above it: a walk has asked about those before.

This is not done by the library pathspec, which is slower and further from git. Measured by bench/ignore_rules.py with
pathspec 1.1.1 and its RE2 backend, on 687 .gitignore files of public projects and 40,379 paths made from them: here
no path is decided otherwise than by git, with pathspec 12 paths of 3 files are (it loses what `!*/` or `!x/**` brings
back), and a walk takes 1.3 times as long. It also fails on a whole file for one `[[:alpha:]]` or for 2,500 lines.
"""

from collections.abc import Iterator

from keyhole.core.files.globs import ExpressionSet, compile_set, translate_glob

# So many patterns are compiled together; larger sets need more memory than RE2 takes.
_SET_SIZE = 1_000


class PatternList:
    """The lines of an ignore file, compiled; a line that git cannot parse matches nothing."""

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


def _compile(patterns: list[tuple[int, str]]) -> Iterator[tuple[list[int], ExpressionSet]]:
    """Compile patterns into one set; when that fails, halve them until the ones at fault are left out."""
    compiled = compile_set([pattern for _, pattern in patterns])
    if compiled is not None:
        yield [index for index, _ in patterns], compiled
    elif len(patterns) > 1:
        middle = len(patterns) // 2
        yield from _compile(patterns[:middle])
        yield from _compile(patterns[middle:])


def _translate(line: str) -> str | None:
    """Turn a line into a regular expression for a whole path, folders ending in a slash."""
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
