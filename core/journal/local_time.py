"""Times of calls in the local time zone."""

from datetime import UTC, datetime


def local_time(seconds: float) -> str:
    """Return a time as date and time to the second, in the local time zone."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def local_hour(seconds: float) -> str:
    """Return the hour of a time, with its date."""
    return f"{local_time(seconds)[:13]}:00"


def local_day(seconds: float) -> str:
    """Return the date of a time."""
    return local_time(seconds)[:10]
