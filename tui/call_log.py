"""The newest calls of agents, with their filter, pause and marks; no widgets here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from keyhole.core.errors import QueryError
from keyhole.core.journal.reader import CallFilter, Changes
from keyhole.core.journal.statistics import percentile
from keyhole.core.suggest import suggest_name
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.tui.query_syntax import Words

# Older calls are in the journal; Stats counts them all.
MOST_CALLS = 2_000
# A status may be two words, also with a hyphen: `status:left out`, `status:left-out`.
_STATUSES = "|".join(re.escape(status).replace(r"\ ", "[ _-]") for status in CallStatus)
_FILTER = re.compile(rf"(?<!\S)(tool|client|status):((?<=status:)(?:{_STATUSES})(?!\S)|\S*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures about the calls that are shown."""

    calls: int
    p50_ms: float
    p95_ms: float


class CallLog:
    """Owns which calls are shown, in which order, and which of them are new."""

    def __init__(self, most: int = MOST_CALLS) -> None:
        self._most = most
        self._calls: dict[int, Call] = {}
        # Changes that arrived while paused.
        self._held: list[Changes] = []
        self._seen = 0
        self.filter = CallFilter()
        self.marked: set[int] = set()
        self.is_paused = False
        self.shown: tuple[Call, ...] = ()

    def apply(self, changes: Changes) -> None:
        """Add calls that started or ended; while paused, keep them for later."""
        if self.is_paused:
            self._held.append(changes)
            self._shorten_held()
        else:
            self._take(changes)
            self._choose()

    def pause(self, is_paused: bool) -> None:
        """Pause the list, or resume it with everything that happened since."""
        self.is_paused = is_paused
        if not is_paused:
            for changes in self._held:
                self._take(changes)
            self._held = []
            self._choose()

    def show_only(self, wanted: CallFilter) -> None:
        """Show the calls that match a filter."""
        self.filter = wanted
        self._choose()

    def toggle_mark(self, call: Call) -> None:
        """Mark or unmark a call."""
        self.marked ^= {call.id}

    def see(self) -> None:
        """Record that the newest call has been on the screen."""
        if not self.is_paused:
            self._seen = max(self._calls, default=0)

    @property
    def new(self) -> int:
        """How many calls have not been on the screen yet."""
        held = {call.id for changes in self._held for call in changes.calls if call.id not in self._calls}
        return len(held) + sum(call.id > self._seen for call in self.shown)

    @cached_property
    def summary(self) -> Summary:
        """Count what is shown."""
        times = sorted(call.ms for call in self.shown if call.status != CallStatus.PENDING)
        return Summary(len(self.shown), percentile(times, 0.5), percentile(times, 0.95))

    @property
    def words(self) -> Words:
        """The values that complete each filter."""
        return Words(
            {
                "tool": tuple(sorted({call.tool for call in self._calls.values()})),
                "client": tuple(sorted({call.client for call in self._calls.values()})),
                "status": tuple(map(str, CallStatus)),
            }
        )

    def _take(self, changes: Changes) -> None:
        if changes.is_reset:
            self._calls.clear()
        self._calls |= {call.id: call for call in changes.calls}
        for call_id in sorted(self._calls)[: -self._most]:
            del self._calls[call_id]

    def _choose(self) -> None:
        newest_first = sorted(self._calls.values(), key=lambda call: -call.id)
        self.shown = tuple(call for call in newest_first if self.filter.admits(call))
        self.__dict__.pop("summary", None)

    def _shorten_held(self) -> None:
        """Keep no more than can be shown after the pause."""
        while sum(len(changes.calls) for changes in self._held[1:]) > 2 * self._most:
            first, second, *rest = self._held
            is_reset = first.is_reset or second.is_reset
            self._held = [Changes(second.calls, second.mark, is_reset), *rest]


def read_filter(line: str, words: Words) -> CallFilter:
    """Parse a line into a filter; the start of a known name is enough."""
    fields: dict[str, str] = {}
    for name, value in _FILTER.findall(line):
        if value:
            fields[name.lower()] = _known(value, words.by_filter[name.lower()])
    status = fields.pop("status", "")
    if status and status not in list(CallStatus):
        raise QueryError(f"unknown status {status!r}", suggestion=suggest_name(status, CallStatus))
    text = " ".join(_FILTER.sub("", line).split())
    return CallFilter(**fields, status=CallStatus(status) if status else None, text=text)


def _known(value: str, names: Iterable[str]) -> str:
    wanted = _joined(value)
    return next((name for name in names if _joined(name).startswith(wanted)), value)


def _joined(name: str) -> str:
    return re.sub("[ _]", "-", name.casefold())
