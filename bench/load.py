"""Run eight agents at the same time on workspaces whose files keep changing.

    .venv/bin/python bench/load.py [http stdio shared shared-8] [--calls 2000] [--clients 8] [--before REVISION]
        [--record [NAME]]

Counts errors, wrong or stale pages and answers above their budget, all of which must be zero, and compares memory in
the last quarter of the calls with the first. `http` and `shared` (`keyhole mcp` on stdio) have one server for all
agents on one workspace; with `shared-8`, each agent has a workspace of its own, and with `stdio` a server of its own.
With --before, servers of that revision and of this one alternate over HTTP, so that other load affects both.
The clients are written here: a client library would use more CPU time than the server does.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from load_workspace import Question, Workspace, judge, questions, settle
from record import HERE, save_record

from keyhole.core.config import load_settings
from keyhole.core.service import Service

THIS_TREE = HERE.parent
PROTOCOL = "2025-11-25"
HELLO: dict[str, object] = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
# Calls of each agent that don't count: they fill caches and import modules.
WARM_UP = 25
# Turns of each of two servers; an even number, so that a drift in machine speed affects both equally.
TURNS = 4
# Figures with their upper limits.
TARGETS = {"errors": 0, "wrong or stale": 0, "above budget": 0, "memory, last quarter against first": 1.10}

Ask = Callable[[str, dict[str, object]], dict[str, object]]
# Starts servers for agents, given the workspace of each; yields the agents and the server processes.
Connect = Callable[[list[Path], dict[str, str]], Iterator[tuple[list[Ask], list[int]]]]


@dataclass
class Tally:
    """The results of one transport."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    above: list[str] = field(default_factory=list)
    # Resident bytes, each with the number of calls so far.
    memory: list[tuple[int, int]] = field(default_factory=list)
    elapsed: float = 0.0


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ways", nargs="*", choices=[*WAYS, []], help="how agents reach servers; default: all")
    options.add_argument("--calls", type=int, default=2_000, help="counted calls in each way")
    options.add_argument("--clients", type=int, default=8, help="concurrent agents")
    options.add_argument("--before", metavar="REVISION", help="compare with the server of a revision, alternately")
    options.add_argument("--record", nargs="?", const="load", help="store the result under bench/records, by this name")
    chosen = options.parse_args()
    figures: dict[str, float] = {"calls": chosen.calls, "clients": chosen.clients}
    for way in chosen.ways or WAYS:
        figures |= run_way(way, chosen.calls, chosen.clients)
    if chosen.before:
        figures |= compare(chosen.before, chosen.calls, chosen.clients)
    if chosen.record:
        print("recorded as", save_record(chosen.record, figures))
    if any(figure > TARGETS.get(name.partition(", ")[2], figure) for name, figure in figures.items()):
        raise SystemExit(1)


def run_way(way: str, calls: int, clients: int) -> dict[str, float]:
    """Run the agents in one way, and return the figures."""
    connect, has_own = WAYS[way]
    with tempfile.TemporaryDirectory() as scratch:
        return report(way, run(Path(scratch).resolve(), connect, calls, clients, clients if has_own else 1))


