"""A value that belongs to one generation of the index."""

from typing import Generic, TypeVar

Value = TypeVar("Value")


class BoundedCache(Generic[Value]):
    """Keeps one value for one generation of the index; thread-safe."""

    def __init__(self) -> None:
        # The pair is replaced as a whole, so that no thread sees a value with the wrong generation.
        self._latest: tuple[int, Value] | None = None

    def get(self, generation: int) -> Value | None:
        """Return the value for a generation, if it is the cached one."""
        latest = self._latest
        return latest[1] if latest and latest[0] == generation else None

    def put(self, generation: int, value: Value) -> Value:
        """Replace the cached value, and return the new one."""
        self._latest = generation, value
        return value
