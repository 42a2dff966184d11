"""A value that belongs to one generation of the index."""

from typing import Generic, TypeVar

Value = TypeVar("Value")


class BoundedCache(Generic[Value]):
    """What was read from one generation of the index; any thread may look or put."""

    def __init__(self) -> None:
        # Always replaced as a whole, so that no thread sees the value of another generation.
        self._latest: tuple[int, Value] | None = None

    def get(self, generation: int) -> Value | None:
        """Return what is remembered of a generation, if it is the latest."""
        latest = self._latest
        return latest[1] if latest and latest[0] == generation else None

    def put(self, generation: int, value: Value) -> Value:
        """Remember a value in the place of the one before; returns it."""
        self._latest = generation, value
        return value
