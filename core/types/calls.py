"""Calls of agents."""

import json
from dataclasses import dataclass

from keyhole.core.types.completeness import CallStatus


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an agent as the journal stores it, without the answer.

    `change` increases with every call that starts or ends. `started` is in seconds since 1970, `arguments` is JSON in
    ASCII (empty if too long to store), `budget` is in tokens (0: none), `utilisation` is the share of the budget used.
    """

    id: int
    change: int
    started: float
    process: int
    transport: str
    client: str
    client_version: str
    tool: str
    arguments: str
    status: CallStatus = CallStatus.PENDING
    ms: float = 0.0
    tokens: int = 0
    budget: int = 0
    utilisation: float = 0.0
    response_bytes: int = 0
    # A code: why the budget took something, as `truncation_info` names it. Never a sentence.
    note: str = ""

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments; empty if they were too long to store."""
        found = json.loads(self.arguments) if self.arguments else {}
        return found if isinstance(found, dict) else {}
