"""What the budget did to a view, for the log and for the server that records the call."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

# The explorer draws its gauge before it needs any of these.
if TYPE_CHECKING:
    from keyhole.core.types.calls import ShownLines
    from keyhole.core.types.completeness import Completeness
    from keyhole.core.view.budget.sizes import TruncationInfo
    from keyhole.core.view.writing import View

log = logging.getLogger("keyhole.view")
# Nothing is printed unless a handler is attached: people already see the banner.
logging.getLogger("keyhole").addHandler(logging.NullHandler())

# From this share of the budget on, the log and the gauge warn: a little more may not fit.
NEARLY_FULL = 0.7
_QUERY_SHOWN = 100
_seen: ContextVar["list[Usage] | None"] = ContextVar("seen", default=None)


@dataclass(frozen=True, slots=True)
class Usage:
    """What one view lacks, what its budget did to it, and which files it shows."""

    completeness: "Completeness"
    info: "TruncationInfo"
    shown: "Sequence[ShownLines]" = ()


@contextmanager
def observed() -> Iterator[list[Usage]]:
    """Collect the usage of every view made inside this block, including in the threads it waits for."""
    seen: list[Usage] = []
    token = _seen.set(seen)
    try:
        yield seen
    finally:
        _seen.reset(token)


class MaskedFormatter(logging.Formatter):
    """Masks secrets in the log: an unexpected error may be about the text of a file or of a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, with secrets masked."""
        from keyhole.core.masking import mask_text

        return mask_text(super().format(record))


class Metrics:
    """Records every view."""

    def record(
        self, tool: str, subject: str, view: "View", shown: "Callable[[], Sequence[ShownLines]]" = tuple
    ) -> None:
        """Pass a view's usage on, and log a view that is nearly full or lacks something; `shown` lists its files."""
        from keyhole.core.masking import mask_text

        seen = _seen.get()
        if seen is not None:
            seen.append(Usage(view.completeness, view.truncation, shown()))
        _log(tool, mask_text(subject)[:_QUERY_SHOWN], view, utilisation(view.truncation))


def utilisation(info: "TruncationInfo") -> float:
    """Return the share of the budget that a text uses, by whichever limit is closer."""
    return max(info.estimated_tokens / info.limit_tokens, info.estimated_chars / info.limit_chars)


def _log(tool: str, subject: str, view: "View", used: float) -> None:
    info = view.truncation
    size = f"{info.estimated_tokens:,} of {info.limit_tokens:,} tokens, {info.estimated_chars:,} characters"
    if used > 1:
        log.error("%s %r is over its limit: %s", tool, subject, size)
    elif info.reason:
        shown = f"{info.returned_count} of {info.original_count}"
        log.warning("%s %r: %s (%s), %s shown, %s", tool, subject, view.completeness, info.reason, shown, size)
    elif used > NEARLY_FULL:
        log.info("%s %r uses %.0f%% of its budget: %s", tool, subject, used * 100, size)
