"""Agents that ask a team's server: each call is of a random kind, and an agent pauses between calls as a model does."""

import http.client
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import psycopg
from load import Ask

KINDS = ("search", "regex", "references", "read")
# Seconds between two calls of an agent: a model reads the answer and writes the next call.
PAUSE = (2.0, 8.0)
_WARM_UP_CALLS = 3
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")

# In an order that gives names from all over the tables. A name with several definitions would be asked back about.
_NAMES = """SELECT name FROM symbol WHERE length(name) > 4 AND repo = ANY (%s) GROUP BY name
    HAVING count(*) = 1 AND bool_and(kind IN ('function', 'method', 'class')) ORDER BY hashtext(name) LIMIT 3000"""
_PATHS = "SELECT path, lines FROM file WHERE lines > 20 AND repo = ANY (%s) ORDER BY hashtext(path) LIMIT 3000"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, by its kind."""

    kind: str
    tool: str
    arguments: dict[str, object]


@dataclass
class Timings:
    """The seconds of each call by its kind, the errors, and how long all of it took."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    elapsed: float = 0.0

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return sum(map(len, self.seconds.values()))

    def percentile(self, kind: str, share: float) -> float:
        """Return the time in milliseconds that so many of the calls of a kind took at most."""
        ordered = sorted(self.seconds[kind])
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3 if ordered else 0.0


def calls_for(url: str, repositories: Sequence[int], chance: random.Random, count: int = 200) -> list[Call]:
    """Return calls about names and paths that are in some repositories."""
    values: list[object] = [list(repositories)]
    with psycopg.connect(url, options="-c search_path=keyhole,public") as db:
        names = [str(name) for (name,) in db.execute(_NAMES, values)]
        paths = db.execute(_PATHS, values).fetchall()
    calls = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        name, (path, lines) = chance.choice(names), chance.choice(paths)
        calls.append(_call(kind, name, chance.choice(names), path, chance.randrange(max(1, lines - 20)) + 1))
    return calls


def _call(kind: str, name: str, other: str, path: str, line: int) -> Call:
    if kind == "search":
        words = [*_WORD.findall(name.replace("_", " ")), *_WORD.findall(other.replace("_", " "))][:4]
        return Call(kind, "search_code", {"query": " ".join(words) or name})
    if kind == "regex":
        return Call(kind, "search_code", {"query": f"/\\b{re.escape(name)}\\w*\\(/"})
    if kind == "references":
        return Call(kind, "find_references", {"symbol": name})
    return Call(kind, "read_file", {"path": path, "start_line": line, "max_lines": 80})


def ask_together(
    make_ask: Callable[[], Ask], calls: Sequence[Call], clients: int, seconds: float, pause: tuple[float, float] | None
) -> Timings:
    """Let so many agents ask at the same time, for so many seconds; without a pause, each asks again at once."""
    timings, lock = Timings(), threading.Lock()
    everyone = threading.Barrier(clients + 1)

    def agent(number: int) -> None:
        chance, ask = random.Random(number), _reconnecting(make_ask)
        own = chance.sample(calls, len(calls))
        for call in own[:_WARM_UP_CALLS]:
            ask(call.tool, call.arguments)
        everyone.wait()
        end = time.monotonic() + seconds
        # Agents don't start all at once.
        time.sleep(chance.uniform(0, pause[1]) if pause else 0)
        turn = 0
        while time.monotonic() < end:
            call = own[turn % len(own)]
            turn += 1
            began = time.perf_counter()
            answer = ask(call.tool, call.arguments)
            took = time.perf_counter() - began
            _note(timings, lock, call, answer, took)
            if pause:
                time.sleep(chance.uniform(*pause))

    agents = [threading.Thread(target=agent, args=(number,)) for number in range(clients)]
    for thread in agents:
        thread.start()
    everyone.wait()
    began = time.perf_counter()
    for thread in agents:
        thread.join()
    timings.elapsed = time.perf_counter() - began
    return timings


def _reconnecting(make_ask: Callable[[], Ask]) -> Ask:
    """Return an agent that connects again if the server has closed the connection during a pause."""
    agent = make_ask()

    def ask(tool: str, arguments: dict[str, object]) -> dict[str, object]:
        nonlocal agent
        try:
            return agent(tool, arguments)
        except (ConnectionError, http.client.RemoteDisconnected, http.client.CannotSendRequest):
            agent = make_ask()
            return agent(tool, arguments)

    return ask


def _note(timings: Timings, lock: threading.Lock, call: Call, answer: dict[str, object], took: float) -> None:
    result = answer.get("result")
    is_answer = isinstance(result, dict) and not result.get("isError")
    with lock:
        if is_answer:
            timings.seconds[call.kind].append(took)
        else:
            timings.errors.append(f"{call.tool} {call.arguments}: {str(answer)[:300]}")
