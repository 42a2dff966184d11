"""Links of Markdown (inline links, references, HTML, plain URLs and wikilinks), and the anchors that it declares."""

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from urllib.parse import unquote, urlsplit

from keyhole.core.links.link_types import Declared, LinkKind, RawLink

# Code and comments contain no links. They are replaced by spaces, so that positions stay the same.
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ >]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INDENTS = ("    ", "\t")
_INDENTED = re.compile(r"(?:\A|(?<=\n)[ \t]*\n)(?:(?: {4}|\t)[^\n]*\n?|[ \t]*\n)+")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_BACKTICKS = re.compile(r"`+|\n")
_NOT_LINE_END = re.compile(r"[^\n]")

# Wikilinks, inline links, HTML and plain URLs in one pass. Each alternative begins with a literal character outside any
# group, which lets the regex engine skip quickly to the next such character.
_LINK = re.compile(
    r"\[\[([^\[\]|#\n]{0,300})(#[^\[\]|\n]{0,300})?(?:\\?\|[^\[\]\n]*)?\]\](?![(\[])"
    r"|\]\([ \t]*(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^)\n]*\)))?[ \t]*\)"
    r"|<(?i:a|img|source|video|iframe)\b[^<>]*?\b(?i:href|src)\s*=\s*(?:\"([^\"\n]*)\"|'([^'\n]*)')"
    r"|https?://[^\s<>\[\]()\"'`|\\{}]+(?:\([^\s<>()\"'`]*\)[^\s<>\[\]()\"'`|\\{}]*)*"
)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]{1,300})\]:[ \t]*(?:\n[ \t]+)?(<[^<>\n]*>|\S+)", re.MULTILINE)
_REFERENCE = re.compile(r"(?<!\\)\[([^\[\]\n]{1,300})\](?:\[([^\[\]\n]{0,300})\])?(?![(:])")

_ID = re.compile(
    r"<\w+\b[^<>]*?\b(?:id|name)\s*=\s*[\"']?([^\"'\s<>]+)|\{#([\w.:-]{1,100})[^{}\n]{0,100}\}", re.IGNORECASE
)
_BLOCK = re.compile(r"(?:^|\s)\^([\w-]+)[ \t]*$", re.MULTILINE)

