"""The history of visited places, to go back and forward through."""

from typing import NamedTuple


class Place(NamedTuple):
    """A line of a file."""

    path: str
    line: int


class History:
    """Holds the visited places; visiting a new one removes those ahead of the current one."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._now = -1

    def visit(self, place: Place) -> None:
        """Add a place, unless it is the current one."""
        if self._places and self._places[self._now] == place:
            return
        self._places[self._now + 1 :] = [place]
        self._now += 1

    def step(self, step: int) -> Place | None:
        """Go back or forward and return the place; return None at either end."""
        if not 0 <= self._now + step < len(self._places):
            return None
        self._now += step
        return self._places[self._now]
