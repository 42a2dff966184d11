"""What a client does to an answer: the rules that assets/clients.toml holds for each kind of answer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

ANSWER = "{answer}"


class Overflow(StrEnum):
    """What a client does to an answer over its limit."""

    SPILL = "spill"
    MIDDLE = "middle"
    HEAD = "head"


_EFFECTS = {
    Overflow.SPILL: "saves answers over {limit} to a file",
    Overflow.MIDDLE: "removes the middle of answers over {limit}",
    Overflow.HEAD: "shows only the beginning of answers over {limit}",
}


class Unit(StrEnum):
    """What a client counts; characters are UTF-16 units, as in JavaScript."""

    CHARACTERS = "characters"
    BYTES = "bytes"


class StructuredPlace(StrEnum):
    """What a client does with structured content: the model sees it instead of the text, beside it, or not at all."""

    REPLACES = "replaces"
    BEFORE = "before"
    AFTER = "after"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """What happens to an answer over a limit: how it is cut (`client_cuts.py`) and how much of it is kept.

    The client puts the answer into `frame` before it measures it, and `header` before it afterwards. A limit of 0 means
    that nothing is cut. If the client honours what a tool declares, that is the limit instead, up to `declared`.
    """

    overflow: Overflow
    cut: str
    limit: int
    unit: Unit
    message: str = ""
    kept: int = 0
    kept_first: int = 0
    lines: int = 0
    declared: int = 0
    # The size of each block is rounded up to a multiple of this.
    rounded_to: int = 1
    frame: str = ANSWER
    header: str = ""
    # Whether blanks around the answer are removed first, and whether an answer in JSON is written again without blanks.
    strips: bool = False
    compacts_json: bool = False

    def limit_for(self, declared_chars: int) -> int:
        """Return the limit for a tool that declares `declared_chars`; 0 if it declares nothing."""
        return min(declared_chars, self.declared) if self.declared and declared_chars else self.limit

    def effect(self, limit: int) -> str:
        """Return what the client does to answers over a limit."""
        limits = [f"{limit:,} {self.unit}", *([f"{self.lines:,} lines"] if self.lines else [])]
        return _EFFECTS[self.overflow].format(limit=" or ".join(limits))


class RuleFacts(TypedDict, total=False):
    """What the table says of one kind of answer: all of it, or what differs from other answers."""

    overflow: str
    cut: str
    limit: int
    unit: str
    message: str
    kept: int
    kept_first: int
    lines: int
    declared: int
    rounded_to: int
    frame: str
    header: str
    strips: bool
    compacts_json: bool


def rule_from(facts: RuleFacts) -> AnswerRule:
    """Return a rule of the table."""
    return AnswerRule(
        overflow=Overflow(facts["overflow"]),
        cut=facts["cut"],
        limit=facts["limit"],
        unit=Unit(facts["unit"]),
        # Templates start on a line of their own in the table.
        message=facts.get("message", "").removeprefix("\n"),
        kept=facts.get("kept", 0),
        kept_first=facts.get("kept_first", 0),
        lines=facts.get("lines", 0),
        declared=facts.get("declared", 0),
        rounded_to=facts.get("rounded_to", 1),
        frame=facts.get("frame", ANSWER),
        header=facts.get("header", ""),
        strips=facts.get("strips", False),
        compacts_json=facts.get("compacts_json", False),
    )
