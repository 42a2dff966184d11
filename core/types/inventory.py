"""The paths of a workspace, and how far an index run is: what the explorer needs for its first picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyhole.core.types.source_files import Skip


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an index run."""

    done: int
    total: int
    chunks: int
    path: str


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file in the index."""

    path: str
    language: str
    lines: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every path in the index, indexed or skipped, and every kind of symbol."""

    files: tuple[IndexedFile, ...] = ()
    skips: "tuple[Skip, ...]" = ()
    kinds: tuple[str, ...] = ()
    generation: int = 0
