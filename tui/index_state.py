"""The state of the index, as shown at the top of every screen."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.core.types.inventory import Progress
from keyhole.core.view.text import count_of, name_text

if TYPE_CHECKING:
    from keyhole.core.search.sample_queries import SampleQueries

_BAR = 12
_LONGEST = 60
_NOT_STARTED = Progress(0, 0, 0, "")


class Phase(StrEnum):
    """What is happening to the index."""

    OPENING = "opening"
    INDEXING = "indexing"
    WAITING = "waiting"
    CURRENT = "current"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IndexState:
    """Holds the phase of the index and its figures."""

    phase: Phase = Phase.OPENING
    # There was no index when the workspace was opened, and the first run has not ended yet.
    is_first_run: bool = False
    progress: Progress = _NOT_STARTED
    files: int = 0
    is_watching: bool = False
    text: str = ""
    # Queries to try, from the names of files until there is an index.
    samples: "SampleQueries | None" = None

    def content(self) -> Content:
        """Return the text for this state: a sign and a word, so that it is clear without colour."""
        match self.phase:
            case Phase.OPENING:
                return Content.styled("◌ opening", "$text-muted")
            case Phase.INDEXING:
                return self._indexing()
            case Phase.WAITING:
                return Content.styled(
                    "◌ locked: another process is indexing; results are from the last run", "$warning"
                )
            case Phase.FAILED:
                return Content.styled(f"✗ index: {name_text(self.text, _LONGEST)}", "$error")
            case _:
                return self._current()

    def _indexing(self) -> Content:
        if not self.progress.total:
            return Content.styled("◌ checking for changes", "$text-muted")
        return Content.styled("◌ indexing ", "$secondary") + self.bar()

    def bar(self) -> Content:
        """Return a bar of how many files are indexed; empty before their number is known."""
        done, total = self.progress.done, self.progress.total
        if not total:
            return Content("")
        filled = _BAR * done // total
        return Content.assemble(
            ("█" * filled, "$primary"),
            ("░" * (_BAR - filled), "$text-muted"),
            (f" {done:,} of {count_of(total, 'file')}", "$text-muted"),
        )

    def _current(self) -> Content:
        watching = " · watching" if self.is_watching else f" · {self.text}" if self.text else ""
        return Content.assemble(
            ("✓ current", "$success"), (f"  {count_of(self.files, 'file')}{watching}", "$text-muted")
        )
