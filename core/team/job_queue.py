"""The queue in the database: one job for each repository that is to be indexed.

A worker takes a job with a lease and renews it while it works. When a worker is gone, its lease ends, and another one
takes over; the revision that the first one was writing never appears (core/postgres/team_home.py checks that).
"""

import threading
from dataclasses import dataclass
from types import TracebackType
from typing import LiteralString, Self

from keyhole.core.errors import LostJobError, StoreError
from keyhole.core.masking import mask_text
from keyhole.core.postgres.job_rows import end_connections, end_job
from keyhole.core.postgres.server_connection import Connection
from keyhole.core.team.team_database import team_database
from keyhole.core.untrusted_text import middle_cut

DEFAULT_LEASE_SECONDS = 60
_LONGEST_PROBLEM = 500


@dataclass(frozen=True, slots=True)
class Job:
    """A repository to index; `revision` is the indexed one; `previous` is the worker whose lease has ended."""

    repo: int
    name: str
    source: str
    branch: str
    revision: str
    previous: str


class JobQueue:
    """The jobs as one worker sees them."""

    def __init__(self, url: str, worker: str, lease_seconds: float = DEFAULT_LEASE_SECONDS) -> None:
        self._url = url
        self.worker = worker
        self.lease_seconds = lease_seconds

    def take(self, absent: list[int]) -> Job | None:
        """Take the oldest job that nobody works on, except repositories that are `absent` from this machine."""
        with team_database(self._url) as db:
            values = {"worker": self.worker, "seconds": self.lease_seconds, "absent": absent}
            found = db.execute(_TAKE, values).fetchone()
            job = Job(*found) if found else None
            if job and job.previous:
                end_connections(db, job.previous)
            return job

    def renew(self, job: Job) -> bool:
        """Renew the lease; return False if another worker has the job, or nobody wants it any more."""
        with team_database(self._url) as db:
            values = {"repo": job.repo, "worker": self.worker, "seconds": self.lease_seconds}
            return db.execute(_RENEW, values).rowcount == 1

    def release(self, job: Job, problem: str | None = None) -> None:
        """Give a job back, so that any worker can take it at once."""
        self._end(job, _RELEASE, problem)

    def fail(self, job: Job, problem: str) -> None:
        """Record why a job failed, and have it tried again later."""
        self._end(job, _FAIL, problem)

    def skip(self, job: Job) -> None:
        """Remove a job whose revision is already indexed, unless it was asked for again meanwhile."""
        with team_database(self._url) as db, db.transaction():
            end_job(db, job.repo, self.worker)

    def _end(self, job: Job, statement: LiteralString, problem: str | None) -> None:
        shown = problem and middle_cut(mask_text(" ".join(problem.split())), _LONGEST_PROBLEM)
        with team_database(self._url) as db:
            db.execute(statement, {"repo": job.repo, "worker": self.worker, "problem": shown})


class HeldLease:
    """Renews the lease of a job in the background, while a `with` block works on it."""

    def __init__(self, queue: JobQueue, job: Job) -> None:
        self._queue = queue
        self._job = job
        self._is_lost = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def check(self) -> None:
        """Raise LostJobError if another worker has taken over."""
        if self._is_lost.is_set():
            raise LostJobError("another worker has taken over, or the repository was removed")

    def _renew(self) -> None:
        while not self._ended.wait(self._queue.lease_seconds / 4):
            try:
                if not self._queue.renew(self._job):
                    self._is_lost.set()
                    return
            except StoreError:
                # The server may be back in time, and if not, nothing is written.
                continue

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()


def ask_for(db: Connection, repository: int) -> None:
    """Ask for a repository to be indexed; if a worker is at it, it is indexed once more after that."""
    db.execute("INSERT INTO job (repo) VALUES (%s) ON CONFLICT (repo) DO UPDATE SET asked = now()", [repository])


# The wait after a failure doubles each time, from half a minute to an hour. If workers are gone again and again, the
# wait for the next one grows too: the repository may be what ends them.
_TAKE = """UPDATE job SET worker = %(worker)s, taken = clock_timestamp(),
        lease = clock_timestamp() + make_interval(secs => %(seconds)s),
        failures = failures + (free.previous <> '')::integer,
        problem = CASE free.previous WHEN '' THEN problem ELSE 'the worker ' || free.previous || ' was gone' END
    FROM (
        SELECT repo, CASE worker WHEN %(worker)s THEN '' ELSE worker END AS previous FROM job
        WHERE not_before <= now() AND repo <> ALL (%(absent)s::integer[]) AND (lease IS NULL OR worker = %(worker)s
            OR lease + make_interval(secs => least(3600, 30 * (2 ^ least(failures, 10) - 1))) < now())
        ORDER BY asked, repo LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS free JOIN repository ON repository.id = free.repo
    WHERE job.repo = free.repo
    RETURNING repository.id, name, source, branch, revision, free.previous"""
_RENEW = """UPDATE job SET lease = clock_timestamp() + make_interval(secs => %(seconds)s)
    WHERE repo = %(repo)s AND worker = %(worker)s"""
_RELEASE = """UPDATE job SET worker = '', taken = NULL, lease = NULL, problem = coalesce(%(problem)s, problem)
    WHERE repo = %(repo)s AND worker = %(worker)s"""
_FAIL = """UPDATE job SET worker = '', taken = NULL, lease = NULL, failures = failures + 1, problem = %(problem)s,
        not_before = now() + make_interval(secs => least(3600, 30 * 2 ^ least(failures, 10)))
    WHERE repo = %(repo)s AND worker = %(worker)s"""
