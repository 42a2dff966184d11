"""How much of an answer a client delivers whole, in its own units, for every view that is made for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_room: ContextVar["Room | None"] = ContextVar("room", default=None)


@dataclass(frozen=True, slots=True)
class Room:
    """What a client delivers whole: characters, bytes and lines; None if it does not limit them."""

    client: str
    chars: int | None = None
    bytes: int | None = None
    lines: int | None = None

    @property
    def limits(self) -> dict[str, int]:
        """Every limit, by its unit."""
        limits = {"characters": self.chars, "bytes": self.bytes, "lines": self.lines}
        return {unit: limit for unit, limit in limits.items() if limit is not None}

    @property
    def limit_texts(self) -> list[str]:
        """Every limit, as notes write them."""
        return [f"{limit:,} {unit}" for unit, limit in self.limits.items()]

    def lower(self, tokens: int) -> int:
        """Return a token budget that is not beyond the room: no text has more tokens than characters."""
        return min(tokens, self.chars or tokens, self.bytes or tokens)


@contextmanager
def within(room: Room | None) -> Iterator[None]:
    """Fit every view made inside this block, including in the threads it waits for, into the room of a client."""
    token = _room.set(room)
    try:
        yield
    finally:
        _room.reset(token)


def current_room() -> Room | None:
    """Return the room of the client that views are made for."""
    return _room.get()
