"""Calls of agents."""

import json
from dataclasses import dataclass

from keyhole.core.types.completeness import CallStatus

# The name of our own server among the wrapped ones.
OWN_SERVER = "keyhole"


@dataclass(frozen=True, slots=True)
class ShownLines:
    """What an answer shows of a file: its name, and of a read the lines; `version` identifies the file's content."""

    path: str
    first: int = 0
    last: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class WrappedServer:
    """A server behind `keyhole wrap`: its name in the journal, how it was started, and in which folder.

    `command` is empty for a server that has an address. Secrets in both are masked.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    folder: str = ""


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
    # Identifies the connection of the client; empty over HTTP, which has no sessions, and in journals of 0.1.0.
    session: str = ""
    # The files that the answer shows, as JSON; empty if they were not recorded.
    shown: str = ""
    # The start of the message, if the call failed.
    problem: str = ""
    # The server that was wrapped (`keyhole wrap`); empty for calls of our own tools.
    server: str = ""
    # The name of the token, on the server of a team.
    caller: str = ""

    @property
    def shown_lines(self) -> list[ShownLines]:
        """The files that the answer shows."""
        return [ShownLines(*row) for row in json.loads(self.shown)] if self.shown else []

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments; empty if they were too long to store."""
        found = json.loads(self.arguments) if self.arguments else {}
        return found if isinstance(found, dict) else {}