_LONGEST_HEADING = 500
_LINKED = re.compile(r"!?\[([^\[\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
_MARKUP = re.compile(r"\{#[^{}]*\}\s*$|</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>")
_NO_SLUG = re.compile(r"[^\w\- ]")

_WEB = ("http", "https", "ftp", "ssh", "git")
_SCHEME = re.compile(r"([a-zA-Z][\w+.-]*):")
# Placeholders of templates: the target is unknown.
_TEMPLATE = re.compile(r"\{\{|\$\{|\{%|<%")
# Characters at the end of a URL that belong to the sentence.
_AFTER_ADDRESS = ".,;:!?*_~"
_CONTENTS = frozenset(["toc", "_toc_"])


def markdown_links(text: str) -> list[RawLink]:
    """Return the links of a text, in order."""
    if "[" not in text and "://" not in text and "<" not in text:
        return []
    text = _without_code(text)
    if "]:" not in text:
        return [link for line, match in _matches(_LINK, text) if (link := _link(line, match))]
    known = {_label(label): destination for label, destination in _DEFINITION.findall(text)}
    text = _blanked(_DEFINITION, text)
    found = [(match.start(), _link(line, match)) for line, match in _matches(_LINK, text)]
    for line, match in _matches(_REFERENCE, _blanked(_LINK, text)):
        destination = known.get(_label(match.group(2) or match.group(1)), "")
        found.append((match.start(), _destination_link(line, destination)))
    return [link for _, link in sorted(found, key=itemgetter(0)) if link]


def markdown_anchors(text: str) -> list[Declared]:
    """Return the anchors that a text declares in addition to its headings."""
    ids = _ID.finditer(text) if any(mark in text for mark in ("id=", "name=", "{#")) else ()
    blocks = _BLOCK.finditer(text) if "^" in text else ()
    names = [*(match.group(1) or match.group(2) for match in ids), *(f"^{match.group(1)}" for match in blocks)]
    return [Declared("anchor", name) for name in dict.fromkeys(names)]


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each match with the line it starts on."""
    line, position = 1, 0
    for match in pattern.finditer(text):
        start = match.start()
        line += text.count("\n", position, start)
        position = start
        yield line, match


def _link(line: int, match: re.Match[str]) -> RawLink | None:
    """Return the link for a match of _LINK; None if it is not a link to a file or site."""
    note, heading, *destinations = match.groups()
    if note is None:
        named = next((part for part in destinations if part is not None), None)
        return _destination_link(line, match.group().rstrip(_AFTER_ADDRESS) if named is None else named)
    target, heading = note.strip().rstrip("\\"), (heading or "").rstrip("\\ ")
    if not (target or heading) or target.lower() in _CONTENTS or _TEMPLATE.search(target):
        return None
    return RawLink(line, LinkKind.WIKILINK, target, heading.rpartition("#")[2].strip())


def _destination_link(line: int, destination: str) -> RawLink | None:
    """Return the link for a destination; None if it cannot be a file or a site."""
    destination = destination.strip("<>").strip()
    if not destination or destination == "#" or _TEMPLATE.search(destination):
        return None
    if destination.startswith("//"):
        destination = f"https:{destination}"
    if scheme := _SCHEME.match(destination):
        if scheme.group(1).lower() not in _WEB:
            return None
        site = domain_of(destination)
        return RawLink(line, LinkKind.LINK, destination, site=site) if site else None
    path, _, anchor = destination.partition("#")
    path = _unquoted(path.partition("?")[0])
    return RawLink(line, LinkKind.LINK, path, _unquoted(anchor)) if path or anchor else None


def _unquoted(text: str) -> str:
    # Nearly all quoted characters are spaces, and `unquote` takes ten times as long.
    text = text.replace("%20", " ")
    return unquote(text) if "%" in text else text


def domain_of(address: str) -> str:
    """Return the domain of a URL, without `www.`."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


@lru_cache(maxsize=10_000)
def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    bare = _LINKED.sub(r"\1", heading[:_LONGEST_HEADING])
    # Text in backticks is code, which contains no tags.
    parts = [part if number % 2 else _MARKUP.sub("", part) for number, part in enumerate(bare.split("`"))]
    return _NO_SLUG.sub("", "".join(parts).strip().lower()).replace(" ", "-")


def _without_code(text: str) -> str:
    for mark, pattern in (("```", _FENCE), ("~~~", _FENCE), ("<!--", _COMMENT)):
        if mark in text:
            text = _blanked(pattern, text)
    if text.startswith(_INDENTS) or any(f"\n{indent}" in text for indent in _INDENTS):
        text = _without_indented(text)
    return _without_spans(text) if "`" in text else text


def _without_indented(text: str) -> str:
    """Blank indented code blocks; indented text below a list item is kept, since it may belong to the item."""
    pieces, position, is_list = list[str](), 0, False
    for match in _INDENTED.finditer(text):
        for line in text[position : match.start()].split("\n"):
            if line.strip() and not line.startswith(_INDENTS):
                is_list = bool(_ITEM.match(line)) or (is_list and line.startswith(" "))
        block = match.group()
        pieces += [text[position : match.start()], block if is_list else _NOT_LINE_END.sub(" ", block)]
        position = match.end()
    return "".join([*pieces, text[position:]])


def _without_spans(text: str) -> str:
    """Blank code spans: text between two equal runs of backticks on a line; scanning backwards needs one pass only."""
    marks = list(_BACKTICKS.finditer(text))
    closing: dict[int, int] = {}
    next_equal: dict[str, int] = {}
    for number in range(len(marks) - 1, -1, -1):
        mark = marks[number].group()
        if mark == "\n":
            next_equal.clear()
            continue
        closing[number] = next_equal.get(mark, 0)
        next_equal[mark] = number
    pieces, position, number = list[str](), 0, 0
    while number < len(marks):
        if last := closing.get(number):
            start, end = marks[number].start(), marks[last].end()
            pieces += [text[position:start], " " * (end - start)]
            position, number = end, last
        number += 1
    return "".join([*pieces, text[position:]])


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Replace every match by spaces, so that the positions of everything else stay the same."""
    return pattern.sub(lambda match: _NOT_LINE_END.sub(" ", match.group()), text)


def _label(text: str) -> str:
    return " ".join(text.lower().split())
