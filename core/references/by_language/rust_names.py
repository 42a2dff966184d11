"""Rust: paths lead through modules, and macros are exported to the whole crate."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.bindings import STAR
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.file_names import FIRST_LINE, FileNames, is_type_name
from keyhole.core.references.name_meaning import NOTHING, NameMeaning, by_name, by_number, certain
from keyhole.core.references.rust_paths import RustModule, RustPaths, is_module_called


class RustNames(FileNames):
    """Names in Rust."""

    def _imported(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        bindings = self._resolver.bindings(self._path)
        is_bound = bindings and bindings.at(self._names.line_at(place), self._names.name_at(place))
        return super()._imported(place, candidates) if is_bound else self._in_import_path(place)

    def _is_hidden(self, place: int) -> bool:
        return super()._is_hidden(place) or self._is_variant(place)

    def _in_file(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        found = super()._in_file(place, candidates)
        rows = self._in_inner_module(place, list(found.definitions)) if found else []
        return certain(rows) if rows else None

    def _unreached(self, _: int, candidates: list[DefinitionRow]) -> NameMeaning:
        macros = [row for row in candidates if row.kind == "macro"]
        return by_number(macros) if macros else NOTHING

    def _of_receiver(self, place: int, receiver: str) -> NameMeaning:
        path = self._of_path(place, receiver)
        return super()._of_receiver(place, receiver) if path is None else path

    def _is_class_from_outside(self, place: int) -> bool:
        return is_type_name(self._names, place)

    def _in_import_path(self, place: int) -> NameMeaning:
        """Return what a name in the middle of an import of Rust means: a module inside a file."""
        receiver = self._names.receiver_at(place)
        found = self._of_path(place, receiver) if receiver else None
        return found if found is not None and found.certainty is Certainty.CERTAIN else NOTHING

    def _is_variant(self, place: int) -> bool:
        """Return whether the function around the place imports this name from an enum of Rust: `use Error::*`."""
        for star in self._names.places(STAR):
            function = next(iter(self._names.functions_around(star)), None)
            if function is None or place not in self._names.inside(function):
                continue
            for row in self.meaning(star - 1).definitions:
                names = self._resolver.known.names(row.path) if row.kind == "enum" else None
                name = self._names.name_at(place)
                if names is not None and names.has_argument(name, names.symbol_named(row.name, row.name_line)):
                    return True
        return False

    def _in_inner_module(self, place: int, rows: list[DefinitionRow]) -> list[DefinitionRow]:
        """Return the definitions of a file that stand in the innermost module of Rust around the place."""
        if not any(row.parent for row in rows):
            return rows
        around = [row for row in rows if not row.parent or self._is_in_module(place, row.parent)]
        deepest = max((row.depth for row in around), default=0)
        return [row for row in around if row.depth == deepest]

    def _is_in_module(self, place: int, parent: str) -> bool:
        """Return whether a module of this file with this qualified name is around the place."""
        rows = self._resolver.known.definitions(parent.rpartition(".")[2], self._family)
        own = [row for row in rows if row.path == self._path and row.qualified_name == parent]
        return any(row.start_line <= self._names.line_at(place) <= row.end_line for row in own)

    def _of_path(self, place: int, receiver: str) -> NameMeaning | None:
        """Return what a path of Rust means; None if no module comes before the name."""
        resolver, before = self._resolver, place - 1
        if not place or self._names.name_at(before) != receiver or self._since(before, receiver) > FIRST_LINE:
            return None
        name = self._names.name_at(place)
        modules = RustPaths(resolver.known, resolver.bindings, self._path).modules(self._names, before)
        if modules is not None:
            return certain(row for module in modules for row in self._in_module(module, name))
        written = self._names.dotted(before).split(".")
        if receiver[:1].isupper() or written[0] in self._rules.self_words:
            return None
        # A crate, or a module that a macro declares: all that is known is what it is called.
        top = [row for row in resolver.known.definitions(name, self._family) if not resolver.is_member(row)]
        inside = [row for row in top if all(is_module_called(row.path, one) for one in written)]
        return by_number(inside) if inside else by_name(top) if top else None

    def _in_module(self, module: RustModule, name: str) -> list[DefinitionRow]:
        rows = [row for row in self._resolver.known.definitions(name, self._family) if row.path == module.path]
        own = [row for row in rows if row.parent == module.inside and not self._resolver.is_member(row)]
        return own or self._resolver.provided(module.path, name, self._family)
