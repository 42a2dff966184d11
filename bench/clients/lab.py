"""The client lab: run real clients against a fake model, measure what they deliver, and hold the lens against it.

    .venv/bin/python bench/clients/lab.py [CLIENT ...] [--again] [--record]        # make client-lab

Linux only, with npm, unshare and ip; as root, because each client runs in a network namespace of its own. npm installs
the versions in package.json the first time. The figures go to assets/clients.toml, and what changed is printed; the
fixtures of the lens go to tests/fixtures/clients. All of it takes about an hour.

What is done is kept, so a run that was stopped, or where a client failed, continues; --again starts from the beginning.
With --record, a run of all clients ends with a record, and the next one starts from the beginning.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from adapters import ADAPTERS
from client_run import LabError, version_of
from figures import TABLE, write_figures
from lens_cases import FIXTURES, compare_lens, lens_cases, run_cases, write_fixtures
from measure import find_limits, first_facts
from own_server import try_own_server
from packages import PACKAGES, install_packages
from time_limits import time_limits

_HERE = Path(__file__).parent
sys.path.append(str(_HERE.parent))
from record import commit, refuse_changes, save_record  # noqa: E402

_DONE = PACKAGES / "done"
# What a run changes itself.
_OWN_FILES = (TABLE, FIXTURES)
# Clients that only wait can do so at the same time.
_WAITING = 3
_TRIES = 2
Step = Callable[[str], dict[str, Any]]


def hold_lens(client: str) -> dict[str, Any]:
    """Run the cases of the lens, store them as fixtures, and count those where the lens shows something else."""
    cases = run_cases(client, lens_cases(client))
    write_fixtures(client, version_of(client), cases)
    return {"cases": len(cases), "differ": compare_lens(client, cases)}


STEPS: dict[str, Step] = {
    "facts": first_facts,
    "limits": find_limits,
    "lens": hold_lens,
    "keyhole": try_own_server,
    # Last: other work on the machine disturbs these most.
    "seconds": time_limits,
}


def take_step(name: str, client: str) -> dict[str, Any]:
    """Return what a step finds, or what an earlier run found with the same version; tell why if it fails."""
    kept = _DONE / f"{client}-{name}.json"
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text())
        if found["version"] == version_of(client):
            return found
    begun = datetime.now(UTC)
    print(f"{begun:%H:%M} {client} {version_of(client)}: {name} …", flush=True)
    facts: dict[str, Any] = {"version": version_of(client), "date": f"{begun:%Y-%m-%d}", "commit": commit(_OWN_FILES)}
    problem = ""
    for _ in range(_TRIES):
        try:
            facts["found"] = STEPS[name](client)
        except LabError as error:
            problem = str(error)
            print(f"{client}: {name} failed: {problem}", flush=True)
        else:
            kept.write_text(json.dumps(facts))
            return facts
    return {**facts, "failed": problem}


def measure_all(clients: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Take every step with every client; return what was found, and what changed in the table."""
    taken: dict[str, dict[str, Any]] = {client: {} for client in clients}
    changes: list[str] = []
    for client in clients:
        for name in ("facts", "limits"):
            taken[client][name] = take_step(name, client)
        facts, limits = taken[client]["facts"], taken[client]["limits"]
        if "found" in facts and "found" in limits:
            found = {**facts["found"], "limits": limits["found"]}
            changes += write_figures(client, version_of(client), facts["date"], found)
        # The cases are around the limits that were just found.
        for name in ("lens", "keyhole"):
            taken[client][name] = take_step(name, client)
    with ThreadPoolExecutor(_WAITING) as pool:
        for client, waited in zip(clients, pool.map(partial(take_step, "seconds"), clients), strict=True):
            taken[client]["seconds"] = waited
    return taken, changes


def main() -> None:
    """Measure clients, and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"one of {', '.join(ADAPTERS)}; default: all")
    parser.add_argument("--again", action="store_true", help="measure again what a run that was stopped has measured")
    parser.add_argument("--record", action="store_true", help="store a dated record")
    options = parser.parse_args()
    if options.record:
        refuse_changes(_OWN_FILES)
    install_packages()
    clients = options.clients or [*ADAPTERS]
    if options.again:
        shutil.rmtree(_DONE, ignore_errors=True)
    _DONE.mkdir(exist_ok=True)
    taken, changes = measure_all(clients)
    print("\n".join(["What changed:", *changes]) if changes else "No figure changed.")
    failed = [f"{client}: {name}" for client, steps in taken.items() for name in steps if "failed" in steps[name]]
    if failed:
        raise SystemExit(f"These failed; run it again to try only them: {', '.join(failed)}")
    if options.record:
        print("recorded as", save_record("client-lab", _figures(taken), own_files=_OWN_FILES))
        shutil.rmtree(_DONE)


def _figures(taken: dict[str, dict[str, Any]]) -> dict[str, object]:
    """Return what was found, by client; and the commits of the lab, more than one if it changed during a run."""
    figures: dict[str, object] = {
        client: {"version": version_of(client), **steps["facts"]["found"]}
        | {name: step["found"] for name, step in steps.items() if name != "facts"}
        for client, steps in taken.items()
    }
    commits = {step["commit"] for steps in taken.values() for step in steps.values()}
    return {**figures, "commits of the lab": sorted(commits)}


if __name__ == "__main__":
    main()
