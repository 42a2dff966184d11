"""The words for what an answer lacks, and for how a call ended."""

from enum import StrEnum


class Completeness(StrEnum):
    """What an answer lacks, in the words that banner, gauge, Traffic, Stats and filters share.

    If several apply, the last one in this list is used. The last three are caused by the budget, and JSON calls all of
    them `truncated`.
    """

    COMPLETE = "complete"
    MORE_PAGES = "more pages"
    PARTIAL = "partial"
    SHORTENED = "shortened"
    CLIPPED = "clipped"
    LEFT_OUT = "left out"

    @property
    def is_truncated(self) -> bool:
        """Whether the budget took something."""
        return self in (Completeness.SHORTENED, Completeness.CLIPPED, Completeness.LEFT_OUT)


class CallStatus(StrEnum):
    """How an agent's call ended, if it has: with an answer, which may lack something, or without one."""

    PENDING = "pending"
    COMPLETE = Completeness.COMPLETE
    MORE_PAGES = Completeness.MORE_PAGES
    PARTIAL = Completeness.PARTIAL
    SHORTENED = Completeness.SHORTENED
    CLIPPED = Completeness.CLIPPED
    LEFT_OUT = Completeness.LEFT_OUT
    ERROR = "error"
    # The client gave up before there was an answer.
    CANCELLED = "cancelled"
    # The process that was to answer is gone.
    LOST = "lost"

    @property
    def completeness(self) -> Completeness | None:
        """What the answer lacks; None without an answer."""
        return next((word for word in Completeness if word.value == self.value), None)
