"""The client lab: run real clients against a fake model, measure what they deliver, and hold the lens against it.

    .venv/bin/python bench/clients/lab.py [CLIENT ...] [--again] [--lens] [--record]        # make client-lab

Linux only, with npm, unshare and ip; as root, because each client runs in a network namespace of its own. npm installs
the versions in package.json the first time. The figures go to assets/clients.toml, and what changed is printed. With
--lens, the fixtures in tests/fixtures/clients are made again too. A client takes a few minutes.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomlkit
from client_run import PACKAGES, version_of
from lens_cases import compare_lens, lens_cases, run_cases, write_fixtures
from measure import find_limits, first_facts
from time_limits import time_limits

from keyhole.core.answer_rules import ANSWER, AnswerRule, Unit
from keyhole.core.clients import profiles

_HERE = Path(__file__).parent
sys.path.append(str(_HERE.parent))
from record import save_record  # noqa: E402

_TABLE = _HERE.parents[1] / "assets" / "clients.toml"
CLIENTS = ("claude", "codex", "codex-unknown", "copilot", "gemini", "opencode", "qwen")
Limits = dict[str, dict[str, int | None]]


def install_clients() -> None:
    """Install the pinned versions into a folder of their own, if they are not there."""
    wanted = _HERE / "package.json"
    stamp, digest = PACKAGES / "installed", hashlib.sha256(wanted.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    PACKAGES.mkdir(parents=True, exist_ok=True)
    shutil.copy(wanted, PACKAGES)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error"], cwd=PACKAGES, check=True)
    stamp.write_text(digest)


def measured(client: str, *, again: bool) -> dict[str, Any]:
    """Measure everything about a client, unless an earlier run did with the same version."""
    stored = PACKAGES / f"measured-{client}.json"
    if stored.exists() and not again:
        found: dict[str, Any] = json.loads(stored.read_text())
        if found["version"] == version_of(client):
            return found
    found = {"version": version_of(client), "date": f"{datetime.now(UTC):%Y-%m-%d}", **first_facts(client)}
    found |= {"limits": find_limits(client), "seconds": time_limits(client)}
    stored.write_text(json.dumps(found))
    return found


def write_figures(client: str, found: dict[str, Any]) -> list[str]:
    """Write what was measured into the table of clients; return what changed."""
    table = tomlkit.parse(_TABLE.read_text())
    profile: Any = table[client]
    changes = []

    def put(place: Any, name: str, value: object, label: str) -> None:
        if place.get(name) != value:
            changes.append(f"{client}: {label}: {place.get(name)} -> {value}")
            place[name] = value

    for name in ("version", "protocol"):
        put(profile, name, found[name], name)
    for name in ("description", "instructions"):
        # Nothing is said about a client that keeps all of a long text, or none of it.
        if found[name] and found[name] < found["long_text"]:
            put(profile, name, found[name], name)
    put(profile, "loads_tools_on_demand", not found["lists_tools"], "loads_tools_on_demand")
    answer, error = profiles()[client].answer, profiles()[client].error
    if answer:
        put(profile["answer"], "limit", _limit(found["limits"], "plain", answer), "limit of answers")
        if answer.declared:
            put(
                profile["answer"], "declared", found["limits"]["declared, lines"]["characters"], "limit a tool declares"
            )
    # An error in a frame of JSON, or with the call in it, has no limit of its own that could be read off.
    if error and (error.frame == ANSWER or ANSWER in error.frame):
        put(profile["error"], "limit", _limit(found["limits"], "error", error), "limit of errors")
    profile["date"] = found["date"]
    _TABLE.write_text(tomlkit.dumps(table))
    return changes


def _limit(limits: Limits, tool: str, rule: AnswerRule) -> int:
    """Return the limit of one kind of answer, in the client's unit, with the frame around it; 0 if there is none."""
    size = limits[f"{tool}, lines"].get("bytes" if rule.unit == Unit.BYTES else "characters")
    return size + len(rule.frame) - len(ANSWER) if size else 0


def main() -> None:
    """Measure clients, and store what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"one of {', '.join(CLIENTS)}; default: all")
    parser.add_argument("--lens", action="store_true", help="make the fixtures of the lens again")
    parser.add_argument("--again", action="store_true", help="measure again what an earlier run has measured")
    parser.add_argument("--record", action="store_true", help="store a dated record")
    options = parser.parse_args()
    install_clients()
    figures, changes = {}, []
    for client in options.clients or CLIENTS:
        print(f"{client} {version_of(client)} …", flush=True)
        figures[client] = measured(client, again=options.again)
        changes += write_figures(client, figures[client])
        if options.lens:
            cases = run_cases(client, lens_cases(client))
            write_fixtures(client, version_of(client), cases)
            figures[client]["lens"] = {"cases": len(cases), "differ": compare_lens(client, cases)}
    print("\n".join(changes) or "No figure changed.")
    if options.record:
        print(save_record("client-lab", figures))


if __name__ == "__main__":
    main()
