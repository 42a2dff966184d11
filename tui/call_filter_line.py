"""The syntax of Traffic's filter line: words, and filters such as `tool:read`."""

import re
from collections.abc import Iterable, Mapping

from keyhole.core.errors import QueryError
from keyhole.core.journal.statistics import BINS
from keyhole.core.journal.story import Waste
from keyhole.core.suggest import suggest_name
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.asked_text import SHORT_TOOLS
from keyhole.core.view.call_filter import CallFilter, joined
from keyhole.tui.query_syntax import Words

_FULL_TOOLS = {short: tool for tool, short in SHORT_TOOLS.items()}
# A value may be two words, also with a hyphen: `status:left out`, `status:left-out`.
_SEVERAL_WORDS: Mapping[str, Iterable[str]] = {"status": CallStatus, "waste": Waste}
_VALUES = "|".join(
    rf"(?<={name}:){value.replace(' ', '[ _-]')}(?!\S)" for name, values in _SEVERAL_WORDS.items() for value in values
)
_NAMES = "tool|client|server|status|waste|time|used|call|conversation"
_FILTER = re.compile(rf"(?<!\S)({_NAMES}):({_VALUES}|\S*)", re.IGNORECASE)
_TIME = re.compile(r"[\d:T-]+")
_USED = re.compile(r"(\d{1,3})-(\d{1,3})%?")


def read_filter(line: str, words: Words) -> CallFilter:
    """Parse a line into a filter; the start of a known name is enough."""
    given = {name.lower(): value for name, value in _FILTER.findall(line) if value}
    names = {name: _known(given[name], words.by_filter[name]) for name in ("tool", "client", "server") if name in given}
    tool = names.get("tool", "")
    status = _choice("status", given, words)
    waste = _choice("waste", given, words)
    return CallFilter(
        tool=_FULL_TOOLS.get(tool, tool),
        client=names.get("client", ""),
        status=CallStatus(status) if status else None,
        text=" ".join(_FILTER.sub("", line).split()),
        waste=Waste(waste) if waste else None,
        time=_time(given.get("time", "")),
        used=_used(given.get("used", "")),
        call=_number("call", given),
        conversation=_number("conversation", given),
        server=names.get("server", ""),
    )


def filter_value(name: str) -> str:
    """Return a name as a filter takes it: spaces would end it."""
    return name.replace(" ", "-")


def used_filter(number: int) -> str:
    """Return the filter for a bin of the histogram of used budgets."""
    return f"used:{number * 100 // BINS}-{(number + 1) * 100 // BINS}%"


def _choice(name: str, given: Mapping[str, str], words: Words) -> str:
    values = list(_SEVERAL_WORDS[name])
    value = _known(given[name], words.by_filter[name]) if name in given else ""
    if value and value not in values:
        raise QueryError(f"unknown {name} {value!r}", suggestion=suggest_name(value, values))
    return value


def _time(value: str) -> str:
    if value and not _TIME.fullmatch(value):
        raise QueryError(f"unknown time {value!r}; use time:14:05, time:2026-11-17 or time:2026-11-17T14")
    return value.replace("T", " ")


def _used(value: str) -> tuple[float, float] | None:
    if not value:
        return None
    found = _USED.fullmatch(value)
    if not found:
        raise QueryError(f"unknown share of the budget {value!r}; use used:90-100%")
    return int(found[1]) / 100, int(found[2]) / 100


def _number(name: str, given: Mapping[str, str]) -> int:
    value = given.get(name, "0").removeprefix("#")
    if not value.isdecimal() or len(value) > 18:  # more digits than any number of a call has
        raise QueryError(f"{name}: takes the number of a call, such as {name}:12, not {value!r}")
    return int(value)


def _known(value: str, names: Iterable[str]) -> str:
    """Return the name that is meant: the same one, or else the first that starts with the value."""
    wanted = joined(value)
    starting = [name for name in names if joined(name).startswith(wanted)]
    return next((name for name in starting if joined(name) == wanted), starting[0] if starting else value)
