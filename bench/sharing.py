"""Measure the shared server: how soon it answers, what commands and memory it saves, and how clients share it.

    .venv/bin/python bench/sharing.py [start commands memory turns kill] [--record]

Runs on 2,400 Python files of Django 5.2, which are indexed once in bench/.data. Everything is compared within one run:
what is measured takes turns with a bare fastmcp server, with the same command without sharing, or with a quiet server.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bare_server import CODE
from load import HELLO, family, say, talk
from record import HERE, fetch_sdist, save_record

from keyhole.core.config import load_settings
from keyhole.core.service import Service

FILES = 2_400
ROUNDS = 7
CLIENTS = 8
# Searches of the client that is disturbed; enough for a median.
SEARCHES = 40
COMMANDS = (
    ("search", "get_queryset"),
    ("refs", "force_str"),
    ("map", "django/db/models/query.py"),
    ("read", "django/db/models/query.py"),
)
# Finding out what 2,700 uses of this name mean takes longer than all that sharing saves, so there is no limit.
HEAVY_COMMAND = ("refs", "QuerySet.filter")
KEYHOLE = Path(sys.executable).with_name("keyhole")
SERVER = "keyhole.mcp_server.shared_server"
# Figures with their upper limits.
TARGETS = {
    "initialize, running server against a bare one": 0.25,
    "initialize, no server yet, against a bare one": 1.1,
    **{f"keyhole {name}, shared against alone": 0.4 for name, _ in COMMANDS},
    "eight clients, one workspace, MB": 300,
    "search beside a heavy regex, against quiet": 2.0,
    "search beside a huge map, against quiet": 2.0,
    "server killed, longest call, seconds": 3.0,
    "server killed, answers lost": 0,
    "server killed, processes left": 0,
}

Figures = dict[str, float]


class Lab:
    """A user with an indexed workspace."""

    def __init__(self, runtime: Path) -> None:
        self.folder = HERE / ".data" / "sharing"
        self.root = self.folder / "work"
        self.variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "KEYHOLE_CACHE_DIR": str(self.folder / "cache"),
            "XDG_RUNTIME_DIR": str(runtime),
        }
        if not self.root.exists():
            self._copy()
        self.index(self.root)

    def _copy(self) -> None:
        tree = fetch_sdist("django", "5.2") / "Django-5.2"
        for path in sorted(tree.rglob("*.py"))[:FILES]:
            target = self.root / path.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        huge = "".join(f"class Huge{n}:\n    def method_{n}(self, a, b={n}): ...\n" for n in range(20_000))
        (self.root / "huge.py").write_text(huge)

    def index(self, root: Path) -> None:
        """Bring the index of a folder up to date."""
        Service(root, load_settings(root, {"cache_dir": self.folder / "cache"})).index()

    @contextmanager
    def client(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start a client and greet the server."""
        command = [str(KEYHOLE), "mcp", *(arguments or [str(self.root)])]
        with subprocess.Popen(command, env=self.variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            talk(process, "initialize", HELLO)
            say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield process
            if process.stdin:
                process.stdin.close()

    def stop(self) -> None:
        """End the shared server, and wait until it is gone."""
        subprocess.run([str(KEYHOLE), "mcp", "--stop"], env=self.variables, check=True, stderr=subprocess.DEVNULL)
        while self.processes(SERVER):
            time.sleep(0.01)

    def server(self) -> int:
        """Return the process of the shared server, which is a child of its guardian; 0 if there is none."""
        found = self.processes(SERVER)
        return next((process for process in found if parent_of(process) in found), 0)

    def processes(self, word: str) -> list[int]:
        """Return the processes of this user whose command has a word."""
        mark = f"XDG_RUNTIME_DIR={self.variables['XDG_RUNTIME_DIR']}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if word.encode() in (place / "cmdline").read_bytes() and mark in (place / "environ").read_bytes():
                    found.append(int(place.name))
        return sorted(found)


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    parts = {"start": start, "commands": commands, "memory": memory, "turns": turns, "kill": kill}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", choices=[*parts, []], help="what to measure; default: everything")
    options.add_argument("--record", nargs="?", const="sharing", help="store the result under bench/records")
    chosen = options.parse_args()
    figures: Figures = {}
    runtime = Path(tempfile.mkdtemp(prefix="kh"))
    try:
        lab = Lab(runtime)
        for name in chosen.parts or parts:
            figures |= reported(parts[name](lab))
            lab.stop()
    finally:
        shutil.rmtree(runtime)
    if chosen.record:
        verdicts = {name: figures[name] <= limit for name, limit in TARGETS.items() if name in figures}
        print("recorded as", save_record(chosen.record, {**figures, "targets met": verdicts}))


def reported(figures: Figures) -> Figures:
    """Print figures with their limits, and return them."""
    for name, figure in figures.items():
        limit = TARGETS.get(name)
        verdict = "" if limit is None else f"<= {limit:g}  {'met' if figure <= limit else 'MISSED'}"
        print(f"{name:<56}{figure:>10,.2f}  {verdict}", flush=True)
    return figures


def start(lab: Lab) -> Figures:
    """Measure the time until `initialize` is answered: by a bare server, by a new one, and by a running one."""
    bare, ours = [sys.executable, "-c", CODE], [str(KEYHOLE), "mcp", str(lab.root)]
    times: dict[str, list[float]] = {"bare": [], "cold": [], "warm": []}
    for _ in range(ROUNDS):
        times["bare"].append(greeting_time(bare, lab.variables))
        lab.stop()
        times["cold"].append(greeting_time(ours, lab.variables))
        times["warm"].append(greeting_time(ours, lab.variables))
    return {
        "initialize, bare server, ms": statistics.median(times["bare"]) * 1e3,
        "initialize, no server yet, ms": statistics.median(times["cold"]) * 1e3,
        "initialize, running server, ms": statistics.median(times["warm"]) * 1e3,
        "initialize, running server against a bare one": ratio(times["warm"], times["bare"]),
        "initialize, no server yet, against a bare one": ratio(times["cold"], times["bare"]),
    }


def greeting_time(command: list[str], variables: dict[str, str]) -> float:
    """Return the seconds from starting a server to its first answer."""
    began = time.perf_counter()
    with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        talk(process, "initialize", HELLO)
        took = time.perf_counter() - began
        process.communicate()
    return took


def commands(lab: Lab) -> Figures:
    """Measure commands with a running server, and alone; their output must be the same."""
    figures: Figures = {}
    names = {command: command[0] for command in COMMANDS} | {HEAVY_COMMAND: " ".join(HEAVY_COMMAND)}
    with lab.client():
        run_command(lab, COMMANDS[0], is_shared=True)
        wait_for(lambda: lab.processes("keyhole.core.cli.command_runner"))
        time.sleep(2)
        for command, name in names.items():
            shared, alone = [], []
            for _ in range(ROUNDS):
                ours, output = run_command(lab, command, is_shared=True)
                theirs, expected = run_command(lab, command, is_shared=False)
                if output != expected:
                    raise SystemExit(f"{command} printed something else")
                if output[0]:
                    raise SystemExit(f"{command} failed: {output[2].decode()}")
                shared.append(ours)
                alone.append(theirs)
            figures[f"keyhole {name}, shared, ms"] = statistics.median(shared) * 1e3
            figures[f"keyhole {name}, alone, ms"] = statistics.median(alone) * 1e3
            figures[f"keyhole {name}, shared against alone"] = ratio(shared, alone)
    return figures


def run_command(lab: Lab, command: tuple[str, ...], *, is_shared: bool) -> tuple[float, tuple[int, bytes, bytes]]:
    """Run a command; return its time, and its exit code and output."""
    variables = lab.variables if is_shared else {**lab.variables, "KEYHOLE_SHARE": "0"}
    began = time.perf_counter()
    done = subprocess.run([str(KEYHOLE), *command], cwd=lab.root, env=variables, capture_output=True, check=False)
    return time.perf_counter() - began, (done.returncode, done.stdout, done.stderr)


def memory(lab: Lab) -> Figures:
    """Measure the memory of eight clients with all their processes, on one workspace and on eight."""
    one = clients_memory(lab, [lab.root] * CLIENTS)
    lab.stop()
    parts = [lab.root / name for name in ("django/contrib/admin", "django/core", "django/db", "django/forms")]
    parts += [lab.root / name for name in ("django/template", "django/utils", "django/views", "django/test")]
    for part in parts:
        lab.index(part)
    return {
        "eight clients, one workspace, MB": one[0],
        "eight clients, one workspace, RSS, MB": one[1],
        "eight clients, eight workspaces, MB": (eight := clients_memory(lab, parts))[0],
        "eight clients, eight workspaces, RSS, MB": eight[1],
    }


def clients_memory(lab: Lab, roots: list[Path]) -> tuple[float, float]:
    """Return the memory of clients and server, each page counted once, and with shared pages counted in each."""
    with ExitStack() as stack:
        clients = [stack.enter_context(lab.client(str(root))) for root in roots]
        threads = [threading.Thread(target=work, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # The client that started the server is its parent, and it must not count twice.
        processes = {int(one) for process in (lab.server(), *(c.pid for c in clients)) for one in family(process)}
        sizes = [rollup(process) for process in processes]
    return sum(size["Pss"] for size in sizes) / 1e3, sum(size["Rss"] for size in sizes) / 1e3


def work(client: subprocess.Popen[bytes]) -> None:
    """Make some calls of each kind."""
    for number in range(5):
        for tool, arguments in (
            ("search_code", {"query": ("queryset filter", "form widget", "get", "cache", "render")[number]}),
            ("search_code", {"query": "/def \\w+_set/"}),
            ("tree", {}),
            ("search_code", {"query": "Model", "mode": "symbol"}),
        ):
            talk(client, "tools/call", {"name": tool, "arguments": arguments})


def rollup(process: int) -> dict[str, int]:
    """Return the sizes of a process in kilobytes."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    return {line.partition(":")[0]: int(line.split()[1]) for line in lines}


def turns(lab: Lab) -> Figures:
    """Measure the searches of one client beside the long calls of another, in turns with a quiet server."""
    heavy: dict[str, dict[str, object]] = {
        "a heavy regex": {"name": "search_code", "arguments": {"query": "/[a-z]+.*[a-z]+.*self/", "limit": 500}},
        "a huge map": {"name": "map_file", "arguments": {"path": "huge.py", "max_tokens": 100_000}},
    }
    figures: Figures = {}
    with lab.client() as client, lab.client() as other:
        search_time(client, 5)
        for name, call in heavy.items():
            quiet, beside = [], []
            for _ in range(4):
                quiet += search_time(client, SEARCHES // 4)
                with repeated(other, call):
                    beside += search_time(client, SEARCHES // 4)
            figures[f"search beside {name}, ms"] = statistics.median(beside) * 1e3
            figures[f"search, quiet before {name}, ms"] = statistics.median(quiet) * 1e3
            figures[f"search beside {name}, against quiet"] = statistics.median(beside) / statistics.median(quiet)
    return figures


def search_time(client: subprocess.Popen[bytes], count: int, errors: list[str] | None = None) -> list[float]:
    """Return the seconds of some searches; the list gets errors that say to try again, if they may happen."""
    times = []
    for number in range(count):
        query = ("queryset filter", "form widget errors", "get_queryset", "cache backend", "render template")[
            number % 5
        ]
        began = time.perf_counter()
        answer = talk(client, "tools/call", {"name": "search_code", "arguments": {"query": query}})
        text = json.dumps(answer)
        if errors is not None and "Try again" in text:
            errors.append(text)
        elif "Result" not in text:
            raise SystemExit(f"no result: {answer}")
        times.append(time.perf_counter() - began)
    return times


@contextmanager
def repeated(client: subprocess.Popen[bytes], call: dict[str, object]) -> Iterator[None]:
    """Make the same call again and again."""
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            answer = talk(client, "tools/call", call)
            if "result" not in answer:
                raise SystemExit(f"{call} failed: {answer}")

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    yield
    is_over.set()
    thread.join()


def kill(lab: Lab) -> Figures:
    """Kill the server while eight clients search, alone and with its guardian; all clients must get all answers."""
    longest, errors, lost = {}, 0, 0
    for name, victims in (("server", lambda: [lab.server()]), ("server and guardian", lambda: lab.processes(SERVER))):
        times, failed = search_while(lab, victims)
        longest[f"{name} killed, longest call, seconds"] = max(times)
        errors += failed
        lost += 10 * CLIENTS - len(times)
        lab.stop()
    left = len(lab.processes("keyhole"))
    return longest | {
        "server killed, calls answered with an error": float(errors),
        "server killed, answers lost": float(lost),
        "server killed, processes left": float(left),
    }


def search_while(lab: Lab, victims: Callable[[], list[int]]) -> tuple[list[float], int]:
    """Return the times of searches by eight clients, with processes killed in the middle, and how many failed."""
    with ExitStack() as stack:
        clients = [stack.enter_context(lab.client()) for _ in range(CLIENTS)]
        for client in clients:
            search_time(client, 1)
        times: list[float] = []
        errors: list[str] = []

        def search(client: subprocess.Popen[bytes]) -> None:
            for _ in range(10):
                times.extend(search_time(client, 1, errors))

        threads = [threading.Thread(target=search, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        killed = victims()
        for process in killed:
            os.kill(process, signal.SIGKILL)
        for thread in threads:
            thread.join()
        if not killed or lab.server() in killed:
            raise SystemExit("the server was not killed")
    return times, len(errors)


def parent_of(process: int) -> int:
    """Return the process that started another; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Return the median of the ratios, each within one turn."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def wait_for(is_true: Callable[[], object]) -> None:
    """Wait until something is true."""
    while not is_true():
        time.sleep(0.05)


if __name__ == "__main__":
    main()
