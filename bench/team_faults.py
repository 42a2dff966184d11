"""Kill workers, the database and the server of a team in the middle of their work, again and again.

    .venv/bin/python bench/team_faults.py [--rounds 50] [--seed 1] [--record]

Every file of a revision carries its number, so that an answer that mixes two revisions shows. In each round, all
repositories get a new revision, and while it is indexed and asked about, one process is killed with SIGKILL and started
again, or a worker is stopped until another one has taken over. Then every repository must reach the new revision
without any other help. Counted are answers that mix revisions, revisions that were lost (an answer has an older one
than an answer before), errors that are not clear, rounds without recovery, and what is left over; all must be zero.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from own_postgres import OwnPostgres, free_port
from record import save_record
from team_reader import MARK, Answer, TeamReader

from keyhole.core.config import load_settings
from keyhole.core.postgres.server_admin import create_tables
from keyhole.core.postgres.word_postings import NARROW
from keyhole.core.team.access_tokens import create_token
from keyhole.core.team.mirror_sync import sync_repositories
from keyhole.core.team.repository_source import source_at
from keyhole.core.team.team_repositories import add_repository, add_to_group, list_repositories

REPOSITORIES = ("alpha", "beta", "gamma")
FILES = 40
VICTIMS = ("worker", "database", "server", "stopped worker")
# What an error says while the database is away.
CLEAR = re.compile(
    r"The database( of this server)? can't be reached|cannot use the database postgresql://"
    r"|the database (reports an error|cancelled)"
)
LEASE_SECONDS = "2"
LONGEST_DELAY = 1.2
# The share of rounds in which a process is killed at any moment, and not while a worker is at work.
ANY_MOMENT = 0.25
PATIENCE_SECONDS = 20
RECOVERY_SECONDS = 90
_AT_WORK = "SELECT count(*) FROM job WHERE lease > now()"
PROBLEMS = ("mixed revisions", "lost revisions", "unclear errors", "no recovery", "wrong rows", "left over")


@dataclass
class Report:
    """What happened."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def problem(self, kind: str, text: str) -> None:
        """Count and keep a problem."""
        self.counts[kind] += 1
        self.problems.append(f"{kind}: {text}")


