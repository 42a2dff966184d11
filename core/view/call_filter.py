"""A filter for calls of agents: by fields, and by any word that a list of calls shows."""

import re
from dataclasses import dataclass

from keyhole.core.journal.local_time import local_time
from keyhole.core.journal.reader import status_now
from keyhole.core.journal.story import Step, Waste
from keyhole.core.types.calls import OWN_SERVER, Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import asked_text, short_tool
from keyhole.core.view.text import json_line

_LONGEST_ASKED = 400


@dataclass(frozen=True, slots=True)
class CallFilter:
    """A filter for calls; its conditions are combined with AND. Every word of `text` must be in what a list shows.

    `used` is a range of shares of the budget; the last range includes 1. `time` is the start of a local time, with or
    without the date. `conversation` is the number of any call of a conversation; its caller knows the conversations.
    """

    tool: str = ""
    client: str = ""
    status: CallStatus | None = None
    text: str = ""
    waste: Waste | None = None
    time: str = ""
    used: tuple[float, float] | None = None
    call: int = 0
    conversation: int = 0
    # A wrapped server, or our own name for calls of our tools.
    server: str = ""

    def admits(self, call: Call, step: Step | None = None, words: str = "") -> bool:
        """Return whether a call matches; `step` is its place in its conversation, `words` what a list shows of it."""
        return (
            self.tool in ("", call.tool)
            and (not self.client or joined(self.client) == joined(call.client))
            and (not self.server or joined(self.server) == joined(server_of(call)))
            and self.status in (None, status_now(call))
            and self.call in (0, call.id)
            and (not self.waste or (step is not None and step.waste == self.waste))
            and (not self.time or self._is_then(call))
            and (not self.used or self._uses(call, *self.used))
            and (not self.text or self._has_words(words or call_words(call, step)))
        )

    def _is_then(self, call: Call) -> bool:
        when = local_time(call.started)
        return when.startswith(self.time) or when[11:].startswith(self.time)

    @staticmethod
    def _uses(call: Call, least: float, most: float) -> bool:
        has_ended = call.budget and call.status != CallStatus.PENDING
        return bool(has_ended) and least <= call.utilisation and (call.utilisation < most or most >= 1)

    def _has_words(self, words: str) -> bool:
        return all(word in words for word in self.text.casefold().split())


def server_of(call: Call) -> str:
    """Return the server of a call: a wrapped one, or ours."""
    return call.server or OWN_SERVER


def call_words(call: Call, step: Step | None = None) -> str:
    """Return every word that a list shows of a call, and its arguments, for a filter."""
    waste = f"{step.waste} wasted" if step and step.waste else ""
    asked = f"{asked_text(call, _LONGEST_ASKED)} {json_line(call.parameters)} {call.problem}"
    figures = f"#{call.id} {call.tokens:,} {call.tokens} {call.ms:,.0f} {local_time(call.started)}"
    names = f"{call.tool} {short_tool(call.tool)} {call.client} {call.server}"
    return f"{names} {figures} {status_now(call)} {waste} {asked}".casefold()


def joined(name: str) -> str:
    """Return a name as a filter can write it, without spaces; case does not matter."""
    return re.sub("[ _]", "-", name.casefold())
