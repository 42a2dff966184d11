"""Numbers, names and source as text, written the same way in every view."""

import json
import re

from keyhole.core.untrusted_text import JOINERS, escape_hidden, middle_cut, visible

_LONGEST_NAME = 200
# As in Markdown.
_FENCE_CHARACTER, _SHORTEST_FENCE = "`", 3
# `json.dumps` would create a new encoder for each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_ASCII_ENCODER = json.JSONEncoder()


def count_lines(text: str) -> int:
    """Return the number of lines; the last one needs no line feed."""
    # Finding one is ten times as fast as counting, which matters for a line of megabytes.
    first = text.find("\n")
    if first < 0:
        return int(bool(text))
    return text.count("\n", first) + (not text.endswith("\n"))


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def human_size(size: int) -> str:
    """Return a number of bytes in a readable unit."""
    amount = float(size)
    for unit in ("B", "KB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{amount:.1f} GB"


def json_text(facts: object) -> str:
    """Return JSON that is safe for a terminal: hidden characters are escaped, letters are not."""
    return _escaped(json.dumps(facts, ensure_ascii=False, indent=2))


def json_line(facts: object) -> str:
    """Return the same on one line."""
    return _escaped(_ENCODER.encode(facts))


def _escaped(text: str) -> str:
    return escape_hidden(text, _json_escape)


def _json_escape(character: str) -> str:
    # JSON writes a character above U+FFFF as two escapes, which is how `dumps` writes it too.
    return _ASCII_ENCODER.encode(character)[1:-1]


def one_line(text: str) -> str:
    r"""Return a text on one line, with line ends and tabs as `\n` and `\t`."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def name_text(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a path or name on one line; a very long one is clipped in the middle."""
    return middle_cut(one_line(text), longest)


def declared_name(signature: str, name: str) -> str:
    """Return a signature up to the name it declares, matched as a whole word."""
    start = signature.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        around = (signature[start - 1 : start] if name[0].isalnum() else "") + signature[end : end + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return signature[:end]
        start = signature.find(name, start + 1)
    return signature


def declared_label(signature: str, name: str) -> str:
    """Return a signature up to the name it declares, with the brackets around the name: `[project]`."""
    declared = declared_name(signature, name)
    start, end = len(declared) - len(name), len(declared)
    while start > 0 and signature[start - 1] + signature[end : end + 1] == "[]":
        start, end = start - 1, end + 1
    return signature[:end]


def qualified(signature: str, name: str, parent: str) -> str:
    """Return a signature with the owner in front of the name it declares, unless it names the owner already."""
    declared = declared_name(signature, name)
    before = declared.removesuffix(name)
    if not parent or not name or before == declared or parent.rpartition(".")[2] in re.split(r"\W+", before):
        return signature
    return f"{before}{parent}.{signature[len(before) :]}"


def shorten(text: str, longest: int) -> str:
    """Return a text on one line, clipped at a word."""
    shown = one_line(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    cut = shown[: longest - 1].rpartition(" ")[0] or shown[: longest - 1]
    return f"{cut.rstrip(f' ,;:.{JOINERS}')}…"


def source_text(text: str) -> str:
    """Return source as written, with hidden characters made visible; CRLF counts as a line end."""
    shown = visible(text.replace("\r\n", "\n"))
    return shown if shown.endswith("\n") or not shown else f"{shown}\n"


def framed_source(text: str, first_line: int, *, has_numbers: bool) -> str:
    """Return source that can't be taken for a line of the view: each line with its number, or all of it in a fence."""
    if has_numbers:
        return numbered_source(text, first_line)
    fence = fence_line(text)
    return f"{fence}{source_text(text)}{fence}"


def numbered_source(text: str, first_line: int) -> str:
    """Return source with a line number and a tab before each line."""
    # Only a line feed ends a line: the other characters that do so in some programs are written as escapes.
    lines = source_text(text).split("\n")[:-1]
    return "".join(f"{number}\t{line}\n" for number, line in enumerate(lines, first_line))


def fence_line(text: str) -> str:
    """Return the line before and after a text in a fence; it is longer than any run of its character in the text."""
    if not text:
        return ""
    shortest = longest = _SHORTEST_FENCE
    while _FENCE_CHARACTER * longest in text:
        shortest, longest = longest, 2 * longest
    while shortest < longest:
        middle = (shortest + longest) // 2
        if _FENCE_CHARACTER * middle in text:
            shortest = middle + 1
        else:
            longest = middle
    return _FENCE_CHARACTER * longest + "\n"
