"""A worker: takes repositories from the queue, and indexes each revision in a temporary folder."""

import os
import platform
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from keyhole.core.config import Settings
from keyhole.core.errors import ErrorKind, KeyholeError, LockedStoreError, LostJobError, StoreError
from keyhole.core.index.update import Hooks, update_index
from keyhole.core.postgres.team_home import ClaimedRevision, TeamHome
from keyhole.core.processes import is_running
from keyhole.core.team.job_queue import DEFAULT_LEASE_SECONDS, HeldLease, Job, JobQueue
from keyhole.core.team.repository_source import source_at
from keyhole.core.team.stop_signal import check_stopped
from keyhole.core.types.index import IndexReport
from keyhole.core.workspace.model_loader import ModelLoader
from keyhole.core.workspace.opening import OpenWorkspace

# How often an idle worker looks for a job, and tries again to reach a database that is away.
_IDLE_SECONDS, _AWAY_SECONDS = 2.0, 5.0
# For so long a worker leaves repositories to others that are not on its machine.
_ABSENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class WorkEvent:
    """What a worker reports: `kind` is indexed, unchanged, failed, lost, absent or away."""

    kind: str
    repository: str
    text: str
    revision: str = ""
    files: int = 0
    chunks: int = 0
    seconds: float = 0.0


class RepositoryWorker:
    """Works on one repository at a time."""

    def __init__(
        self,
        url: str,
        settings: Settings,
        report: Callable[[WorkEvent], None],
        lease_seconds: float = DEFAULT_LEASE_SECONDS,
    ) -> None:
        self._url = url
        self._settings = settings
        self._report = report
        # The last part tells workers apart that have the same number, one after the other.
        name = f"{platform.node()[:30]}:{os.getpid()}:{secrets.token_hex(4)}"
        self._queue = JobQueue(url, name, lease_seconds)
        self._models = ModelLoader(settings.index.model)
        self._absent: dict[int, float] = {}

    def work(self, *, once: bool) -> None:
        """Take one job after the other; with `once`, until there is none left to take."""
        delete_abandoned_folders()
        while True:
            check_stopped()
            try:
                is_idle = not self.work_on_next()
            except StoreError as error:
                if once or error.kind != ErrorKind.NO_SERVER:
                    raise
                self._report(WorkEvent("away", "", f"{error.problem}; trying again"))
                time.sleep(_AWAY_SECONDS)
                continue
            if is_idle and once:
                return
            if is_idle:
                time.sleep(_IDLE_SECONDS)

    def work_on_next(self) -> bool:
        """Work on the next job; return False if there is none."""
        now = time.monotonic()
        self._absent = {repo: since for repo, since in self._absent.items() if now - since < _ABSENT_SECONDS}
        job = self._queue.take([*self._absent])
        if job is None:
            return False
        try:
            self._work_on_or_stop(job)
        except LostJobError as error:
            self._report(WorkEvent("lost", job.name, error.problem))
        except LockedStoreError as error:
            # Another process is still ending.
            self._queue.release(job, error.problem)
            time.sleep(1)
        except (KeyholeError, OSError) as error:
            if isinstance(error, StoreError) and error.kind == ErrorKind.NO_SERVER:
                raise
            self._fail(job, str(error))
        except Exception as error:  # noqa: BLE001  # one bad repository must not stop the others
            self._fail(job, f"{type(error).__name__}: {error}")
        except BaseException:
            self._queue.release(job)
            raise
        return True

    def _work_on_or_stop(self, job: Job) -> None:
        """Work on a job; after a signal, whatever error it has caused, stop."""
        try:
            self._work_on(job)
        except Exception:
            check_stopped()
            raise

    def _work_on(self, job: Job) -> None:
        source = source_at(self._settings, Path(job.source), job.branch)
        if not source.is_there:
            problem = f"{source.folder} is not on {platform.node()}"
            self._absent[job.repo] = time.monotonic()
            self._queue.release(job, problem)
            self._report(WorkEvent("absent", job.name, problem))
            return
        with HeldLease(self._queue, job) as lease:
            if job.revision and source.revision() == job.revision:
                self._queue.skip(job)
                self._report(WorkEvent("unchanged", job.name, "already indexed", job.revision))
                return
            with tempfile.TemporaryDirectory(prefix=f"{_own_prefix(os.getpid())}-") as scratch:
                root, revision = source.unpack(Path(scratch), job.name)
                lease.check()
                done = self._index(job, root, revision, lease)
        text = f"{done.files:,} files, {done.chunks:,} chunks in {done.seconds:.1f} s"
        self._report(WorkEvent("indexed", job.name, text, revision, done.files, done.chunks, round(done.seconds, 2)))

    def _index(self, job: Job, root: Path, revision: str, lease: HeldLease) -> IndexReport:
        workspace = OpenWorkspace(root, self._settings)
        claimed = ClaimedRevision(job.repo, revision, self._queue.worker)
        request = replace(
            workspace.update_request(self._models.embedder, retry=True),
            elsewhere=TeamHome(self._url, claimed),
            wait=False,
        )
        return update_index(request, Hooks(progress=lambda _: lease.check()))

    def _fail(self, job: Job, problem: str) -> None:
        self._queue.fail(job, problem)
        self._report(WorkEvent("failed", job.name, problem))


def delete_abandoned_folders() -> None:
    """Delete what killed workers of this machine have left in the folder for temporary files."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_own_prefix('*')}-*"):
        number = folder.name.removeprefix(_own_prefix("")).partition("-")[0]
        if number.isdigit() and not is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _own_prefix(process: object) -> str:
    """Return how the names of temporary folders start; other machines may share the folder that contains them."""
    machine = re.sub("[^A-Za-z0-9]", "_", platform.node())
    return f"keyhole-team-{machine}-{process}"
