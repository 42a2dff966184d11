"""Links of Markdown: inline, by reference, in HTML, as plain addresses, and wikilinks; and the anchors it declares."""

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from keyhole.core.links.types import Declared, LinkKind, RawLink

# What is code or commented out has no links: it is blanked, so that places stay the same.
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ >]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BACKTICKS = re.compile(r"`+|\n")
_NOT_LINE_END = re.compile(r"[^\n]")

_WIKILINK = re.compile(r"!?\[\[([^\[\]|#\n]{0,300})(#[^\[\]|\n]{0,300})?(?:\\?\|[^\[\]\n]*)?\]\](?![(\[])")
_DESTINATION = r"(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)"
_INLINE = re.compile(rf"\]\([ \t]*{_DESTINATION}(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^)\n]*\)))?[ \t]*\)")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]{1,300})\]:[ \t]*(?:\n[ \t]+)?(<[^<>\n]*>|\S+)", re.MULTILINE)
_REFERENCE = re.compile(r"(?<!\\)\[([^\[\]\n]{1,300})\](?:\[([^\[\]\n]{0,300})\])?(?![(:])")
_HTML = re.compile(
    r"<(?:a|img|source|video|iframe)\b[^<>]*?\b(?:href|src)\s*=\s*(?:\"([^\"\n]*)\"|'([^'\n]*)')", re.IGNORECASE
)
_ADDRESS = re.compile(r"https?://[^\s<>\[\]()\"'`|\\{}]+(?:\([^\s<>()\"'`]*\)[^\s<>\[\]()\"'`|\\{}]*)*")

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
# A template fills these in; what they lead to cannot be told.
_TEMPLATE = re.compile(r"\{\{|\$\{|\{%|<%")
_CONTENTS = frozenset(["toc", "_toc_"])


def markdown_links(text: str) -> list[RawLink]:
    """Return the links of a text, in order."""
    if "[" not in text and "://" not in text and "<" not in text:
        return []
    scan = _Scan(_without_code(text))
    found = [*scan.wikilinks(), *scan.destinations()]
    return [link for _, link in sorted(found, key=lambda pair: pair[0])]


def markdown_anchors(text: str) -> list[Declared]:
    """Return the anchors that a text declares besides its headings."""
    ids = _ID.finditer(text) if any(mark in text for mark in ("id=", "name=", "{#")) else ()
    blocks = _BLOCK.finditer(text) if "^" in text else ()
    names = [*(match.group(1) or match.group(2) for match in ids), *(f"^{match.group(1)}" for match in blocks)]
    return [Declared("anchor", name) for name in dict.fromkeys(names)]


class _Scan:
    """Looks for each kind of link in turn; what one has taken is blanked for the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = 1

    def wikilinks(self) -> Iterator[tuple[int, RawLink]]:
        for match in self._take(_WIKILINK, "[["):
            target, heading = match.group(1).strip().rstrip("\\"), (match.group(2) or "").rstrip("\\ ")
            if (target or heading) and target.lower() not in _CONTENTS and not _TEMPLATE.search(target):
                yield match.start(), RawLink(self._line, LinkKind.WIKILINK, target, heading.rpartition("#")[2].strip())

    def destinations(self) -> Iterator[tuple[int, RawLink]]:
        """Find what names its target in brackets, in an attribute, as it is, or by reference."""
        found = [(match.start(), self._line, match.group(1)) for match in self._take(_INLINE, "](")]
        known = {_label(match.group(1)): match.group(2) for match in self._take(_DEFINITION, "]:")}
        found += [(match.start(), self._line, match.group(1) or match.group(2)) for match in self._take(_HTML, "<")]
        found += [(match.start(), self._line, _address(match.group())) for match in self._take(_ADDRESS, "://")]
        if known:
            uses = ((match, _label(match.group(2) or match.group(1))) for match in self._take(_REFERENCE, "["))
            found += [(match.start(), self._line, known[key]) for match, key in uses if key in known]
        for start, line, destination in found:
            if link := _destination_link(line, (destination or "").strip("<>").strip()):
                yield start, link

    def _take(self, pattern: re.Pattern[str], mark: str) -> Iterator[re.Match[str]]:
        """Yield matches with `_line` at each, and blank them at the end; `mark` is in every match."""
        if mark not in self._text:
            return
        text, self._line, position, rest = self._text, 1, 0, list[str]()
        for match in pattern.finditer(text):
            start = match.start()
            self._line += text.count("\n", position, start)
            rest += [text[position:start], _blank(match.group())]
            # The lines of a match count with what follows it.
            yield match
            self._line += match.group().count("\n")
            position = match.end()
        self._text = "".join([*rest, text[position:]])


def _destination_link(line: int, destination: str) -> RawLink | None:
    """Make a link of where it leads, unless that is nowhere a file could be."""
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
    path = unquote(path.partition("?")[0])
    return RawLink(line, LinkKind.LINK, path, unquote(anchor)) if path or anchor else None


def domain_of(address: str) -> str:
    """Return the domain of an address, without the `www.` that says nothing."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


@lru_cache(maxsize=10_000)
def slug(heading: str) -> str:
    """Write a heading as the anchor that GitHub gives it."""
    bare = _LINKED.sub(r"\1", heading[:_LONGEST_HEADING])
    # What is code has no tags, whatever it looks like.
    parts = [part if number % 2 else _MARKUP.sub("", part) for number, part in enumerate(bare.split("`"))]
    return _NO_SLUG.sub("", "".join(parts).strip().lower()).replace(" ", "-")


def _address(text: str) -> str:
    """Leave out what ends the sentence rather than the address."""
    return text.rstrip(".,;:!?*_~")


def _without_code(text: str) -> str:
    for mark, pattern in (("```", _FENCE), ("~~~", _FENCE), ("<!--", _COMMENT)):
        if mark in text:
            text = pattern.sub(lambda match: _blank(match.group()), text)
    return _without_spans(text) if "`" in text else text


def _without_spans(text: str) -> str:
    """Blank what stands between two equal runs of backticks on a line; going from the end back makes that one pass."""
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


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text) if "\n" in text else " " * len(text)


def _label(text: str) -> str:
    return " ".join(text.lower().split())
