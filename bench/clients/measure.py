"""Find the limits of a client by bisection to the character: many sizes are asked for in each run of the client."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapters import ADAPTERS, Place
from case_texts import Case, is_whole, text_of
from client_run import LabError, ask, run_client

RECORDS = Path(__file__).parents[1] / "records"
# Longer answers than this are not looked at.
MOST = 130_000
_POINTS = 6
_CHANCE = 20
KINDS = (
    ("plain", "lines"),
    ("plain", "short lines"),
    ("plain", "one line"),
    ("plain", "wide"),
    ("plain", "escapes"),
    ("declared", "lines"),
    ("declared", "wide"),
    ("structured", "lines"),
    ("error", "lines"),
    ("error", "wide"),
    ("two_blocks", "lines"),
)


@dataclass(frozen=True, slots=True)
class Bracket:
    """The largest size that is known to arrive whole, and the smallest that is known not to.

    The search starts where the limit was the last time, if that is known.
    """

    whole: int = 0
    cut: int = MOST + 1
    last_limit: int | None = None

    @property
    def is_found(self) -> bool:
        """Whether no size is left between the two."""
        return self.cut - self.whole <= 1

    def sizes(self) -> list[int]:
        """Return the sizes to ask for next."""
        if self.last_limit is not None:
            return [size for size in (self.last_limit, self.last_limit + 1) if self.whole < size < self.cut]
        room = self.cut - self.whole
        return sorted({self.whole + room * step // (_POINTS + 1) for step in range(1, _POINTS + 1)} - {self.whole})

    def after(self, size: int, *, is_whole: bool) -> "Bracket":
        """Return the bracket when one more size is known."""
        if is_whole:
            return replace(self, whole=max(self.whole, size), last_limit=None)
        return replace(self, cut=min(self.cut, size), last_limit=None)


def delivered_blocks(result: dict[str, Any]) -> list[str]:
    """Return the texts that the model gets as the result of one call."""
    if "response" in result:
        response = result["response"]
        texts = [response[name] for name in ("output", "error") if name in response]
        return texts or [json.dumps(response, ensure_ascii=False)]
    content = result.get("content", result.get("output", ""))
    return [content] if isinstance(content, str) else [str(block.get("text", "")) for block in content]


def delivered_text(result: dict[str, Any]) -> str:
    """Return what the model gets as one text: blocks below each other."""
    return "\n".join(delivered_blocks(result))


def find_limits(client: str, kinds: Sequence[tuple[str, str]] = KINDS) -> dict[str, dict[str, int | None]]:
    """Return how large an answer of each kind may be: in characters, in UTF-16 units, in bytes and in lines."""
    last = _last_limits(client)
    brackets = {kind: Bracket(last_limit=last.get(", ".join(kind))) for kind in kinds}
    while open_kinds := [kind for kind, bracket in brackets.items() if not bracket.is_found]:
        cases = [Case(*kind, size) for kind in open_kinds for size in brackets[kind].sizes()]
        results = ask(client, [(case.tool, case.parameters()) for case in cases])
        for case, result in zip(cases, results, strict=True):
            kind = (case.tool, case.shape)
            is_all = is_whole(case, delivered_text(result))
            brackets[kind] = brackets[kind].after(case.size, is_whole=is_all)
    return {", ".join(kind): _sizes(*kind, bracket) for kind, bracket in brackets.items()}


def _last_limits(client: str) -> dict[str, int]:
    """Return the limits in the newest record, in characters; a kind that was never cut has the largest size."""
    records = sorted(RECORDS.glob("*-client-lab.json"))
    figures = json.loads(records[-1].read_text())["figures"] if records else {}
    limits = figures.get(client, {}).get("limits", {})
    return {kind: MOST if sizes["characters"] is None else sizes["characters"] for kind, sizes in limits.items()}


def _sizes(_tool: str, shape: str, bracket: Bracket) -> dict[str, int | None]:
    if bracket.whole >= MOST:
        return {"characters": None}
    text, more = text_of(shape, bracket.whole), text_of(shape, bracket.whole + 1)
    return {
        "characters": len(text),
        "utf16": len(text.encode("utf-16-le")) // 2,
        "bytes": len(text.encode()),
        "lines": text.count("\n") + 1,
        # One character more is this many bytes, so a limit in bytes may be up to one less.
        "bytes_with_one_more": len(more.encode()),
    }


def first_facts(client: str) -> dict[str, Any]:
    """Return how a client introduces itself, and what it does with tools, descriptions and instructions."""
    from probe import DESCRIPTIONS, INSTRUCTIONS

    launch = ADAPTERS[client](Place.nowhere())
    lookup, description = launch.lookup, DESCRIPTIONS[launch.described]
    run = run_client(client, [("always", {"shape": "lines", "size": 10}), *([lookup] if lookup else [])])
    # A client that asked before the probe had started, as on a busy machine, would seem to list no tools.
    if "000000 the" not in str(run.results.get(0)):
        raise LabError(f"{client} did not get an answer of the probe: {run.results.get(0)}")
    introduced = [line for line in run.probe if line["method"] in ("initialize", "server/discover")]
    initialize = next(line["params"] for line in introduced if line["method"] == "initialize")
    names = [str(tool.get("name", "")) for tool in run.first_tools]
    described = next((tool for tool in run.tools if str(tool.get("name", "")).endswith(launch.described)), {})
    request = json.dumps(run.request, ensure_ascii=False)
    shown = str(described.get("description", "")) or _looked_up(run.results.get(1))
    return {
        "name": initialize["clientInfo"]["name"],
        "protocol": initialize["protocolVersion"],
        "asks_for_2026_07_28_first": any(line["method"] == "server/discover" for line in introduced),
        "lists_tools": any(name.endswith("plain") for name in names),
        "lists_always_load": any(name.endswith("always") for name in names),
        "tool_name": next((name for name in names if name.endswith("always")), ""),
        "description": _longest_in(description, shown) if shown else None,
        "description_sent": len(description),
        "instructions": _longest_in(INSTRUCTIONS, request),
        "instructions_sent": len(INSTRUCTIONS),
    }


def _looked_up(result: Any) -> str:
    """Return what a model gets when it searches for the tool with the long description."""
    return json.dumps(result, ensure_ascii=False) if result else ""


def _longest_in(text: str, shown: str) -> int:
    """Return how much of the beginning of a text is found somewhere."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[:middle] in shown else (low, middle - 1)
    # A few characters are found anywhere.
    return low if low > _CHANCE else 0
