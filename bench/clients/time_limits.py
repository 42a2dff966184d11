"""How long a client waits for a server to start and for a call, as far as that can be seen in a few minutes."""

from collections.abc import Callable

from client_run import run_client

# Longer waits are not tried.
_STARTS = (4, 12, 35, 70)
_CALLS = (20, 70)
_MARGIN = 60
_SHORT = {"shape": "lines", "size": 10}


def time_limits(client: str) -> dict[str, int | None]:
    """Return the longest start and the longest call, in seconds, that the client waited for, of those tried."""
    return {
        "start_waited": _longest(_STARTS, lambda seconds: _starts(client, seconds)),
        "start_tried": _STARTS[-1],
        "call_waited": _longest(_CALLS, lambda seconds: _answers(client, seconds)),
        "call_tried": _CALLS[-1],
    }


def _longest(tried: tuple[int, ...], works: Callable[[int], bool]) -> int | None:
    longest = None
    for seconds in tried:
        if not works(seconds):
            break
        longest = seconds
    return longest


def _starts(client: str, seconds: int) -> bool:
    run = run_client(client, [("plain", _SHORT)], seconds=seconds + _MARGIN, delay=seconds)
    return "000000 the" in str(run.results.get(0))


def _answers(client: str, seconds: int) -> bool:
    run = run_client(client, [("slow", {"seconds": seconds})], seconds=seconds + _MARGIN)
    return "slow answer" in str(run.results.get(0))
