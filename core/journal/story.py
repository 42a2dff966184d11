"""What happened in the conversations of agents: which call follows which, and which were wasted.

A conversation is the calls of one client to one server over one connection, without a break of more than half an hour.
Over stdio, each server process is one connection. HTTP has no sessions, so there all calls of clients with the same
name and version belong together.

A call follows an earlier one of its conversation if it opens a file that the earlier answer shows (search, then map,
then read), or if it asks for another page of the same list. Of wrapped servers, none of this is known. The rules for
waste, the first that applies:

- repeated: the same tool with the same arguments got an answer of the same size before.
- already read: a read that shows only lines that earlier reads have shown, of the same content of the file.
- not followed: a search after which the client searched for something else, and that no call follows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache

from keyhole.core.journal.reader import status_now
from keyhole.core.types.calls import Call, ShownLines
from keyhole.core.types.completeness import CallStatus

LONGEST_BREAK = 1_800.0
_SEARCHES = ("search_code", "find_related")
_READS = ("map_file", "read_file", "resources/read")
# Arguments that choose a page of a list, and how large it may be.
_PAGING = ("offset", "cursor", "limit", "max_tokens")
_NO_ANSWER = (CallStatus.PENDING, CallStatus.CANCELLED, CallStatus.LOST)


class Waste(StrEnum):
    """Why a call was not needed."""

    REPEATED = "repeated"
    ALREADY_READ = "already read"
    NOT_FOLLOWED = "not followed"


@dataclass(frozen=True, slots=True)
class Step:
    """A call in its conversation: which call it follows (0: none), and how far it is from the start of that chain.

    If it was wasted, `waste` says why, and `same_as` is the earlier call that made it so.
    """

    call: Call
    follows: int = 0
    depth: int = 0
    waste: Waste | None = None
    same_as: int = 0


@dataclass(frozen=True)
class Conversation:
    """The steps of one conversation, oldest first."""

    steps: tuple[Step, ...]

    @property
    def id(self) -> int:
        """The number of its first call."""
        return self.steps[0].call.id

    @property
    def client(self) -> str:
        """The name of the client."""
        return self.steps[0].call.client

    @property
    def server(self) -> str:
        """The wrapped server; empty for our own tools."""
        return self.steps[0].call.server

    @property
    def first(self) -> float:
        """When it started, in seconds since 1970."""
        return self.steps[0].call.started

    @property
    def last(self) -> float:
        """When its last call started."""
        return self.steps[-1].call.started

    @cached_property
    def tokens(self) -> int:
        """The tokens of all its answers."""
        return sum(step.call.tokens for step in self.steps)

    @cached_property
    def wasted(self) -> tuple[Step, ...]:
        """The steps that were not needed."""
        return tuple(step for step in self.steps if step.waste)

    @cached_property
    def wasted_tokens(self) -> int:
        """The tokens of the answers that were not needed."""
        return sum(step.call.tokens for step in self.wasted)

    @cached_property
    def errors(self) -> int:
        """How many of its calls failed."""
        return sum(step.call.status == CallStatus.ERROR for step in self.steps)


ConversationKey = tuple[str, ...]


def conversation_key(call: Call) -> ConversationKey:
    """Return what the calls over one connection have in common."""
    connection = call.session or (call.transport if call.transport == "http" else f"process {call.process}")
    return call.client, call.client_version, connection, call.server, call.caller


def conversations(calls: Iterable[Call]) -> list[Conversation]:
    """Return the conversations that calls make up, in the order in which they started."""
    by_key: dict[ConversationKey, list[Call]] = {}
    for call in sorted(calls, key=lambda call: call.id):
        by_key.setdefault(conversation_key(call), []).append(call)
    found = [told for members in by_key.values() for told in conversations_of_key(members)]
    return sorted(found, key=lambda told: told.id)


def conversations_of_key(calls: Iterable[Call]) -> list[Conversation]:
    """Return the conversations over one connection; calls are in the order in which they started."""
    parts: list[list[Call]] = []
    for call in calls:
        if not parts or call.started - parts[-1][-1].started > LONGEST_BREAK:
            parts.append([])
        parts[-1].append(call)
    return [Conversation(_Telling().steps(part)) for part in parts]


@dataclass(slots=True)
class _Telling:
    """Goes through a conversation once, and remembers what was shown."""

    # The number of the last step that showed a file, and the searches that showed it and are not followed yet.
    showed: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, set[int]] = field(default_factory=dict)
    # The last step of each list, of each exact call, and the lines that were read of each content of a file.
    lists: dict[object, int] = field(default_factory=dict)
    calls: dict[tuple[str, str], int] = field(default_factory=dict)
    lines: dict[tuple[str, str], list[tuple[int, int, int]]] = field(default_factory=dict)
    followed: set[int] = field(default_factory=set)

    def steps(self, calls: Sequence[Call]) -> tuple[Step, ...]:
        """Return a step for each call."""
        steps: list[Step] = []
        for number, call in enumerate(calls):
            if call.server:
                # What follows from a call of another server, and whether it was needed, is not known here.
                steps.append(Step(call))
                continue
            parent = self._parent(number, call)
            waste, same_as = self._waste(number, call, calls)
            follows, depth = (calls[parent].id, steps[parent].depth + 1) if parent is not None else (0, 0)
            steps.append(Step(call, follows, depth, waste, same_as))
            for part in _facts(call).shown:
                self.showed[part.path] = number
                if call.tool in _SEARCHES:
                    self.waiting.setdefault(part.path, set()).add(number)
        return tuple(self._with_searches(steps))

    def _parent(self, number: int, call: Call) -> int | None:
        """Return the step that a call follows, and note that the searches before it are followed."""
        facts = _facts(call)
        for path in facts.opened:
            self.followed |= self.waiting.pop(path, set())
        page_of = self.lists.get(facts.listed)
        self.lists[facts.listed] = number
        found = [self.showed[path] for path in facts.opened if path in self.showed]
        if found:
            return max(found)
        if page_of is None or not facts.is_later_page:
            return None
        self.followed.add(page_of)
        return page_of

    def _waste(self, number: int, call: Call, calls: Sequence[Call]) -> tuple[Waste | None, int]:
        exact = call.tool, call.arguments
        earlier = self.calls.get(exact)
        if call.arguments:
            self.calls[exact] = number
        is_read_before = self._is_read_before(call)
        if earlier is not None and _is_same_answer(calls[earlier], call):
            return Waste.REPEATED, calls[earlier].id
        return (Waste.ALREADY_READ, is_read_before) if is_read_before else (None, 0)

    def _is_read_before(self, call: Call) -> int:
        """Return the last call that has shown lines of a read if all its lines were shown before; else 0."""
        read = [part for part in _facts(call).shown if part.last]
        known = [_covered(self.lines.get((part.path, part.version), []), part) for part in read]
        for part in read:
            self.lines.setdefault((part.path, part.version), []).append((part.first, part.last, call.id))
        return max(known) if known and all(known) else 0

    def _with_searches(self, steps: list[Step]) -> list[Step]:
        """Mark the searches that nothing follows, except the last one: its answer may have been enough."""
        later = False
        for number in range(len(steps) - 1, -1, -1):
            step = steps[number]
            if step.call.tool not in _SEARCHES:
                continue
            if later and not step.waste and step.call.shown and number not in self.followed:
                steps[number] = Step(step.call, step.follows, step.depth, Waste.NOT_FOLLOWED)
            later = True
        return steps


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the rules need of a call: the files it opens and shows, and what the pages of one list have in common."""

    opened: tuple[str, ...]
    shown: tuple[ShownLines, ...]
    listed: tuple[object, ...]
    is_later_page: bool