def compare(revision: str, calls: int, clients: int) -> dict[str, float]:
    """Alternate servers of a revision and of this tree, and return the calls per second of each."""
    tallies: dict[Path, list[Tally]] = {}
    with checked_out(revision) as before:
        for tree in (before, THIS_TREE, THIS_TREE, before) * (TURNS // 2):
            with tempfile.TemporaryDirectory() as scratch:
                tally = run(Path(scratch).resolve(), partial(over_http, tree=tree), calls // TURNS, clients)
            tallies.setdefault(tree, []).append(tally)
    then, now = (
        sum(len(tally.seconds) for tally in tallies[tree]) / sum(tally.elapsed for tally in tallies[tree])
        for tree in (before, THIS_TREE)
    )
    figures = {
        f"turns, calls per second at {revision}": then,
        "turns, calls per second now": now,
        "turns, now against before": now / then,
        "turns, errors": float(sum(len(tally.errors + tally.wrong + tally.above) for tally in tallies[THIS_TREE])),
    }
    for name, figure in figures.items():
        print(f"{name:<50}{figure:>12,.2f}")
    return figures


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Check out a revision into a separate folder."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "tree"
        git = ["git", "-C", str(THIS_TREE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def report(transport: str, tally: Tally) -> dict[str, float]:
    """Print the results, and return them as figures."""
    quarter = max(done for done, _ in tally.memory) / 4
    first, last = (
        [size for done, size in tally.memory if edge(done)] for edge in (quarter.__ge__, (3 * quarter).__le__)
    )
    ordered = sorted(tally.seconds)
    figures = {
        "errors": float(len(tally.errors)),
        "wrong or stale": float(len(tally.wrong)),
        "above budget": float(len(tally.above)),
        "memory, last quarter against first": statistics.mean(last) / statistics.mean(first),
        "memory at the end, MB": last[-1] / 1e6,
        "calls per second": len(ordered) / tally.elapsed,
        "p50, ms": ordered[len(ordered) // 2] * 1e3,
        "p95, ms": ordered[len(ordered) * 95 // 100] * 1e3,
        "longest, ms": ordered[-1] * 1e3,
    }
    for name, figure in figures.items():
        limit = TARGETS.get(name)
        verdict = "" if limit is None else f"<= {limit:g}  {'met' if figure <= limit else 'MISSED'}"
        print(f"{transport}, {name:<44}{figure:>12,.2f}  {verdict}")
    for problem in [*tally.errors, *tally.wrong, *tally.above][:10]:
        print(f"  {problem}", file=sys.stderr)
    return {f"{transport}, {name}": figure for name, figure in figures.items()}


def run(scratch: Path, connect: Connect, calls: int, clients: int, count: int = 1) -> Tally:
    """Run the agents while the files of so many workspaces change."""
    workspaces = [Workspace(scratch / f"work{number}") for number in range(count)]
    asked, tally, lock = [indexed_questions(each, scratch) for each in workspaces], Tally(), threading.Lock()
    # The server builds its own index: another revision may not be able to read ours.
    variables = {"PATH": os.environ["PATH"], "HOME": str(scratch), "KEYHOLE_CACHE_DIR": str(scratch / "served")}
    roots = [workspaces[number % count].root for number in range(clients)]
    with contextmanager(connect)(roots, variables) as (asks, processes):
        everyone = threading.Barrier(clients + 1)

        def agent(number: int) -> None:
            chance, place = random.Random(number), number % count
            for _ in range(WARM_UP):
                ask_once(workspaces[place], asks[number], chance.choice(asked[place]), Tally(), lock)
            everyone.wait()
            for _ in range(calls // clients):
                ask_once(workspaces[place], asks[number], chance.choice(asked[place]), tally, lock)
                note_memory(tally, processes, lock)

        changing = [threading.Thread(target=workspace.change) for workspace in workspaces]
        agents = [threading.Thread(target=agent, args=(number,)) for number in range(clients)]
        for thread in (*changing, *agents):
            thread.start()
        everyone.wait()
        began = time.perf_counter()
        for thread in agents:
            thread.join()
        tally.elapsed = time.perf_counter() - began
        for workspace, thread in zip(workspaces, changing, strict=True):
            workspace.stop()
            thread.join()
    print(f"{sum(workspace.changes for workspace in workspaces):,} file changes during the run")
    return tally


def indexed_questions(workspace: Workspace, scratch: Path) -> list[Question]:
    """Index a workspace, to know the answers, and return the questions."""
    service = Service(workspace.root, load_settings(workspace.root, {"cache_dir": scratch / "cache"}))
    settle(service)
    return questions(service)


def ask_once(workspace: Workspace, ask: Ask, question: Question, tally: Tally, lock: threading.Lock) -> None:
    """Make a call, and check the answer."""
    low = workspace.versions[question.file] if question.file is not None else 0
    began = time.perf_counter()
    answer = ask(question.tool, question.arguments)
    took = time.perf_counter() - began
    # A version counts once the file is replaced, so the file may already be one version ahead.
    high = workspace.versions[question.file] + 2 if question.file is not None else 0
    result = answer.get("result")
    text = result["content"][0]["text"] if isinstance(result, dict) and result.get("content") else json.dumps(answer)
    what = f"{question.tool} {question.arguments}"
    with lock:
        tally.seconds.append(took)
        if not isinstance(result, dict) or result.get("isError"):
            tally.errors.append(f"{what}: {text[:300]}")
        elif problem := judge(question, text, low, high):
            (tally.above if problem.startswith("over budget") else tally.wrong).append(f"{what}: {problem}")


def note_memory(tally: Tally, processes: list[int], lock: threading.Lock) -> None:
    """Sample the memory of the servers from time to time."""
    if len(tally.seconds) % 20:
        return
    pages = sum(
        int(Path(f"/proc/{one}/statm").read_text().split()[1]) for process in processes for one in family(process)
    )
    with lock:
        tally.memory.append((len(tally.seconds), pages * os.sysconf("SC_PAGE_SIZE")))


def family(process: int) -> list[int]:
    """Return a process and its children."""
    started = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in started for one in family(int(child)))]


def over_stdio(roots: list[Path], variables: dict[str, str]) -> Iterator[tuple[list[Ask], list[int]]]:
    """Start a server for each agent."""
    with started_clients(roots, {**variables, "KEYHOLE_SHARE": "0"}) as clients:
        yield [stdio_agent(client) for client in clients], [client.pid for client in clients]


def over_shared(roots: list[Path], variables: dict[str, str]) -> Iterator[tuple[list[Ask], list[int]]]:
    """Start a client for each agent; they share a server, which the first of them starts."""
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="kh") as runtime:
        own = {**variables, "XDG_RUNTIME_DIR": runtime}
        with started_clients(roots, own) as clients:
            yield [stdio_agent(client) for client in clients], [client.pid for client in clients]
        subprocess.run([*ENTRY, "mcp", "--stop"], env=own, check=True)


@contextmanager
def started_clients(roots: list[Path], variables: dict[str, str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run `keyhole mcp` for each of these workspaces, and greet the servers."""
    pipe = subprocess.PIPE
    with ExitStack() as stack:
        clients = [
            stack.enter_context(subprocess.Popen([*ENTRY, "mcp", str(root)], env=variables, stdin=pipe, stdout=pipe))
            for root in roots
        ]
        for client in clients:
            talk(client, "initialize", HELLO)
            say(client, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield clients
        for client in clients:
            if client.stdin:
                client.stdin.close()


def stdio_agent(server: subprocess.Popen[bytes]) -> Ask:
    """Create an agent that uses the pipes of a server."""
    return lambda tool, arguments: talk(server, "tools/call", {"name": tool, "arguments": arguments})


def talk(server: subprocess.Popen[bytes], method: str, parameters: dict[str, object]) -> dict[str, object]:
    """Send a request and wait for its answer."""
    say(server, {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
    while server.stdout and (line := server.stdout.readline()):
        answer: dict[str, object] = json.loads(line)
        if answer.get("id") == 1:
            return answer
    return {"error": "the server has gone"}


def say(server: subprocess.Popen[bytes], message: dict[str, object]) -> None:
    """Send a message."""
    if server.stdin:
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()


def entry_of(tree: Path) -> str:
    """Return the code that the console script of a tree runs."""
    scripts = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["keyhole"].partition(":")
    return f"from {module} import {function}; {function}()"


def over_http(
    roots: list[Path], variables: dict[str, str], tree: Path = THIS_TREE
) -> Iterator[tuple[list[Ask], list[int]]]:
    """Start one server for all agents, whose workspaces are the same, from this tree or from another."""
    command = [sys.executable, "-c", entry_of(tree), "mcp", str(roots[0]), "--http", "--port", "0"]
    own = {**variables, "PYTHONPATH": str(tree / ".src")}
    with subprocess.Popen(command, env=own, stdout=subprocess.PIPE) as server:
        printed = ""
        while server.stdout and not printed.endswith("}\n}\n"):
            printed += server.stdout.readline().decode()
        entry = json.loads(printed.partition("\n")[2])["mcpServers"]["keyhole"]
        yield [http_agent(entry["url"], entry["headers"]) for _ in roots], [server.pid]
        server.terminate()


def http_agent(address: str, headers: dict[str, str]) -> Ask:
    """Create an agent that keeps its connection open."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    told = {
        **headers,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": PROTOCOL,
        "User-Agent": "bench/1",
    }

    def ask(tool: str, arguments: dict[str, object]) -> dict[str, object]:
        parameters = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}
        connection.request("POST", place.path, json.dumps(message), told)
        response = connection.getresponse()
        body = response.read().decode()
        # An answer is one JSON object, or the last event of a stream.
        events = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
        for text in events or [body]:
            answer: dict[str, object] = json.loads(text) if text.startswith("{") else {}
            if answer.get("id") == 1:
                return answer
        return {"error": f"{response.status}: {body[:300]}"}

    return ask


ENTRY = (sys.executable, "-c", entry_of(THIS_TREE))
# How agents reach servers, and whether each has a workspace of its own.
WAYS: dict[str, tuple[Connect, bool]] = {
    "http": (over_http, False),
    "stdio": (over_stdio, False),
    "shared": (over_shared, False),
    "shared-8": (over_shared, True),
}


if __name__ == "__main__":
    main()
