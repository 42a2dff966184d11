"""Doc comments of any language, reduced to one sentence without markup."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

SENTENCE_LIMIT = 500
# The first sentence and the returns line are near the start, so the rest is not read.
_DOC_LIMIT = 4_000

_STRING_QUOTES = re.compile(r"""^[rRuUbBfF]{0,2}(\"{3}|'{3}|"|')(.*)\1$""", re.DOTALL)
_LEADING_MARK = re.compile(
    r"^\s*(?:/\*[*!]?|\*/|\*(?!\*)|//[/!]?|\#{1,2}(?!\[)|--\[=*\[|---?|;+|=begin\b|=end\b)[ \t]?"
)
_TRAILING_MARK = re.compile(r"\s*(?:\*/|\]=*\])\s*$")
_DIRECTIVE = re.compile(
    r"^\s*(?:eslint|prettier-|istanbul|tslint|jshint|@ts-|go:|\+build|nolint|rubocop|noqa|pylint|type:\s*ignore"
    r"|mypy:|clang-format|NOLINT|swiftlint|ktlint|shellcheck|phpcs|phpstan|@phpstan|luacheck|frozen_string_literal"
    r"|!)"
)
_SPACES = re.compile(r"[ \t]+")
_RULE = re.compile(r"^\W*$")
_TAG = re.compile(
    r"^(?:[@\\:]\w|-\s+(?:Parameters?|Returns|Throws)\b"
    r"|<(?:param|returns|remarks|exception|typeparam|example|seealso))"
)
_TAG_WITHIN_LINE = re.compile(r"(?<=\S)\s+(?=@(?:returns?|param|throws|see|since|deprecated)\b)")
_HEADING = re.compile(
    r"^(?:#+\s*)?(?:args?|arguments|parameters?|params|returns?|raises|throws|yields|examples?|notes?|attributes|panics"
    r"|errors|safety|see also|since)\s*:?\s*$",
    re.IGNORECASE,
)
_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
_MARKUP_TAG = re.compile(r"</?(?:summary|p|code|b|i|em|strong|pre|para|c|a|ul|li|br|tt)\b[^<>]*>", re.IGNORECASE)
_CROSS_REFERENCE = re.compile(r"<(?:see|paramref|typeparamref)\s+\w+=\"([^\"<>]*)\"\s*/>")
_SENTENCE_END = re.compile(r"[.!?](?=[\"'`)\]]*\s+[\"'`(\[]*[A-Z0-9])|[\u3002\uff01\uff1f]")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Dr|St|No|approx)|\b[A-Z])\.$")
_RETURNS_TAG = re.compile(
    r"^\s*(?:[@\\]returns?|:returns?:|:return:|-\s*Returns:|<returns>)\s*(?:\{[^}]*\}\s*)?(.*?)(?:</returns>)?\s*$"
)
_RETURNS_HEADING = re.compile(r"^\s*(?:#+\s*)?Returns?\s*:?\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Doc:
    """The parts of a doc comment that are kept."""

    sentence: str = ""
    returns: str = ""


NO_DOC = Doc()


def read_docstring(literal: str) -> Doc:
    """Parse a Python docstring, given with its quotes."""
    match = _STRING_QUOTES.match(literal.strip())
    body = _shorten(match.group(2) if match else literal)
    first, _, rest = body.partition("\n")
    return _summarise([first, *rest.splitlines()])


def read_comment(block: str) -> Doc:
    """Parse consecutive comment lines or a block comment, given with the comment marks."""
    lines = []
    for line in _shorten(block).splitlines():
        bare = _LEADING_MARK.sub("", _TRAILING_MARK.sub("", line), count=1).rstrip()
        if not is_directive(bare):
            lines += _TAG_WITHIN_LINE.split(bare)
    return _summarise(lines)


def is_directive(line: str) -> bool:
    """Return whether the text of a comment line is meant for a tool, not for people."""
    return _DIRECTIVE.match(line) is not None


def first_sentence(paragraph: str) -> str:
    """Return the first sentence of a paragraph, shortened at a word if it is very long."""
    text = " ".join(paragraph.split())
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[max(0, end.end() - 10) : end.end()]):
            text = text[: end.end()]
            break
    if len(text) <= SENTENCE_LIMIT:
        return text
    return text[:SENTENCE_LIMIT].rsplit(" ", 1)[0] + "…"


def _shorten(text: str) -> str:
    """Return the start of a text, with single spaces, so that no pattern below can take long."""
    return _SPACES.sub(" ", text[:_DOC_LIMIT])


def _summarise(lines: list[str]) -> Doc:
    paragraph = _first_paragraph(map(_plain, lines))
    return Doc(first_sentence(" ".join(paragraph)), first_sentence(_returns(lines)))


def _plain(line: str) -> str:
    if "<" not in line and "{" not in line:
        return line
    line = _INLINE_TAG.sub(r"\1", line)
    line = _CROSS_REFERENCE.sub(r"\1", line)
    return _MARKUP_TAG.sub("", line)


def _first_paragraph(lines: Iterable[str]) -> list[str]:
    paragraph: list[str] = []
    for line in lines:
        text = line.strip()
        if _RULE.match(text):
            if paragraph:
                break
        elif _TAG.match(text) or _HEADING.match(text):
            break
        else:
            paragraph.append(text)
    return paragraph


def _returns(lines: list[str]) -> str:
    for number, line in enumerate(lines):
        if "eturn" not in line:
            continue
        if tag := _RETURNS_TAG.match(line):
            return _plain(" ".join([tag.group(1), *_continuation(lines[number + 1 :])]))
        heading = _RETURNS_HEADING.match(line)
        if heading and _HEADING.match(line.strip()):
            return _plain(" ".join(_continuation(lines[number + 1 :])))
    return ""


def _continuation(lines: list[str]) -> list[str]:
    """Return the text that continues below a tag or heading, up to a blank line or the next tag."""
    text: list[str] = []
    for line in lines:
        stripped = line.strip()
        if _RULE.match(stripped):
            if text:
                break
            continue
        if _TAG.match(stripped) or _HEADING.match(stripped) or stripped.startswith("</"):
            break
        text.append(stripped)
    return text
