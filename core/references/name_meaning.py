"""What a name may mean, and what definitions have in common."""

from collections.abc import Iterable
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.language_rules import is_holder, rules_of

# Parts of a type that stand beside it.
PARTS = frozenset(["impl", "extension"])
MEMBERS = frozenset(["method", "property", "getter", "setter", "constructor", "field"])
CALLED = frozenset(["function", "method", "constructor"])
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl")
VALUES = CALLED | {"constant", "event", "getter", "property", "setter", "variable"}


class NameMeaning(NamedTuple):
    """What a name may mean. An empty meaning is one outside the workspace, or a local variable."""

    certainty: Certainty
    definitions: tuple[DefinitionRow, ...]


class Members(NamedTuple):
    """The definitions of a member in a class and what it inherits from.

    `is_complete` is False if it is not known what a base is: then a member that is not found may be there. A base from
    outside has no member that the workspace defines.
    """

    definitions: tuple[DefinitionRow, ...]
    is_complete: bool


NOTHING = NameMeaning(Certainty.CERTAIN, ())


def certain(rows: Iterable[DefinitionRow]) -> NameMeaning:
    """Return a meaning without doubt."""
    return NameMeaning(Certainty.CERTAIN, tuple(rows))


def by_name(rows: Iterable[DefinitionRow]) -> NameMeaning:
    """Return definitions of which only the name is known to match."""
    return NameMeaning(Certainty.BY_NAME, tuple(rows))


def by_number(rows: list[DefinitionRow]) -> NameMeaning:
    """Return the only definition as likely, or several by name."""
    is_only = count_things(rows) == 1
    return NameMeaning(Certainty.LIKELY if is_only else Certainty.BY_NAME, tuple(rows))


def same_thing(row: DefinitionRow) -> tuple[str, str]:
    """Return what definitions of one thing have in common: overloads, a prototype and its function, class parts."""
    rules = rules_of(row.language)
    # What is not a function is only shared through a header, and a macro may have the name of a function.
    is_common = row.kind in CALLED or row.kind == "namespace" or row.path.endswith(_HEADERS)
    is_shared = rules.includes and is_common and "static" not in row.modifiers.split()
    if rules.includes and row.kind == "macro":
        return ("" if is_shared else row.path), f"#define {row.qualified_name}"
    is_part = rules.nests_constants and is_holder(row) and ("." in row.qualified_name or row.kind == "module")
    return ("" if is_shared or is_part else row.path), row.qualified_name


def count_things(rows: Iterable[DefinitionRow]) -> int:
    """Return how many things are defined; after `using namespace draw`, `Group::area` is `draw::Group::area`."""
    things = {same_thing(row) for row in rows}
    wholes = [name for path, name in things if not path]
    short = {name for name in wholes if any(other.endswith(f".{name}") for other in wholes)}
    return len(things) - len(short)


def is_constructor(row: DefinitionRow) -> bool:
    """Return whether a definition is a constructor that has the name of its class: only `new` means it."""
    return row.kind in CALLED and row.parent.rpartition(".")[2] == row.name


def is_static(row: DefinitionRow) -> bool:
    """Return whether a function of C can only be used in its file; that of a header is in each that includes it."""
    is_c = rules_of(row.language).includes and "static" in row.modifiers.split()
    return is_c and not row.path.endswith(_HEADERS)


def is_in_module(path: str, module: str) -> bool:
    """Return whether a file is a module, or a folder has it as one of its own files."""
    return path == module or folder_of(path) == module


def folder_of(path: str) -> str:
    """Return the folder of a path; empty for the workspace itself."""
    return path.rpartition("/")[0]
