"""The cases that hold the lens against a client: sizes around each of its limits, real answers of ours, and errors."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from case_texts import (
    SHAPES,
    STRUCTURED,
    Case,
    compact_json,
    real_answers,
    result_of,
    structured_facts,
    text_of,
)
from client_run import ask
from measure import delivered_text

from keyhole.core.answer_rules import ANSWER
from keyhole.core.clients import profiles
from keyhole.core.delivery import Delivery, ToolResult, deliver_result
from keyhole.core.view.budget.limits import CHARACTER_LIMIT

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures" / "clients"
_AROUND = (-2, -1, 0, 1, 2, 40, 2_000)
_FEWER_AROUND = (-1, 0, 1, 2_000)
_FEWER_SHAPES = {
    "error": ("lines", "escapes", "wide"),
    "two_blocks": ("lines", "one line", "wide"),
    "structured": ("lines", "escapes", "wide"),
    "structured_twice": ("lines",),
    "structured_declared": ("lines",),
}
_SHOWN = 300
_SAMPLE = 10_000
# What only a run knows is replaced by a word: paths of files, and times.
_PLACEHOLDERS = (
    (re.compile(r"((?:saved to|Saved to|full output see): )\S+"), r"\1FILE"),
    (re.compile(r"\AWall time: [\d.]+ seconds"), "Wall time: TIME seconds"),
)


def lens_cases(client: str) -> list[Case]:
    """Return the cases for a client."""
    limits = _limits(client)
    cases: dict[Case, None] = {}
    for tool, limit in limits.items():
        is_main = tool in ("plain", "declared")
        for shape in SHAPES if is_main else _FEWER_SHAPES[tool]:
            for size in _sizes(tool, shape, limit):
                steps = _AROUND if is_main and shape in ("lines", "one line") else _FEWER_AROUND
                cases |= dict.fromkeys(Case(tool, shape, size + step) for step in steps)
        sizes = (10, 100, limit // 5, limit // 2, limit * 3 // 2, 2 * limit) if is_main else (10, 2 * limit)
        cases |= dict.fromkeys(Case(tool, "lines", size) for size in sizes)
    rule = profiles()[client].answer
    if rule and rule.lines:
        # A short line has two characters.
        short = range(2 * rule.lines - 3, 2 * rule.lines + 4)
        tools = ("plain", "declared", "two_blocks")
        cases |= dict.fromkeys(Case(tool, "short lines", size) for tool in tools for size in short)
    for name in real_answers():
        near = limits["declared"]
        cases |= dict.fromkeys(Case("declared", name, size) for size in (0, near, near + 1))
        cases |= dict.fromkeys(Case("error", name, size) for size in (800, limits["error"] + 1))
        cases |= dict.fromkeys(Case(tool, name, 0) for tool in ("structured", "two_blocks"))
    return list(cases)


def _sizes(tool: str, shape: str, limit: int) -> set[int]:
    """Return sizes in characters that may reach a limit, in whatever the client counts: all are tried."""
    sample = text_of(shape, _SAMPLE)
    units, size = len(sample.encode("utf-16-le")) / 2, len(sample.encode())
    ratios = {1.0, size / _SAMPLE, units / _SAMPLE}
    if tool in (*STRUCTURED, "error"):
        # As JSON, and in errors of Qwen Code twice.
        escaped = json.dumps(sample, ensure_ascii=False)
        ratios |= {len(escaped.encode()) / _SAMPLE, len(escaped.encode("utf-16-le")) / 2 / _SAMPLE}
    return {int(limit / ratio) for ratio in ratios}


def _limits(client: str) -> dict[str, int]:
    """Return the limits of a client for each kind of answer, without what it puts around them."""
    profile = profiles()[client]
    answer, error = profile.answer, profile.error
    if answer is None:
        raise SystemExit(f"no limit is known for {client}")
    frame = len(answer.frame) - len(ANSWER)
    plain, declared = answer.limit - frame, answer.limit_for(CHARACTER_LIMIT) - frame
    error_limit = (error.limit if error else 0) or answer.limit
    # Some errors hold the message more than once.
    error_limit = (error_limit - (len(error.frame) if error else 0)) // max(
        1, error.frame.count("{json}") if error else 1
    )
    around = len(compact_json(structured_facts("")))
    return {
        "plain": plain,
        "declared": declared,
        "error": error_limit,
        "two_blocks": plain,
        "structured": plain - around,
        "structured_twice": plain - around,
        "structured_declared": declared - around,
    }


def lens_delivery(client: str, case: Mapping[str, Any]) -> Delivery:
    """Return what the lens shows for a case."""
    profile = profiles()[client]
    is_declared = case["tool"] in ("declared", "structured_declared")
    declared = CHARACTER_LIMIT if is_declared or not profile.answer else profile.answer.limit
    return deliver_result(tool_result(case), profile, declared_chars=declared)


def tool_result(case: Mapping[str, Any]) -> ToolResult:
    """Return the result that the probe server sends for a case."""
    sent = result_of(case["tool"], case["shape"], case["size"])
    return ToolResult(
        tuple(block["text"] for block in sent["content"]),
        sent.get("structuredContent"),
        is_error=sent.get("isError", False),
        tool=case["tool"],
        arguments=compact_json({"shape": case["shape"], "size": case["size"]}),
    )


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


def write_fixtures(client: str, version: str, found: list[dict[str, Any]]) -> Path:
    """Store the fixtures of a client: a line for each case, after one with the ends of what was cut.

    Many of those are the same, so a case has only the place of its first and last bytes in the list.
    """
    ends: dict[str, int] = {}
    cases = [_fixture(case, ends) for case in found]
    lines = [{"client": client, "version": version, "ends": [*ends]}, *cases]
    path = FIXTURES / f"{client}.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines))
    return path


def _fixture(case: Mapping[str, Any], ends: dict[str, int]) -> dict[str, Any]:
    """Return a case and what was delivered: length, checksum, and both ends unless all of the answer is in it."""
    text = case["text"].encode("utf-8", "surrogatepass")
    facts = {name: case[name] for name in ("tool", "shape", "size")}
    facts |= {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    if text_of(case["shape"], case["size"]).encode() not in text:
        shown = (text[:_SHOWN].decode("utf-8", "replace"), text[-_SHOWN:].decode("utf-8", "replace"))
        facts["ends"] = [ends.setdefault(end, len(ends)) for end in shown]
    return facts
