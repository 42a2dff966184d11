"""Writes checks as TOML, and adds them to a checks file."""

import json
from collections.abc import Mapping
from pathlib import Path

from keyhole.core.checks.check_snapshots import read_snapshot, write_inside
from keyhole.core.checks.checks_file import CHECKS_FILE, parse_checks
from keyhole.core.checks.traffic_queries import AnsweredQuery

_RANKS = (3, 5, 10, 50)
HEADING = (
    "# What agents must be able to see of this workspace: `keyhole check` tells whether they do.\n"
    "# docs: keyhole check --help, and docs/check.md of Keyhole.\n"
)


def table_text(kind: str, values: Mapping[str, object]) -> str:
    """Return one check as TOML."""
    lines = [f"{key} = {_value(value)}\n" for key, value in values.items()]
    return f"[[{kind}]]\n{''.join(lines)}"


def query_values(asked: AnsweredQuery) -> dict[str, object]:
    """Return the keys of the check for a search: a rank a little worse than now, so that small changes do not fail."""
    worst_rank = next((rank for rank in _RANKS if asked.rank <= rank), _RANKS[-1])
    return {"query": asked.query, "files": list(asked.files), "worst_rank": worst_rank, **asked.filters}


def add_check(root: Path, kind: str, values: Mapping[str, object]) -> bool:
    """Add a check to the checks file of a workspace; return whether it was not there yet."""
    before = read_snapshot(root, CHECKS_FILE)
    # A file that is broken, or that the new check would break, is not changed.
    known = parse_checks((before or "").encode(), CHECKS_FILE).checks
    text = table_text(kind, values)
    (added,) = parse_checks(text.encode(), CHECKS_FILE).checks
    if any(check.table == added.table for check in known):
        return False
    gap = "" if before is None or before.endswith("\n") else "\n"
    written = f"{HEADING if before is None else before}{gap}\n{text}"
    parse_checks(written.encode(), CHECKS_FILE)
    write_inside(root, CHECKS_FILE, written)
    return True


def _value(value: object) -> str:
    """Return a value as TOML: its strings, numbers and lists are written as in JSON, with one more escape."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(part)}" for key, part in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
