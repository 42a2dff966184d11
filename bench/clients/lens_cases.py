"""The cases that hold the lens against a client: sizes around each of its limits, real answers of ours, and errors."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from case_texts import SHAPES, Case, real_answers, text_of
from client_run import ask
from measure import delivered_text

from keyhole.core.clients import ANSWER, profiles
from keyhole.core.delivery import Delivery, deliver
from keyhole.core.view.budget.limits import CHARACTER_LIMIT

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures" / "clients"
_AROUND = (-2, -1, 0, 1, 2, 40, 2_000)
_SHOWN = 300
_SHORT_ERROR = 6_000
# What only a run knows is replaced by a word: paths of files, times, the call, and the server's name in the lab.
_CALL = (
    r"\AMCP tool 'error' (.*?function call: )\{.*?\}\}( with response: \[\{\"functionResponse\":\{\"name\":)\"error\""
)
_PLACEHOLDERS = (
    (re.compile(r"((?:saved to|Saved to|full output see): )\S+"), r"\1FILE"),
    (re.compile(r"\AWall time: [\d.]+ seconds"), "Wall time: TIME seconds"),
    (re.compile(_CALL, re.DOTALL), r"MCP tool 'TOOL' \1ARGUMENTS\2" + '"TOOL"'),
)


def lens_cases(client: str) -> list[Case]:
    """Return the cases for a client."""
    limits = _limits(client)
    cases: dict[Case, None] = {}
    for tool, limit in limits.items():
        for shape in SHAPES:
            bytes_each = len(text_of(shape, 10_000).encode()) / 10_000
            units_each = len(text_of(shape, 10_000).encode("utf-16-le")) / 20_000
            # The limit is in characters or in bytes: both are tried.
            for size in {limit, int(limit / bytes_each), int(limit / units_each)}:
                steps = _AROUND if shape in ("lines", "one line") else (-1, 0, 1, 2_000)
                cases |= dict.fromkeys(Case(tool, shape, size + step) for step in steps)
        cases |= dict.fromkeys(
            Case(tool, "lines", size) for size in (10, 100, limit // 5, limit // 2, limit * 3 // 2, 2 * limit)
        )
    rule = profiles()[client].answer
    if rule and rule.lines:
        # A short line has two characters.
        short = range(2 * rule.lines - 3, 2 * rule.lines + 4)
        cases |= dict.fromkeys(Case(tool, "short lines", size) for tool in ("plain", "declared") for size in short)
    for name in real_answers():
        near = limits["declared"]
        sizes = (0, near - 1, near, near + 1, near + 500)
        cases |= dict.fromkeys(Case("declared", name, size) for size in sizes)
        cases |= dict.fromkeys(Case("error", name, size) for size in (800, limits["error"] + 1))
    return list(cases)


def _limits(client: str) -> dict[str, int]:
    """Return the limits of a client for plain answers, declared ones and errors."""
    profile = profiles()[client]
    answer, error = profile.answer, profile.error
    if answer is None:
        raise SystemExit(f"no limit is known for {client}")
    # The size of an error in a frame of JSON depends on the call, which the lens does not know: only short ones count.
    is_framed = error is not None and "ARGUMENTS" in error.frame
    error_limit = _SHORT_ERROR if is_framed else (error.limit if error else 0) or answer.limit
    frame = len(answer.frame) - len(ANSWER)
    return {
        "plain": answer.limit - frame,
        "declared": answer.limit_for(CHARACTER_LIMIT) - frame,
        "error": error_limit,
    }


def lens_delivery(client: str, case: Mapping[str, Any]) -> Delivery:
    """Return what the lens shows for a case."""
    profile = profiles()[client]
    declared = CHARACTER_LIMIT if case["tool"] == "declared" or not profile.answer else profile.answer.limit
    text = text_of(case["shape"], case["size"])
    return deliver(text, profile, declared_chars=declared, is_error=case["tool"] == "error")


def compare_lens(client: str, cases: list[dict[str, Any]]) -> int:
    """Print the cases where the lens shows something else; return how many there are."""
    different = [case for case in cases if lens_delivery(client, case).text != case["text"]]
    for case in different:
        print(f"{client}: the lens differs for {case['tool']}, {case['shape']}, {case['size']}")
    return len(different)


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
    """Return a case and what was delivered: length, checksum, and both ends unless all of the answer is in it."""
    text = found.pop("text").encode("utf-8", "surrogatepass")
    facts = {**found, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    if text_of(found["shape"], found["size"]).encode() not in text:
        facts["first"] = text[:_SHOWN].decode("utf-8", "replace")
        facts["last"] = text[-_SHOWN:].decode("utf-8", "replace")
    return facts


def write_fixtures(client: str, version: str, found: list[dict[str, Any]]) -> Path:
    """Store the fixtures of a client: a line for each case."""
    path = FIXTURES / f"{client}.jsonl"
    lines = [{"client": client, "version": version}, *(fixture_line(dict(case)) for case in found)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines))
    return path
