"""The client of the shared server that a call belongs to."""

import asyncio
import secrets
from contextvars import ContextVar
from dataclasses import dataclass, field

# Calls of one client that run at the same time; more of them wait for each other.
MOST_AT_ONCE = 2


@dataclass(frozen=True, slots=True, eq=False)
class SharedClient:
    """One session: its name in the journal, and its share of the server."""

    session: str = field(default_factory=lambda: secrets.token_hex(4))
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AT_ONCE))


# Messages carry the context of whoever read them from the connection, so it is set where calls are answered.
current_client: ContextVar[SharedClient | None] = ContextVar("client", default=None)
