"""Several workers on one machine, each in a process of its own, so that each has a core."""

import os
import signal
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess

from keyhole.core.processes import follow_parent
from keyhole.core.team.stop_signal import stop_on_signals

# A worker that was killed is replaced after this time, so that one that is killed at once does not keep a core busy.
_RESTART_SECONDS = 1.0
_LOOK_SECONDS = 0.2
Work = Callable[[], int]


def run_workers(count: int, work: Work) -> int:
    """Run `work` in so many processes until all have ended; one that is killed is replaced. Return the worst exit code.

    Each process calls `work`, which must be a function that can be sent to it, and exits with what it returns.
    """
    processes = [_start(work) for _ in range(count)]
    codes = [0]
    try:
        while processes:
            time.sleep(_LOOK_SECONDS)
            for process in [each for each in processes if each.exitcode is not None]:
                processes.remove(process)
                if (process.exitcode or 0) < 0:
                    time.sleep(_RESTART_SECONDS)
                    processes.append(_start(work))
                else:
                    codes.append(process.exitcode or 0)
        return max(codes)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _start(work: Work) -> SpawnProcess:
    process = get_context("spawn").Process(target=_run, args=(work,))
    process.start()
    return process


def _run(work: Work) -> None:
    stop_on_signals()
    # The parent ends its workers after Ctrl+C, which reaches all of them.
    follow_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    raise SystemExit(work())
