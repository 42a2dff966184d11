"""Which definition a request about references means."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from keyhole.core.errors import ErrorKind, PathError, QueryError
from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.name_meaning import is_constructor, same_thing
from keyhole.core.types.choices import Role

_SEPARATOR = re.compile(r"::|->|[.#/\\]")
# Parts of a type that are no definition of their own.
_CONTINUED = frozenset(["impl", "extension"])
_MOST_NAMED = 8


class AskedSymbol(NamedTuple):
    """The definition that is asked for, and how many others have the same name."""

    definition: DefinitionRow
    others: int = 0


def asked_symbol(store: ReferenceStore, symbol: str, path: str, line: int) -> AskedSymbol:
    """Return the definition with a name, or the one at a line of a file; raise an error if there is not exactly one."""
    if symbol:
        return _named(store, symbol, path)
    if not path or not line:
        raise QueryError("no symbol given", ErrorKind.NO_SYMBOL_ASKED)
    rows = store.definitions_in([path])
    if not rows and store.file_id(path) is None:
        raise PathError(f"{path} is not an indexed file", ErrorKind.NOT_INDEXED)
    named = [row for row in rows if row.start_line <= line <= row.name_line]
    around = [row for row in rows if row.start_line <= line <= row.end_line]
    if not around:
        raise QueryError(f"no definition at {path}:{line}", ErrorKind.NO_DEFINITION_AT_LINE)
    return AskedSymbol((named or around)[-1])


def _named(store: ReferenceStore, symbol: str, path: str) -> AskedSymbol:
    parts = [part for part in _SEPARATOR.split(symbol.strip().removesuffix("()")) if part]
    rows = _rows_named(store, symbol.strip().removesuffix("()"), parts)
    rows = [row for row in rows if row.kind not in _CONTINUED] or rows
    # `Shop` means the class, even if its constructors have the same name; `Shop.Shop` means those.
    is_constructor_asked = parts[-1:] == parts[-2:-1]
    rows = [row for row in rows if is_constructor(row) == is_constructor_asked] or rows
    in_file = [row for row in rows if row.path == path or row.path.startswith(f"{path}/")] if path else rows
    if not in_file:
        where = path or "the index"
        raise QueryError(f"{where} has no symbol {symbol!r}", ErrorKind.UNKNOWN_SYMBOL, symbol=symbol)
    groups = _groups(in_file)
    if len(groups) > 1:
        roles = store.roles_of({row.path for row in in_file})
        own = _groups(row for row in in_file if roles.get(row.path) == Role.SOURCE)
        if len(own) != 1:
            raise QueryError(_ambiguous(symbol, own or groups), ErrorKind.AMBIGUOUS_SYMBOL)
        groups = own
    return AskedSymbol(groups[0][0], len(_groups(rows)) - 1)


def _rows_named(store: ReferenceStore, symbol: str, parts: list[str]) -> list[DefinitionRow]:
    """Return the definitions with a name; the names of some contain separators, such as `log::info` in Bash."""
    if len(parts) > 1 and (whole := store.definitions_named(symbol)):
        return whole
    rows = store.definitions_named(parts[-1]) if parts else []
    owned = [row for row in rows if _has_owners(row, parts[:-1])]
    return owned or _in_namespaces(store, rows, parts[:-1])


def _in_namespaces(store: ReferenceStore, rows: list[DefinitionRow], owners: list[str]) -> list[DefinitionRow]:
    """Return the definitions whose owners include the namespace that their file declares, as in PHP."""
    holders = store.holders_in({row.path for row in rows})
    namespaces = {row.path: row.name.split("\\") for row in holders if row.kind == "namespace"}
    return [
        row
        for row in rows
        if [*namespaces.get(row.path, ()), *filter(None, row.parent.split("."))][-len(owners) :] == owners
    ]


def _has_owners(row: DefinitionRow, owners: list[str]) -> bool:
    """Return whether the names before a symbol are those of its classes or modules, or of its file."""
    if not owners:
        return True
    stem = row.path.rpartition("/")[2].partition(".")[0]
    around = [*row.path.rpartition("/")[0].split("/"), stem, *row.parent.split(".")]
    around = [part for part in around if part]
    return row.parent.split(".")[-len(owners) :] == owners or around[-len(owners) :] == owners


def _groups(rows: Iterable[DefinitionRow]) -> list[list[DefinitionRow]]:
    """Return the definitions by what they are definitions of; the one with the most lines of each comes first."""
    groups: dict[tuple[str, str], list[DefinitionRow]] = {}
    for row in rows:
        groups.setdefault(same_thing(row), []).append(row)
    for group in groups.values():
        group.sort(key=lambda row: (row.kind in _CONTINUED, row.start_line - row.end_line))
    return list(groups.values())


def _ambiguous(symbol: str, groups: list[list[DefinitionRow]]) -> str:
    named = ", ".join(
        f"{group[0].qualified_name} ({group[0].path}:{group[0].name_line})" for group in groups[:_MOST_NAMED]
    )
    more = f" and {len(groups) - _MOST_NAMED:,} more" if len(groups) > _MOST_NAMED else ""
    return f"{len(groups):,} definitions are called {symbol!r}: {named}{more}"
