"""Matching lines at each level of detail: the path once for a file, the owner once for a run of lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keyhole.core.masking import MASK_START, Mask
from keyhole.core.search.passages import source_around
from keyhole.core.types.choices import Detail
from keyhole.core.types.search_results import Hit, MatchCount
from keyhole.core.untrusted_text import visible
from keyhole.core.view.lists.hit_text import LOCATION, hit_parts, line_preview
from keyhole.core.view.masked import MaskedPlace, before_mask, masks_in_text
from keyhole.core.view.text import count_lines, count_of, name_text
from keyhole.core.view.text_parts import PartKind, Parts, TextPart

_LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class LinePage:
    """The matching lines of a page, in order; `context_lines` are shown around each."""

    hits: Sequence[Hit]
    context_lines: int = 0
    is_json: bool = False
    # A label before the text of each line; none if there is nothing to say.
    labels: Sequence[str] = ()

    def parts_of(self, number: int, level: str) -> Parts:
        """Return a line with what it needs above it: the path, if it is the first of its file, and the owner.

        Lines after it never change that, and lines before it have at least its level, so the parts of a page can be
        measured one by one.
        """
        hit = self.hits[number]
        if level == LOCATION:
            return hit_parts(hit, level)
        lines = self._numbered(number, level)
        owner = self._owner_line(number, level)
        owner_part = [TextPart(PartKind.DETAIL, owner)] if owner else []
        if self._follows(number):
            return [*owner_part, *lines]
        path = name_text(hit.path)
        if len(lines) == 1 and not self._follows(number + 1):
            return [TextPart(PartKind.ROW, f"{path}:{lines[0].text.lstrip()}"), *owner_part]
        return [TextPart(PartKind.HEADING, f"{path}\n"), *owner_part, *lines]

    def masks_of(
        self, masks: Mapping[str, Sequence[Mask]], number: int, level: str, text: str
    ) -> Iterator[MaskedPlace]:
        """Yield what is masked in a line as written, and in the lines around it; `masks` are those of each file."""
        hit, passage = self.hits[number], self.hits[number].passage
        first, last = (hit.line, hit.line) if self.is_json else self._window(number, level)
        if self.is_json and level == Detail.RICH and passage:
            first, last = hit.line - passage.before.count("\n"), hit.line + count_lines(passage.after)
        # The name of the definition around a line may contain one too: a heading, a key.
        if hit.owner and MASK_START in hit.owner.qualified_name:
            first = min(first, hit.owner.start_line)
        for mask in masks_in_text(text, masks.get(hit.path, ()), first, last):
            yield MaskedPlace(hit.path, mask)

    def _follows(self, number: int) -> bool:
        """Return whether there is a line with this number, and the one before it is in the same file."""
        return 0 < number < len(self.hits) and self.hits[number - 1].path == self.hits[number].path

    def _owner_line(self, number: int, level: str) -> str:
        """Return the name of the definition around a line, unless the line before has the same."""
        owner = self.hits[number].owner
        if level == Detail.MINIMAL or (self.hits[number - 1].owner if self._follows(number) else None) == owner:
            return ""
        # Without this, the line would seem to be in the definition above it.
        return f"  in {name_text(owner.qualified_name)}\n" if owner else "  at the top level\n"

    def _numbered(self, number: int, level: str) -> list[TextPart]:
        """Return a matching line (`12: text`) and the lines around it (`13- text`), without those of its neighbours."""
        hit, passage = self.hits[number], self.hits[number].passage
        if passage is None:
            return [TextPart(PartKind.ROW, f"  {hit.line}: {self._label(number)}".rstrip() + "\n")]
        first, last = self._window(number, level)
        has_context = first < hit.line or last > hit.line
        match = f"  {_match(hit, passage.text, self._label(number), keep_indent=has_context)}\n"
        if not has_context:
            return [TextPart(PartKind.ROW, match)]
        start, end = first, last
        if self._follows(number):
            start = max(first, self.hits[number - 1].line + 1, self._window(number - 1, level)[1] + 1)
        if self._follows(number + 1):
            end = min(last, self.hits[number + 1].line - 1)
        before, after = passage.before.split("\n")[:-1], passage.after.split("\n") if passage.after else []
        shown_before = before[max(0, len(before) - (hit.line - start)) :] if start < hit.line else []
        shown_after = after[: max(0, end - hit.line)]
        return [
            *(_beside(n, line) for n, line in enumerate(shown_before, hit.line - len(shown_before))),
            TextPart(PartKind.ROW, match),
            *(_beside(n, line) for n, line in enumerate(shown_after, hit.line + 1)),
        ]

    def _label(self, number: int) -> str:
        return self.labels[number] if self.labels else ""

    def _window(self, number: int, level: str) -> tuple[int, int]:
        """Return the first and last line to show for a match."""
        hit = self.hits[number]
        first, last = hit.line - self.context_lines, hit.line + self.context_lines
        if level == Detail.RICH:
            start, end = source_around(hit.line, hit.owner)
            first, last = min(first, start), max(last, end)
        return first, last


def count_text(count: MatchCount, *, is_folder: bool) -> str:
    """Return the number of matching lines in a file or folder."""
    files = f" in {count_of(count.files, 'file')}" if is_folder else ""
    return f"{name_text(count.path)}: {count.lines:,}{files}\n"


def count_facts(count: MatchCount, *, is_folder: bool) -> dict[str, object]:
    """Return the same for JSON."""
    facts: dict[str, object] = {"file_path": name_text(count.path), "matching_lines": count.lines}
    return facts | {"matching_files": count.files} if is_folder else facts


def _match(hit: Hit, text: str, label: str, *, keep_indent: bool) -> str:
    """Return a line as `12: text`, or as `12:345: …text…` with the column if it is clipped around the match."""
    line = text.rstrip()
    line = line if keep_indent else line.lstrip()
    if len(line) <= _LONGEST_LINE:
        return f"{hit.line}: {label}{visible(line)}"
    return f"{hit.line}:{hit.column}: {label}{visible(line_preview(text.rstrip(), hit.column))}"


def _beside(number: int, line: str) -> TextPart:
    """Return a line near a match; a long one is clipped at its end."""
    shown = line if len(line) <= _LONGEST_LINE else f"{line[: before_mask(line, _LONGEST_LINE - 1)]}…"
    return TextPart(PartKind.CONTEXT, f"  {number}- {visible(shown)}".rstrip() + "\n")
