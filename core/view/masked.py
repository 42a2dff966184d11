"""What an answer says about the secrets that are masked in it: one sentence at the end of the banner, and JSON facts.

An agent that edits a file must know that a mask is not part of the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from keyhole.core.masking import MASK_START, Mask, mask_of
from keyhole.core.view.budget.sizes import Budget
from keyhole.core.view.text import count_of, name_text

_MOST_NAMED, _MOST_IN_JSON = 5, 20
_LONGEST_PATH, _LONGEST_PATH_IN_JSON = 40, 80
# Twenty places in JSON may cost 1,300 tokens, so with a smaller budget fewer are named.
_ROOM_FOR_MOST = 4_000


class MaskedPlace(NamedTuple):
    """A masked secret in an answer."""

    path: str
    mask: Mask

    @property
    def lines(self) -> str:
        """The line, or the lines, of the secret."""
        first, last = self.mask.start_line, self.mask.end_line
        return f"{first:,}" if first == last else f"{first:,}-{last:,}"

    @property
    def text(self) -> str:
        """The place, for an answer about several files."""
        return f"{name_text(self.path, _LONGEST_PATH)}:{self.lines}"


def masks_in_lines(masks: Iterable[Mask], first: int, last: int) -> list[Mask]:
    """Return the masks that some lines contain."""
    return [mask for mask in masks if mask.start_line <= last and mask.end_line >= first]


def masks_in_text(text: str, masks: Iterable[Mask], first: int, last: int) -> list[Mask]:
    """Return the masks that a text shows, which was made from some lines but need not contain all of them."""
    counts: dict[str, int] = {}
    found = []
    for mask in masks_in_lines(masks, first, last):
        counts.setdefault(mask.kind, text.count(mask_of(mask.kind)))
        if counts[mask.kind]:
            counts[mask.kind] -= 1
            found.append(mask)
    return found


def before_mask(text: str, end: int) -> int:
    """Return where to clip a text so that no part of a mask is left: at `end`, or before the mask it would cut."""
    start = text.rfind(MASK_START, 0, end + len(MASK_START) - 1)
    return start if start >= 0 and text.find("]", start) >= end else end


def after_mask(text: str, start: int) -> int:
    """Return the same for the start of a clipped text: `start`, or after the mask that it would cut."""
    begun = text.rfind(MASK_START, 0, start)
    end = text.find("]", begun) + 1 if begun >= 0 else 0
    return max(start, end)


def masked_sentence(places: Sequence[MaskedPlace], *, is_one_file: bool = False) -> str:
    """Return how many secrets are masked and where, with a space before it; empty if none is."""
    if not places:
        return ""
    named = [place.lines if is_one_file else place.text for place in places[:_MOST_NAMED]]
    if len(places) > _MOST_NAMED:
        named.append(f"{len(places) - _MOST_NAMED:,} more")
    noun = ("line " if len(places) == 1 and "-" not in named[0] else "lines ") if is_one_file else ""
    return f" Masked {count_of(len(places), 'secret')}: {noun}{', '.join(named)}."


def masked_facts(places: Sequence[MaskedPlace], budget: Budget) -> Mapping[str, object]:
    """Return the same as JSON facts; none if nothing is masked."""
    if not places:
        return {}
    most = _MOST_IN_JSON if budget.tokens >= _ROOM_FOR_MOST else _MOST_NAMED
    named = [
        {
            "file_path": name_text(place.path, _LONGEST_PATH_IN_JSON),
            "start_line": place.mask.start_line,
            "end_line": place.mask.end_line,
            "kind": place.mask.kind,
        }
        for place in places[:most]
    ]
    return {"masked": {"count": len(places), "places": named}}


def longest_first(places: Sequence[MaskedPlace]) -> list[MaskedPlace]:
    """Return places in the order that takes the most room in a sentence and in JSON."""
    return sorted(places, key=lambda place: len(name_text(place.path)), reverse=True)
