"""What a file says about itself: its first comment that is not a licence, or the first paragraph of prose.

This works on lines, not on a syntax tree, so it is the same for every language, and no file can make it slow.
"""

import re
from collections.abc import Iterator

from keyhole.core.syntax.docs import is_directive
from keyhole.core.syntax.languages import Language

COMMENT_LIMIT = 600
# A comment about the whole file is near its start, even after a licence and the imports.
_HEAD = 8_000

_PROSE = frozenset(["markdown", "rst", "text", "latex"])
# Data has no comments that describe it; in CSV and JSON a mark is part of the data.
_WITHOUT_COMMENTS = frozenset(["csv", "json"])
# The marks at the start of a line that begin a comment of several lines, each with the mark that ends it.
_CLOSINGS = {
    '"""': '"""',
    "'''": "'''",
    "/*": "*/",
    "<!--": "-->",
    "{-": "-}",
    "(*": "*)",
    "--[[": "]]",
    "=begin": "=end",
    "#|": "|#",
}
_STARTS = frozenset("\"'/<{(-=#;%rRuU")
_OPENING = re.compile("[rRuU]?(" + "|".join(map(re.escape, _CLOSINGS)) + ")")
_COMMENT_LINE = re.compile(r"//|#(?![A-Za-z\[])|--(?!\w)|;|%(?!\w)|\"[^\"]{8,}\"$")
_MARKS = " \t*/#;%!\"'<>|{}()=~-"
_LICENCE = re.compile(
    r"copyright|licen[cs]e|\(c\)|spdx|all rights|warrant|permission|redistribut|endorse|\bas is\b|liab", re.IGNORECASE
)
_FOR_TOOLS = re.compile(r"(?:file)?(?:en)?coding[:=]|vim?:|sourceMappingURL")
_WORD = re.compile(r"[^\W\d_]{2}")
# Headings, pictures, tags and directives; a shorter paragraph is a title.
_NO_PARAGRAPH = ("#", "!", "[!", "<", "..", ":", "|", "%", "\\")
_SHORTEST_PARAGRAPH = 25
_FRONT_MATTER = re.compile(r"\A---\n.{0,4000}?\n---\n", re.DOTALL)


def first_comment(text: str, language: Language) -> str:
    """Return the first comment that describes a file, without marks and at most `COMMENT_LIMIT` long; or nothing."""
    head = text[:_HEAD].removeprefix("\ufeff")
    if language.id in _PROSE:
        return next(_prose(_FRONT_MATTER.sub("", head).splitlines()), "")[:COMMENT_LIMIT]
    if language.id in _WITHOUT_COMMENTS:
        return ""
    comments = (" ".join(_described(comment)) for comment in _comments(head.splitlines()))
    return next(filter(None, comments), "")[:COMMENT_LIMIT]


def _comments(lines: list[str]) -> Iterator[list[str]]:
    """Yield the comments that start in the first column, with their marks; neighbouring comment lines are one."""
    closing, comment = "", list[str]()
    for line in lines:
        if closing:
            before, is_end, _ = line.partition(closing)
            comment.append(before)
            if is_end:
                yield comment
                closing, comment = "", []
            continue
        # Few lines start with such a character, and looking at it is faster than trying the patterns.
        may_comment = line[:1] in _STARTS
        opening = _OPENING.match(line) if may_comment else None
        if may_comment and not opening and _COMMENT_LINE.match(line):
            comment.append(line)
            continue
        if comment:
            yield comment
        comment = []
        if opening:
            closing = _CLOSINGS[opening[1]]
            before, is_end, _ = line[opening.end() :].partition(closing)
            comment.append(before)
            if is_end:
                yield comment
                closing, comment = "", []
    if comment:
        yield comment


def _described(comment: list[str]) -> Iterator[str]:
    """Yield the paragraphs of a comment that are not about the licence."""
    paragraph: list[str] = []
    for line in [*comment, ""]:
        bare = "" if line.startswith("#!") else line.strip(_MARKS)
        if not _WORD.search(bare):
            said, paragraph = " ".join(paragraph), []
            if said and not _LICENCE.search(said):
                yield said
        elif not is_directive(bare) and not _FOR_TOOLS.match(bare):
            paragraph.append(bare)


def _prose(lines: list[str]) -> Iterator[str]:
    """Yield the paragraphs of prose, without headings, pictures and directives."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        bare = line.strip()
        if not bare or bare.startswith(_NO_PARAGRAPH):
            said, paragraph = " ".join(paragraph), []
            if len(said) >= _SHORTEST_PARAGRAPH and not _LICENCE.search(said):
                yield said
        elif _WORD.search(bare):
            paragraph.append(bare)
        else:
            paragraph = []  # The line above this rule is a heading.
