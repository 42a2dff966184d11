"""Globs of ignore files and path filters, translated to regular expressions for RE2.

RE2 matches many expressions in one pass, in linear time for every pattern.
"""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

# Ignore files with thousands of lines need more memory than RE2's default.
_SET_MEMORY = 64 << 20

_TOKEN = re.compile(r"\\.|\[[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*\]|\*+|\?|.", re.DOTALL)
_BRACKET_PART = re.compile(r"(\[:[a-z]+:\])|(?:\\(.)|(.))(?:-(?:\\(.)|(.)))?", re.DOTALL)
# The POSIX classes that contain a slash, with the slash removed: wildcards never match a slash.
_CLASSES_WITHOUT_SLASH = {"[:punct:]": "!-.:-@\\[-`{-~", "[:graph:]": "!-.0-~", "[:print:]": " -.0-~"}
# The innermost braces with a comma; others are part of a name.
_BRACES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
_MOST_ALTERNATIVES = 50
# The slash after `**` is optional together with it, so that `**/` also matches no folder at all.
_ANY_FOLDERS = "(?:.*/)?"
_NOTHING = r"[^\x00-\x{10FFFF}]"


class ExpressionSet(Protocol):
    """A set of regular expressions that RE2 compiled together."""

    def Match(self, text: str) -> list[int] | None:  # noqa: N802  # RE2's own name
        """Return the numbers of the expressions that match the whole text."""


def compile_set(expressions: Sequence[str]) -> ExpressionSet | None:
    """Compile expressions into one set; None if RE2 rejects one of them, or the set is too large."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    options.dot_nl = True
    builder = re2.Set.FullMatchSet(options)
    try:
        for expression in expressions:
            builder.Add(expression)
        builder.Compile()
    except re2.error:
        return None
    compiled: ExpressionSet = builder
    return compiled


def glob_test(glob: str) -> Callable[[str], bool]:
    """Return a function that tests paths; an invalid glob matches no path."""
    return compile_glob(glob) or (lambda _: False)


def compile_glob(glob: str) -> Callable[[str], bool] | None:
    """Return a function that tests paths; None if the glob is invalid. `{a,b}` matches either of its parts."""
    expressions = [translate_glob(one, stars_cross=True) for one in _alternatives(glob)]
    compiled = compile_set([one for one in expressions if one]) if all(expressions) else None
    return (lambda path: bool(compiled.Match(path))) if compiled else None


def _alternatives(glob: str) -> list[str]:
    """Return the globs that one with braces stands for; with too many of them, the braces are taken literally."""
    globs = [glob]
    while any(map(_BRACES.search, globs)):
        if len(globs) > _MOST_ALTERNATIVES:
            return [glob]
        globs = [
            one[: braces.start()] + part + one[braces.end() :]
            for one in globs
            if (braces := _BRACES.search(one))
            for part in braces.group(1).split(",")
        ]
    return globs


def translate_glob(glob: str, *, stars_cross: bool = False) -> str | None:
    """Translate a glob to a regular expression for a whole path; None if the glob is empty or invalid.

    `*` matches within one name, and `**` in place of a name matches any number of folders. With `stars_cross`, `**` as
    part of a name also matches slashes; git treats it as `*` there.
    """
    tokens = _TOKEN.findall(glob)
    # Invalid: a backslash at the end, or a bracket that is never closed.
    if not tokens or tokens[-1] == "\\" or "[" in tokens:
        return None
    pieces: list[str] = []
    for before, part, after in zip(["/", *tokens], tokens, [*tokens[1:], ""], strict=False):
        is_whole_name = before == "/" and after in ("/", "")
        if part.startswith("*"):
            pieces.append(_stars(part, after, is_whole_name=is_whole_name, stars_cross=stars_cross))
        elif not (part == "/" and pieces and pieces[-1] == _ANY_FOLDERS):
            pieces.append(_piece(part))
    return "".join(pieces)


def _stars(stars: str, after: str, *, is_whole_name: bool, stars_cross: bool) -> str:
    if len(stars) > 1 and is_whole_name:
        return _ANY_FOLDERS if after else ".+"
    if len(stars) > 1 and stars_cross:
        return ".*"
    # Folders are matched with a slash at the end, so `*` must match at least one character: otherwise `a/*` would
    # match `a/` itself.
    return "[^/]+" if is_whole_name else "[^/]*"


def _piece(part: str) -> str:
    if part == "?":
        return "[^/]"
    if part.startswith("\\"):
        return re.escape(part[1:])
    if part.startswith("["):
        return _bracket(part[1:-1])
    return re.escape(part)


def _bracket(inside: str) -> str:
    """Translate a bracket expression, which never matches a slash."""
    is_negated = inside.startswith(("!", "^"))
    parts = _BRACKET_PART.findall(inside[is_negated:])
    body = "".join(
        _CLASSES_WITHOUT_SLASH.get(name, name) or _range(escaped or plain, escaped_last or plain_last)
        for name, escaped, plain, escaped_last, plain_last in parts
    )
    if is_negated:
        return f"[^/{body}]"
    return f"[{body}]" if body else _NOTHING


def _range(first: str, last: str) -> str:
    """Translate a range of characters, or one character, without the slash; a reversed range is empty."""
    last = last or first
    halves = [(first, "."), ("0", last)] if first <= "/" <= last else [(first, last)]
    return "".join(f"{re.escape(start)}-{re.escape(end)}" for start, end in halves if start <= end)