def main() -> None:
    """Kill, print the counts, and with --record store them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--record", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        report = run(Path(scratch).resolve(), chosen.rounds, random.Random(chosen.seed))
    figures = {"seed": chosen.seed, "rounds": chosen.rounds} | {name: report.counts[name] for name in PROBLEMS}
    figures |= {name: count for name, count in sorted(report.counts.items()) if name not in PROBLEMS}
    for name, count in figures.items():
        print(f"{name:<40}{count:>10,}")
    print("\n".join(report.problems[:20]))
    if chosen.record:
        print("recorded as", save_record("team-faults", figures))
    if report.problems:
        raise SystemExit(1)


def run(scratch: Path, rounds: int, chance: random.Random, files: int = FILES) -> Report:
    """Kill once in each round, and return what happened."""
    # Not in the folder for everything else, which the server's own user may not be able to enter.
    with tempfile.TemporaryDirectory(prefix="keyhole-postgres-", ignore_cleanup_errors=True) as place:
        server = OwnPostgres(Path(place))
        server.start()
        try:
            create_tables(server.url, partitions=4)
            return _run(Team(scratch, server, chance, files), rounds)
        finally:
            server.stop()


def _run(team: "Team", rounds: int) -> Report:
    try:
        for number in range(1, rounds + 1):
            team.round(number, VICTIMS[(number - 1) % len(VICTIMS)])
            print(f"round {number}: {len(team.report.problems)} problems", flush=True)
    finally:
        team.end()
    return team.report


class Team:
    """Three mirrors, a worker, a reader, and the database between them."""

    def __init__(self, scratch: Path, server: OwnPostgres, chance: random.Random, files: int) -> None:
        self.report = Report()
        self._files = files
        self._scratch = scratch
        self._server = server
        self._chance = chance
        self._temporary = scratch / "temporary"
        self._temporary.mkdir()
        # Revisions that every answer must have by now, by repository.
        self._least = dict.fromkeys(REPOSITORIES, 0)
        self._checked = 0
        self._port = str(free_port())
        for name in REPOSITORIES:
            (scratch / name).mkdir()
            self._git(name, "init", "--quiet")
        self._commit(0)
        self._settings = load_settings(scratch, {"cache_dir": scratch / "cache"})
        for name in REPOSITORIES:
            add_repository(server.url, source_at(self._settings, scratch / name, ""))
        add_to_group(server.url, "all", REPOSITORIES)
        token = create_token(server.url, "reader", ["all"], calls_per_minute=1_000_000)
        self._programs = {name: self._start(name) for name in ("worker", "server")}
        self._reader = TeamReader(f"http://127.0.0.1:{self._port}/mcp", token.secret, REPOSITORIES)
        self._reader.start()
        if not self._recovers(0):
            raise SystemExit("the first revision was not indexed")

    def round(self, number: int, victim: str) -> None:
        """Make a new revision, kill something while it is indexed, and see whether all is well afterwards."""
        self._commit(number)
        for _ in sync_repositories(self._server.url, self._settings, fetch=False):
            pass
        self._wait_for_a_moment()
        self.report.counts[f"faults of the {victim}"] += 1
        if victim == "database":
            self._kill_database()
        elif victim == "stopped worker":
            self._stop_worker()
        else:
            self._kill_program(victim)
        if self._recovers(number):
            self._check_rows(number)
        else:
            self.report.problem("no recovery", f"round {number}, {victim}: {list_repositories(self._server.url)}")
        self._check_answers()
        self._least = dict.fromkeys(REPOSITORIES, number)
        for left in self._left_over():
            self.report.problem("left over", f"round {number}: {left}")

    def end(self) -> None:
        """Stop what runs."""
        self._reader.stop()
        for program in self._programs.values():
            program.terminate()
            program.wait()

    def _wait_for_a_moment(self) -> None:
        """Wait until a worker is at work, mostly, and then a little longer."""
        is_any_moment = self._chance.random() < ANY_MOMENT
        deadline = time.monotonic() + (0 if is_any_moment else PATIENCE_SECONDS)
        while time.monotonic() < deadline and not self._value(_AT_WORK):
            time.sleep(0.02)
        time.sleep(self._chance.uniform(0, LONGEST_DELAY))

    def _kill_program(self, name: str) -> None:
        program = self._programs[name]
        is_at_work = name == "worker" and bool(self._value(_AT_WORK))
        self.report.counts["kills of a worker at work"] += is_at_work
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        self._programs[name] = self._start(name)

    def _kill_database(self) -> None:
        is_at_work = bool(self._value(_AT_WORK))
        self.report.counts["kills of the database during work"] += is_at_work
        self._server.kill()
        # Long enough that someone asks while it is away.
        time.sleep(self._chance.uniform(0.2, 1.0))
        self._server.start()

    def _stop_worker(self) -> None:
        """Stop a worker until another one has taken over, as on a machine that hangs, and let it continue then."""
        slow = self._programs["worker"]
        os.killpg(slow.pid, signal.SIGSTOP)
        self.report.counts["workers stopped at work"] += bool(self._value(_AT_WORK))
        self._programs["worker"] = self._start("worker")
        time.sleep(float(LEASE_SECONDS) + self._chance.uniform(0.5, 3.0))
        os.killpg(slow.pid, signal.SIGCONT)
        time.sleep(self._chance.uniform(0, 1))
        slow.terminate()
        try:
            slow.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.report.problem("left over", "a worker that was stopped and continued does not end")
            slow.kill()
            slow.wait()

    def _recovers(self, number: int) -> bool:
        wanted = {name: self._git(name, "rev-parse", "HEAD") for name in REPOSITORIES}
        deadline = time.monotonic() + RECOVERY_SECONDS
        while time.monotonic() < deadline:
            if self._rows("SELECT name, revision FROM keyhole.repository") == wanted and self._is_read(number):
                return True
            time.sleep(0.1)
        return False

    def _is_read(self, number: int) -> bool:
        """Return whether the reader has seen the new revision of all repositories, after whatever was killed."""
        last = self._reader.answers[-1:]
        return bool(last) and set(last[0].revisions.values()) == {(number,)}

    def _check_rows(self, number: int) -> None:
        """Compare the words and texts in the database with the new revision."""
        found = self._value("SELECT count(*) FROM keyhole.file_text")
        chunks = f"SELECT coalesce(sum(octet_length(postings) / {NARROW.bytes}), 0) FROM keyhole.block_word"
        marked = self._value(f"{chunks} WHERE word = 'mark{number}'")
        others = self._value(f"{chunks} WHERE word ~ '^mark[0-9]+$' AND word <> 'mark{number}'")
        expected = len(REPOSITORIES) * self._files
        if (found, marked, others) != (expected, expected, 0):
            self.report.problem("wrong rows", f"round {number}: {found} texts, {marked} marks, {others} old marks")

    def _check_answers(self) -> None:
        answers = self._reader.answers[self._checked :]
        self._checked += len(answers)
        for answer in answers:
            self._check_answer(answer)

    def _check_answer(self, answer: Answer) -> None:
        if answer.is_away:
            self.report.counts["calls while the server was away"] += 1
        elif answer.error:
            if CLEAR.search(answer.error):
                self.report.counts["clear errors while the database was away"] += 1
            else:
                self.report.problem("unclear errors", answer.error)
        else:
            self.report.counts["answers"] += 1
        for name, numbers in answer.revisions.items():
            if len(numbers) != 1:
                self.report.problem("mixed revisions", f"{name}: {numbers} in {answer.tool}")
            elif numbers[0] < self._least[name]:
                self.report.problem("lost revisions", f"{name}: {numbers[0]} after {self._least[name]}")

    def _left_over(self) -> list[str]:
        jobs = [f"job {name}" for name in self._rows("SELECT repo::text, worker FROM keyhole.job")]
        # A worker deletes at its start what a killed one has left; while it is idle, there is nothing.
        return jobs + [path.name for path in self._temporary.glob("keyhole-team-*")]

    def _commit(self, number: int) -> None:
        for name in REPOSITORIES:
            for file in range(self._files):
                lines = [f"def function_{file}_{line}(): return 'part {line} of {name}'" for line in range(30)]
                text = f"# {MARK} {number} of {name}\nmark{number} = {file}\n" + "\n\n".join(lines) + "\n"
                (self._scratch / name / f"file{file}.py").write_text(text)
            self._git(name, "add", "--all")
            self._git(name, "commit", "--quiet", "--message", f"Revision {number}")

    def _start(self, name: str) -> "subprocess.Popen[bytes]":
        if name == "worker":
            command = ["-m", "keyhole", "team", "work", "--lease", LEASE_SECONDS]
        else:
            command = ["-m", "keyhole", "mcp", "--http", "--team", "--port", self._port, "--processes", "1"]
        with (self._scratch / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *command],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._scratch),
            "TMPDIR": str(self._temporary),
            "KEYHOLE_STORE_URL": self._server.url,
            "KEYHOLE_CACHE_DIR": str(self._scratch / "cache"),
            "KEYHOLE_INDEX_MODEL": "none",
            "KEYHOLE_INDEX_WORKERS": "1",
        }

    def _git(self, name: str, *arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        command = ["git", *identity, *arguments]
        return subprocess.run(
            command, cwd=self._scratch / name, check=True, capture_output=True, text=True
        ).stdout.strip()

    def _rows(self, sql: str) -> dict[str, str]:
        with psycopg.connect(self._server.url, options="-c search_path=keyhole,public") as db:
            return dict(db.execute(sql).fetchall())  # type: ignore[arg-type,unused-ignore]

    def _value(self, sql: str) -> int:
        with psycopg.connect(self._server.url, options="-c search_path=keyhole,public") as db:
            row = db.execute(sql).fetchone()  # type: ignore[arg-type,unused-ignore]
        return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
