"""Preparing files on every core: parsing is work for processes, writing is work for one."""

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from pathlib import Path

from keyhole.core.index.prepare import Prepared, prepare
from keyhole.core.types import Candidate

# One trip to a worker carries about this much source, and this much work starts workers at all.
_TASK_BYTES = 200_000
_POOL_BYTES = 2_000_000
_TASKS_IN_FLIGHT = 4

Task = list[tuple[Candidate, str]]


@dataclass(frozen=True, slots=True)
class Preparation:
    """What every worker needs to know."""

    root: Path
    max_bytes: int
    for_model: bool

    def run(self, task: Task) -> list[Prepared]:
        """Prepare the files of one task."""
        return [
            prepare(self.root, candidate, digest, max_bytes=self.max_bytes, for_model=self.for_model)
            for candidate, digest in task
        ]


def prepare_all(
    preparation: Preparation, candidates: list[Candidate], digests: dict[str, str], *, workers: int
) -> Iterator[Prepared]:
    """Prepare files and yield them in order, on several cores when that pays."""
    tasks = _tasks(candidates, digests)
    if workers < 2 or sum(candidate.size for candidate in candidates) < _POOL_BYTES:
        for task in tasks:
            for candidate_and_digest in task:
                yield from preparation.run([candidate_and_digest])
        return
    # Forking a process that has threads (an explorer, a server) is unsafe; spawning is not.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start_worker)
    try:
        with _holding_interrupts():
            pool.submit(_wake_up)  # starts every worker
        yield from _in_order(pool, preparation, tasks, workers * _TASKS_IN_FLIGHT)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor, preparation: Preparation, tasks: Iterable[Task], in_flight: int
) -> Iterator[Prepared]:
    """Keep the workers busy, but never hold more than a few tasks in memory."""
    running: deque[Future[list[Prepared]]] = deque()
    for task in tasks:
        running.append(pool.submit(preparation.run, task))
        if len(running) >= in_flight:
            yield from running.popleft().result()
    while running:
        yield from running.popleft().result()


def _tasks(candidates: list[Candidate], digests: dict[str, str]) -> Iterator[Task]:
    task: Task = []
    size = 0
    for candidate in candidates:
        task.append((candidate, digests.get(candidate.path, "")))
        size += candidate.size
        if size >= _TASK_BYTES:
            yield task
            task, size = [], 0
    if task:
        yield task


@contextmanager
def _holding_interrupts() -> Iterator[None]:
    """Let processes start deaf to Ctrl-C, which reaches the whole group: the parent decides what it means.

    What is blocked here is blocked in them for good; here it comes through at the end.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wake_up() -> None:
    pass


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
