"""Send hostile requests to the server over stdio and HTTP, and count what became of them.

    .venv/bin/python bench/fuzz_requests.py [--seed N] [--requests N] [--record]

The recorded cases of tests/hostile_requests.py, random bytes, cut and spliced messages, calls with random values, and
over HTTP also broken or unfinished requests. Every request gets an answer or an error of bounded size, a normal client
is served in between, and memory stays flat; anything else ends the run.
"""

import argparse
import http.client
import json
import os
import queue
import random
import shutil
import socket
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from record import save_record

from keyhole.core.untrusted_text import LONGEST_ERROR
from keyhole.mcp_server.request_check import check_request
from keyhole.mcp_server.tool_texts import TOOLS

TESTS = Path(__file__).parent.parent / "tests"
sys.path.append(str(TESTS))
from hostile_requests import CASES, call, rpc  # noqa: E402  # a test module, found through the line above

PATIENCE = 60.0
NORMAL_EVERY = 50
WARM_UP = 0.2
# Python does not return all memory, and the answers differ; a leak of a request each would be far more.
MOST_GROWTH_MB = 60
METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "resources/list",
    "resources/read",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/progress",
    "x",
)
ODD = ("", "\0", "\x1b[2J", "../../etc/passwd", "/", "~", "%s%n", "\u202e\u200b", "\U000e0041", "🙂" * 50, "(" * 300)
NORMAL = call("read_file", {"path": "python/sample.py", "max_lines": 3}, "normal")
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}

Exchange = Callable[[bytes], bytes]


