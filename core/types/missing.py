"""What an answer lacks."""

from dataclasses import dataclass
from enum import StrEnum


class StaleReason(StrEnum):
    """Why files in an answer differ from the index."""

    CHANGING = "changing"
    NOT_WRITABLE = "not writable"


@dataclass(frozen=True, slots=True)
class Unshown:
    """How many results of a page can't be shown, because the files have changed since they were indexed, and why."""

    count: int = 0
    reason: StaleReason = StaleReason.CHANGING

    @property
    def why(self) -> str:
        """The reason as part of a sentence."""
        if self.reason == StaleReason.CHANGING:
            return "the files are changing right now"
        return "the files have changed, and the index can't be written"


NONE_UNSHOWN = Unshown()


@dataclass(frozen=True, slots=True)
class NothingFound:
    """What a request without results looked for, and what exists instead; texts are not escaped yet.

    It looked in `files` of all `of_files` files: in those that the `filters` admit, or in `place`, if that is only one
    file. `without` has the number of results without some of the filters. `closest` are similar names, paths or
    packages, and `hints` say what else is there, as sentences.
    """

    looked_for: str
    files: int
    place: str = ""
    of_files: int = 0
    filters: tuple[tuple[str, str], ...] = ()
    without: tuple[tuple[tuple[str, ...], int], ...] = ()
    closest: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A path that cannot be read, and why."""

    path: str
    message: str
