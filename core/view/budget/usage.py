"""What the budget did to a view: told to the log, and to whoever serves the call that asked for it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from keyhole.core.view.budget.sizes import TruncationInfo

log = logging.getLogger("keyhole.view")
# Whoever wants the log attaches a handler; a terminal has the banner.
logging.getLogger("keyhole").addHandler(logging.NullHandler())

_HIGH = 0.7
_QUERY_SHOWN = 100
_seen: ContextVar[list[TruncationInfo] | None] = ContextVar("seen", default=None)


@contextmanager
def observed() -> Iterator[list[TruncationInfo]]:
    """Collect what the budget does to the views that are made inside, also in threads that are waited for."""
    seen: list[TruncationInfo] = []
    token = _seen.set(seen)
    try:
        yield seen
    finally:
        _seen.reset(token)


class Metrics:
    """Takes note of every view."""

    def record(self, view: str, subject: str, info: TruncationInfo) -> None:
        """Tell of a view, and log what people should know about it."""
        seen = _seen.get()
        if seen is not None:
            seen.append(info)
        _log(view, subject[:_QUERY_SHOWN], info, utilisation(info))


def utilisation(info: TruncationInfo) -> float:
    """Return the share of its budget that a text uses, by the limit that is nearer."""
    return max(info.estimated_tokens / info.limit_tokens, info.estimated_chars / info.limit_chars)


def _log(view: str, subject: str, info: TruncationInfo, used: float) -> None:
    size = f"{info.estimated_tokens:,} of {info.limit_tokens:,} tokens, {info.estimated_chars:,} characters"
    if used > 1:
        log.error("%s %r is over its limit: %s", view, subject, size)
    elif info.reason:
        shown = f"{info.returned_count} of {info.original_count}"
        log.warning("%s %r was cut (%s): %s shown, %s", view, subject, info.reason, shown, size)
    elif used > _HIGH:
        log.info("%s %r uses %.0f%% of its budget: %s", view, subject, used * 100, size)
