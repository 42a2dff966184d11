"""A part of a bundle as text, Markdown or XML: in each, nothing in a file can be taken for the frame around it."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from keyhole.core.types.bundle import BundleStyle
from keyhole.core.types.missing import Refusal
from keyhole.core.view.bundles.bundle_parts import BundlePart
from keyhole.core.view.text import count_of, fence_line, name_text, numbered_source, source_text
from keyhole.core.view.text_parts import PartKind, Parts, TextPart
from keyhole.core.view.writing import head_parts

CHANGED = "changed since it was marked"
_LONGEST_PATH = 120
_LONGEST_MESSAGE = 160
_GAP = "…\n"
_TITLE = "# Context bundle\n\n"
_CDATA_END = "]]>"


def heads(style: BundleStyle, banner: str, notes: Sequence[str]) -> list[TextPart]:
    """Return the lines at the top of a bundle."""
    if style == BundleStyle.TEXT:
        return head_parts(banner, notes)
    if style == BundleStyle.MARKDOWN:
        lines = [TextPart(PartKind.BANNER, f"{_TITLE}> {banner}\n"), *_notes("> ", notes, "\n")]
        return [*lines, TextPart(PartKind.CONTEXT, "\n")]
    top = TextPart(PartKind.BANNER, f"<bundle>\n<banner>{escape(banner)}</banner>\n")
    return [top, *_notes("<note>", [escape(note) for note in notes], "</note>\n")]


def _notes(before: str, notes: Sequence[str], after: str) -> list[TextPart]:
    return [TextPart(PartKind.NOTE, f"{before}{note}.{after}") for note in notes]


def tail(style: BundleStyle) -> str:
    """Return the last line of a bundle; empty if it has none."""
    return "</bundle>\n" if style == BundleStyle.XML else ""


def part_text(part: BundlePart | Refusal, style: BundleStyle, *, has_source: bool) -> Parts:
    """Return a part of a bundle; without its source if that is too large for any budget."""
    if style == BundleStyle.XML:
        return list(_xml(part, has_source=has_source))
    if style == BundleStyle.MARKDOWN:
        return list(_markdown(part, has_source=has_source))
    return list(_plain(part, has_source=has_source))


def _path(path: str) -> str:
    return name_text(path, _LONGEST_PATH)


def _message(refusal: Refusal) -> str:
    return name_text(refusal.message, _LONGEST_MESSAGE)


def _facts(part: BundlePart) -> list[str]:
    """Return what a heading says besides the path."""
    lines = f"lines {part.lines} of {part.total_lines:,}" if part.lines else count_of(part.total_lines, "line")
    symbol = [name_text(part.item.symbol, _LONGEST_PATH)] if part.item.symbol else []
    return [lines, *symbol, part.label, *([CHANGED] if part.is_changed else [])]


def _plain(part: BundlePart | Refusal, *, has_source: bool) -> Iterator[TextPart]:
    """Yield a part as `read_file` writes a file."""
    if isinstance(part, Refusal):
        yield TextPart(PartKind.HEADING, f"── {_path(part.path)} ──\n")
        yield TextPart(PartKind.DETAIL, f"{_message(part)}\n")
        return
    yield TextPart(PartKind.HEADING, f"── {' │ '.join([_path(part.path), *_facts(part)])} ──\n")
    for number, stretch in enumerate(part.stretches if has_source else ()):
        if number:
            yield TextPart(PartKind.CONTEXT, _GAP)
        yield TextPart(PartKind.SOURCE, numbered_source(stretch.text, stretch.start_line))


def _markdown(part: BundlePart | Refusal, *, has_source: bool) -> Iterator[TextPart]:
    if isinstance(part, Refusal):
        yield TextPart(PartKind.HEADING, f"## {_path(part.path)}\n\n")
        yield TextPart(PartKind.DETAIL, f"{_message(part)}\n\n")
        return
    yield TextPart(PartKind.HEADING, f"## {_path(part.path)} ({', '.join(_facts(part))})\n\n")
    for stretch in part.stretches if has_source else ():
        text = source_text(stretch.text)
        fence = fence_line(text) or "```\n"
        yield TextPart(PartKind.CONTEXT, f"{fence.rstrip()}{part.language}\n")
        yield TextPart(PartKind.SOURCE, text)
        yield TextPart(PartKind.CONTEXT, f"{fence}\n")


def _xml(part: BundlePart | Refusal, *, has_source: bool) -> Iterator[TextPart]:
    path = quoteattr(_path(part.path))
    if isinstance(part, Refusal):
        yield TextPart(PartKind.HEADING, f"<part path={path} error={quoteattr(_message(part))}/>\n")
        return
    symbol = f" symbol={quoteattr(name_text(part.item.symbol, _LONGEST_PATH))}" if part.item.symbol else ""
    changed = f" note={quoteattr(CHANGED)}" if part.is_changed else ""
    facts = f'lines="{part.lines}" of="{part.total_lines}"{symbol} language={quoteattr(part.label)}{changed}'
    yield TextPart(PartKind.HEADING, f"<part path={path} {facts}>\n")
    for stretch in part.stretches if has_source else ():
        # A section of CDATA ends at its first end mark, so one in the source is split over two sections.
        text = source_text(stretch.text).replace(_CDATA_END, "]]]]><![CDATA[>")
        yield TextPart(PartKind.CONTEXT, f'<source start="{stretch.start_line}"><![CDATA[\n')
        yield TextPart(PartKind.SOURCE, text)
        yield TextPart(PartKind.CONTEXT, f"{_CDATA_END}</source>\n")
    yield TextPart(PartKind.CONTEXT, "</part>\n")
