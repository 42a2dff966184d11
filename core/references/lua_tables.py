"""Names in Lua: functions belong to tables, and a file is a module that returns one."""

from collections.abc import Iterator

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.names_in_file import NO_SYMBOL, NamesInFile
from keyhole.core.references.ruby_names import full_name_as_written
from keyhole.core.syntax.occurrences import OccurrenceRole

_SELF = "self"
_STANDARD = frozenset(
    ["bit", "bit32", "coroutine", "debug", "ffi", "io", "jit", "math", "os", "string", "table", "utf8"]
)
_STARTS = (OccurrenceRole.LOCAL, OccurrenceRole.ASSIGNMENT)
# Folders that modules are named from.
_ROOTS = ("", "lua/", "src/", "lib/")


class LuaTables:
    """Finds the table before a name, and what it has."""

    def __init__(self, known: KnownNames) -> None:
        self._known = known
        self._modules: dict[str, dict[str, str]] = {}

    def is_standard(self, path: str, names: NamesInFile, table: str) -> bool:
        """Return whether a table is one of the standard library, or a module outside the workspace."""
        module = self._modules_of(path, names).get(table)
        if module is not None:
            return all(self._known.names(file) is None for file in _files(module))
        return table in _STANDARD and not any(names.role_at(place) in _STARTS for place in names.places(table))

    def surely(self, path: str, names: NamesInFile, place: int) -> list[DefinitionRow]:
        """Return what a name after a table means, if the file or a module that it requires tells."""
        *tables, name = full_name_as_written(names, place)
        rows = self._known.definitions(name, "lua")
        if tables == [_SELF]:
            owner = self._owner(path, names.line_at(place))
            return [row for row in rows if owner and row.path == path and row.parent == owner]
        module = self._modules_of(path, names).get(tables[0])
        if module is None:
            return [row for row in rows if row.path == path and row.parent == ".".join(tables)]
        inside = [row for row in rows if is_module(row.path, module) and not is_local(row)]
        exact = [row for row in inside if row.path in _files(module)] or inside
        wanted = tables[1:] or [self._returned(exact[0].path) if exact else ""]
        return [row for row in exact if row.parent == ".".join(wanted)] or [row for row in exact if not row.parent]

    def _modules_of(self, path: str, names: NamesInFile) -> dict[str, str]:
        if path not in self._modules:
            self._modules[path] = dict(_modules(names))
        return self._modules[path]

    def _owner(self, path: str, line: int) -> str:
        """Return the table of the function around a line."""
        around = [row for row in self._known.holders(path) if row.start_line <= line <= row.end_line]
        return around[0].parent if around else ""

    def _returned(self, path: str) -> str:
        """Return the table that a module returns: the last name of the file."""
        names = self._known.names(path)
        if names is None or names.symbol_at(names.count - 1) != NO_SYMBOL:
            return ""
        return names.name_at(names.count - 1)


def fields(names: NamesInFile, name: str) -> list[int]:
    """Return the places that give a table a field of this name: `{ name = 1 }`, `table.name = 1`."""
    return [
        place
        for place in names.places(name)
        if names.role_at(place) is OccurrenceRole.ARGUMENT
        or (names.role_at(place) is OccurrenceRole.ASSIGNMENT and names.receiver_at(place))
    ]


def is_local(row: DefinitionRow) -> bool:
    """Return whether only its own file can use a definition."""
    return "local" in row.modifiers.split()


def is_module(path: str, module: str) -> bool:
    """Return whether a file is the module of this name."""
    return f"/{path}".endswith(tuple(f"/{file}" for file in _names_of(module)))


def _files(module: str) -> list[str]:
    return [f"{root}{file}" for root in _ROOTS for file in _names_of(module)]


def _names_of(module: str) -> tuple[str, str]:
    stem = module.replace(".", "/")
    return f"{stem}.lua", f"{stem}/init.lua"


def _modules(names: NamesInFile) -> Iterator[tuple[str, str]]:
    """Yield the variables that stand for modules: `local log = require("garden.log")`."""
    for place in names.places_in_role(OccurrenceRole.IMPORT):
        before = place - 2
        if before < 0 or names.name_at(place - 1) != "require" or names.role_at(before) not in _STARTS:
            continue
        if before == 0 or names.line_at(before - 1) != names.line_at(before):
            yield names.name_at(before), names.name_at(place)