def main() -> None:
    """Fuzz both transports, print the counts, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--requests", type=int, default=5_000, help="for each transport")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    figures: dict[str, object] = {"seed": chosen.seed}
    for name, fuzz in (("stdio", fuzz_stdio), ("http", fuzz_http)):
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(TESTS / "fixtures" / "languages", Path(scratch) / "work")
            found = fuzz(Path(scratch), chosen.requests, random.Random(f"{chosen.seed} {name}"))
        print(f"{name:<8}" + ", ".join(f"{figure:,} {label}" for label, figure in found.items()), flush=True)
        figures |= {f"{name}: {label}": figure for label, figure in found.items()}
    if chosen.record:
        print(save_record("fuzz-requests", figures))


def message(chance: random.Random) -> bytes:
    """Return a hostile message."""
    kind = chance.randrange(6)
    if kind == 0:
        return chance.choice(CASES).body
    if kind == 1:
        return chance.randbytes(chance.randrange(1, 300))
    whole = hostile_call(chance) if kind < 5 else rpc(chance.choice(METHODS), value(chance), identity(chance))
    if kind == 3:
        return whole[: chance.randrange(len(whole) + 1)]
    if kind == 4:
        other, place = hostile_call(chance), chance.randrange(len(whole) + 1)
        return whole[:place] + other[chance.randrange(len(other) + 1) :]
    return whole


def hostile_call(chance: random.Random) -> bytes:
    """Return a call of a tool with random values for some of its parameters."""
    tool = chance.choice([*TOOLS, "nothing"])
    known = [*TOOLS[tool].parameters] if tool in TOOLS else ["path"]
    names = chance.sample(known, chance.randrange(len(known) + 1))
    arguments = {name: value(chance) for name in names}
    if chance.random() < 0.1:
        arguments["".join(chance.choices(string.printable, k=30))] = value(chance)
    return call(tool, arguments, identity(chance))


def value(chance: random.Random, depth: int = 0) -> object:
    """Return a random JSON value."""
    kind = chance.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [value(chance, depth + 1) for _ in range(chance.randrange(5))]
    if kind == 7:
        return {chance.choice(ODD): value(chance, depth + 1) for _ in range(chance.randrange(5))}
    text = chance.choice([*ODD, "python/sample.py", "".join(chance.choices(string.printable, k=20)), "a" * 20_000])
    number = chance.choice([0, -1, 1, 2**31, -(2**63), 10**30, 1.5, 1e308])
    return (None, chance.random() < 0.5, number, text, text, number)[kind]


def identity(chance: random.Random) -> object:
    """Return the id of a request, mostly a good one."""
    return value(chance) if chance.random() < 0.1 else chance.choice([chance.randrange(10**6), "id"])


def needs_answer(body: bytes) -> bool:
    """Return whether a message is a request, or so malformed that the sender has to be told."""
    if check_request(body):
        return True
    parsed = json.loads(body)
    return "id" in parsed and "method" in parsed


def outcome(answer: bytes) -> str:
    """Return what an answer is; a long or malformed error ends the run."""
    events = [line.removeprefix(b"data: ") for line in answer.splitlines() if line[:1] == b"{" or line[:5] == b"data:"]
    parsed = json.loads(events[-1])
    is_error = "error" in parsed or parsed["result"].get("isError", False)
    text = parsed["error"]["message"] if "error" in parsed else str(parsed["result"])
    if "error" not in parsed and is_error:
        text = parsed["result"]["content"][0]["text"]
    if is_error and (len(text) > LONGEST_ERROR or len(answer) > 4 * LONGEST_ERROR):
        raise SystemExit(f"an error of {len(text):,} characters: {answer[:300]!r}")
    return "refusals" if "error" in parsed else "tool errors" if is_error else "answers"


def fuzz(process_id: int, count: int, send: Callable[[], str], exchange: Exchange) -> dict[str, int]:
    """Send all requests, with a normal one in between; return the counts, the slowest normal one, and the growth."""
    counts: Counter[str] = Counter()
    slowest, warm = 0.0, 0
    for number in range(count):
        counts[send()] += 1
        if number % NORMAL_EVERY == 0:
            began = time.monotonic()
            if outcome(exchange(NORMAL)) != "answers":
                raise SystemExit("a normal request got an error")
            slowest = max(slowest, time.monotonic() - began) if number else 0.0
        if number == int(count * WARM_UP):
            warm = memory_mb(process_id)
    growth = memory_mb(process_id) - warm
    if growth > MOST_GROWTH_MB:
        raise SystemExit(f"memory grew by {growth} MB, from {warm} MB")
    memory = {"MB after a fifth": warm, "MB more at the end": growth}
    return {**dict(sorted(counts.items())), **memory, "ms for the slowest normal request": round(slowest * 1e3)}


def memory_mb(process_id: int) -> int:
    """Return the resident memory of a process."""
    fields = Path(f"/proc/{process_id}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def start(scratch: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start the server on the copied samples."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(scratch),
        "KEYHOLE_CACHE_DIR": str(scratch / "cache"),
        "KEYHOLE_SHARE": "0",
    }
    command = [sys.executable, "-m", "keyhole", "mcp", str(scratch / "work"), *arguments]
    environment = {**variables, "KEYHOLE_INDEX_MODEL": "none"}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class StdioClient:
    """Sends lines to the server, and waits for the answers."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        self._stdin = process.stdin
        self._process = process
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._keep_lines, daemon=True).start()

    def _keep_lines(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def write(self, body: bytes) -> None:
        """Send a message."""
        self._stdin.write(body + b"\n")
        self._stdin.flush()

    def exchange(self, body: bytes) -> bytes:
        """Send a message and return the answer."""
        self.write(body)
        try:
            # The server may send notifications of its own.
            while b'"method"' in (line := self._lines.get(timeout=PATIENCE))[:200]:
                pass
        except queue.Empty:
            raise SystemExit(f"no answer to {body[:500]!r}") from None
        return line


def fuzz_stdio(scratch: Path, count: int, chance: random.Random) -> dict[str, int]:
    """Fuzz the server on stdio."""
    with start(scratch) as process:
        client = StdioClient(process)

        def send() -> str:
            body = message(chance).replace(b"\n", b" ")
            if body.strip() and needs_answer(body):
                return outcome(client.exchange(body))
            client.write(body)
            return "notifications"

        client.exchange(rpc("initialize", HELLO))
        figures = fuzz(process.pid, count, send, client.exchange)
        assert process.stdin is not None
        process.stdin.close()
        if process.wait(timeout=PATIENCE) != 0:
            raise SystemExit(f"the server ended with {process.returncode}")
    return figures


def fuzz_http(scratch: Path, count: int, chance: random.Random) -> dict[str, int]:
    """Fuzz the server on HTTP."""
    with start(scratch, "--http", "--port", "0", "--processes", "1") as process:
        assert process.stdout is not None
        printed = b""
        while not printed.endswith(b"}\n}\n"):
            printed += process.stdout.readline()
        entry = json.loads(printed.partition(b"\n")[2])["mcpServers"]["keyhole"]
        place = urlsplit(entry["url"])
        host, port = str(place.hostname), int(place.port or 0)
        headers = {
            **entry["headers"],
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }

        def post(body: bytes) -> tuple[int, bytes]:
            connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
            connection.request("POST", place.path, body, headers)
            response = connection.getresponse()
            found = response.status, response.read()
            connection.close()
            return found

        def send() -> str:
            if chance.random() < 0.15:
                return send_broken(host, port, chance)
            body = message(chance)
            status, answer = post(body)
            if needs_answer(body):
                return outcome(answer)
            if status >= 500:
                raise SystemExit(f"status {status} for {body[:500]!r}")
            return "notifications"

        figures = fuzz(process.pid, count, send, lambda body: post(body)[1])
        process.terminate()
        if process.wait(timeout=PATIENCE) != 0:
            raise SystemExit(f"the server ended with {process.returncode}")
    return figures


def send_broken(host: str, port: int, chance: random.Random) -> str:
    """Send something that is not a whole HTTP request, and leave, sometimes after the answer."""
    lines = [
        b"POST /mcp HTTP/1.1\r\n",
        f"Host: {host}:{port}\r\n".encode(),
        b"Content-Length: %d\r\n" % chance.choice([0, 5, 10**6, 10**12]),
        b"Transfer-Encoding: chunked\r\n",
        b"Authorization: Bearer x\r\n",
        chance.randbytes(20) + b"\r\n",
        b"X: " + b"y" * chance.choice([10, 10_000, 100_000]) + b"\r\n",
        b"\r\n",
        b"zz\r\n",
    ]
    sent = b"".join(line for line in lines if chance.random() < 0.6)
    with socket.create_connection((host, port), timeout=PATIENCE) as connection:
        try:
            connection.sendall(sent)
            if chance.random() < 0.3:
                connection.shutdown(socket.SHUT_WR)
                connection.recv(65_536)
        except OSError:
            return "broken requests, closed by the server"
    return "broken requests"


if __name__ == "__main__":
    main()
