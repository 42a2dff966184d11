"""Run the checks that are too slow for every change: more examples of every property, more typing, and a load test.

    .venv/bin/python bench/long.py [--calls 20000] [--examples-only | --load-only]      # make test-long

Always stores a record in bench/records; the exit code is 1 if a check fails.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from load import TARGETS, run_way
from record import HERE, refuse_changes, save_record

CLIENTS = 8
BURSTS = 200


def main() -> None:
    """Run both, and store the results."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--calls", type=int, default=20_000, help="calls in each way of the load test")
    which = options.add_mutually_exclusive_group()
    which.add_argument("--examples-only", action="store_true")
    which.add_argument("--load-only", action="store_true")
    chosen = options.parse_args()
    refuse_changes()
    figures: dict[str, object] = {}
    if not chosen.load_only:
        figures |= explore_properties() | type_fast()
    if not chosen.examples_only:
        figures |= soak(chosen.calls)
    missed = [name for name, figure in figures.items() if is_missed(name, figure)]
    figures["missed"] = missed
    print("recorded as", save_record("long", figures))
    if missed:
        raise SystemExit(f"missed: {', '.join(missed)}")


def explore_properties() -> dict[str, object]:
    """Run the property tests with new random examples."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "hypothesis", "--no-header"],
        cwd=HERE.parent,
        env={**os.environ, "HYPOTHESIS_PROFILE": "explore"},
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout[-20_000:])
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    return {
        "properties passed": counts.get("passed", 0),
        "properties failed": counts.get("failed", 0) + counts.get("error", 0) + (done.returncode not in (0, 1)),
        "properties, seconds": time.perf_counter() - began,
    }


def type_fast() -> dict[str, object]:
    """Type many bursts of keys into the explorer, in a terminal, while the processor is busy."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--no-header", "-q", "-n", "0", "tests/test_tui_typing.py", "-k", "bursts"],
        cwd=HERE.parent,
        env={**os.environ, "TYPING_BURSTS": str(BURSTS)},
        check=False,
    )
    return {"bursts of keys": BURSTS, "typing failed": int(done.returncode != 0)}


def soak(calls: int) -> dict[str, object]:
    """Run the load test."""
    figures: dict[str, object] = {"calls": calls, "clients": CLIENTS}
    for way in ("http", "shared", "shared-8"):
        figures |= run_way(way, calls, CLIENTS)
    return figures


def is_missed(name: str, figure: object) -> bool:
    """Return whether a figure misses its target."""
    if not isinstance(figure, int | float):
        return False
    if name in ("properties failed", "typing failed"):
        return figure > 0
    if name == "properties passed":
        return figure == 0
    return figure > TARGETS.get(name.partition(", ")[2], figure)


if __name__ == "__main__":
    main()
