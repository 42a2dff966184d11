"""What a bundle shows of its files: the marked lines of each part as they are now, or why they are not served."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from keyhole.core.errors import QueryError
from keyhole.core.masking import Mask, mask_text
from keyhole.core.syntax.languages import BY_ID, detect_language
from keyhole.core.types.bundle import BundleItem
from keyhole.core.types.missing import Refusal
from keyhole.core.types.search_results import Stretch
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline
from keyhole.core.view.maps.symbol_names import SymbolNames
from keyhole.core.view.text import count_lines, count_of


@dataclass(frozen=True, slots=True)
class BundlePart:
    """The current lines of a marked part; a type may have several stretches."""

    item: BundleItem
    path: str
    language: str
    total_lines: int
    stretches: tuple[Stretch, ...]
    masked: tuple[Mask, ...] = ()
    # Whether the file has changed since the part was marked.
    is_changed: bool = False

    @property
    def label(self) -> str:
        """The name of its language."""
        return BY_ID[self.language].label

    @property
    def lines(self) -> str:
        """The numbers of its lines: `4-10, 20-25`; a file without lines has none."""
        return ", ".join(f"{part.start_line}-{part.end_line}" for part in self.stretches if part.text)


OutlineOf = Callable[[SourceFile], Outline]


def open_parts(
    items: Iterable[BundleItem], read: Callable[[str], SourceFile | Refusal], outline_of: OutlineOf
) -> Iterator[BundlePart | Refusal]:
    """Yield each part with its current lines; parts of one file that follow each other read it once."""
    last: tuple[str, SourceFile | Refusal] | None = None
    for item in items:
        if last is None or last[0] != item.path:
            last = item.path, read(item.path)
        found = last[1]
        if isinstance(found, Refusal):
            # The path is what the file of the bundle says, which may be anything.
            yield Refusal(mask_text(found.path), found.message)
        else:
            yield _open_part(item, found, outline_of)


def _open_part(item: BundleItem, source: SourceFile, outline_of: OutlineOf) -> BundlePart | Refusal:
    starts = _line_starts(source.text)
    total = len(starts) - 1
    try:
        ranges = _ranges(item, source, total, outline_of)
    except QueryError as error:
        return Refusal(source.path, str(error))
    if item.first_line > total:
        asked = f"lines {item.first_line:,}-{item.last_line:,}"
        return Refusal(source.path, f"{asked} are not there: the file has {count_of(total, 'line')} now")
    stretches = tuple(Stretch(first, source.text[starts[first - 1] : starts[last]]) for first, last in ranges)
    is_changed = bool(item.digest) and item.digest != source.digest
    language = detect_language(source.path, source.text).id
    return BundlePart(item, source.path, language, total, stretches, source.masked, is_changed)


def _ranges(item: BundleItem, source: SourceFile, total: int, outline_of: OutlineOf) -> list[tuple[int, int]]:
    """Return the first and last lines of what is marked; empty for a file without lines."""
    if item.symbol:
        parts = SymbolNames(outline_of(source)).find(item.symbol, source.path).parts
        return _joined(sorted((part.start_line, min(part.end_line, total)) for part in parts))
    if item.first_line:
        return [(item.first_line, min(item.last_line, total))]
    return [(1, total)] if total else []


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges without those inside others."""
    kept: list[tuple[int, int]] = []
    for first, last in ranges:
        if kept and first <= kept[-1][1] + 1:
            kept[-1] = kept[-1][0], max(last, kept[-1][1])
        else:
            kept.append((first, last))
    return kept


def _line_starts(text: str) -> list[int]:
    """Return where each line starts, and the end of the text."""
    starts, position = [0], 0
    for _ in range(count_lines(text) - 1):
        position = text.index("\n", position) + 1
        starts.append(position)
    return [*starts, len(text)] if text else [0]
