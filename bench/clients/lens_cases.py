"""The cases that hold the lens against a client: sizes around each of its limits, real answers of ours, and errors."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from case_texts import SHAPES, Case, real_answers, text_of
from client_run import ask
from measure import delivered_text

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures" / "clients"
_AROUND = (-2, -1, 0, 1, 2, 40, 2_000)
_SHOWN = 300
# What only a run knows is replaced by a word: paths of files, times, the call, and the server's name in the lab.
_PLACEHOLDERS = (
    (re.compile(r"((?:saved to|Saved to|full output see): )\S+"), r"\1FILE"),
    (re.compile(r"\AWall time: [\d.]+ seconds"), "Wall time: SECONDS seconds"),
    (re.compile(r"\AMCP tool 'error' (.*?function call: )\{.*?\}\}( with response: \[\{\"functionResponse\":\{\"name\":)\"error\"", re.S),
     r"MCP tool 'TOOL' \1ARGUMENTS\2" + '"TOOL"'),
)


def lens_cases(limits: dict[str, int]) -> list[Case]:
    """Return the cases for a client; `limits` has its limit for plain answers, declared ones and errors."""
    cases: dict[Case, None] = {}
    for tool, limit in limits.items():
        for shape in SHAPES:
            bytes_each = len(text_of(shape, 10_000).encode()) / 10_000
            units_each = len(text_of(shape, 10_000).encode("utf-16-le")) / 20_000
            # The limit is in characters or in bytes: both are tried.
            for size in {limit, int(limit / bytes_each), int(limit / units_each)}:
                steps = _AROUND if shape in ("lines", "one line") else (-1, 0, 1, 2_000)
                cases |= dict.fromkeys(Case(tool, shape, size + step) for step in steps)
        cases |= dict.fromkeys(Case(tool, "lines", size) for size in (1, 100, limit // 5, limit // 2, limit * 3 // 2, 2 * limit))
    for name in real_answers():
        near = limits["declared"]
        sizes = (0, near - 1, near, near + 1, near + 500)
        cases |= dict.fromkeys(Case("declared", name, size) for size in sizes)
        cases |= dict.fromkeys(Case("error", name, size) for size in (800, limits["error"] + 1))
    return list(cases)


def run_cases(client: str, cases: list[Case]) -> list[dict[str, Any]]:
    """Return what a client delivers for each case, with placeholders."""
    results = ask(client, [(case.tool, case.parameters()) for case in cases])
    texts = [with_placeholders(delivered_text(result)) for result in results]
    return [{**case.as_facts(), "text": text} for case, text in zip(cases, texts, strict=True)]


def with_placeholders(delivered: str) -> str:
    """Return a delivered text without what only the run knows."""
    for pattern, replacement in _PLACEHOLDERS:
        delivered = pattern.sub(replacement, delivered, count=1)
    return delivered


def fixture_line(found: dict[str, Any]) -> dict[str, Any]:
    """Return a case and what was delivered as a fixture: length, checksum, and both ends if it is not the answer itself."""
    text = found.pop("text").encode("utf-8", "surrogatepass")
    facts = {**found, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    if text != text_of(found["shape"], found["size"]).encode():
        facts["first"] = text[:_SHOWN].decode("utf-8", "replace")
        facts["last"] = text[-_SHOWN:].decode("utf-8", "replace")
    return facts


def write_fixtures(client: str, version: str, found: list[dict[str, Any]]) -> Path:
    """Store the fixtures of a client: a line for each case."""
    path = FIXTURES / f"{client}.jsonl"
    lines = [{"client": client, "version": version}, *(fixture_line(dict(case)) for case in found)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines))
    return path
