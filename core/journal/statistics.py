"""Statistics of agents' calls: what they asked, what it cost, and what the answers lacked."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import ceil

from keyhole.core.journal.local_time import local_day, local_hour
from keyhole.core.journal.reader import status_now
from keyhole.core.journal.story import Conversation, conversations
from keyhole.core.types.calls import OWN_SERVER, Call
from keyhole.core.types.completeness import CallStatus, Completeness

BINS = 10
_SLOWEST = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Calls counted together; rates are shares of the answers, latencies are in milliseconds.

    `truncated` answers are those that the budget shortened or clipped, or left something out of; of those in
    `cut_by_client`, the client did not deliver everything that was sent.
    """

    name: str
    calls: int
    complete: int
    more_pages: int
    partial: int
    shortened: int
    clipped: int
    left_out: int
    truncated: int
    cut_by_client: int
    errors: int
    cancelled: int
    lost: int
    pending: int
    tokens: int
    truncation_rate: float
    utilisation: float
    p50_ms: float
    p95_ms: float

    @property
    def answers(self) -> int:
        """How many calls were answered."""
        return sum(count for _, count in self.by_completeness)

    @property
    def by_completeness(self) -> tuple[tuple[Completeness, int], ...]:
        """How many answers each word of completeness describes."""
        counts = (self.complete, self.more_pages, self.partial, self.shortened, self.clipped, self.left_out)
        return tuple(zip(Completeness, counts, strict=True))


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures for all calls, by tool and by client (most calls first), and a histogram of utilisation from 0-10% up.

    Hours, days and conversations are in the order of time; hours and days without calls are left out.
    """

    total: Group
    tools: tuple[Group, ...]
    clients: tuple[Group, ...]
    servers: tuple[Group, ...]
    histogram: tuple[int, ...]
    slowest: tuple[Call, ...]
    hours: tuple[Group, ...]
    days: tuple[Group, ...]
    conversations: tuple[Conversation, ...]
    first: float
    last: float


def statistics(calls: Iterable[Call], is_cut: Callable[[Call], bool] = lambda _: False) -> Statistics:
    """Return the statistics of calls; `is_cut` tells whether the client cut the answer to a call."""
    counted = list(calls)
    cut = {call.id for call in counted if is_cut(call)}
    ended = [call for call in counted if call.status != CallStatus.PENDING]
    return Statistics(
        total=_group("all", counted, cut),
        tools=_groups(counted, tool_name, cut),
        clients=_groups(counted, lambda call: call.client, cut),
        servers=_groups(counted, lambda call: call.server or OWN_SERVER, cut),
        histogram=_histogram(call.utilisation for call in ended if call.budget),
        hours=_by_time(counted, local_hour, cut),
        days=_by_time(counted, local_day, cut),
        conversations=tuple(conversations(counted)),
        slowest=tuple(nlargest(_SLOWEST, ended, key=lambda call: (call.ms, -call.id))),
        first=min((call.started for call in counted), default=0.0),
        last=max((call.started for call in counted), default=0.0),
    )


def tool_name(call: Call) -> str:
    """Return the name of a tool, after that of its server if it is not ours: both may have the same tool."""
    return f"{call.server} {call.tool}" if call.server else call.tool


def _by_time(calls: Iterable[Call], name_of: Callable[[float], str], cut: Container[int]) -> tuple[Group, ...]:
    return tuple(sorted(_groups(calls, lambda call: name_of(call.started), cut), key=lambda group: group.name))


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile of sorted values by the nearest-rank method; 0 if there are none."""
    return values[max(0, ceil(share * len(values)) - 1)] if values else 0.0


def _groups(calls: Iterable[Call], name_of: Callable[[Call], str], cut: Container[int]) -> tuple[Group, ...]:
    members: dict[str, list[Call]] = {}
    for call in calls:
        members.setdefault(name_of(call), []).append(call)
    groups = [_group(name, found, cut) for name, found in members.items()]
    return tuple(sorted(groups, key=lambda group: (-group.calls, group.name)))


def _group(name: str, calls: Sequence[Call], cut: Container[int]) -> Group:
    count = Counter(map(status_now, calls))
    answers = sum(count[CallStatus(word)] for word in Completeness)
    truncated = sum(count[CallStatus(word)] for word in Completeness if word.is_truncated)
    used = [call.utilisation for call in calls if call.budget]
    times = sorted(call.ms for call in calls if call.status != CallStatus.PENDING)
    return Group(
        name=name,
        calls=len(calls),
        complete=count[CallStatus.COMPLETE],
        more_pages=count[CallStatus.MORE_PAGES],
        partial=count[CallStatus.PARTIAL],
        shortened=count[CallStatus.SHORTENED],
        clipped=count[CallStatus.CLIPPED],
        left_out=count[CallStatus.LEFT_OUT],
        truncated=truncated,
        cut_by_client=sum(call.id in cut for call in calls),
        errors=count[CallStatus.ERROR],
        cancelled=count[CallStatus.CANCELLED],
        lost=count[CallStatus.LOST],
        pending=count[CallStatus.PENDING],
        tokens=sum(call.tokens for call in calls),
        truncation_rate=truncated / answers if answers else 0.0,
        utilisation=sum(used) / len(used) if used else 0.0,
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
    )


def _histogram(shares: Iterable[float]) -> tuple[int, ...]:
    bins = [0] * BINS
    for share in shares:
        bins[min(int(share * BINS), BINS - 1)] += 1
    return tuple(bins)
