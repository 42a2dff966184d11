"""The newest calls of agents by conversation, with their filter, pause and marks; no widgets here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from keyhole.core.journal.reader import Changes
from keyhole.core.journal.statistics import percentile
from keyhole.core.journal.story import (
    Conversation,
    ConversationKey,
    Step,
    Waste,
    conversation_key,
    conversations_of_key,
)
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import SHORT_TOOLS
from keyhole.core.view.call_filter import CallFilter, call_words, server_of
from keyhole.tui.query_syntax import Words

# Older calls are in the journal; Stats counts them all.
MOST_CALLS = 2_000


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures about the calls that are shown."""

    calls: int
    tokens: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """The first row of a conversation, and how many of its calls are shown below."""

    conversation: Conversation
    shown: int


CallRow = Call | ConversationRow


class CallLog:
    """Owns which calls are shown, in which order, and which of them are new."""

    def __init__(self, most: int = MOST_CALLS) -> None:
        self._most = most
        self._calls: dict[int, Call] = {}
        # Calls that are no longer among the newest, but match a filter that was opened from Stats.
        self._older: dict[int, Call] = {}
        # Changes that arrived while paused.
        self._held: list[Changes] = []
        self._seen = 0
        self._told: dict[ConversationKey, tuple[object, list[Conversation]]] = {}
        self._words: dict[tuple[int, int, Waste | None], str] = {}
        self.filter = CallFilter()
        self.marked: set[int] = set()
        self.is_paused = False
        self.is_grouped = True
        self.steps: Mapping[int, Step] = {}
        self.conversation_of: Mapping[int, Conversation] = {}
        self.rows: tuple[CallRow, ...] = ()

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
        if wanted != self.filter:
            self._older = {}
        self.filter = wanted
        self._choose()

    def add_older(self, calls: Iterable[Call]) -> None:
        """Show also older calls that match the filter, until the filter changes."""
        self._older = {call.id: call for call in calls}
        self._choose()

    def whole_conversations(self, *, before: int) -> list[Call]:
        """Return the calls before a number in the conversations of the shown calls: the newest, in a limited number."""
        told = {self.conversation_of[call.id].id: self.conversation_of[call.id] for call in self.shown}
        calls = [step.call for conversation in told.values() for step in conversation.steps if step.call.id < before]
        return sorted(calls, key=lambda call: call.id)[-MOST_CALLS:]

    def group(self, is_grouped: bool) -> None:
        """Show the calls by conversation, or all in the order of time."""
        self.is_grouped = is_grouped
        self._choose()

    def toggle_mark(self, call: Call) -> None:
        """Mark or unmark a call."""
        self.marked ^= {call.id}

    def see(self) -> None:
        """Record that the newest call has been on the screen."""
        if not self.is_paused:
            self._seen = max(self._calls, default=0)

    @property
    def oldest(self) -> int:
        """The number of the oldest call that is kept."""
        return min(self._calls, default=0)

    @property
    def new(self) -> int:
        """How many calls have not been on the screen yet."""
        held = {call.id for changes in self._held for call in changes.calls if call.id not in self._calls}
        return len(held) + sum(call.id > self._seen for call in self.shown)

    @cached_property
    def shown(self) -> tuple[Call, ...]:
        """The calls in the order of the rows."""
        return tuple(row for row in self.rows if isinstance(row, Call))

    @cached_property
    def summary(self) -> Summary:
        """Count what is shown."""
        times = sorted(call.ms for call in self.shown if call.status != CallStatus.PENDING)
        tokens = sum(call.tokens for call in self.shown)
        return Summary(len(self.shown), tokens, percentile(times, 0.5), percentile(times, 0.95))

    @property
    def words(self) -> Words:
        """The values that complete each filter."""
        tools = {call.tool for call in self._calls.values()}
        return Words(
            {
                "tool": (*sorted(tools), *sorted(SHORT_TOOLS[tool] for tool in tools if tool in SHORT_TOOLS)),
                "client": tuple(sorted({call.client for call in self._calls.values()})),
                "server": tuple(sorted({server_of(call) for call in self._calls.values()})),
                "status": tuple(map(str, CallStatus)),
                "waste": tuple(map(str, Waste)),
            }
        )

    def _take(self, changes: Changes) -> None:
        if changes.is_reset:
            self._calls.clear()
            self._older.clear()
        self._calls |= {call.id: call for call in changes.calls}
        for call_id in sorted(self._calls)[: -self._most]:
            del self._calls[call_id]

    def _choose(self) -> None:
        calls = self._older | self._calls
        self._tell(calls.values())
        newest_first = (calls[call_id] for call_id in sorted(calls, reverse=True))
        admitted = [call for call in newest_first if self._admits(call)]
        self.rows = tuple(self._grouped(admitted)) if self.is_grouped else tuple(admitted)
        for name in ("shown", "summary"):
            self.__dict__.pop(name, None)

    def _tell(self, calls: Iterable[Call]) -> None:
        """Find out what happened in each conversation, again only where something changed."""
        by_key: dict[ConversationKey, list[Call]] = {}
        for call in sorted(calls, key=lambda call: call.id):
            by_key.setdefault(conversation_key(call), []).append(call)
        told = {}
        for key, members in by_key.items():
            state = (members[0].id, len(members), max(call.change for call in members))
            known = self._told.get(key)
            told[key] = known if known and known[0] == state else (state, conversations_of_key(members))
        self._told = told
        found = [conversation for _, parts in told.values() for conversation in parts]
        self.steps = {step.call.id: step for conversation in found for step in conversation.steps}
        self.conversation_of = {step.call.id: conversation for conversation in found for step in conversation.steps}

    def _admits(self, call: Call) -> bool:
        wanted, step = self.filter, self.steps[call.id]
        if wanted.conversation and self.conversation_of.get(wanted.conversation) is not self.conversation_of[call.id]:
            return False
        return wanted.admits(call, step, self._words_of(call, step) if wanted.text else "")

    def _words_of(self, call: Call, step: Step) -> str:
        """Return what a list shows of a call; a filter looks at all calls with each letter and each new call."""
        key = call.id, call.change, step.waste
        if key not in self._words:
            if len(self._words) > 2 * self._most:
                self._words.clear()
            self._words[key] = call_words(call, step)
        return self._words[key]

    def _grouped(self, newest_first: Iterable[Call]) -> Iterable[CallRow]:
        """Yield a heading and the calls of each conversation; the one with the newest call is first."""
        groups: dict[int, list[Call]] = {}
        for call in newest_first:
            groups.setdefault(self.conversation_of[call.id].id, []).append(call)
        for calls in groups.values():
            yield ConversationRow(self.conversation_of[calls[0].id], len(calls))
            yield from calls

    def _shorten_held(self) -> None:
        """Keep no more than can be shown after the pause."""
        while sum(len(changes.calls) for changes in self._held[1:]) > 2 * self._most:
            first, second, *rest = self._held
            is_reset = first.is_reset or second.is_reset
            self._held = [Changes(second.calls, second.mark, is_reset), *rest]
