"""Kill keyhole at random moments while files change, and compare what it leaves with a fresh index.

    .venv/bin/python bench/kill_test.py [--kills 100] [--command index|watch|serve] [--seed N] [--record]

Real processes run `keyhole index`, the explorer, which watches files, and `keyhole mcp` on stdio and HTTP. SIGKILL hits
the process alone, its whole process group, or one of its workers. After each kill the index must pass SQLite's checks,
no process or lock may be left, the next index run must succeed, and then every row and the answers to a fixed set of
requests must be those of a fresh index. Nothing temporary may be left. Needs Linux, for /proc.
"""

import argparse
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from edited_files import EditedFiles
from killed_programs import Place, Running, start_explorer, start_index, start_server
from record import HERE, refuse_changes, save_record

from keyhole.core.errors import KeyholeError
from keyhole.core.index.location import INDEX_FILE, JOURNAL_FILE, JOURNAL_LOCK_FILE, LOCK_FILE, ROOT_FILE
from keyhole.core.index.lock import has_writer
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    LinksRequest,
    RelatedRequest,
    Relation,
    TreeRequest,
)
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Mode
from keyhole.core.types.view_requests import SearchRequest

sys.path.append(str(HERE.parent / "tests"))
from fresh_index import Request, different_answers, different_rows, open_service  # found by the line above

MODEL = "builtin"
START: dict[str, Callable[[Place, str, random.Random], Running]] = {
    "index": start_index,
    "watch": start_explorer,
    "serve": start_server,
}
# When to kill: a phase, the most times it may begin before, and the most seconds after that.
FIRST_MOMENTS = (
    ("starting", 0, 1.2),
    ("walking", 1, 0.03),
    ("loading the model", 1, 0.05),
    ("preparing", 1, 0.3),
    ("embedding", 30, 0.01),
    ("writing", 4, 0.01),
    ("linking", 1, 0.01),
    ("committing", 5, 0.003),
    ("merging words", 1, 0.01),
    ("closing", 2, 0.005),
)
# The same in a program that keeps running after its first index run, and is searched.
LATER_MOMENTS = (
    ("walking", 2, 0.03),
    ("preparing", 1, 0.05),
    ("embedding", 8, 0.01),
    ("writing", 2, 0.01),
    ("linking", 1, 0.01),
    ("committing", 3, 0.003),
    ("closing", 2, 0.005),
    ("refreshing", 2, 0.03),
    ("trigrams", 2, 0.02),
    ("searching", 3, 0.02),
    ("at rest", 1, 1.0),
)
VICTIMS = ("process", "process", "group", "group", "worker")
# Of four rounds, one begins without an index.
FIRST_RUNS = 4
# Of five runs after a kill, one is a process of its own; the others take place here, which is faster.
SEPARATE_RUNS = 5
EDITS = (4, 30)
LATER_KILLS = 0.5
# Seconds to wait for a phase: the first takes as long as the program takes to start, a later one may never come.
FIRST_PATIENCE, LATER_PATIENCE = 10.0, 3.0
# What the folder of an index may contain; the log of a killed journal stays until the journal is opened again.
ALLOWED = {
    INDEX_FILE,
    LOCK_FILE,
    ROOT_FILE,
    JOURNAL_FILE,
    JOURNAL_LOCK_FILE,
    f"{JOURNAL_FILE}-wal",
    f"{JOURNAL_FILE}-shm",
}

REQUESTS: tuple[Request, ...] = (
    *(SearchRequest("store", mode=mode) for mode in Mode),
    SearchRequest("writer of the store", mode=Mode.KEYWORD, limit=50, detail_level=Detail.MINIMAL),
    SearchRequest("how files are read", limit=3, detail_level=Detail.RICH),
    SearchRequest("/edit [0-9]+ of/", limit=50, detail_level=Detail.MINIMAL),
    RelatedRequest("core/index/lock.py", 1),
    LinksRequest("core/index/update.py"),
    BacklinksRequest("core/index"),
    BrokenLinksRequest(),
    TreeRequest(relation=Relation.DESCENDANTS, symbols=True),
)


