"""A team's server at scale: real packages as repositories, indexed by workers, asked by many agents at once.

    .venv/bin/python bench/team.py --place FOLDER --sources FOLDER... [--chunks 30000 100000 300000] [--record]
    .venv/bin/python bench/team.py --place FOLDER --only queries [--record]

Each folder in a folder of --sources is a repository. The database, its settings and the figures of each step stay in
--place, so that a step can be repeated: `--only ingest` indexes up to the last size, `--only queries` asks at the size
that the database has. The first size is indexed by one worker, the others by two. At every size one agent asks over one
repository, a group of ten and all; at the last size also 10 and 50 agents. Agents pause between calls (team_load.py);
the throughput is measured without a pause. Delete --place afterwards.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from load import Ask, entry_of, http_agent
from own_postgres import OwnPostgres
from record import HERE, save_record
from team_load import KINDS, PAUSE, Timings, ask_together, calls_for
from team_sources import Package, packages_in

from keyhole.core.postgres.server_admin import create_tables

GROUPS = {"one repository": 1, "a group of 10": 10, "all": 0}
CLIENTS = (1, 10, 50)
# Seconds of each measurement; those with pauses need longer for enough calls.
ALONE_SECONDS, TOGETHER_SECONDS, CLOSED_SECONDS = 12.0, 40.0, 12.0
GOALS = {"a group of 10": 300.0, "all": 1_000.0}
MOST_GROWTH = 1.1  # n log n from 30,000 to 300,000 is an exponent of 1.09
SETTINGS = ("shared_buffers=1GB", "max_connections=200", "work_mem=32MB", "max_wal_size=4GB")
# The workers of each size; the last one counts for all further sizes.
WORKERS = (1, 2)

Figures = dict[str, float]
MakeAsk = Callable[[], Ask]


def main() -> None:
    """Index and ask, print the figures, and with --record store them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--place", type=Path, required=True, help="folder for the database and the figures so far")
    options.add_argument("--sources", type=Path, nargs="*", default=[], help="folders of folders")
    options.add_argument("--chunks", type=int, nargs="+", default=[30_000, 100_000, 300_000])
    options.add_argument("--most", type=int, help="add at most so many repositories")
    options.add_argument("--quick", action="store_true", help="ask for a fifth of the time, to try it")
    options.add_argument("--only", choices=["ingest", "queries"])
    options.add_argument("--record", action="store_true")
    chosen = options.parse_args()
    bench = TeamBench(chosen.place.resolve(), chosen.sources, chosen.most, 0.2 if chosen.quick else 1.0)
    with bench.running():
        if chosen.only == "queries":
            bench.ask_all(is_last=True)
        else:
            for number, chunks in enumerate(chosen.chunks):
                bench.index(chunks, WORKERS[min(number, len(WORKERS) - 1)])
                if chosen.only is None:
                    bench.ask_all(is_last=number == len(chosen.chunks) - 1)
    figures = {**bench.figures, **growth(bench.figures)}
    for name, figure in figures.items():
        print(f"{name:<70}{figure:>12,.2f}  {verdict(name, figure)}")
    if chosen.record:
        print("recorded as", save_record("team", {"settings of PostgreSQL": ", ".join(SETTINGS), **figures}))


def verdict(name: str, figure: float) -> str:
    """Return whether a goal is met, for the figures that have one."""
    limit = next((most for group, most in GOALS.items() if f"{group}, 50 agents" in name and "p95" in name), None)
    limit = MOST_GROWTH if name.startswith("growth") else limit
    return "" if limit is None else f"<= {limit:g}  {'met' if figure <= limit else 'MISSED'}"


def growth(figures: Figures) -> Figures:
    """Return the exponents of growth between the smallest and the largest size, for one agent over all."""
    sizes = sorted({int(name.split()[0].replace(",", "")) for name in figures if name.endswith("database, MB")})
    found: Figures = {}
    for first, last in [(sizes[0], sizes[-1])] if len(sizes) > 1 else []:
        for what in ["database, MB", *(f"all, 1 agent, {kind}, p50, ms" for kind in KINDS)]:
            small, large = figures.get(f"{first:,} chunks, {what}"), figures.get(f"{last:,} chunks, {what}")
            if small and large:
                found[f"growth of {what}"] = math.log(large / small) / math.log(last / first)
    return found


