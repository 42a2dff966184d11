"""The sign, word and style of what an answer lacks and how a call ended; readable without colour."""

from keyhole.core.types.completeness import CallStatus

WORDS: dict[CallStatus, tuple[str, str]] = {
    CallStatus.PENDING: ("… pending", "$secondary"),
    CallStatus.COMPLETE: ("✓ complete", "$success"),
    CallStatus.MORE_PAGES: ("▸ more pages", "$success"),
    CallStatus.PARTIAL: ("◐ partial", "$success"),
    CallStatus.SHORTENED: ("▲ shortened", "$warning"),
    CallStatus.CLIPPED: ("▲ clipped", "$warning"),
    CallStatus.LEFT_OUT: ("▲ left out", "$error"),
    CallStatus.ERROR: ("✗ error", "$error"),
    CallStatus.CANCELLED: ("✗ cancelled", "$warning"),
    CallStatus.LOST: ("✗ lost", "$error"),
}
