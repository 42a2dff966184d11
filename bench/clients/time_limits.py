"""How long a client waits for a server to start and for a call: found by bisection, to the second.

The first try takes longer than most clients wait and shows roughly when a client gives up, so the search starts there.
A try during which this machine paused is repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass

from adapters import ADAPTERS, Place
from client_run import Conditions, LabError, Run, run_client

# Longer waits are not tried.
MOST = 150.0
_PRECISION = 1.0
_AROUND = 1.5
# How much longer a run may take than the wait.
_MARGIN = 60.0
_PAUSE = 2.0
_TRIES = 4
_SHORT = {"shape": "lines", "size": 10}


@dataclass(frozen=True, slots=True)
class Wait:
    """Whether a client waited for something, and for how long if it did not."""

    is_enough: bool
    gave_up_after: float = 0.0


def time_limits(client: str) -> dict[str, dict[str, float | None]]:
    """Return how long a client waits for a start and for a call, in seconds."""
    return {
        "start": longest_wait(lambda seconds: _start(client, seconds)),
        "call": longest_wait(lambda seconds: _call(client, seconds)),
    }


def longest_wait(attempt: Callable[[float], Wait], most: float = MOST) -> dict[str, float | None]:
    """Return a time that the client waits, and one that it does not; None if it waits for everything that is tried."""
    waited, too_long = 0.0, most
    first = attempt(most)
    if first.is_enough:
        return {"waited": most, "not": None}
    near = [first.gave_up_after - _AROUND, first.gave_up_after + _AROUND]
    while too_long - waited > _PRECISION:
        seconds = near.pop() if near else (waited + too_long) / 2
        if waited < seconds < too_long:
            if attempt(seconds).is_enough:
                waited = seconds
            else:
                too_long = seconds
    return {"waited": round(waited, 1), "not": round(too_long, 1)}


def _start(client: str, seconds: float) -> Wait:
    # A client that asks its model at once gets no answer until the server could have started.
    is_impatient = ADAPTERS[client](Place.nowhere()).asks_at_once
    conditions = Conditions(seconds + _MARGIN, delay=seconds, hold=seconds + _MARGIN / 10 if is_impatient else 0)
    # It also knows the tools of such a server only with the second question.
    run = _undisturbed(lambda: run_client(client, [("plain", _SHORT)] * (1 + is_impatient), conditions))
    began = next((line["at"] for line in run.probe if line["method"] == "initialize"), run.asked_at)
    return Wait("000000 the" in str(run.results), max(0.0, run.asked_at - began))


def _call(client: str, seconds: float) -> Wait:
    conditions = Conditions(seconds + _MARGIN)
    run = _undisturbed(lambda: run_client(client, [("slow", {"seconds": seconds})], conditions))
    ended = run.answered_at.get(0, run.asked_at)
    return Wait("slow answer" in str(run.results.get(0)), ended - run.asked_at)


def _undisturbed(attempt: Callable[[], Run]) -> Run:
    for _ in range(_TRIES):
        run = attempt()
        if run.longest_pause < _PAUSE:
            return run
    raise LabError("this machine pauses too often to measure times")
