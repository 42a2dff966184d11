"""Preparing files on several cores: worker processes parse, and one process writes."""

import gc
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from types import TracebackType
from typing import Self

from keyhole.core.index.prepare import Preparation, Prepared, prepare
from keyhole.core.processes import follow_parent, give_way
from keyhole.core.syntax.parser_process import shared_parser
from keyhole.core.syntax.parser_worker import limit_process, limited_cpu
from keyhole.core.types.source_files import Candidate, SourceFile
from keyhole.core.types.syntax import Analysis

# A task for a worker contains about _TASK_BYTES of source; below _POOL_BYTES in total, no workers are started.
_TASK_BYTES = 200_000
_POOL_BYTES = 2_000_000
_TASKS_IN_FLIGHT = 4

Task = list[tuple[Candidate, str]]


class WorkerPool:
    """Worker processes, which start when there is enough work for them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._expected_bytes = 0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def expect(self, candidate: Candidate) -> None:
        """Count a file that is to be prepared; the workers start while the walk still looks for others."""
        self._expected_bytes += candidate.size
        if self._expected_bytes >= _POOL_BYTES:
            self.start()

    def start(self) -> ProcessPoolExecutor:
        """Start the workers, unless they run."""
        self._pool = self._pool or _start_pool(self.count)
        return self._pool

    def close(self) -> None:
        """End the workers, with or without having finished."""
        pool, self._pool = self._pool, None
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)


def prepare_all(
    preparation: Preparation, candidates: list[Candidate], digests: dict[str, str], *, workers: WorkerPool
) -> Iterator[Prepared]:
    """Prepare files and yield them in order, on several cores if there is enough work."""
    tasks = _tasks(candidates, digests)
    if sum(candidate.size for candidate in candidates) < _POOL_BYTES:
        for task in tasks:
            yield from _prepare_here(preparation, task)
    else:
        yield from _on_every_core(preparation, tasks, workers)


def _on_every_core(preparation: Preparation, tasks: Iterator[Task], workers: WorkerPool) -> Iterator[Prepared]:
    """Keep the workers busy, with only a few tasks in memory."""
    pool = workers.start()
    running: deque[tuple[Task, Future[list[Prepared]]]] = deque()
    try:
        while True:
            for task in islice(tasks, workers.count * _TASKS_IN_FLIGHT - len(running)):
                running.append((task, pool.submit(_prepare_in_worker, preparation, task)))
            if not running:
                return
            try:
                prepared = running[0][1].result()
            except BrokenProcessPool:
                # A grammar crashed on one of these files, or workers cannot start. The parsing worker finds out which
                # file it was, or says that it cannot start either; a new pool continues with the others.
                suspects = [task for task, _ in running]
                running.clear()
                for task in suspects:
                    yield from _prepare_here(preparation, task)
                workers.close()
                pool = workers.start()
            else:
                running.popleft()
                yield from prepared
    finally:
        workers.close()


def _prepare_here(preparation: Preparation, task: Task) -> Iterator[Prepared]:
    """Prepare files in this process; only parsing happens in the parsing worker."""
    for candidate, digest in task:
        yield prepare(preparation, candidate, digest, shared_parser().analyse)


def _prepare_in_worker(preparation: Preparation, task: Task) -> list[Prepared]:
    """Prepare files in a worker, which may run grammars itself."""
    prepared = []
    for candidate, digest in task:
        with limited_cpu(candidate.size):
            prepared.append(prepare(preparation, candidate, digest, _analyse_in_worker))
    return prepared


def _analyse_in_worker(source: SourceFile) -> Analysis:
    # Imported here because a worker that finds every text in the content store needs no grammars.
    from keyhole.core.syntax.analyse import analyse

    return analyse(source)


def _start_pool(workers: int) -> ProcessPoolExecutor:
    # Forking a process with threads (the explorer, the server) is unsafe, so workers are spawned.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_prepare_worker)
    with _interrupts_blocked():
        for _ in range(workers):
            pool.submit(_do_nothing)  # each starts one worker
    return pool


def _prepare_worker() -> None:
    follow_parent()
    limit_process()
    give_way()
    # As in the process that writes: files leave no cycles, and looking for them takes a tenth of the time.
    gc.disable()


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
