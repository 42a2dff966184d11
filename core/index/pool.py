"""Preparing files on several cores: worker processes parse, and one process writes."""

import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from keyhole.core.index.embedder import Embedder
from keyhole.core.index.prepare import Prepared, SkippedFile, prepare
from keyhole.core.processes import follow_parent
from keyhole.core.types import Candidate, Skip, SkipReason

# A task for a worker contains about _TASK_BYTES of source; below _POOL_BYTES in total, no workers are started.
_TASK_BYTES = 200_000
_POOL_BYTES = 2_000_000
_TASKS_IN_FLIGHT = 4

Task = list[tuple[Candidate, str]]


@dataclass(frozen=True, slots=True)
class Preparation:
    """The parameters of every worker; each worker opens the model itself."""

    root: Path
    max_bytes: int
    embedder: Embedder | None

    def run(self, task: Task) -> list[Prepared]:
        """Prepare the files of one task."""
        return [
            prepare(self.root, candidate, digest, max_bytes=self.max_bytes, embedder=self.embedder)
            for candidate, digest in task
        ]


def prepare_all(
    preparation: Preparation, candidates: list[Candidate], digests: dict[str, str], *, workers: int
) -> Iterator[Prepared]:
    """Prepare files and yield them in order, on several cores if there is enough work."""
    tasks = _tasks(candidates, digests)
    if workers < 2 or sum(candidate.size for candidate in candidates) < _POOL_BYTES:
        for task in tasks:
            for candidate_and_digest in task:
                yield from preparation.run([candidate_and_digest])
        return
    yield from _on_every_core(preparation, tasks, workers)


def _on_every_core(preparation: Preparation, tasks: Iterator[Task], workers: int) -> Iterator[Prepared]:
    """Keep the workers busy, with only a few tasks in memory."""
    pool = _start_pool(workers)
    running: deque[tuple[Task, Future[list[Prepared]]]] = deque()
    try:
        while True:
            for task in islice(tasks, workers * _TASKS_IN_FLIGHT - len(running)):
                running.append((task, pool.submit(preparation.run, task)))
            if not running:
                return
            try:
                prepared = running[0][1].result()
            except BrokenProcessPool:
                # A parser crashed on one of these files. They are isolated, and a new pool continues with the others.
                suspects = [task for task, _ in running]
                running.clear()
                pool = _start_pool(workers)
                for task in suspects:
                    yield from _isolate(preparation, task)
            else:
                running.popleft()
                yield from prepared
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _isolate(preparation: Preparation, task: Task) -> Iterator[Prepared]:
    """Prepare files in a separate process, splitting the task in halves until only the file that crashes it is left."""
    pool = _start_pool(1)
    try:
        yield from pool.submit(preparation.run, task).result()
    except BrokenProcessPool:
        if len(task) > 1:
            yield from _isolate(preparation, task[: len(task) // 2])
            yield from _isolate(preparation, task[len(task) // 2 :])
        else:
            candidate, _ = task[0]
            skip = Skip(candidate.path, SkipReason.FAILED, "the parser crashed")
            yield SkippedFile(skip, candidate.stamp)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _start_pool(workers: int) -> ProcessPoolExecutor:
    # Forking a process with threads (the explorer, the server) is unsafe, so workers are spawned.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=follow_parent)
    with _interrupts_blocked():
        pool.submit(_do_nothing)  # starts every worker
    return pool


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
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while processes start, since it reaches the whole process group but only the parent handles it.

    The new processes inherit the blocked signal for good; this process receives it at the end of the block.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _do_nothing() -> None:
    pass