# The rules run again with each new call, and reading JSON takes most of the time.
@lru_cache(maxsize=8_192)
def _read_facts(tool: str, arguments: str, shown_json: str) -> _Facts:
    call = Call(0, 0, 0.0, 0, "", "", "", tool, arguments, shown=shown_json)
    given, shown = call.parameters, tuple(call.shown_lines)
    if tool in _READS and shown:
        opened = [part.path for part in shown]
    else:
        several = given.get("paths")
        named = [given.get("path"), *(several if isinstance(several, list) else [])]
        # The path of a search is a filter.
        opened = [path.removeprefix("./") for path in named if isinstance(path, str) and tool != "search_code"]
    listed = (tool, *sorted((name, str(value)) for name, value in given.items() if name not in _PAGING))
    return _Facts(tuple(opened), shown, listed, bool(given.get("offset") or given.get("cursor")))


def _facts(call: Call) -> _Facts:
    return _read_facts(call.tool, call.arguments, call.shown)


def _is_same_answer(one: Call, other: Call) -> bool:
    has_ended = status_now(one) not in _NO_ANSWER and status_now(other) not in _NO_ANSWER
    return has_ended and (one.status, one.response_bytes) == (other.status, other.response_bytes)


def _covered(ranges: Iterable[tuple[int, int, int]], part: ShownLines) -> int:
    """Return the last call whose lines are needed to cover a part; 0 if some lines are not covered."""
    line, last_call = part.first, 0
    for first, last, call_id in sorted(ranges):
        if first <= line <= last:
            line, last_call = last + 1, max(last_call, call_id)
    return last_call if line > part.last else 0
