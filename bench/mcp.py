"""Measure how soon an MCP server of its own answers, compared with a bare fastmcp server with one tool in the same run.

bench/sharing.py measures the shared server.

    .venv/bin/python bench/mcp.py [--record]

Runs on the source distribution of Django 5.2, fetched once with pip and indexed beforehand.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bare_server import CODE
from record import fetch_sdist, save_record

from keyhole.core.config import load_settings
from keyhole.core.service import Service

ROUNDS = 9
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
# Figures with their upper limits.
TARGETS = {"initialize, against a bare server": 1.2, "first search, against a bare server": 1.8}


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tree = fetch_sdist("django", "5.2").resolve()
        Service(tree, load_settings(tree, {"cache_dir": Path(scratch)})).index()
        variables = {"PATH": os.environ["PATH"], "HOME": scratch, "KEYHOLE_CACHE_DIR": scratch, "KEYHOLE_SHARE": "0"}
        times: dict[str, list[tuple[float, float]]] = {"bare": [], "keyhole": []}
        for _ in range(ROUNDS):
            times["bare"].append(start_up([sys.executable, "-c", CODE], variables))
            times["keyhole"].append(start_up([sys.executable, "-m", "keyhole", "mcp", str(tree)], variables))
    figures = summary(times)
    for name, figure in figures.items():
        limit = TARGETS.get(name)
        verdict = f"<= {limit:g}  {'met' if figure <= limit else 'MISSED'}" if limit else ""
        print(f"{name:<44}{figure:>10,.2f}  {verdict}")
    if chosen.record:
        print("recorded as", save_record("mcp", figures))


def summary(times: dict[str, list[tuple[float, float]]]) -> dict[str, float]:
    """Return the median of the rounds, and of the ratio to the bare server in the same round."""
    figures = {}
    for number, step in enumerate(("initialize", "first search")):
        for server, rounds in times.items():
            figures[f"{step}, {server}, ms"] = statistics.median(one[number] for one in rounds) * 1e3
        pairs = zip(times["bare"], times["keyhole"], strict=True)
        figures[f"{step}, against a bare server"] = statistics.median(
            ours[number] / bare[number] for bare, ours in pairs
        )
    return figures


def start_up(command: list[str], variables: dict[str, str]) -> tuple[float, float]:
    """Start a server; return the seconds until it answers `initialize`, and then a first search."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        ask(process, 1, "initialize", HELLO)
        greeted = time.perf_counter() - started
        send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        ask(process, 2, "tools/call", {"name": "search_code", "arguments": {"query": "get_queryset"}})
        searched = time.perf_counter() - started
        process.communicate()
    return greeted, searched


def ask(process: subprocess.Popen[bytes], number: int, method: str, parameters: Mapping[str, object]) -> None:
    """Send a request and wait for its answer."""
    send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
    while process.stdout:
        answer = json.loads(process.stdout.readline())
        if answer.get("id") == number:
            if "error" in answer or answer["result"].get("isError"):
                raise SystemExit(f"{method} failed: {answer}")
            return


def send(process: subprocess.Popen[bytes], message: dict[str, object]) -> None:
    """Write one message."""
    if process.stdin:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()


if __name__ == "__main__":
    main()
