"""Modules of Swift: their files see all of each other, and other modules must be imported."""

from keyhole.core.index.rows import DefinitionRow

# Each folder in these is a module.
_TARGETS = ("Sources", "Tests", "Plugins", "Examples")
_PRIVATE = frozenset(["private", "fileprivate"])


def module_of(path: str) -> str:
    """Return the folder of the module that a file belongs to; without targets, that is its first folder."""
    parts = path.split("/")[:-1]
    for number, part in enumerate(parts):
        if part in _TARGETS:
            return "/".join(parts[: number + 2])
    return parts[0] if parts else ""


def module_name(path: str) -> str:
    """Return how a file's module is called in imports."""
    return module_of(path).rpartition("/")[2]


def is_seen(row: DefinitionRow, path: str) -> bool:
    """Return whether a definition is not private to another file."""
    return row.path == path or _PRIVATE.isdisjoint(row.modifiers.split())