@dataclass
class Report:
    """What became of the kills of one command."""

    counts: "Counter[str]" = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


# Counted problems; all must be 0.
PROBLEMS = (
    "programs that failed",
    "damaged indexes",
    "damaged journals",
    "failed runs after a kill",
    "different rows",
    "different answers",
    "processes left over",
    "locks left over",
    "temporary files left over",
    "changes to the workspace",
)


def main() -> None:
    """Kill, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=100, help="kills of each command")
    options.add_argument("--command", choices=START, action="append", help="only this command")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    if chosen.record:
        refuse_changes()
    commands, began = chosen.command or list(START), time.monotonic()
    # Each command has a workspace and a process of its own.
    with ProcessPoolExecutor(len(commands), mp_context=multiprocessing.get_context("spawn")) as pool:
        reports = dict(
            zip(
                commands,
                pool.map(kill_often, commands, *map(itertools.repeat, (chosen.kills, chosen.seed))),
                strict=True,
            )
        )
    figures = figures_of(reports, chosen.seed) | {"seconds": round(time.monotonic() - began)}
    for name, figure in figures.items():
        print(f"{name:<52}{figure:>10,}")
    problems = [problem for report in reports.values() for problem in report.problems]
    print("\n".join(problems))
    if chosen.record:
        print("recorded as", save_record("kill-test", figures))
    if problems:
        raise SystemExit(1)


def figures_of(reports: dict[str, Report], seed: int) -> dict[str, int]:
    """Return the totals, and the counts of each command."""
    total = sum((report.counts for report in reports.values()), Counter[str]())
    figures = {"seed": seed, "kills": total["kills"]} | {name: total[name] for name in PROBLEMS}
    figures |= {
        name: total[name] for name in ("answers compared", "calls in journals", "edits", "ended before the kill")
    }
    for command, report in reports.items():
        figures |= {
            f"{command}, {name}": report.counts[name] for name in sorted(report.counts) if name.startswith("kill")
        }
    return figures


def kill_often(command: str, kills: int, seed: int) -> Report:
    """Kill one command again and again, on one workspace with a long history."""
    with tempfile.TemporaryDirectory() as folder:
        lane = Lane(command, Path(folder).resolve(), random.Random(f"{seed} {command}"))
        while lane.report.counts["kills"] < kills:
            lane.round()
            done = lane.report.counts["kills"]
            if done % 10 == 0:
                print(f"{command}: {done} kills, {len(lane.report.problems)} problems", flush=True)
        lane.report.counts["edits"] = lane.files.edits
    return lane.report


class Lane:
    """One command, its workspace and its index."""

    def __init__(self, command: str, scratch: Path, chance: random.Random) -> None:
        self.report = Report()
        self._command = command
        self._chance = chance
        self._place = Place(scratch / "project", scratch)
        self._rounds = 0
        self._has_failed = False
        for made in (self._place.root, self._place.temporary):
            made.mkdir()
        # Edits happen in a thread, so they have their own numbers.
        self.files = EditedFiles(self._place.root, HERE.parent, random.Random(chance.random()))

    def round(self) -> None:
        """Start the command, kill it, and check what it left."""
        self._rounds += 1
        # What went wrong once must not count again in the next round.
        if self._chance.randrange(FIRST_RUNS) == 0 or self._has_failed:
            shutil.rmtree(self._place.cache, ignore_errors=True)
        self._has_failed = False
        self.files.edit(self._chance.randint(*EDITS))
        running = START[self._command](self._place, f"{os.getpid()}-{self._rounds}", self._chance)
        self.files.start()
        try:
            victim = self._kill(running)
        finally:
            self.files.stop()
        if victim is None:
            self.report.counts["ended before the kill"] += 1
        self._check(running)

    def _kill(self, running: Running) -> str | None:
        """Kill the program at a random moment; return what was killed, or None if it had ended before."""
        # Half of the programs that go on after their first run are killed later.
        is_later = self._command != "index" and self._chance.random() < LATER_KILLS
        if is_later:
            running.wait_for("at rest", 1, FIRST_PATIENCE)
        phase, most, longest = self._chance.choice(LATER_MOMENTS if is_later else FIRST_MOMENTS)
        times, delay = self._chance.randint(min(1, most), most), self._chance.uniform(0, longest)
        running.wait_for(phase, times, LATER_PATIENCE if is_later else FIRST_PATIENCE)
        time.sleep(delay)
        at_kill = running.phases.now
        victim = running.kill(self._chance.choice(VICTIMS)) if running.is_running else None
        if victim == "worker" and self._command != "index":
            # The others go on without a worker, until they are killed too.
            time.sleep(self._chance.uniform(0, 0.5))
            running.kill("process")
        code, last = running.end()
        must_succeed = self._command == "index" and victim in (None, "worker")
        if (must_succeed and code != 0) or (self._command != "index" and victim is None):
            self._problem("programs that failed", f"exit code {code}: {self._place.said}")
        if victim is None or (victim != "worker" and code != -signal.SIGKILL):
            return None
        self.report.counts["kills"] += 1
        self.report.counts[f"kills of the {victim}"] += 1
        self.report.counts[f"kills while {at_kill if victim == 'worker' else last}"] += 1
        return victim

    def _check(self, running: Running) -> None:
        for process in running.left_over():
            self._problem("processes left over", f"process {process}")
            os.kill(process, signal.SIGKILL)
        service = open_service(self._place.root, self._place.cache, MODEL)
        if has_writer(service.folder):
            self._problem("locks left over", "the writer lock is held")
        elif self._is_sound(service) and self._index_again(service):
            self._compare(service)
        service.close()
        for left in self._left_files(service.folder):
            self._problem("temporary files left over", left)
        if not self.files.is_untouched():
            self._problem("changes to the workspace", "files differ from what was written")

    def _is_sound(self, service: Service) -> bool:
        """Check the index and the journal as they were left."""
        try:
            self.report.counts["calls in journals"] += sum(1 for _ in service.journal_reader().each())
        except KeyholeError as error:
            self._problem("damaged journals", str(error))
        if not (service.folder / INDEX_FILE).exists():
            return True
        with Store(service.folder / INDEX_FILE) as store:
            problems = check_integrity(store)
        if problems:
            self._problem("damaged indexes", "; ".join(problems))
        return not problems

    def _index_again(self, service: Service) -> bool:
        """Bring the index up to date, as the next `keyhole index` does."""
        problem = ""
        if self._rounds % SEPARATE_RUNS == 0:
            environment = self._place.variables("check", has_pool=False)
            command = [sys.executable, "-m", "keyhole", "index", str(self._place.root)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            problem = done.stderr
        else:
            # A message, such as that a damaged index is rebuilt, is a problem too.
            said: list[str] = []
            try:
                service.index(retry=True, on_message=lambda message: said.append(message.text))
            except KeyholeError as error:
                said.append(str(error))
            problem = "; ".join(said)
        if problem:
            self._problem("failed runs after a kill", problem)
        return not problem

    def _compare(self, service: Service) -> None:
        with tempfile.TemporaryDirectory() as cache:
            fresh = open_service(service.root, Path(cache), MODEL)
            fresh.index()
            for table in different_rows(service, fresh):
                self._problem("different rows", table)
            for request in different_answers(service, fresh, REQUESTS):
                self._problem("different answers", str(request))
            fresh.close()
        self.report.counts["answers compared"] += 2 * len(REQUESTS)

    def _left_files(self, folder: Path) -> Iterator[str]:
        yield from (path.name for path in folder.iterdir() if path.name not in ALLOWED)
        yield from (path.name for path in self._place.temporary.iterdir())

    def _problem(self, kind: str, what: str) -> None:
        self._has_failed = True
        self.report.counts[kind] += 1
        self.report.problems.append(f"{self._command}, round {self._rounds}: {kind}: {what}")


if __name__ == "__main__":
    main()
