"""The history of visited places, to go back and forward through."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from keyhole.core.search.match_marks import Marks
    from keyhole.tui.document import ViewPlace


class Place(NamedTuple):
    """A line of a file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class KeptView:
    """What a view showed of a file when it was left: its tab, its marked lines and matches, and where it was."""

    tab: str
    marked: range
    marks: "Marks | None"
    # The start of each page of a map up to this one.
    offsets: tuple[int, ...]
    place: "ViewPlace"


class History:
    """Holds the visited places; visiting a new one removes those ahead of the current one."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._views: dict[int, KeptView] = {}
        self._now = -1

    def visit(self, place: Place) -> None:
        """Add a place, unless it is the current one."""
        if self._places and self._places[self._now] == place:
            return
        self._places[self._now + 1 :] = [place]
        self._now += 1
        self._views.pop(self._now, None)

    def keep(self, path: str, view: KeptView) -> None:
        """Keep what is shown of the current place, if it is in this file."""
        if self._places and self._places[self._now].path == path:
            self._views[self._now] = view

    @property
    def kept(self) -> KeptView | None:
        """What was shown of the current place when it was left."""
        return self._views.get(self._now)

    def step(self, step: int) -> Place | None:
        """Go back or forward and return the place; return None at either end."""
        if not 0 <= self._now + step < len(self._places):
            return None
        self._now += step
        return self._places[self._now]
