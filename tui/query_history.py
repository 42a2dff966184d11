"""Going through earlier queries, as in a shell."""

from collections.abc import Sequence


class HistoryWalk:
    """Where the user is among the earlier queries; the line that was typed before comes back at the end."""

    def __init__(self) -> None:
        self._draft = ""
        self._shown = ""
        # How many queries back; 0 is the line that was typed.
        self._back = 0

    def older(self, history: Sequence[str], line: str) -> str | None:
        """Return the query before the one in the line; None if there is none."""
        return self._step(history, line, 1)

    def newer(self, history: Sequence[str], line: str) -> str | None:
        """Return the query after the one in the line; None if there is none."""
        return self._step(history, line, -1)

    def _step(self, history: Sequence[str], line: str, step: int) -> str | None:
        if self._back == 0 or line != self._shown:
            # Something else was typed meanwhile, and the walk starts again from there.
            self._draft, self._back = line, 0
        lines = [self._draft, *(query for query in reversed(history) if query != self._draft)]
        back = self._back + step
        if not 0 <= back < len(lines):
            return None
        self._back, self._shown = back, lines[back]
        return self._shown
