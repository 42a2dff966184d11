"""What a command needs to do anything, such as a selected result; the palette says so if it is missing."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from textual.screen import Screen


class Need(NamedTuple):
    """An attribute of a screen that must have a value, and what to do if it has none."""

    attribute: str
    advice: str


_ANSWER = Need("answer", "Search for something first")
_RESULT = Need("row", "Select a result first")
_FILE = Need("opened", "Open a file first")
_CALL = Need("call", "Select a call first")


def _each(need: Need, *commands: str) -> Iterable[tuple[str, Need]]:
    return ((command, need) for command in commands)


_NEEDS: Mapping[str, Mapping[str, Need]] = {
    "Explore": dict(
        [
            *_each(
                _ANSWER, "copy", "copy-call", "left-out", "in-full", "explain", "next-page", "previous-page", "compare"
            ),
            *_each(_RESULT, "edit", "references", "similar", "hits-of-file", "open"),
        ]
    ),
    "Files": dict(_each(_FILE, "copy", "edit", "find-symbol")),
    "Traffic": dict(_each(_CALL, "mark", "open", "replay", "add-check", "explain", "copy", "copy-call")),
}


def missing_for(command: str, place: str, screen: Screen[object]) -> str:
    """Return what to do before a command of a screen can do anything; empty if nothing is missing."""
    need = _NEEDS.get(place, {}).get(command)
    if need is None or getattr(screen, need.attribute, True):
        return ""
    return need.advice
