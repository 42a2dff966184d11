"""Writes what the lab measured into assets/clients.toml, and tells what changed."""

from pathlib import Path
from typing import Any

import tomlkit

from keyhole.core.answer_rules import ANSWER, AnswerRule, Unit
from keyhole.core.clients import profiles

TABLE = Path(__file__).parents[2] / "assets" / "clients.toml"
Limits = dict[str, dict[str, int | None]]


def write_figures(client: str, version: str, date: str, found: dict[str, Any]) -> list[str]:
    """Write what was measured into the table of clients; return what changed."""
    table = tomlkit.parse(TABLE.read_text())
    profile: Any = table[client]
    changes = []

    def put(place: Any, name: str, value: object, label: str) -> None:
        if place.get(name) != value:
            changes.append(f"{client}: {label}: {place.get(name)} -> {value}")
            place[name] = value

    put(profile, "version", version, "version")
    put(profile, "protocol", found["protocol"], "protocol")
    for name in ("description", "instructions"):
        # Nothing is said about a client that keeps all of a long text, or none of it.
        if found[name] and found[name] < found[f"{name}_sent"]:
            put(profile, name, found[name], name)
    put(profile, "loads_tools_on_demand", not found["lists_tools"], "loads_tools_on_demand")
    known = profiles()[client]
    if known.answer:
        answer = profile["answer"]
        put(answer, "limit", _limit(found["limits"], "plain", known.answer), "limit of answers")
        if known.answer.declared:
            put(answer, "declared", found["limits"]["declared, lines"]["characters"], "limit a tool declares")
    # An error in a frame of JSON, or with the call in it, has no limit of its own that could be read off.
    if known.error and ANSWER in known.error.frame:
        limit = _limit(found["limits"], "error", known.error)
        if limit != known.error.limit:
            put(profile["error"], "limit", limit, "limit of errors")
    profile["date"] = date
    TABLE.write_text(tomlkit.dumps(table))
    profiles.cache_clear()
    return changes


def _limit(limits: Limits, tool: str, rule: AnswerRule) -> int:
    """Return the limit of one kind of answer, in the client's unit, with the frame around it; 0 if there is none."""
    size = limits[f"{tool}, lines"].get("bytes" if rule.unit == Unit.BYTES else "characters")
    return size + len(rule.frame) - len(ANSWER) if size else 0
