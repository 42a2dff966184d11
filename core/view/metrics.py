"""What the budget did over time: how often views were cut, and how full they were."""

import logging
from dataclasses import dataclass, field

from keyhole.core.view.budget import TruncationInfo

log = logging.getLogger("keyhole.view")
# Whoever wants the log attaches a handler; a terminal has the banner.
logging.getLogger("keyhole").addHandler(logging.NullHandler())

_BINS = 10
_HIGH = 0.7
_QUERY_SHOWN = 100


@dataclass(slots=True)
class ViewMetrics:
    """Counts for one view; the histogram has ten bins of utilisation, 0-10% first."""

    views: int = 0
    truncated: int = 0
    utilisation_sum: float = 0.0
    histogram: list[int] = field(default_factory=lambda: [0] * _BINS)

    @property
    def truncation_rate(self) -> float:
        """The share of views that the budget cut."""
        return self.truncated / self.views if self.views else 0.0

    @property
    def utilisation(self) -> float:
        """The average share of its budget that a view used."""
        return self.utilisation_sum / self.views if self.views else 0.0


class Metrics:
    """Counts for every view, by its name."""

    def __init__(self) -> None:
        self.by_view: dict[str, ViewMetrics] = {}

    def record(self, view: str, subject: str, info: TruncationInfo) -> None:
        """Count a view, and log what people should know about it."""
        used = utilisation(info)
        counts = self.by_view.setdefault(view, ViewMetrics())
        counts.views += 1
        counts.truncated += info.reason is not None
        counts.utilisation_sum += used
        counts.histogram[min(int(used * _BINS), _BINS - 1)] += 1
        _log(view, subject[:_QUERY_SHOWN], info, used)


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
