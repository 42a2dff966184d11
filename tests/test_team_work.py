"""A team's repositories: added and grouped, indexed by one worker at a time, and shown revision by revision."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from git_samples import commit_all, git, new_repository, write
from postgres_server import new_database, prepared_database

from keyhole.core.cli.main import cli, run_command
from keyhole.core.config import Settings, load_settings
from keyhole.core.errors import ErrorKind, GitError, LostJobError, StoreError, TeamError
from keyhole.core.git.local_mirror import branch_commit, fetch_branches
from keyhole.core.masking import mask_text
from keyhole.core.postgres.job_rows import name_connection
from keyhole.core.postgres.postgres_schema import TABLES
from keyhole.core.postgres.server_connection import connect
from keyhole.core.postgres.team_home import ClaimedRevision, TeamHome
from keyhole.core.team.access_book import served_repositories
from keyhole.core.team.access_tokens import TeamAccess, access_of
from keyhole.core.team.job_queue import HeldLease, JobQueue, ask_for
from keyhole.core.team.repository_source import source_at
from keyhole.core.team.repository_worker import RepositoryWorker, WorkEvent
from keyhole.core.team.stop_signal import _stopped, stop_on_signals
from keyhole.core.team.team_database import NamedRepository
from keyhole.core.team.team_repositories import add_repository, list_repositories
from keyhole.core.team.team_service import TeamService
from keyhole.core.types.choices import Detail, Mode
from keyhole.core.types.view_requests import SearchRequest


@pytest.fixture(scope="module")
def database(postgres_server: str) -> Iterator[str]:
    with prepared_database(postgres_server) as url:
        yield url


@pytest.fixture
def url(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of a database without repositories, which all commands use."""
    for name, value in {
        "KEYHOLE_STORE_URL": database,
        "KEYHOLE_INDEX_MODEL": "none",
        "KEYHOLE_INDEX_WORKERS": "1",
        "KEYHOLE_CACHE_DIR": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    with connect(database) as db:
        db.execute(f"TRUNCATE repository, team_group, access_token, {', '.join(TABLES)} CASCADE")
    return database


@pytest.fixture
def settings(url: str, tmp_path: Path) -> Settings:
    assert url
    return load_settings(tmp_path)


def said(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli, [*arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def facts(*arguments: str, code: int = 0) -> Any:
    return json.loads(said(*arguments, "--json", code=code))


def problem_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run_command([*arguments]) == 2
    return capsys.readouterr().err


def texts_of(url: str, settings: Settings, *names: str) -> str:
    """Return everything that a search finds in some repositories."""
    with connect(url) as db:
        rows = db.execute("SELECT id, name FROM repository WHERE name = ANY (%s)", [list(names)]).fetchall()
    service = TeamService([NamedRepository(*row) for row in rows], settings)
    found = service.search_view(SearchRequest("revision", Mode.KEYWORD, detail_level=Detail.RICH)).text
    service.close()
    return found


def counted_by(service: TeamService) -> tuple[int, int, int]:
    """Return the generation that a service reads, and how many files are indexed and skipped."""
    with service.engines.lend() as engine, engine.store.snapshot():
        return engine.store.facts().generation, engine.store.count_files(), engine.store.count_skips()


def worker_at(url: str, settings: Settings, lease: float = 60) -> tuple[RepositoryWorker, list[WorkEvent]]:
    events: list[WorkEvent] = []
    return RepositoryWorker(url, settings, events.append, lease), events


def mirror_of(folder: Path) -> Path:
    mirror = folder.with_suffix(".git")
    git(folder, "clone", "--quiet", "--mirror", str(folder), str(mirror))
    return mirror


# Repositories and groups


def test_repositories_are_added_listed_grouped_and_removed(url: str, settings: Settings, tmp_path: Path) -> None:
    mirror = mirror_of(new_repository(tmp_path / "acme"))
    assert said("team", "list", code=1) == "No repositories. Add one with keyhole team add.\n"
    added = facts("team", "add", str(mirror), "--group", "backend")
    assert (added["name"], added["groups"]) == ("acme", ["backend"])
    assert added["revision"] == git(mirror, "rev-parse", "HEAD").decode().strip()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# The revision of notes\n")
    assert "Added docs at" in said("team", "add", str(tmp_path / "notes"), "--name", "docs")
    assert [(each["name"], each["state"]) for each in facts("team", "list")] == [
        ("acme", "waiting"),
        ("docs", "waiting"),
    ]
    assert "not indexed yet │ groups: backend\n  waiting for a worker" in said("team", "list")
    events = [json.loads(line) for line in said("team", "work", "--once", "--json").splitlines()]
    assert [(event["kind"], event["repository"]) for event in events] == [("indexed", "acme"), ("indexed", "docs")]
    assert {each["state"] for each in facts("team", "list")} == {"indexed"}
    assert "docs/a.md" in texts_of(url, settings, "acme", "docs")

    said("team", "group", "add", "all", "acme", "docs")
    said("team", "group", "remove", "backend", "acme")
    groups = {each["name"]: each["repositories"] for each in facts("team", "group", "list")}
    assert groups == {"all": ["acme", "docs"], "backend": []}
    said("team", "group", "remove", "backend")
    said("team", "remove", "acme")
    assert [each["name"] for each in facts("team", "list")] == ["docs"]
    assert facts("team", "group", "list") == [{"name": "all", "repositories": ["docs"], "tokens": []}]
    with connect(url) as db:
        repositories = db.execute("SELECT id FROM repository").fetchall()
        assert db.execute("SELECT DISTINCT repo FROM file").fetchall() == repositories


def test_errors_name_what_is_wrong_and_what_is_close(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert url
    folder = new_repository(tmp_path / "payments")
    said("team", "add", str(folder), "--group", "backend")
    assert "is taken by" in problem_of(capsys, "team", "add", str(folder))
    assert "is not a folder on this machine" in problem_of(capsys, "team", "add", str(tmp_path / "gone"))
    assert "has no branch nope" in problem_of(capsys, "team", "add", str(folder), "--name", "x", "--branch", "nope")
    assert "can't be the name" in problem_of(capsys, "team", "add", str(folder), "--name", "../x")
    assert "are never indexed" in problem_of(capsys, "team", "add", str(folder), "--name", "node_modules")
    assert "Did you mean payments?" in problem_of(capsys, "team", "remove", "paymnts")
    assert "Did you mean payments?" in problem_of(capsys, "team", "group", "add", "backend", "paymnts")
    assert "Did you mean backend?" in problem_of(capsys, "team", "group", "remove", "backnd")
    assert "Did you mean backend?" in problem_of(capsys, "admin", "token", "create", "ann", "--group", "backnd")
    assert "is not in the group" in problem_of(capsys, "team", "group", "remove", "backend", "payments", "payments")
    assert [each["repositories"] for each in facts("team", "group", "list")] == [["payments"]]
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    assert "has no commit" in problem_of(capsys, "team", "add", str(empty))


# Tokens


def test_a_token_gives_access_to_its_groups_until_it_is_revoked_or_expires(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "three"):
        said("team", "add", str(new_repository(tmp_path / name)), "--group", name)
    secret = said("admin", "token", "create", "ann", "--group", "one", "--group", "two").strip()
    assert mask_text(f"token: {secret}") == "token: [secret: keyhole-token]"
    access = access_of(url, secret)
    assert isinstance(access, TeamAccess)
    assert ([repository.name for repository in access.repositories], access.calls_per_minute) == (["one", "two"], 600)
    assert access_of(url, secret[:-1]) is None
    assert "already a token 'ann'" in problem_of(capsys, "admin", "token", "create", "ann", "--group", "one")
    with connect(url) as db:
        stored = db.execute("SELECT access_token::text FROM access_token").fetchall()
        assert len(stored) == 1
        assert secret not in str(stored)
        db.execute("UPDATE access_token SET expires = now() - interval '1 second'")
    assert access_of(url, secret) is None
    assert [each["state"] for each in facts("admin", "token", "list")] == ["expired"]

    made = facts("admin", "token", "create", "bot", "--group", "three", "--expires", "0", "--calls-per-minute", "5")
    assert made["expires"] is None
    assert [each["tokens"] for each in facts("team", "group", "list")] == [["ann"], ["bot"], ["ann"]]
    found = access_of(url, made["secret"])
    assert found
    assert found.calls_per_minute == 5
    assert "Did you mean bot?" in problem_of(capsys, "admin", "token", "revoke", "bt")
    assert said("admin", "token", "revoke", "bot") == "Revoked token 'bot'.\n"
    assert facts("admin", "token", "revoke", "bot")["was_revoked_before"]
    assert access_of(url, made["secret"]) is None


# Mirrors


def test_the_default_branch_of_a_mirror_is_followed(url: str, settings: Settings, tmp_path: Path) -> None:
    origin = new_repository(tmp_path / "acme")
    mirror = mirror_of(origin)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(origin), str(clone))
    said("team", "add", str(mirror), "--name", "bare")
    said("team", "add", str(clone), "--name", "clone")
    said("team", "work", "--once")
    write(origin, one="the new revision\n")
    commit_all(origin)
    write(clone, one="only local, so not in any revision\n")
    commit_all(clone)
    assert {each["kind"] for each in facts("team", "sync")} == {"current"}
    assert {each["kind"] for each in facts("team", "sync", "--fetch")} == {"asked"}
    said("team", "work", "--once")
    assert {each["revision"] for each in facts("team", "list")} == {git(origin, "rev-parse", "HEAD").decode().strip()}
    found = texts_of(url, settings, "bare", "clone")
    assert found.count("1\tthe new revision") == 2
    assert "only local" not in found
    assert "bare: up to date at" in said("team", "sync")
    mirror.rename(tmp_path / "elsewhere.git")
    git(clone, "config", "remote.origin.url", "ext::sh -c true")
    failed = facts("team", "sync", "--fetch", code=2)
    assert [each["kind"] for each in failed] == ["absent", "failed"]
    assert "'ext'" in failed[1]["text"]


def test_fetching_runs_no_program_of_the_repository(tmp_path: Path) -> None:
    origin = new_repository(tmp_path / "acme")
    mirror = mirror_of(origin)
    write(origin, one="new = 1\n")
    commit_all(origin)
    run = tmp_path / "run"
    script = tmp_path / "program"
    script.write_text(f'#!/bin/sh\ntouch {run}\nexec git-upload-pack "$@"\n')
    script.chmod(0o755)
    for setting in ("core.sshCommand", "core.fsmonitor", "core.alternateRefsCommand", "remote.origin.uploadpack"):
        git(mirror, "config", setting, str(script))
    hook = mirror / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {run}\n")
    hook.chmod(0o755)
    assert fetch_branches(mirror)
    assert branch_commit(mirror, "") == branch_commit(origin, "main")
    assert not run.exists()
    # The script does run when plain git fetches.
    write(origin, one="newer = 1\n")
    commit_all(origin)
    git(mirror, "fetch", "--quiet")
    assert run.exists()
    git(mirror, "config", "remote.origin.url", "--upload-pack=touch x")
    with pytest.raises(GitError):
        fetch_branches(mirror)


def test_a_plain_folder_is_followed_by_its_files(url: str, settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "dist").mkdir(parents=True)
    write(folder, a="one = 'revision 1'\n", dist__b="two = 'revision 1'\n")
    (folder / ".env").write_text("a secret revision")
    (folder / ".keyholeignore").write_text("!dist/\n")
    (folder / "link.py").symlink_to("/etc/passwd")
    said("team", "add", str(folder))
    said("team", "work", "--once")
    found = texts_of(url, settings, "notes")
    assert "notes/dist/b.py" in found
    assert "secret" not in found
    assert facts("team", "sync")[0]["kind"] == "current"
    os.utime(folder / "a.py", (1, 1))
    assert facts("team", "sync")[0]["kind"] == "asked"
    said("team", "work", "--once")
    assert facts("team", "list")[0]["state"] == "indexed"


def test_rules_count_by_their_content(settings: Settings, tmp_path: Path) -> None:
    rules = tmp_path / ".keyholeignore"
    rules.write_text("!dist/\n")
    new = source_at(settings, tmp_path, "").revision()
    # Longer than a file that has just been written counts as new.
    time.sleep(0.05)
    assert source_at(settings, tmp_path, "").revision() == new
    rules.write_text("!diff/\n")
    assert source_at(settings, tmp_path, "").revision() != new


# The queue


def added(url: str, settings: Settings, folder: Path) -> Path:
    new_repository(folder)
    write(folder, one=f"the first revision of {folder.name}\n")
    commit_all(folder)
    add_repository(url, source_at(settings, folder, ""))
    return folder


def test_each_job_has_one_worker(url: str, settings: Settings, tmp_path: Path) -> None:
    added(url, settings, tmp_path / "one")
    added(url, settings, tmp_path / "two")
    first, second = JobQueue(url, "first"), JobQueue(url, "second")
    # While a transaction looks at the first job, another worker gets the second one instead of waiting.
    with connect(url) as db, db.transaction():
        db.execute("SELECT 1 FROM job ORDER BY asked, repo LIMIT 1 FOR UPDATE")
        two = second.take([])
        assert two
        assert two.name == "two"
        assert first.take([]) is None
    one = first.take([])
    assert one
    assert one.name == "one"
    assert first.take([two.repo]) == one  # its own job, for example after the database was away
    assert second.take([two.repo]) is None
    assert {each.state for each in list_repositories(url)} == {"working"}
    assert first.renew(one)
    assert not second.renew(one)
    second.release(two)
    assert first.take([one.repo]) == two


def test_a_worker_that_lost_its_lease_writes_nothing(url: str, settings: Settings, tmp_path: Path) -> None:
    folder = added(url, settings, tmp_path / "one")
    slow = JobQueue(url, "slow", lease_seconds=60)
    job = slow.take([])
    assert job
    home = TeamHome(url, ClaimedRevision(job.repo, "slow", "slow"))

    def write_slowly() -> None:
        with home.open_index() as store, store.revision(), store.transaction():
            store.set_fact("model", "slow")
            end_lease(url)
            quick, events = worker_at(url, settings)
            # It writes the same row, so it must end this connection, whose worker has lost its lease.
            assert quick.work_on_next()
            assert [event.kind for event in events] == ["indexed"]

    with pytest.raises(StoreError):
        write_slowly()
    (state,) = list_repositories(url)
    assert (state.state, state.revision) == ("indexed", git(folder, "rev-parse", "HEAD").decode().strip())
    with connect(url) as db:
        assert db.execute("SELECT count(*) FROM fact WHERE value = '\"slow\"'").fetchone() == (0,)
    with pytest.raises(LostJobError), home.open_index() as store, store.revision():
        pass
    with HeldLease(slow, job) as lease:
        lease.check()


def end_lease(url: str) -> None:
    with connect(url) as db:
        db.execute("UPDATE job SET lease = now() - interval '1 second'")


def test_a_lease_that_is_lost_is_noticed(url: str, settings: Settings, tmp_path: Path) -> None:
    added(url, settings, tmp_path / "one")
    queue = JobQueue(url, "slow", lease_seconds=0.1)
    job = queue.take([])
    assert job
    with HeldLease(queue, job) as lease:
        lease.check()
        with connect(url) as db:
            db.execute("UPDATE job SET worker = 'other'")
        assert lease._is_lost.wait(30)
        with pytest.raises(LostJobError):
            lease.check()


def test_the_connections_of_a_worker_that_is_gone_are_ended(url: str, settings: Settings, tmp_path: Path) -> None:
    added(url, settings, tmp_path / "one")
    gone = JobQueue(url, "host:1:gone")
    assert gone.take([])
    with connect(url) as held:
        name_connection(held, gone.worker)
        end_lease(url)
        job = JobQueue(url, "other").take([])
        assert job
        assert job.previous == gone.worker
        with pytest.raises(psycopg.OperationalError):
            held.execute("SELECT 1")
    assert list_repositories(url)[0].problem == "the worker host:1:gone was gone"
    # The next worker waits longer, since the repository may be what ends them.
    end_lease(url)
    assert JobQueue(url, "third").take([]) is None


def test_what_is_asked_for_during_the_work_is_done_after_it(url: str, settings: Settings, tmp_path: Path) -> None:
    folder = added(url, settings, tmp_path / "one")
    queue = JobQueue(url, "first")
    job = queue.take([])
    assert job
    with connect(url) as db:
        ask_for(db, job.repo)
    with TeamHome(url, ClaimedRevision(job.repo, "first", "first")).open_index() as store, store.revision():
        pass
    assert [(each.state, each.revision) for each in list_repositories(url)] == [("waiting", "first")]
    worker, events = worker_at(url, settings)
    worker.work(once=True)
    assert [event.revision for event in events] == [branch_commit(folder, "")]
    with connect(url) as db:
        ask_for(db, job.repo)
    worker.work(once=True)
    assert events[-1].kind == "unchanged"
    assert list_repositories(url)[0].state == "indexed"


def test_a_failure_is_shown_and_tried_again_later(url: str, settings: Settings, tmp_path: Path) -> None:
    folder = added(url, settings, tmp_path / "one")
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/gone\n")
    worker, events = worker_at(url, settings)
    worker.work(once=True)
    assert [event.kind for event in events] == ["failed"]
    assert "has no commit on its default branch" in said("team", "list")
    (state,) = facts("team", "list")
    assert (state["state"], state["failures"]) == ("failed", 1)
    assert state["next_try"]
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with connect(url) as db:
        db.execute("UPDATE job SET not_before = now()")
    worker.work(once=True)
    assert [event.kind for event in events] == ["failed", "indexed"]
    folder.rename(tmp_path / "moved")
    with connect(url) as db:
        ask_for(db, 0 if not (row := db.execute("SELECT id FROM repository").fetchone()) else row[0])
    worker.work(once=True)
    assert events[-1].kind == "absent"
    assert (list_repositories(url)[0].state, list_repositories(url)[0].failures) == ("waiting", 0)
    assert "is not on" in list_repositories(url)[0].problem


def test_an_interrupted_worker_gives_its_job_back(
    url: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(url, settings, tmp_path / "one")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    worker, events = worker_at(url, settings)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(HeldLease, "check", interrupt)
        with pytest.raises(KeyboardInterrupt):
            worker.work(once=True)
    assert list_repositories(url)[0].state == "waiting"
    assert not list(scratch.iterdir())
    worker.work(once=True)
    assert [event.kind for event in events] == ["indexed"]


def test_a_signal_that_causes_another_error_still_stops_the_worker(
    url: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(url, settings, tmp_path / "one")
    worker, events = worker_at(url, settings)

    def stop_while_busy(*_: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            # As a ROLLBACK does on a connection with a command in progress.
            raise StoreError("the command could not be sent", ErrorKind.NO_SERVER)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stop_on_signals()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(HeldLease, "check", stop_while_busy)
            with pytest.raises(KeyboardInterrupt):
                worker.work(once=False)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _stopped.clear()
    assert list_repositories(url)[0].state == "waiting"
    assert not events


def test_a_revision_has_exactly_its_files(url: str, settings: Settings, tmp_path: Path) -> None:
    folder = added(url, settings, tmp_path / "one")
    worker, _ = worker_at(url, settings)
    worker.work(once=True)
    service = TeamService(served_repositories(url), settings)
    before = counted_by(service)
    write(folder, src__two="the second revision\n", added="the second revision\n")
    (folder / "src" / "deep" / "three.py").unlink()
    (folder / "src" / "one.py").write_bytes(b"\0")
    commit_all(folder)
    said("team", "sync")
    # What a reader keeps is that of the revision it reads.
    assert counted_by(service) == before
    worker.work(once=True)
    assert counted_by(service) == (before[0] + 1, 3, before[2] + 1)
    service.close()
    with connect(url) as db:
        paths = [path for (path,) in db.execute("SELECT path FROM file ORDER BY path")]
        texts = db.execute("SELECT count(*) FROM file_text").fetchone()
    assert paths == ["one/added.py", "one/one.py", "one/src/two.py"]
    assert texts == (3,)
    found = texts_of(url, settings, "one")
    assert found.count("1\tthe second revision") == 2
    assert found.count("1\tthe first revision of one") == 1


def test_a_folder_that_keeps_changing_is_not_indexed(
    url: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert url
    (tmp_path / "notes").mkdir()
    write(tmp_path / "notes", a="x = 1\n")
    source = source_at(settings, tmp_path / "notes", "")
    numbers = iter(range(100))
    monkeypatch.setattr(type(source), "revision", lambda _: str(next(numbers)))
    (tmp_path / "scratch").mkdir()
    with pytest.raises(TeamError, match="keep changing"):
        source.unpack(tmp_path / "scratch", "notes")


# Backup


def program_of(server: str, name: str) -> str:
    """Return the path of a program that came with the server, or skip the test."""
    with psycopg.connect(server) as db:
        row = db.execute("SHOW data_directory").fetchone()
    above = Path(row[0]).parents if row else []
    found = [path for folder in above for path in folder.glob(f"installation/**/bin/{name}")]
    if not found:
        pytest.skip(f"the server has no {name} next to it")
    return str(found[0])


def test_a_restored_backup_gives_the_same_answers(
    url: str, settings: Settings, tmp_path: Path, postgres_server: str
) -> None:
    added(url, settings, tmp_path / "one")
    worker_at(url, settings)[0].work(once=True)
    said("team", "group", "add", "all", "one")
    secret = said("admin", "token", "create", "ann", "--group", "all").strip()
    backup = tmp_path / "backup"
    dump = [program_of(postgres_server, "pg_dump"), "--format=custom", "--schema=keyhole", f"--file={backup}", url]
    subprocess.run(dump, check=True, capture_output=True)
    before = texts_of(url, settings, "one")
    assert "the first revision of one" in before
    with new_database(postgres_server) as restored:
        with psycopg.connect(restored, autocommit=True) as db:
            db.execute("CREATE EXTENSION vector")
        restore = [program_of(postgres_server, "pg_restore"), "--no-owner", f"--dbname={restored}", str(backup)]
        subprocess.run(restore, check=True, capture_output=True)
        assert texts_of(restored, load_settings(tmp_path, {"store.url": restored}), "one") == before
        assert access_of(restored, secret) == access_of(url, secret)
        # New rows get new numbers, and workers continue.
        added(restored, settings, tmp_path / "two")
        worker_at(restored, settings)[0].work(once=True)
        assert [(each.name, each.state) for each in list_repositories(restored)] == [
            ("one", "indexed"),
            ("two", "indexed"),
        ]
