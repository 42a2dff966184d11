"""What a check found, and what it may ask."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from keyhole.core.clients import Profile
from keyhole.core.types.choices import ToolSet


class CheckStatus(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    # The check itself has a mistake.
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """What a check expected and found; `tokens` is what the answers cost that it looked at.

    `figure` is what revisions are compared by, if the check measures something, such as a rank or tokens; lower is
    better.
    """

    status: CheckStatus
    expected: str
    found: str
    tokens: int = 0
    figure: int | None = None


def finding(is_good: bool, expected: str, found: str, tokens: int = 0, figure: int | None = None) -> CheckFinding:
    """Return a finding that passed or failed."""
    return CheckFinding(CheckStatus.PASSED if is_good else CheckStatus.FAILED, expected, found, tokens, figure)


def facts_finding(facts: Sequence[tuple[str, str]], tokens: int) -> CheckFinding:
    """Return a finding about an answer: each fact says what is expected, and what is wrong about it, if anything."""
    problems = "; ".join(problem for _, problem in facts if problem)
    expected = ", ".join(fact for fact, _ in facts) or "an answer"
    return finding(not problems, expected, problems or f"{tokens:,} tokens", tokens, tokens)


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """One row of the report, before it is run: `name` says what is checked."""

    kind: str
    name: str
    place: str
    run: Callable[[], CheckFinding]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One row of the report."""

    kind: str
    name: str
    place: str
    finding: CheckFinding

    @property
    def status(self) -> CheckStatus:
        """How the check ended."""
        return self.finding.status


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as a server lists it; `sent` is all of it, as JSON."""

    name: str
    description: str
    sent: str

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters; empty if it declares none."""
        declared = json.loads(self.sent).get("inputSchema")
        properties = declared.get("properties") if isinstance(declared, dict) else None
        return list(properties) if isinstance(properties, dict) else []


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The text that a server answered to a call, or its error."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What a server listed and answered, in the order of the calls; `problem` says why it could not be asked."""

    tools: tuple[ListedTool, ...] = ()
    answers: tuple[ServerAnswer, ...] = ()
    problem: str = ""


class ToolSource(Protocol):
    """Asks servers over MCP; the core can't, because it knows no MCP library."""

    def own_tools(self, tools: ToolSet) -> Sequence[ListedTool]:
        """List Keyhole's own tools."""

    def own_cost(self, tools: ToolSet, profile: Profile | None) -> int:
        """Return what Keyhole's tool list costs a client, or as it is sent."""

    def own_answer(self, client: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer:
        """Return what a client with this name gets from one of Keyhole's tools."""

    def ask_server(
        self, command: Sequence[str], calls: Sequence[tuple[str, Mapping[str, object]]], seconds: float
    ) -> ServerReport:
        """Start a server in the workspace, list its tools and call some."""
