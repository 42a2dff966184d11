"""What a wrap costs: time to start, time for each call, and memory, compared with the same server alone."""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from raw_client import RawClient
from same_frames import KEYHOLE
from wrapped_servers import SERVERS

_STARTS, _CALLS = 12, 1_500
_ROUNDS, _PER_ROUND = 5, 2_000


def _commands(name: str) -> tuple[list[str], list[str]]:
    own = list(SERVERS[name].command)
    return own, [KEYHOLE, "wrap", "--", *own]


def start_times(folder: Path, environment: dict[str, str]) -> dict[str, float]:
    """Return the milliseconds from starting a server to its first answer, alone and wrapped; the median of several."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_STARTS):
        for taken, command in zip(times, _commands("everything"), strict=True):
            began = time.perf_counter()
            with RawClient(command, folder, environment) as client:
                client.introduce()
                taken.append((time.perf_counter() - began) * 1e3)
    alone, wrapped = map(statistics.median, times)
    return {"start_alone_ms": alone, "start_wrapped_ms": wrapped, "start_added_ms": wrapped - alone}


def latencies(folder: Path, environment: dict[str, str]) -> dict[str, float]:
    """Return the milliseconds of a call, alone and wrapped, in turns; p50 and p95, and what the wrap adds."""
    times: tuple[list[float], list[float]] = ([], [])
    alone, wrapped = _commands("everything")
    with RawClient(alone, folder, environment) as one, RawClient(wrapped, folder, environment) as other:
        one.introduce()
        other.introduce()
        for number in range(_CALLS):
            for taken, client in zip(times, (one, other), strict=True):
                size = 10_000 if number % 10 == 0 else 20
                began = time.perf_counter()
                client.call("echo", {"message": "x" * size})
                taken.append((time.perf_counter() - began) * 1e3)
    found: dict[str, float] = {}
    for share, name in ((0.5, "p50"), (0.95, "p95")):
        here, there = (_percentile(taken, share) for taken in times)
        found |= {f"{name}_alone_ms": here, f"{name}_wrapped_ms": there, f"{name}_added_ms": there - here}
    return found


def memory(folder: Path, environment: dict[str, str]) -> dict[str, float]:
    """Return the megabytes of the wrap after each round of calls; they must not grow."""
    sizes: list[float] = []
    with RawClient(_commands("everything")[1], folder, environment) as client:
        client.introduce()
        for _ in range(_ROUNDS):
            for _ in range(_PER_ROUND):
                client.call("echo", {"message": "x" * 500})
            # What is recorded waits for the disk.
            time.sleep(1.0)
            sizes.append(_resident(client.process.pid))
    return {"memory_first_mb": sizes[0], "memory_last_mb": sizes[-1], "memory_calls": _ROUNDS * _PER_ROUND}


def _resident(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1_024


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]
