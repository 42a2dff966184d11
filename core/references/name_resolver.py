"""What a name means, from everything that the index knows: files and their imports, classes and their members.

How the names of one file are resolved is in file_names.py, and in by_language/ where a language has its own ways.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cache
from typing import Protocol

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.bindings import FileBindings
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.common_members import is_common_member
from keyhole.core.references.csharp_namespaces import CsharpNamespaces
from keyhole.core.references.jvm_packages import JvmPackages
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.language_rules import family_of, is_holder, rules_of
from keyhole.core.references.lua_tables import LuaTables, fields, is_local
from keyhole.core.references.name_meaning import (
    MEMBERS,
    NOTHING,
    PARTS,
    Members,
    NameMeaning,
    by_name,
    by_number,
    folder_of,
    is_constructor,
    is_in_module,
    same_thing,
)
from keyhole.core.references.names_in_file import NO_SYMBOL, NamesInFile, role_set
from keyhole.core.references.php_namespaces import Namespaces
from keyhole.core.references.ruby_constants import declarations
from keyhole.core.references.rust_bindings import RustBindings
from keyhole.core.references.swift_modules import module_of
from keyhole.core.references.value_types import MOST_CLASSES, ValueTypes
from keyhole.core.syntax.occurrences import UNNAMED, OccurrenceRole
from keyhole.core.types.syntax import HOLDS_METHODS

# What files can use of the definitions in a list, by the id of that list; it is kept too, so that no other gets its id.
Reachable = dict[int, tuple[list[DefinitionRow], list[DefinitionRow]]]
_OWN = role_set(OccurrenceRole.DEFINITION, OccurrenceRole.LOCAL, OccurrenceRole.TYPE_PARAMETER)


class MeaningsOfFile(Protocol):
    """The names of one file."""

    def meaning(self, place: int) -> NameMeaning:
        """Return what the name at a place may mean."""

    def meanings(self, name: str, places: Sequence[int], /) -> list[NameMeaning]:
        """Return what a name may mean at each of its places."""

    def holders(self, place: int) -> list[DefinitionRow]:
        """Return the classes around the place, the innermost first."""


class NameResolver:
    """Resolves names of one snapshot of the index."""

    def __init__(
        self, store: ReferenceStore, open_file: Callable[["NameResolver", str, NamesInFile], MeaningsOfFile]
    ) -> None:
        self._open_file = open_file
        self.known = KnownNames(store)
        self.packages = JvmPackages(self.known)
        self.csharp = CsharpNamespaces(self.known)
        self.namespaces = Namespaces(self.known)
        self.tables = LuaTables(self.known)
        self.types = ValueTypes(self)
        self._bindings: dict[str, FileBindings] = {}
        self._provided: dict[tuple[str, str, str], list[DefinitionRow]] = {}
        self._is_member: dict[int, bool] = {}
        self._bases: dict[int, Members] = {}
        self._members_found: dict[tuple[int, str, bool], Members] = {}
        self._by_owner: dict[tuple[str, str], dict[str, list[DefinitionRow]]] = {}
        self._overriding: dict[tuple[int, str], list[DefinitionRow]] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._files: dict[str, MeaningsOfFile] = {}
        self.reachable: Reachable = {}
        # What places mean in every file that has such a place; see by_language/shared_names.py.
        self.shared_meanings: dict[tuple[object, ...], NameMeaning] = {}
        self.defining = cache(self._defining)
        self.has_member = cache(self._has_member)
        self.by_members = cache(self._by_members)
        self.is_field = cache(self._is_field)

    def meaning(self, path: str, place: int) -> NameMeaning:
        """Return what the name at a place of a file may mean."""
        file = self._files.get(path) or self.names_of(path)
        return file.meaning(place) if file else NOTHING

    def names_of(self, path: str) -> MeaningsOfFile | None:
        """Return the names of a file with what they mean; None if they are not recorded."""
        if path not in self._files:
            names = self.known.names(path)
            if names is None:
                return None
            self._files[path] = self._open_file(self, path, names)
        return self._files[path]

    def release(self) -> None:
        """Forget everything, since only the garbage collector would free a resolver and files that know each other."""
        self.known.release()
        self.__dict__.clear()

    def bindings(self, path: str) -> FileBindings | None:
        """Return the imported names of a file."""
        if path not in self._bindings:
            names = self.known.names(path)
            if names is None:
                return None
            is_rust = self.known.language(path) == "rust"
            self._bindings[path] = (RustBindings if is_rust else FileBindings)(self.known, path, names)
        return self._bindings[path]

    def provided(self, path: str, name: str, family: str) -> list[DefinitionRow]:
        """Return what a name means in a module: its own definition, or one that it imports itself."""
        key = path, name, family
        if key not in self._provided:
            self._provided[key] = self._find_provided(path, name, family)
        return self._provided[key]

    def _find_provided(self, path: str, name: str, family: str) -> list[DefinitionRow]:
        """Follow imports through other files, each name of a file once, because files may import each other.

        A list of unfinished steps takes the place of recursion, since chains of imports can be longer than the stack.
        """
        seen = {(path, name)}
        steps = [self._provide(path, name, family)]
        found: list[DefinitionRow] | None = None
        while steps:
            try:
                there = steps[-1].send(found)
            except StopIteration as end:
                steps.pop()
                found = end.value
                continue
            found = []
            if there not in seen:
                seen.add(there)
                steps.append(self._provide(*there, family))
                found = None
        return found or []

    def _provide(
        self, path: str, name: str, family: str
    ) -> Generator[tuple[str, str], list[DefinitionRow] | None, list[DefinitionRow]]:
        """Return what a name means in one file; yield each file and name that it needs, and get what that provides."""
        own = [row for row in self.known.definitions(name, family) if is_in_module(row.path, path)]
        if found := [row for row in own if not self.is_member(row)]:
            return [row for row in found if not row.parent] or found
        bindings = self.bindings(path)
        if bindings is None:
            return []
        for binding in bindings.of(name):
            is_module = not binding.name and rules_of(family).imports_modules
            if binding.path and not is_module and (there := (yield binding.path, binding.name or name)):
                return there
        rows: list[DefinitionRow] = []
        for star in bindings.stars:
            rows += (yield star, name) or []
        return rows

    def same_definitions(self, target: DefinitionRow) -> set[int]:
        """Return the ids of all definitions of one thing, such as overloads."""
        thing = same_thing(target)
        rows = [row for row in self.known.definitions_of(target.name, target) if same_thing(row) == thing]
        if len(rows) > 1 and rules_of(target.language).has_unnamed_functions:
            # Functions without a name may define the same name, each for itself.
            rows = [row for row in rows if self._scope_of(row) == self._scope_of(target)]
        return {row.id for row in rows}

    def _scope_of(self, row: DefinitionRow) -> int:
        names = self.known.names(row.path)
        return names.scope_of(row.name, row.name_line) if names else NO_SYMBOL

    def _defining(self, name: str, family: str) -> frozenset[str]:
        """Return the files that define a name."""
        return frozenset(row.path for row in self.known.definitions(name, family))

    def _has_member(self, name: str, family: str) -> bool:
        """Return whether a class has a member of this name."""
        return any(map(self.is_member, self.known.definitions(name, family)))

    def is_member(self, row: DefinitionRow) -> bool:
        """Return whether a definition is reached through its class."""
        known = self._is_member.get(row.id)
        if known is None:
            known = self._is_member[row.id] = self._find_is_member(row)
        return known

    def _find_is_member(self, row: DefinitionRow) -> bool:
        if row.kind == "method" and row.language == "cpp" and self._is_namespace(row.parent):
            return False
        if row.kind in MEMBERS or (row.parent and rules_of(row.language).has_tables and not is_local(row)):
            return True
        if row.parent and row.depth == 0 and rules_of(row.language).has_packages:
            return True  # a function that extends a class, which may be outside the workspace
        return bool(row.parent) and row.parent in self.known.holder_names(row.path)

    def _is_namespace(self, qualified_name: str) -> bool:
        """Return whether a name of C++ is that of a namespace: `text::quote` may be a method or not."""
        rows = self.known.definitions(qualified_name.rpartition(".")[2], family_of("cpp"))
        return any(row.kind == "namespace" and row.qualified_name == qualified_name for row in rows)

    def members(self, holder: DefinitionRow, name: str, *, inherited: bool = False) -> Members:
        """Return a member of a class: its own, or else the one that it inherits."""
        key = holder.id, name, inherited
        if key not in self._members_found:
            self._members_found[key] = self._members(holder, name, inherited=inherited, seen=set())
        return self._members_found[key]

    def owns(self, holder: DefinitionRow, row: DefinitionRow) -> bool:
        """Return whether a definition is a member of a class."""
        rules = rules_of(holder.language)
        if row.path == holder.path:
            # Functions without a name may have classes of one name, each for itself.
            is_inside = not rules.has_unnamed_functions or holder.start_line <= row.start_line <= holder.end_line
            return row.parent == holder.qualified_name and is_inside
        is_open = rules.has_open_classes
        is_named = is_open and row.parent.rpartition(".")[2] == holder.name
        return is_named and self._may_continue(holder, row, row.parent)

    def own_members(self, holder: DefinitionRow, name: str) -> list[DefinitionRow]:
        """Return the definitions of a name that are members of a class itself, not of its bases."""
        by_owner = self._by_owner.get((name, holder.language))
        if by_owner is None:
            by_owner = self._by_owner[name, holder.language] = {}
            for row in self.known.definitions_of(name, holder):
                by_owner.setdefault(row.parent.rpartition(".")[2], []).append(row)
        owners = dict.fromkeys([holder.qualified_name.rpartition(".")[2], holder.name])
        return [row for owner in owners for row in by_owner.get(owner, ()) if self.owns(holder, row)]

    def overriding(self, holder: DefinitionRow, name: str) -> list[DefinitionRow]:
        """Return the members of heirs of a class that a call of its own member may run."""
        if not rules_of(holder.language).has_virtual_calls:
            return []
        key = holder.id, name
        if key not in self._overriding:
            rows = self.known.definitions_of(name, holder)
            self._overriding[key] = [row for row in rows if self.is_member(row) and self._is_heir(row, holder)]
        return self._overriding[key]

    def overridden(self, holder: DefinitionRow, name: str) -> list[DefinitionRow]:
        """Return the members of what a class extends or implements that its own member stands for."""
        found, pending, seen = list[DefinitionRow](), list(self.bases(holder).definitions), set[int]()
        while pending and len(seen) < MOST_CLASSES:
            base = pending.pop()
            if base.id not in seen:
                seen.add(base.id)
                found += self.own_members(base, name)
                pending += self.bases(base).definitions
        return found

    def _is_heir(self, member: DefinitionRow, holder: DefinitionRow) -> bool:
        """Return whether the class of a member inherits from another one."""
        rows = self.known.definitions_of(member.parent.rpartition(".")[2], member)
        pending, seen = [row for row in rows if is_holder(row) and self.owns(row, member)], set[int]()
        while pending and len(seen) < MOST_CLASSES:
            bases = [base for base in self.bases(pending.pop()).definitions if base.id not in seen]
            if any(base.id == holder.id for base in bases):
                return True
            seen.update(base.id for base in bases)
            pending += bases
        return False

    def holders_at(self, path: str, place: int) -> list[DefinitionRow]:
        """Return the classes whose members need no receiver at a place, the innermost first."""
        return self._files[path].holders(place) if path in self._files else []

    def bases(self, holder: DefinitionRow) -> Members:
        """Return the classes of the workspace that a class extends; not complete if it is not known what one is."""
        if holder.id not in self._bases:
            self._bases[holder.id] = Members((), is_complete=True)  # in case it extends itself
            self._bases[holder.id] = self._find_bases(holder)
        return self._bases[holder.id]

    def known_bases(self, holder: DefinitionRow) -> list[tuple[DefinitionRow, Certainty]]:
        """Return what a class extends or may extend, with how certain each is."""
        found: dict[int, tuple[DefinitionRow, Certainty]] = {}
        for part in self._parts(holder):
            names = self.known.names(part.path)
            for place in names.bases_of(names.symbol_named(part.name, part.name_line)) if names else ():
                meaning = self.meaning(part.path, place)
                for row in meaning.definitions:
                    if is_holder(row):
                        whole = self.whole_type(row)
                        found.setdefault(whole.id, (whole, meaning.certainty))
        return list(found.values())

    def whole_type(self, row: DefinitionRow) -> DefinitionRow:
        """Return the type that a part such as `impl` belongs to, or the definition itself."""
        if row.kind not in PARTS:
            return row
        rows = [one for one in self.known.definitions_of(row.name, row) if one.kind in HOLDS_METHODS - PARTS]
        near = [one for one in rows if one.path == row.path]
        return (near or rows or [row])[0]

    def is_from_outside(self, path: str, place: int) -> bool:
        """Return whether a name, or what it is taken from, is imported from outside the workspace or built in."""
        if rules_of(self.known.language(path)).has_namespaces:
            return True  # by its full name, it is none of the workspace's
        names, bindings = self.known.names(path), self.bindings(path)
        if names is None or bindings is None or not rules_of(self.known.language(path)).needs_import:
            return False
        before = names.taken_from(place)
        if UNNAMED in before:
            return False
        first = names.name_numbered(before[-1]) if before else names.name_at(place)
        if bound := bindings.of(first):
            return not any(binding.path for binding in bound)
        return not names.places_in_roles(first, _OWN) and not bindings.stars

    def _by_members(
        self, name: str, language: str, *, is_of_several: bool = False, without_tests: bool = False
    ) -> NameMeaning:
        """Return the members with a name, for a receiver whose type is not known; code cannot reach those of tests."""
        family = family_of(language)
        rows = self.known.definitions(name, family)
        self.known.expect(row.path for row in rows if row.parent)
        members = [row for row in rows if self.is_member(row) and not is_constructor(row)]
        if without_tests and (tests := self.known.tests_among(row.path for row in members)):
            members = [row for row in members if row.path not in tests]
        if is_of_several or is_common_member(language, name) or self._is_declared(name, family):
            return by_name(members)
        return by_number(members)

    def _is_field(self, name: str, family: str) -> bool:
        """Return whether a class has a field of this name."""
        files = [file for file in self.known.files_with(name) if family_of(file.language) == family]
        found = [names for file in files if (names := self.known.names(file.path))]
        rules = rules_of(family)
        self_words = rules.self_words if rules.has_set_fields else frozenset()
        return any(names.has_field(name) or names.has_member_set(name, self_words) for names in found)

    def _is_declared(self, name: str, family: str) -> bool:
        """Return whether a class of Ruby declares an attribute of this name, or a table of Lua gets such a field."""
        find = {"ruby": declarations, "lua": fields}.get(family)
        if find is None:
            return False
        declared = name.removesuffix("=")
        files = [names for file in self.known.files_with(declared) if (names := self.known.names(file.path))]
        return any(find(names, declared) for names in files)

    def reaches(self, path: str, targets: Iterable[str]) -> bool:
        """Return whether a file includes one of the targets, directly or through others."""
        return not self._included(path).isdisjoint(targets)

    def _included(self, path: str) -> frozenset[str]:
        if path not in self._reached:
            found, pending = {path}, [path]
            while pending:
                self.known.read_imports(pending)
                new = {row.path for one in pending for row in self.known.imports(one) if row.path} - found
                found |= new
                pending = sorted(new)
            self._reached[path] = frozenset(found)
        return self._reached[path]

    def _members(self, holder: DefinitionRow, name: str, *, inherited: bool, seen: set[int]) -> Members:
        if holder.id in seen or len(seen) > MOST_CLASSES:
            return Members((), is_complete=holder.id in seen)
        seen.add(holder.id)
        family = family_of(holder.language)
        own = [] if inherited else self.own_members(holder, name)
        own = [row for row in own if not is_constructor(row)]
        own = own or self._in_companion(holder, name)
        if own:
            return Members(tuple(own), is_complete=True)
        if family == "ruby" and self._declares(holder, name):
            return Members((), is_complete=True)
        bases = self.bases(holder)
        if rules_of(holder.language).has_shared_bases_last and len(bases.definitions) > 1:
            return self._first_member(holder, name)
        is_complete = bases.is_complete
        for base in bases.definitions:
            found = self._members(base, name, inherited=False, seen=seen)
            if found.definitions:
                return found
            is_complete = is_complete and found.is_complete
        return Members((), is_complete)

    def _first_member(self, holder: DefinitionRow, name: str) -> Members:
        """Return a member of the first class that has it, in an order in which each class comes before its bases."""
        above, is_complete = self._above(holder)
        for base in above:
            if own := self.own_members(base, name):
                return Members(tuple(own), is_complete=True)
        return Members((), is_complete)

    def _above(self, holder: DefinitionRow) -> tuple[list[DefinitionRow], bool]:
        """Return everything that a class inherits from, each where the last path leads to it; and if that is all."""
        found: list[DefinitionRow] = []
        is_complete = True
        pending = [holder]
        while pending and len(found) < MOST_CLASSES:
            one = pending.pop()
            found.append(one)
            bases = self.bases(one)
            is_complete = is_complete and bases.is_complete
            pending += reversed(bases.definitions)
        last = {row.id: number for number, row in enumerate(found)}
        return [row for number, row in enumerate(found) if last[row.id] == number and row.id != holder.id], (
            is_complete and not pending
        )

    def _declares(self, holder: DefinitionRow, name: str) -> bool:
        """Return whether a class of Ruby declares an attribute of this name, which hides one of a base."""
        names = self.known.names(holder.path)
        places = declarations(names, name.removesuffix("=")) if names else []
        return any(
            names.symbol_at(place) == names.symbol_named(holder.name, holder.name_line) for place in places if names
        )

    def _in_companion(self, holder: DefinitionRow, name: str) -> list[DefinitionRow]:
        if not rules_of(holder.language).has_companions:
            return []
        inner = [row for row in self.known.holders(holder.path) if row.parent == holder.qualified_name]
        companions = [row for row in inner if "companion" in row.signature.split()]
        return [row for companion in companions for row in self.own_members(companion, name)]

    def _find_bases(self, holder: DefinitionRow) -> Members:
        bases: dict[int, DefinitionRow] = {}
        is_complete = True
        for part in self._parts(holder):
            names = self.known.names(part.path)
            if names is None:
                return Members((), is_complete=False)
            for place in names.bases_of(names.symbol_named(part.name, part.name_line)):
                meaning = self.meaning(part.path, place)
                found = [row for row in meaning.definitions if is_holder(row) and row.kind != "impl"]
                is_sure = bool(found) and meaning.certainty is not Certainty.BY_NAME
                is_complete = is_complete and (is_sure or self.is_from_outside(part.path, place))
                bases.update((row.id, row) for row in found if is_sure)
        return Members(tuple(bases.values()), is_complete)

    def _parts(self, holder: DefinitionRow) -> list[DefinitionRow]:
        """Return all declarations of a class: one, except where a class can be continued elsewhere."""
        if not rules_of(holder.language).has_open_classes:
            return [holder]
        rows = self.known.definitions(holder.name, family_of(holder.language))
        same = [row for row in rows if is_holder(row) and row.parent == holder.parent]
        return [row for row in same if self._may_continue(holder, row, row.qualified_name)] or [holder]

    def _may_continue(self, holder: DefinitionRow, row: DefinitionRow, continued: str) -> bool:
        """Return whether a definition of another file is part of a class; `continued` is the class as written there."""
        if row.path == holder.path:
            return True
        match holder.language:
            case "go":
                is_part = folder_of(holder.path) == folder_of(row.path)
            case "kotlin":
                is_part = row.depth == 0 and row.kind not in HOLDS_METHODS  # a function that extends the class
            case "rust":
                is_part = self._is_type_there(holder, row.path)
            case "swift":
                is_part = continued == holder.qualified_name and self._shares_module(holder, row)
            case "csharp":
                is_part = self.csharp.has_name(holder, self.csharp.whole_name(row.path, continued))
            case _:
                is_part = holder.language != "ruby" or continued.replace("::", ".") == holder.qualified_name
        return is_part

    def _is_type_there(self, holder: DefinitionRow, path: str) -> bool:
        """Return whether a type of Rust is what its name means in another file."""
        family = family_of(holder.language)
        types = [one for one in self.known.definitions(holder.name, family) if one.kind in HOLDS_METHODS - PARTS]
        return len(types) == 1 or holder in self.provided(path, holder.name, family)

    def _shares_module(self, holder: DefinitionRow, row: DefinitionRow) -> bool:
        """Return whether a definition of Swift is in the module of a type, or no other module has such a type."""
        if module_of(holder.path) == module_of(row.path):
            return True
        types = self.known.definitions(holder.name, family_of(holder.language))
        types = [one for one in types if one.kind in HOLDS_METHODS - PARTS]
        return len({module_of(one.path) for one in types if one.qualified_name == holder.qualified_name}) <= 1