class TeamBench:
    """The database, the repositories in it, and the figures so far."""

    def __init__(self, place: Path, sources: list[Path], most: int | None, share: float) -> None:
        self._place = place
        self._sources = sources
        self._most = most
        self._share = share
        place.mkdir(parents=True, exist_ok=True)
        # The server's own user must be able to enter its folder.
        place.chmod(0o755)
        self._server = OwnPostgres(place / "postgres", SETTINGS)
        self._kept = place / "figures.json"
        self.figures: Figures = json.loads(self._kept.read_text()) if self._kept.exists() else {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the database; its data stays."""
        self._server.start()
        try:
            create_tables(self._server.url)
            yield
        finally:
            self._server.stop()

    def index(self, chunks: int, workers: int) -> None:
        """Add repositories and index them, until there are so many chunks."""
        left = iter(self._left_packages())
        began_with, began_bytes, took = self._chunks, self._source_bytes, 0.0
        while (missing := chunks - self._chunks) > 0:
            batch = _next_batch(left, missing)
            if not batch:
                break
            self._add(batch)
            began = time.perf_counter()
            self._keyhole("team", "work", "--once", "--workers", str(workers))
            took += time.perf_counter() - began
            print(f"{self._chunks:,} chunks in {self._count('repository'):,} repositories", flush=True)
        size = f"{self._chunks:,} chunks"
        if took:
            source = self._source_bytes - began_bytes
            self._put(f"{size}, ingest with {workers} worker{'s'[: workers - 1]}, MB/s", source / 1e6 / took)
            self._put(f"{size}, ingest, chunks/s", (self._chunks - began_with) / took)
        self._sql("ANALYZE")
        self._put(f"{size}, repositories", self._count("repository"))
        self._put(f"{size}, files", self._count("file"))
        self._put(f"{size}, source, MB", self._source_bytes / 1e6)
        self._put(f"{size}, database, MB", self._value("SELECT pg_database_size(current_database())") / 1e6)

    def ask_all(self, *, is_last: bool) -> None:
        """Ask over one repository, some and all, with one agent, and at the last size with many."""
        size = f"{self._chunks:,} chunks"
        repositories = self._ids_by_size()
        for group, count in GROUPS.items():
            # One of middle size, and ten around it.
            middle = max(0, len(repositories) // 2 - count // 2)
            chosen = repositories[middle : middle + count] if count else repositories
            secret = self._token(group, chosen)
            calls = calls_for(self._server.url, chosen, random.Random(7))
            with self._serving(secret) as make_ask:
                for clients in CLIENTS if is_last else CLIENTS[:1]:
                    seconds = TOGETHER_SECONDS if clients > 1 else ALONE_SECONDS
                    pause = PAUSE if clients > 1 else None
                    agents = f"{clients} agent{'s' if clients > 1 else ''}"
                    timings = ask_together(make_ask, calls, clients, seconds * self._share, pause)
                    self._report(f"{size}, {group}, {agents}", timings)
                if is_last:
                    timings = ask_together(make_ask, calls, CLIENTS[-1], CLOSED_SECONDS * self._share, None)
                    name = f"{size}, {group}, {CLIENTS[-1]} agents without a pause"
                    self._put(f"{name}, calls per second", timings.calls / timings.elapsed)
                    self._put(f"{name}, errors", len(timings.errors))

    def _report(self, name: str, timings: Timings) -> None:
        self._put(f"{name}, calls per second", timings.calls / timings.elapsed)
        self._put(f"{name}, errors", len(timings.errors))
        for kind in KINDS:
            self._put(f"{name}, {kind}, p50, ms", timings.percentile(kind, 0.5))
            self._put(f"{name}, {kind}, p95, ms", timings.percentile(kind, 0.95))
        for error in timings.errors[:3]:
            print(f"  {error}", file=sys.stderr)

    def _left_packages(self) -> list[Package]:
        known = {name for (name,) in self._sql("SELECT name FROM repository")}
        found = [package for package in packages_in(self._sources) if package.name not in known]
        return found if self._most is None else found[: max(0, self._most - len(known))]

    def _add(self, packages: list[Package]) -> None:
        from keyhole.core.config import load_settings
        from keyhole.core.team.repository_source import source_at
        from keyhole.core.team.team_repositories import add_repository

        settings = load_settings(Path("/"), {})
        for package in packages:
            add_repository(self._server.url, source_at(settings, package.folder, ""), package.name)

    def _token(self, group: str, repositories: list[int]) -> str:
        from keyhole.core.team.access_tokens import create_token
        from keyhole.core.team.team_repositories import add_to_group

        number = self._count("access_token")
        name = f"{group.replace(' ', '-')}-{number}"
        ids = {int(row[0]): str(row[1]) for row in self._sql("SELECT id, name FROM repository")}
        add_to_group(self._server.url, name, [ids[repository] for repository in repositories])
        return create_token(self._server.url, name, [name], calls_per_minute=1_000_000).secret

    @contextmanager
    def _serving(self, secret: str) -> Iterator[MakeAsk]:
        """Start the HTTP server, and yield what makes agents that use it with a token."""
        command = [sys.executable, "-c", entry_of(HERE.parent), "mcp", "--http", "--team", "--port", "0"]
        with subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE) as server:
            try:
                address = _address_in(server)
                yield lambda: http_agent(address, {"Authorization": f"Bearer {secret}"})
            finally:
                server.terminate()

    def _keyhole(self, *arguments: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "keyhole", *arguments],
            env=self._environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._place),
            "PYTHONPATH": str(HERE.parent / ".src"),
            "KEYHOLE_STORE_URL": self._server.url,
            "KEYHOLE_CACHE_DIR": str(self._place / "cache"),
            # One process for each worker, so that one worker and two can be compared.
            "KEYHOLE_INDEX_WORKERS": "1",
        }

    @property
    def _chunks(self) -> int:
        return int(self._value("SELECT coalesce(sum(value::integer), 0) FROM fact WHERE name = 'chunk_count'"))

    @property
    def _source_bytes(self) -> float:
        """The bytes of all files that are indexed."""
        return self._value("SELECT coalesce(sum(size), 0) FROM file")

    def _ids_by_size(self) -> list[int]:
        """Return the repositories with code to ask about, smallest first."""
        by_size = """SELECT repo FROM symbol WHERE kind IN ('function', 'method', 'class')
            GROUP BY repo HAVING count(DISTINCT name) > 50 ORDER BY count(*), repo"""
        return [int(row[0]) for row in self._sql(by_size)]

    def _count(self, table: str) -> int:
        return int(self._value(f"SELECT count(*) FROM {table}"))

    def _value(self, sql: str) -> float:
        return float(str(self._sql(sql)[0][0]))

    def _sql(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._server.url, autocommit=True, options="-c search_path=keyhole,public") as db:
            done = db.execute(sql)  # type: ignore[arg-type,unused-ignore]
            return done.fetchall() if done.description else []

    def _put(self, name: str, figure: float) -> None:
        self.figures[name] = figure
        self._kept.write_text(json.dumps(self.figures, indent=2) + "\n")
        print(f"{name:<70}{figure:>12,.2f}", flush=True)


def _next_batch(left: Iterator[Package], missing: int) -> list[Package]:
    """Return packages with about as many chunks as are missing, or the rest."""
    batch, expected = list[Package](), 0
    for package in left:
        batch.append(package)
        expected += package.chunks
        if expected >= missing:
            break
    return batch


def _address_in(server: "subprocess.Popen[bytes]") -> str:
    """Return the address that a server prints when it is ready."""
    while server.stdout and (line := server.stdout.readline().decode()):
        if found := next((word.strip("\"',.") for word in line.split() if word.strip("\"',.").startswith("http")), ""):
            return found
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
