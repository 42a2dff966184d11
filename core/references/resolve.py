"""Resolving an occurrence of a name to the definitions that it may mean, with how certain that is.

Nothing is guessed: what a name means is either told by the scope, an import, the class around it or the module or class
before it, or the answer says that only the name matches. Of types, only what names tell is known (value_types.py).
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import NamedTuple

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.bindings import STAR, Binding, FileBindings
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.common_members import is_common_member
from keyhole.core.references.csharp_namespaces import CsharpNamespaces
from keyhole.core.references.jvm_packages import JvmPackages, whole_name
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.language_rules import ATTRIBUTE, LanguageRules, family_of, is_holder, rules_of
from keyhole.core.references.lua_tables import LuaTables, fields, is_local
from keyhole.core.references.names_in_file import NO_SYMBOL, NOT_A_NAME, NamesInFile, role_set
from keyhole.core.references.namespaces import SEPARATOR, Namespaces, is_prefix
from keyhole.core.references.reachable import can_reach, is_override
from keyhole.core.references.ruby_names import declarations, full_name_as_written, full_names
from keyhole.core.references.rust_paths import RustModule, RustPaths, inner_modules, is_module_called, split_imports
from keyhole.core.references.shell_sources import sourced
from keyhole.core.references.swift_modules import is_seen, module_name, module_of
from keyhole.core.references.value_types import ValueTypes
from keyhole.core.syntax.occurrences import OUTERMOST, UNNAMED, OccurrenceRole
from keyhole.core.types import HOLDS_METHODS

# How many files an import may lead through, and how many classes up a member is looked for.
_LONGEST_CHAIN = 10
# In lines.
_LONGEST_STATEMENT = 50
_MEMBERS = frozenset(["method", "property", "getter", "setter", "constructor", "field"])
# Parts of a type that stand beside it.
_PARTS = frozenset(["impl", "extension"])
_ALIAS = role_set(OccurrenceRole.ALIAS)
_OWN = role_set(OccurrenceRole.DEFINITION, OccurrenceRole.LOCAL, OccurrenceRole.TYPE_PARAMETER)
_NEVER = frozenset(
    [
        OccurrenceRole.DEFINITION,
        OccurrenceRole.LOCAL,
        OccurrenceRole.TYPE_PARAMETER,
        OccurrenceRole.ARGUMENT,
        OccurrenceRole.ALIAS,
    ]
)
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl")
# See `_since`.
_FIRST_LINE = 1
_CALLED = frozenset(["function", "method", "constructor"])
_TYPES = frozenset([OccurrenceRole.TYPE, OccurrenceRole.BASE])
_VALUES = _CALLED | {"constant", "event", "getter", "property", "setter", "variable"}


class Meaning(NamedTuple):
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


NOTHING = Meaning(Certainty.CERTAIN, ())


class Resolver:
    """Resolves names of one snapshot of the index."""

    def __init__(self, store: ReferenceStore) -> None:
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
        self._overriding: dict[tuple[int, str], list[DefinitionRow]] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._files: dict[str, _NamesOfFile] = {}
        self.by_members = cache(self._by_members)
        self.is_field = cache(self._is_field)

    def meaning(self, path: str, place: int) -> Meaning:
        """Return what the name at a place of a file may mean."""
        if path not in self._files:
            names = self.known.names(path)
            if names is None:
                return NOTHING
            self._files[path] = _NamesOfFile(self, path, names)
        return self._files[path].meaning(place)

    def bindings(self, path: str) -> FileBindings | None:
        """Return the imported names of a file."""
        if path not in self._bindings:
            names = self.known.names(path)
            if names is None:
                return None
            imports = self.known.imports(path)
            is_rust = self.known.language(path) == "rust"
            if is_rust:
                imports = split_imports(imports, lambda: inner_modules(self.known.definitions_in(path)))
            self._bindings[path] = FileBindings(imports, names)
        return self._bindings[path]

    def provided(self, path: str, name: str, family: str) -> list[DefinitionRow]:
        """Return what a name means in a module: its own definition, or one that it imports itself."""
        key = path, name, family
        if key not in self._provided:
            self._provided[key] = self._find_provided(path, name, family, set())
        return self._provided[key]

    def _find_provided(self, path: str, name: str, family: str, seen: set[tuple[str, str]]) -> list[DefinitionRow]:
        """Follow imports through other files; `seen` has those on the way, because files may import each other."""
        if (path, name) in seen:
            return []
        seen.add((path, name))
        own = [row for row in self.known.definitions(name, family) if _is_in_module(row.path, path)]
        if found := [row for row in own if not self.is_member(row)]:
            return [row for row in found if not row.parent] or found
        bindings = self.bindings(path)
        if bindings is None:
            return []
        for binding in bindings.of(name):
            if binding.path and (found := self._find_provided(binding.path, binding.name or name, family, seen)):
                return found
        return [row for star in bindings.stars for row in self._find_provided(star, name, family, seen)]

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

    def is_member(self, row: DefinitionRow) -> bool:
        """Return whether a definition is reached through its class."""
        known = self._is_member.get(row.id)
        if known is None:
            known = self._is_member[row.id] = self._find_is_member(row)
        return known

    def _find_is_member(self, row: DefinitionRow) -> bool:
        if row.kind == "method" and row.language == "cpp" and self._is_namespace(row.parent):
            return False
        if row.kind in _MEMBERS or (row.parent and rules_of(row.language).has_tables and not is_local(row)):
            return True
        if row.parent and row.depth == 0 and rules_of(row.language).has_packages:
            return True  # a function that extends a class, which may be outside the workspace
        return bool(row.parent) and any(
            holder.qualified_name == row.parent and is_holder(holder) for holder in self.known.holders(row.path)
        )

    def _is_namespace(self, qualified_name: str) -> bool:
        """Return whether a name of C++ is that of a namespace: `text::quote` may be a method or not."""
        rows = self.known.definitions(qualified_name.rpartition(".")[2], family_of("cpp"))
        return any(row.kind == "namespace" and row.qualified_name == qualified_name for row in rows)

    def members(self, holder: DefinitionRow, name: str, *, inherited: bool = False) -> Members:
        """Return a member of a class: its own, or else the one that it inherits."""
        return self._members(holder, name, inherited=inherited, seen=set())

    def owns(self, holder: DefinitionRow, row: DefinitionRow) -> bool:
        """Return whether a definition is a member of a class."""
        if row.path == holder.path:
            return row.parent == holder.qualified_name
        is_open = rules_of(holder.language).has_open_classes
        is_named = is_open and row.parent.rpartition(".")[2] == holder.name
        return is_named and self._may_continue(holder, row, row.parent)

    def overriding(self, holder: DefinitionRow, name: str) -> list[DefinitionRow]:
        """Return the members of heirs of a class that a call of its own member may run."""
        if not rules_of(holder.language).has_virtual_calls:
            return []
        key = holder.id, name
        if key not in self._overriding:
            rows = self.known.definitions_of(name, holder)
            self._overriding[key] = [row for row in rows if self.is_member(row) and self._is_heir(row, holder)]
        return self._overriding[key]

    def _is_heir(self, member: DefinitionRow, holder: DefinitionRow) -> bool:
        """Return whether the class of a member inherits from another one."""
        rows = self.known.definitions_of(member.parent.rpartition(".")[2], member)
        pending, seen = [row for row in rows if is_holder(row) and self.owns(row, member)], set[int]()
        while pending and len(seen) < 10 * _LONGEST_CHAIN:
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
        if row.kind not in _PARTS:
            return row
        rows = [one for one in self.known.definitions_of(row.name, row) if one.kind in HOLDS_METHODS - _PARTS]
        near = [one for one in rows if one.path == row.path]
        return (near or rows or [row])[0]

    def is_from_outside(self, path: str, place: int) -> bool:
        """Return whether a name, or what it is taken from, is imported from outside the workspace or built in."""
        if rules_of(self.known.language(path)).has_namespaces:
            return True  # full names tell what is inside, and this is asked for all others
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
    ) -> Meaning:
        """Return the members with a name, for a receiver whose type is not known; code cannot reach those of tests."""
        family = family_of(language)
        members = [row for row in self.known.definitions(name, family) if self.is_member(row)]
        members = [row for row in members if not is_constructor(row)]
        if without_tests and (tests := self.known.tests_among(row.path for row in members)):
            members = [row for row in members if row.path not in tests]
        if is_of_several or is_common_member(language, name) or self._is_declared(name, family):
            return Meaning(Certainty.BY_NAME, tuple(members))
        return _by_number(members)

    def _is_field(self, name: str, family: str) -> bool:
        """Return whether a class has a field of this name."""
        paths = [path for path in self.known.files_with(name) if family_of(self.known.language(path)) == family]
        return any(names.has_field(name) for path in paths if (names := self.known.names(path)))

    def _is_declared(self, name: str, family: str) -> bool:
        """Return whether a class of Ruby declares an attribute of this name, or a table of Lua gets such a field."""
        find = {"ruby": declarations, "lua": fields}.get(family)
        if find is None:
            return False
        declared = name.removesuffix("=")
        files = [names for path in self.known.files_with(declared) if (names := self.known.names(path))]
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
        if holder.id in seen or len(seen) > 10 * _LONGEST_CHAIN:
            return Members((), is_complete=True)
        seen.add(holder.id)
        family = family_of(holder.language)
        own = [] if inherited else [row for row in self.known.definitions(name, family) if self.owns(holder, row)]
        own = [row for row in own if not is_constructor(row)]
        own = own or self._in_companion(holder, name)
        if own:
            return Members(tuple(own), is_complete=True)
        if family == "ruby" and self._declares(holder, name):
            return Members((), is_complete=True)
        bases = self.bases(holder)
        is_complete = bases.is_complete
        for base in bases.definitions:
            found = self._members(base, name, inherited=False, seen=seen)
            if found.definitions:
                return found
            is_complete = is_complete and found.is_complete
        return Members((), is_complete)

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
        rows = self.known.definitions(name, family_of(holder.language)) if companions else []
        return [row for row in rows for companion in companions if self.owns(companion, row)]

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
                is_part = _folder(holder.path) == _folder(row.path)
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
        types = [one for one in self.known.definitions(holder.name, family) if one.kind in HOLDS_METHODS - _PARTS]
        return len(types) == 1 or holder in self.provided(path, holder.name, family)

    def _shares_module(self, holder: DefinitionRow, row: DefinitionRow) -> bool:
        """Return whether a definition of Swift is in the module of a type, or no other module has such a type."""
        if module_of(holder.path) == module_of(row.path):
            return True
        types = self.known.definitions(holder.name, family_of(holder.language))
        types = [one for one in types if one.kind in HOLDS_METHODS - _PARTS]
        return len({module_of(one.path) for one in types if one.qualified_name == holder.qualified_name}) <= 1


class _NamesOfFile:
    """The meanings of the names in one file."""

    def __init__(self, resolver: Resolver, path: str, names: NamesInFile) -> None:
        self._resolver = resolver
        self._path = path
        self._names = names
        self._language = resolver.known.language(path)
        self._rules: LanguageRules = rules_of(self._language)
        self._family = family_of(self._language)
        self._known: dict[tuple[int, ...], Meaning] = {}
        self._scoped: dict[int, bool] = {UNNAMED: False}

    def meaning(self, place: int) -> Meaning:
        """Return what the name at a place may mean; places with all in common that counts share their meaning."""
        names = self._names
        role = names.role_at(place)
        if role is OccurrenceRole.IMPORT:
            return self._find(place)
        before = names.taken_from(place)
        first = before[-1] if before else 0
        scope = names.symbol_at(place) if not before or self._is_scoped(first) else NO_SYMBOL
        since = self._since(place, names.name_numbered(first) if before else names.name_at(place))
        shape = (names.number_at(place), role, scope, since, *before)
        known = self._known.get(shape)
        if known is None:
            known = self._known[shape] = self._fitting(role, self._find(place))
        if self._rules.includes and known.definitions and self._is_up_to_macros(place, known):
            return Meaning(Certainty.BY_NAME, known.definitions)
        return known

    def _is_up_to_macros(self, place: int, found: Meaning) -> bool:
        """Return whether macros decide what a name means: where one is used, or which of two definitions is read."""
        kinds = {row.kind for row in found.definitions}
        return ("macro" in kinds and len(kinds) > 1) or self._names.line_at(place) in self._macro_lines

    @cached_property
    def _macro_lines(self) -> frozenset[int]:
        """The lines of the macros that the file defines."""
        rows = [row for row in self._resolver.known.definitions_in(self._path) if row.kind == "macro"]
        return frozenset(line for row in rows for line in range(row.start_line, row.end_line + 1))

    def _fitting(self, role: OccurrenceRole, found: Meaning) -> Meaning:
        """Leave out functions where a name cannot mean one, and add the constructors of a class that is called."""
        if role is OccurrenceRole.CALL and (constructors := self._constructors(found.definitions)):
            return Meaning(found.certainty, (*found.definitions, *constructors))
        excluded = _CALLED if role in self._rules.never_functions else frozenset[str]()
        if role is OccurrenceRole.MENTION and any(map(is_constructor, found.definitions)):
            found = Meaning(found.certainty, tuple(row for row in found.definitions if not is_constructor(row)))
        if role in _TYPES and role in self._rules.never_variables:
            excluded = _VALUES
        rows = tuple(row for row in found.definitions if row.kind not in excluded)
        return Meaning(found.certainty, rows) if len(rows) != len(found.definitions) else found

    def _constructors(self, rows: Iterable[DefinitionRow]) -> list[DefinitionRow]:
        classes = [row for row in rows if is_holder(row)]
        return [
            row
            for one in classes
            for row in self._resolver.known.definitions(one.name, self._family)
            if is_constructor(row) and self._resolver.owns(one, row)
        ]

    def _is_scoped(self, number: int) -> bool:
        """Return whether the meaning of a name depends on where it stands in the file."""
        known = self._scoped.get(number)
        if known is None:
            known = self._scoped[number] = self._find_scoped(self._names.name_numbered(number))
        return known

    def _find_scoped(self, name: str) -> bool:
        rules = self._rules
        if rules.has_implicit_self or name in rules.self_words or name in rules.super_words:
            return True
        return bool(self._names.places_in_roles(name, _OWN))

    def _find(self, place: int) -> Meaning:
        name, role = self._names.name_at(place), self._names.role_at(place)
        receiver = self._names.receiver_at(place)
        candidates = self._resolver.known.definitions(name, self._family)
        if self._language == "csharp" and role is OccurrenceRole.DECORATOR:
            candidates = [*candidates, *self._resolver.known.definitions(f"{name}{ATTRIBUTE}", self._family)]
        # The type itself instead of its parts, if the workspace has it.
        candidates = [row for row in candidates if row.kind not in _PARTS] or candidates
        candidates = [row for row in candidates if can_reach(self._path, row)]
        if self._rules.includes and name.isupper():
            # Where a macro stands before a block, the grammar takes it for a function.
            candidates = [row for row in candidates if row.kind == "macro"] or candidates
        # The parts of a package are taken from each other, but mean nothing either.
        is_part = role is OccurrenceRole.ARGUMENT and self._rules.has_packages
        is_own_name = role is OccurrenceRole.DEFINITION or (role in _NEVER and (not receiver or is_part))
        if is_own_name and not (role is OccurrenceRole.DEFINITION and self._names_part_of(place, candidates)):
            return NOTHING
        if self._rules.has_namespaces and (meaning := self._by_full_name(place)) is not None:
            return meaning
        if not candidates and (receiver or not self._has_new_name(name)):
            return NOTHING
        if role is OccurrenceRole.STRING:
            return Meaning(Certainty.BY_NAME, tuple(candidates))
        if role is OccurrenceRole.IMPORT:
            return self._imported(place, candidates)
        return self._in_code(place, receiver, candidates)

    def _in_code(self, place: int, receiver: str, candidates: list[DefinitionRow]) -> Meaning:
        if self._rules.has_tables and receiver:
            return self._of_table(place, receiver, candidates)
        if self._rules.nests_constants and _is_constant(self._names.name_at(place)):
            return self._constant(place, candidates)
        if self._rules.nests_constants and self._names.role_at(place) is OccurrenceRole.MENTION:
            return NOTHING  # a variable
        if self._rules.has_aliases and receiver:
            return self._of_schema(place, receiver, candidates)
        if self._rules.sources_scripts:
            # A variable can have the name of a function.
            is_call = self._names.role_at(place) is OccurrenceRole.CALL
            candidates = [row for row in candidates if (row.kind in _CALLED) == is_call]
        return self._of_receiver(place, receiver) if receiver else self._bare(place, candidates)

    def _names_part_of(self, place: int, types: list[DefinitionRow]) -> bool:
        """Return whether the place names one of these types, as in `impl Circle` or `extension Circle`."""
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        if len(types) == len(rows):
            return False
        line = self._names.line_at(place)
        return any(row.kind in _PARTS and row.path == self._path and row.name_line == line for row in rows)

    def _has_new_name(self, name: str) -> bool:
        """Return whether the name is the one that an import of this file gives to something."""
        if self._rules.has_packages:
            return name in self._resolver.packages.imports(self._path, self._names).by_name
        if self._language == "csharp":
            return name in self._resolver.csharp.usings(self._path, self._names).aliases
        bindings = self._resolver.bindings(self._path)
        return bindings is not None and bool(bindings.of(name))

    # Names in imports

    def _imported(self, place: int, candidates: list[DefinitionRow]) -> Meaning:
        if self._rules.has_packages:
            whole = whole_name(self._names, place)
            # Scala imports the members of values too.
            is_of_value = self._rules.has_relative_imports and self._since(place, whole.partition(".")[0])
            return NOTHING if is_of_value else self._with_whole_name(whole)
        bindings = self._resolver.bindings(self._path)
        name = self._names.name_at(place)
        found = bindings.at(self._names.line_at(place), name) if bindings else []
        if self._rules.needs_import:
            return self._through(found, name) if found else self._in_import_path(place)
        if self._language == "csharp":
            spaces, whole = self._resolver.csharp, self._names.dotted(place)
            return self._clear([row for row in candidates if spaces.has_name(row, whole)])
        top = [row for row in candidates if not self._resolver.is_member(row)]
        if self._rules.includes and (named := [row for row in top if self._is_named(row, self._names.dotted(place))]):
            return certain(named)
        return _by_number(top)

    def _is_named(self, row: DefinitionRow, dotted: str) -> bool:
        """Return whether a name that starts from some namespace is that of a definition: `draw::Circle`."""
        return f".{row.qualified_name}".endswith(f".{dotted}")

    def _of_alias(self, place: int, receiver: str) -> Meaning | None:
        """Return what a name means after another name for its namespace: `namespace words = draw::text`."""
        aliases = self._names.places_in_roles(receiver, _ALIAS) if self._rules.includes else []
        for alias in aliases:
            last = alias + 1
            while self._names.is_continued(last):
                last += 1
            whole = f"{self._names.dotted(last)}.{self._names.name_at(place)}"
            rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
            if found := [row for row in rows if self._is_named(row, whole)]:
                return certain(found)
        return None

    def _in_import_path(self, place: int) -> Meaning:
        """Return what a name in the middle of an import of Rust means: a module inside a file."""
        receiver = self._names.receiver_at(place)
        found = self._of_path(place, receiver) if receiver and self._language == "rust" else None
        return found if found is not None and found.certainty is Certainty.CERTAIN else NOTHING

    def _through(self, bindings: list[Binding], name: str) -> Meaning:
        """Follow the imports of a name."""
        rows: list[DefinitionRow] = []
        for binding in bindings:
            if binding.path:
                rows += self._resolver.provided(binding.path, binding.name or name, self._family)
        return certain(rows)

    def _by_full_name(self, place: int) -> Meaning | None:
        """Return what has the full name of this one; None if the name may be that of a member or in a text."""
        role, receiver = self._names.role_at(place), self._names.receiver_at(place)
        if role is OccurrenceRole.STRING:
            return None
        if role is OccurrenceRole.ARGUMENT or (role is OccurrenceRole.IMPORT and is_prefix(self._names, place)):
            return NOTHING  # a namespace
        spaces = self._resolver.namespaces
        for full_name in spaces.full_names(self._path, self._names, place):
            rows = self._resolver.known.definitions(full_name.rpartition(SEPARATOR)[2], self._family)
            rows = [row for row in rows if row.kind not in _MEMBERS]
            self._resolver.known.read_holders({row.path for row in rows})
            rows = [row for row in rows if spaces.full_name(row) == full_name and not self._resolver.is_member(row)]
            if rows:
                # Outside namespaces, other programs in the workspace may define the same name.
                is_sure = SEPARATOR in full_name or all(row.path == self._path for row in rows)
                found = _by_number(rows)
                return certain(rows) if is_sure and found.certainty is Certainty.LIKELY else found
        is_member = receiver not in OUTERMOST | {""} and role is not OccurrenceRole.IMPORT
        return None if is_member else NOTHING

    def _constant(self, place: int, candidates: list[DefinitionRow]) -> Meaning:
        """Return what a constant of Ruby means: it is looked for in the modules around it, then in the base classes."""
        rows = [row for row in candidates if row.kind not in _CALLED]
        if self._names.role_at(place) is OccurrenceRole.BASE:
            line = self._names.line_at(place)
            rows = [row for row in rows if row.path != self._path or row.name_line != line]
        holders = self.holders(place)
        for full_name in full_names(self._names, place, holders):
            if found := [row for row in rows if row.qualified_name == full_name]:
                return _of_one_name(found, self._path)
        if not self._names.receiver_at(place) and holders:
            found = list(self._resolver.members(holders[0], self._names.name_at(place)).definitions)
            return certain(found) if found else Meaning(Certainty.BY_NAME, tuple(rows))
        is_outside = self._is_outside(place)
        return NOTHING if is_outside else Meaning(Certainty.BY_NAME, tuple(rows))

    def _is_outside(self, place: int) -> bool:
        """Return whether a constant is taken from one that the workspace does not define."""
        first = full_name_as_written(self._names, place)[0]
        return _is_constant(first) and not self._resolver.known.definitions(first, self._family)

    def _of_table(self, place: int, table: str, candidates: list[DefinitionRow]) -> Meaning:
        """Return what a name after a table of Lua means."""
        tables = self._resolver.tables
        if self._is_known(place, table):
            if rows := tables.surely(self._path, self._names, place):
                return certain(rows)
            if tables.is_standard(self._path, self._names, table):
                return NOTHING
            # A table is often called the same in the file that uses it.
            if same := [row for row in candidates if row.parent == table]:
                return _by_number(same)
        return self._resolver.by_members(self._names.name_at(place), self._language)

    # Names on their own

    def _bare(self, place: int, candidates: list[DefinitionRow]) -> Meaning:
        is_parameter = self._names.is_type_parameter(self._names.name_at(place), place)
        if is_parameter or self._is_variant(place) or self._is_alias(place):
            return NOTHING
        nested = self._nested(place, candidates)
        if nested is not None:
            return nested
        steps: list[Callable[[int, list[DefinitionRow]], Meaning | None]] = [
            self._in_class,
            self._in_file,
            self._in_packages,
            self._in_namespaces,
            self._in_swift_module,
            self._by_import,
            self._in_folder,
            self._included,
        ]
        for step in steps:
            if (meaning := step(place, candidates)) is not None:
                return meaning
        return self._unreached(place, candidates)

    def _of_schema(self, place: int, schema: str, candidates: list[DefinitionRow]) -> Meaning:
        """Return what has a name in a schema of SQL; scripts may create tables without naming their schema."""
        if rows := [row for row in candidates if row.parent == schema]:
            # Scripts that set up a database each, such as tests, create tables of the same name.
            near = [row for row in rows if row.path == self._path] or rows
            is_clear = len({row.path for row in near}) == 1
            return certain(near) if is_clear else Meaning(Certainty.BY_NAME, tuple(near))
        is_column = self._names.role_at(place) is OccurrenceRole.ARGUMENT
        return NOTHING if is_column else _by_number([row for row in candidates if not row.parent])

    def _is_alias(self, place: int) -> bool:
        """Return whether a statement of SQL gives this name to something: `WITH name AS …`."""
        if not self._rules.has_aliases:
            return False
        names, symbol, line = self._names, self._names.symbol_at(place), self._names.line_at(place)
        starts = [one for one in names.places(names.name_at(place)) if names.role_at(one) is OccurrenceRole.LOCAL]
        starts = [one for one in starts if names.symbol_at(one) == symbol]
        # Outside views and functions, it is not known where a statement ends.
        return any(symbol != NO_SYMBOL or 0 <= line - names.line_at(one) <= _LONGEST_STATEMENT for one in starts)

    def _unreached(self, place: int, candidates: list[DefinitionRow]) -> Meaning:
        """Return what a name may mean that neither the scope nor an import tells."""
        if self._rules.needs_import:
            # Macros of Rust are exported to the whole crate.
            macros = [row for row in candidates if row.kind == "macro"]
            return _by_number(macros) if macros else NOTHING
        if self._rules.has_packages:
            # A member of what a block of code is run for, as in `with(plant) { grow() }`, or of an imported value.
            return Meaning(Certainty.BY_NAME, tuple(candidates))
        functions = [row for row in candidates if not self._resolver.is_member(row)]
        if self._rules.has_tables:
            functions = [row for row in functions if not is_local(row)]
        if self._rules.nests_constants:
            # Blocks may change `self`, so a call without a receiver can mean any method.
            is_function = functions and not self.holders(place)
            return _by_number(functions) if is_function else Meaning(Certainty.BY_NAME, tuple(candidates))
        if self._rules.sources_scripts:
            return self._in_scripts(place, functions)
        return _by_number([row for row in functions if row.path == self._path or not _is_static(row)])

    def _in_scripts(self, place: int, functions: list[DefinitionRow]) -> Meaning:
        """Return a function or variable of other scripts: those that this one sources come first."""
        near = sourced(self._path, self._names, functions)
        if len({row.path for row in near}) == 1:
            return certain(near)
        is_command = is_common_member(self._language, self._names.name_at(place))
        # Scripts that have nothing to do with each other have variables of the same name.
        is_variable = self._names.role_at(place) is not OccurrenceRole.CALL
        if is_command or is_variable:
            return Meaning(Certainty.BY_NAME, tuple(functions))
        return _by_number(near or functions)

    def _nested(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a function inside a function around the place, or nothing if the name is a variable there."""
        names, role = self._names, self._names.role_at(place)
        first_lines = names.local_scopes(names.name_at(place))
        if role in self._rules.never_variables:
            first_lines = {}
        in_file = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        for symbol in self._scopes_around(place):
            is_class = names.is_holder(symbol)
            if in_file and not is_class and (own := self._defined_in(symbol, in_file)):
                return certain(own)
            # A class may have a method with the name of a field.
            is_method = is_class and role is OccurrenceRole.CALL
            if symbol in first_lines and not is_method and self._has_started(place, symbol, first_lines[symbol]):
                return None if self._is_called_first(place, symbol, first_lines[symbol]) else NOTHING
        return None

    def _defined_in(self, symbol: int, in_file: list[DefinitionRow]) -> list[DefinitionRow]:
        """Return those of the definitions of a file that are inside a function."""
        names = self._names
        if self._rules.has_unnamed_functions:
            return [row for row in in_file if names.scope_of(row.name, row.name_line) == symbol]
        lines = names.lines_of(symbol)
        return [row for row in in_file if row.start_line in lines[1:]]

    def _scopes_around(self, place: int) -> Iterator[int]:
        """Yield the functions around a place, and the classes where their fields count as variables."""
        has_fields = self._rules.has_fields_as_variables
        return self._names.scopes_around(place) if has_fields else self._names.functions_around(place)

    def _is_called_first(self, place: int, symbol: int, first_line: int) -> bool:
        """Return whether a variable gets its name from a function that it is made with: `let area = area(x)`."""
        names = self._names
        is_call = names.role_at(place) is OccurrenceRole.CALL and self._rules.has_late_variables
        return is_call and names.line_at(place) == first_line > names.lines_of(symbol).start

    def _is_variant(self, place: int) -> bool:
        """Return whether the function around the place imports this name from an enum of Rust: `use Error::*`."""
        for star in self._names.places(STAR) if self._language == "rust" else ():
            function = next(self._names.functions_around(star), None)
            if function is None or place not in self._names.inside(function):
                continue
            for row in self.meaning(star - 1).definitions:
                names = self._resolver.known.names(row.path) if row.kind == "enum" else None
                name = self._names.name_at(place)
                if names is not None and names.has_argument(name, names.symbol_named(row.name, row.name_line)):
                    return True
        return False

    def _in_class(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a member of a class around the place, in languages where that needs no `this`."""
        is_member = any(map(self._resolver.is_member, candidates))
        if not is_member and not (self._rules.has_open_classes and self._rules.has_fields_as_variables):
            return None
        if self._rules.has_implicit_self:
            # In Ruby, the members of outer classes are not those of `self`.
            holders = self.holders(place)[: 1 if self._rules.nests_constants else None]
        else:
            # In the body of a class itself, its members so far are ordinary names.
            is_direct = self._language == "python" and self._names.is_holder(self._names.symbol_at(place))
            holders = self.holders(place)[:1] if is_direct else []
        for holder in holders:
            if self._is_field_of(holder, place):
                return NOTHING
            found = self._resolver.members(holder, self._names.name_at(place)).definitions
            if self._names.role_at(place) in self._rules.never_variables - {OccurrenceRole.CALL}:
                found = tuple(row for row in found if row.kind not in _VALUES)
            if found:
                return self._or_type(place, found, candidates)
        return None

    def _is_field_of(self, holder: DefinitionRow, place: int) -> bool:
        """Return whether the name is a field of a class that stands in another file."""
        role = self._names.role_at(place)
        if holder.path == self._path or not self._rules.has_fields_as_variables or role is OccurrenceRole.CALL:
            return False
        names = self._resolver.known.names(holder.path)
        fields = names.local_scopes(self._names.name_at(place)) if names else {}
        return bool(fields) and names is not None and names.symbol_named(holder.name, holder.name_line) in fields

    def _or_type(self, place: int, members: tuple[DefinitionRow, ...], candidates: list[DefinitionRow]) -> Meaning:
        """Return a member; in `Unit.Metre` and `new Unit()` of C#, the name may also be that of its type."""
        is_call = self._names.role_at(place) is OccurrenceRole.CALL
        if self._language != "csharp" or not (is_call or self._names.is_continued(place)):
            return certain(members)
        types = [row for row in candidates if row.kind in HOLDS_METHODS and row not in members]
        meaning = self._in_namespaces(place, types)
        if meaning is None or not meaning.definitions:
            return certain(members)
        if is_call and all(row.kind not in _CALLED for row in members):
            return meaning
        return Meaning(Certainty.BY_NAME, (*members, *meaning.definitions))

    def _in_file(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        own = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        own = self._in_inner_module(place, [row for row in own if self._is_visible(row)])
        if own and self._rules.includes:
            # A prototype in this file is that of the function itself.
            things = set(map(same_thing, own))
            own += [row for row in candidates if row.path != self._path and same_thing(row) in things]
            if len(things) > 1:
                return Meaning(Certainty.BY_NAME, tuple(own))
        return certain(own) if own else None

    def _is_visible(self, row: DefinitionRow) -> bool:
        """Return whether a definition of this file is not inside a function that the place is outside of."""
        return not self._names.is_inside_function(row.name, row.name_line)

    def _in_inner_module(self, place: int, rows: list[DefinitionRow]) -> list[DefinitionRow]:
        """Return the definitions of a file that stand in the innermost module of Rust around the place."""
        if self._language != "rust" or not any(row.parent for row in rows):
            return rows
        around = [row for row in rows if not row.parent or self._is_in_module(place, row.parent)]
        deepest = max((row.depth for row in around), default=0)
        return [row for row in around if row.depth == deepest]

    def _is_in_module(self, place: int, parent: str) -> bool:
        """Return whether a module of this file with this qualified name is around the place."""
        rows = self._resolver.known.definitions(parent.rpartition(".")[2], self._family)
        own = [row for row in rows if row.path == self._path and row.qualified_name == parent]
        return any(row.start_line <= self._names.line_at(place) <= row.end_line for row in own)

    def _in_packages(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return what the file imports by this name, what its package has, or what a star import brings."""
        if not self._rules.has_packages:
            return None
        packages = self._resolver.packages
        imports = packages.imports(self._path, self._names)
        if imported := imports.by_name.get(self._names.name_at(place)):
            found = [self._with_whole_name(name) for name in imported]
            rows = tuple(row for meaning in found for row in meaning.definitions)
            return Meaning(max((meaning.certainty for meaning in found), key=list(Certainty).index), rows)
        for package in reversed(packages.seen_from(self._path)):
            if own := [row for row in candidates if packages.owner(row) == package]:
                return self._nearest(own)
        stars = {name for star in imports.stars for name in self._whole_names(star)}
        if starred := [row for row in candidates if packages.owner(row) in stars]:
            return self._nearest(starred)
        if self._rules.has_relative_imports:
            ends = tuple(f".{star}" for star in imports.stars)
            starred = [row for row in candidates if packages.owner(row).endswith(ends)]
        return _by_number(starred) if starred else None

    def _with_whole_name(self, given: str) -> Meaning:
        """Return what has a name that an import gives."""
        packages = self._resolver.packages
        rows = self._resolver.known.definitions(given.rpartition(".")[2], self._family)
        rows = [row for row in rows if row.kind not in _PARTS]
        for whole in self._whole_names(given):
            if exact := [row for row in rows if packages.has_name(row, whole)]:
                return self._nearest(exact)
        if not self._rules.has_relative_imports:
            return NOTHING
        return _by_number([row for row in rows if packages.ends_with(row, given)])

    def _whole_names(self, given: str) -> list[str]:
        """Return the whole names that a name in an import may stand for."""
        if not self._rules.has_relative_imports:
            return [given]
        return [*(f"{package}.{given}" for package in reversed(self._resolver.packages.seen_from(self._path))), given]

    def _nearest(self, rows: list[DefinitionRow]) -> Meaning:
        """Return definitions with one whole name; if several projects have one, that of the same project."""
        project = self._path.rpartition("/src/")[0]
        near = [row for row in rows if row.path.rpartition("/src/")[0] == project]
        is_clear = bool(near) or len({same_thing(row) for row in rows}) <= 1
        return certain(near or rows) if is_clear else Meaning(Certainty.BY_NAME, tuple(rows))

    def _in_namespaces(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return what the namespaces around the place have, then what `using` brings."""
        if self._language != "csharp":
            return None
        spaces = self._resolver.csharp
        usings = spaces.usings(self._path, self._names)
        if whole := usings.aliases.get(self._names.name_at(place)):
            rows = self._resolver.known.definitions(whole.rpartition(".")[2], self._family)
            return self._clear([row for row in rows if spaces.has_name(row, whole)])
        for space in spaces.around(self._path, self._names.line_at(place)):
            if rows := [row for row in candidates if spaces.owner(row) == space]:
                return self._clear(rows)
        if rows := [row for row in candidates if spaces.owner(row) in usings.spaces]:
            return self._clear(rows)
        rows = [row for row in candidates if not spaces.owner(row)]
        return self._clear(rows) if rows else None

    def _of_namespace(self, place: int) -> Meaning | None:
        """Return what a name means if everything before it is its namespace or class, from one that is seen here."""
        if self._language != "csharp":
            return None
        names, spaces = self._names, self._resolver.csharp
        whole = names.dotted(place).removeprefix("global.")
        first, _, rest = whole.partition(".")
        start = place - names.dotted(place).count(".")
        usings = spaces.usings(self._path, names)
        candidates = self._resolver.known.definitions(first, self._family)
        if names.receiver_at(start) or self._since(start, first) or self._in_class(start, candidates):
            return None
        seen = ["", *spaces.around(self._path, names.line_at(place)), *usings.spaces]
        wanted = {f"{space}.{whole}".lstrip(".") for space in seen}
        if first in usings.aliases:
            wanted = {f"{usings.aliases[first]}.{rest}"}
        rows = self._resolver.known.definitions(names.name_at(place), self._family)
        found = [row for row in rows if spaces.whole_name(row.path, row.qualified_name) in wanted]
        return self._clear(found) if found else None

    def _clear(self, rows: list[DefinitionRow]) -> Meaning:
        """Return definitions with one whole name as certain; several files can only define parts of one class."""
        namespaces = self._resolver.csharp
        wholes = {namespaces.whole_name(row.path, row.qualified_name) for row in rows}
        files = {row.path for row in rows if "partial" not in row.modifiers.split()}
        is_clear = len(wholes) <= 1 and (len(files) <= 1 or all(map(self._resolver.is_member, rows)))
        return certain(rows) if is_clear else Meaning(Certainty.BY_NAME, tuple(rows))

    def _in_swift_module(self, _: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return what the other files of the module have, then what an imported module has."""
        if self._language != "swift":
            return None
        rows = [row for row in candidates if not self._resolver.is_member(row) and is_seen(row, self._path)]
        module, imported = module_of(self._path), self._imported_modules()
        own = [row for row in rows if module_of(row.path) == module]
        found = own or [row for row in rows if module_name(row.path) in imported]
        if not found:
            return None
        is_clear = len({same_thing(row) for row in found}) == 1
        return certain(found) if is_clear else Meaning(Certainty.BY_NAME, tuple(found))

    def _of_swift_module(self, place: int, receiver: str) -> Meaning | None:
        """Return what a name means after the name of its module: `Shapes.total`."""
        if self._language != "swift" or receiver not in self._imported_modules():
            return None
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        rows = [row for row in rows if module_name(row.path) == receiver and not self._resolver.is_member(row)]
        return certain(rows) if rows else None

    def _imported_modules(self) -> set[str]:
        return {self._names.name_at(place) for place in self._names.places_in_role(OccurrenceRole.IMPORT)}

    def _by_import(self, place: int, _: list[DefinitionRow]) -> Meaning | None:
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return None
        name = self._names.name_at(place)
        bound = bindings.of(name)
        if bound and self._rules.needs_import:
            return self._through(bound, name)
        stars = [] if self._rules.includes else bindings.stars
        rows = [row for star in stars for row in self._resolver.provided(star, name, self._family)]
        return certain(rows) if rows else None

    def _in_folder(self, _: int, candidates: list[DefinitionRow]) -> Meaning | None:
        if not self._rules.shares_folder:
            return None
        rows = [row for row in candidates if _is_in_module(row.path, _folder(self._path))]
        rows = [row for row in rows if not self._resolver.is_member(row)]
        return certain(rows) if rows else None

    def _included(self, _: int, candidates: list[DefinitionRow]) -> Meaning | None:
        if not self._rules.includes:
            return None
        rows = [row for row in candidates if not _is_static(row)]
        rows = [row for row in rows if not self._resolver.is_member(row)]
        things = {same_thing(row) for row in rows if self._resolver.reaches(self._path, [row.path])}
        return certain(row for row in rows if same_thing(row) in things) if len(things) == 1 else None

    # Names after a receiver

    def _of_receiver(self, place: int, receiver: str) -> Meaning:
        name = self._names.name_at(place)
        if self._language == "rust" and (path := self._of_path(place, receiver)) is not None:
            return path
        if receiver in self._rules.self_words or receiver in self._rules.super_words or self._is_go_receiver(place):
            found = self._of_self(place, inherited=receiver in self._rules.super_words)
        elif receiver in self._rules.class_words and self._names.receiver_at(place - 1) in self._rules.self_words:
            found = self._of_self(place, inherited=False)
        elif self._is_known(place, receiver):
            found = self._of_package(place) or self._of_namespace(place) or self._of_swift_module(place, receiver)
            found = found or self._of_alias(place, receiver) or self._of_module(place, receiver)
            found = found or self._of_named(place, receiver)
        else:
            found = None
        return found or self._of_type(place, receiver) or self._of_unknown(place, name)

    def _of_unknown(self, place: int, name: str) -> Meaning:
        """Return the members that a name may mean, if what it is taken from is not known."""
        is_test = bool(self._resolver.known.tests_among([self._path]))
        found = self._resolver.by_members(name, self._language, without_tests=not is_test)
        rows = [row for row in found.definitions if can_reach(self._path, row)]
        if len(rows) != len(found.definitions):
            is_common = is_common_member(self._language, name)
            found = Meaning(Certainty.BY_NAME, tuple(rows)) if is_common else _by_number(rows)
        if found.certainty is Certainty.LIKELY and (is_override(rows[0]) or self._may_be_field(place, name)):
            # The only method that overrides one is not the only one: the other is outside the workspace.
            return Meaning(Certainty.BY_NAME, found.definitions)
        return found

    def _may_be_field(self, place: int, name: str) -> bool:
        is_called = self._names.role_at(place) is OccurrenceRole.CALL
        return self._rules.has_unlisted_fields and not is_called and self._resolver.is_field(name, self._family)

    def _of_type(self, place: int, receiver: str) -> Meaning | None:
        """Return a member of what the receiver holds; None if that is not known."""
        if not self._rules.has_value_types or not place or self._names.name_at(place - 1) != receiver:
            return None
        name, types = self._names.name_at(place), self._resolver.types.at(self._path, place - 1)
        if rows := [row for holder in types.holders for row in self._resolver.members(holder, name).definitions]:
            found = _by_number(rows)
            overriding = [row for holder in types.holders for row in self._resolver.overriding(holder, name)]
            return Meaning(found.certainty, (*rows, *(row for row in overriding if row not in rows)))
        if any(self._resolver.types.has_attribute(holder, name) for holder in types.holders):
            return NOTHING
        if types.holders and not self._rules.has_extensions:
            return self._resolver.by_members(name, self._language, is_of_several=True)
        return NOTHING if types.is_outside and not types.is_unknown else None

    def _is_known(self, place: int, receiver: str) -> bool:
        """Return whether the place before a name has its receiver, and that is no variable."""
        if not place or receiver == NOT_A_NAME or self._names.name_at(place - 1) != receiver:
            return False
        since = self._since(place - 1, receiver)
        if not since:
            return True
        bindings = self._resolver.bindings(self._path)
        is_imported = bindings is not None and bool(bindings.of(receiver))
        # In `config := config.New()`, the variable does not exist yet, and a type is not taken from a variable.
        is_type = self._names.role_at(place) in self._rules.never_variables - {OccurrenceRole.CALL}
        return is_imported and (is_type or since == _FIRST_LINE)

    def _of_path(self, place: int, receiver: str) -> Meaning | None:
        """Return what a path of Rust means; None if no module comes before the name."""
        resolver, before = self._resolver, place - 1
        if not place or self._names.name_at(before) != receiver or self._since(before, receiver) > _FIRST_LINE:
            return None
        name = self._names.name_at(place)
        modules = RustPaths(resolver.known, resolver.bindings, self._path).modules(self._names, before)
        if modules is not None:
            return certain(row for module in modules for row in self._in_rust_module(module, name))
        written = self._names.dotted(before).split(".")
        if receiver[:1].isupper() or written[0] in self._rules.self_words:
            return None
        # A crate, or a module that a macro declares: all that is known is what it is called.
        top = [row for row in resolver.known.definitions(name, self._family) if not resolver.is_member(row)]
        inside = [row for row in top if all(is_module_called(row.path, one) for one in written)]
        return _by_number(inside) if inside else Meaning(Certainty.BY_NAME, tuple(top)) if top else None

    def _in_rust_module(self, module: RustModule, name: str) -> list[DefinitionRow]:
        rows = [row for row in self._resolver.known.definitions(name, self._family) if row.path == module.path]
        own = [row for row in rows if row.parent == module.inside and not self._resolver.is_member(row)]
        return own or self._resolver.provided(module.path, name, self._family)

    def _of_package(self, place: int) -> Meaning | None:
        """Return what the name means if everything before it is its package or class, written out."""
        if not self._rules.has_packages:
            return None
        whole = self._names.dotted(place)
        first, _, _ = whole.partition(".")
        if self._since(place - whole.count("."), first):
            return None
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        exact = [row for row in rows if self._resolver.packages.has_name(row, whole)]
        return self._nearest(exact) if exact else None

    def _of_self(self, place: int, *, inherited: bool) -> Meaning | None:
        holders = self.holders(place)
        if not holders:
            return None
        name = self._names.name_at(place)
        if self._names.name_at(place - 1) in self._rules.self_words and self._names.receiver_at(place - 1):
            # `Shape.this.area()`, where the grammar takes `this` for a name as well
            classes = [row for row in self.meaning(place - 2).definitions if is_holder(row)]
            return self._of_class(classes, Certainty.CERTAIN, name)
        found = self._resolver.members(holders[0], name, inherited=inherited)
        if found.definitions:
            return certain(found.definitions)
        if inherited and (found.is_complete or self._rules.has_namespaces):
            return NOTHING  # the base class is outside the workspace
        if self._rules.has_value_types and self._resolver.types.has_attribute(holders[0], name):
            return NOTHING
        return self._resolver.by_members(name, self._language, is_of_several=True)

    def _of_named(self, place: int, receiver: str) -> Meaning | None:
        """Return the member of a class or namespace that is named before it; None if the name means something else."""
        name, before = self._names.name_at(place), place - 1
        if self._names.role_at(before) is OccurrenceRole.IMPORT or self._since(before, receiver):
            return None
        meaning = self.meaning(before)
        if not meaning.definitions and self._is_type_from_outside(before):
            return NOTHING
        holders = [row for row in meaning.definitions if is_holder(row)]
        if holders:
            return self._of_class(holders, meaning.certainty, name)
        if self._rules.has_namespaces and self._names.role_at(before) is OccurrenceRole.MENTION and receiver[0] != "$":
            return NOTHING  # a class outside the workspace
        if self._rules.nests_constants and _is_constant(receiver) and self._is_outside(before):
            return NOTHING
        return self._in_space(place, receiver, meaning)

    def _in_space(self, place: int, receiver: str, before: Meaning) -> Meaning | None:
        """Return what a namespace has; the meaning of its name is `before`."""
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        rows = [row for row in rows if row.parent.rpartition(".")[2] == receiver]
        if rows and not any(map(self._resolver.is_member, rows)):
            if not self._rules.includes:
                return certain(rows)
            rows = [row for row in rows if self._is_named(row, self._names.dotted(place))] or rows
            rows = [row for row in rows if self._resolver.reaches(self._path, [row.path])] or rows
            return certain(rows) if _count_things(rows) == 1 else Meaning(Certainty.BY_NAME, tuple(rows))
        # What else is in a namespace are no symbols, such as the values of an enum.
        is_space = receiver == "std" or any(row.kind == "namespace" for row in before.definitions)
        return NOTHING if self._rules.includes and is_space else None

    def _is_type_from_outside(self, place: int) -> bool:
        """Return whether a name is a type that is neither in the workspace nor a parameter: `Vec::new()`."""
        name = self._names.name_at(place)
        has_capital_types = self._language == "rust" or self._rules.has_packages
        if not has_capital_types or self._names.receiver_at(place) or not name[:1].isupper() or name.isupper():
            return False
        return not self._names.is_type_parameter(name, place)

    def _of_class(self, holders: list[DefinitionRow], certainty: Certainty, name: str) -> Meaning:
        found = [self._resolver.members(holder, name) for holder in holders]
        if rows := [row for one in found for row in one.definitions]:
            return Meaning(certainty, tuple(rows))
        if all(one.is_complete for one in found):
            return NOTHING
        return self._resolver.by_members(name, self._language, is_of_several=True)

    def _of_module(self, place: int, receiver: str) -> Meaning | None:
        """Return a definition of the module before the name; None if there is no module before it."""
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return None
        if self._names.receiver_at(place - 1):
            paths = bindings.modules(self._names.dotted(place - 1))
        else:
            paths = [binding.path for binding in bindings.of(receiver) if not binding.name]
            if not paths and self._rules.shares_folder:
                paths = bindings.packages(receiver)
            if not paths and self._family == "javascript":
                paths = self._whole_modules(bindings.of(receiver), receiver)
        if not paths:
            return None
        name = self._names.name_at(place)
        return certain(row for path in paths if path for row in self._resolver.provided(path, name, self._family))

    def _whole_modules(self, bindings: list[Binding], name: str) -> list[str]:
        """Return the modules that a name stands for as a whole: `const shapes = require("./lib/shapes.js")`."""
        paths = [one.path for one in bindings]
        return [path for path in paths if not path or not self._resolver.provided(path, name, self._family)]

    def _since(self, place: int, name: str) -> int:
        """Return 0 where a name is no variable, _FIRST_LINE where one starts to exist, and more below that."""
        first_lines = self._names.local_scopes(name)
        if first_lines:
            for symbol in self._scopes_around(place):
                first = first_lines.get(symbol)
                if first is not None and self._has_started(place, symbol, first):
                    is_first = self._rules.has_late_variables and self._names.line_at(place) == first
                    return _FIRST_LINE if is_first else _FIRST_LINE + 1
        return 0

    def _has_started(self, place: int, symbol: int, first_line: int) -> bool:
        """Return whether a variable of a symbol exists at a place; a field exists everywhere in its class."""
        is_late = self._rules.has_late_variables and not self._names.is_holder(symbol)
        return not is_late or first_line <= self._names.line_at(place)

    def _is_go_receiver(self, place: int) -> bool:
        """Return whether the receiver is the variable that a method of Go is defined with: `func (s *Server) …`."""
        if self._language != "go":
            return False
        around = list(self._names.functions_around(place))
        return bool(around) and self._names.local_before_name(around[-1]) == self._names.receiver_at(place)

    def holders(self, place: int) -> list[DefinitionRow]:
        """Return the classes around the place, the innermost first."""
        line = self._names.line_at(place)
        around = [row for row in self._resolver.known.holders(self._path) if row.start_line <= line <= row.end_line]
        found = []
        for row in reversed(around):
            if is_holder(row):
                found += [row] if row.kind != "impl" else self._type_of(row.name)
            elif row.depth == 0 or row.kind == "method":
                found += self._type_of(row.parent.rpartition(".")[2], row.parent)
        return found or self._fixture(place)

    def _fixture(self, place: int) -> list[DefinitionRow]:
        """Return the class of a test that is written as a macro: `TEST_F(ItemTest, IsEmpty) { … }`."""
        names = self._names
        for symbol in names.functions_around(place) if self._rules.fixture_macros else ():
            first = names.inside(symbol).start
            if names.name_at(first) in self._rules.fixture_macros and first + 1 < names.count:
                return [row for row in self._type_of(names.name_at(first + 1)) if row.path == self._path]
        return []

    def _type_of(self, name: str, whole: str = "") -> list[DefinitionRow]:
        """Return the type that methods outside its body belong to; `whole` is its qualified name, if that is known."""
        rows = [row for row in self._resolver.known.definitions(name, self._family) if is_holder(row)]
        rows = [row for row in rows if row.kind != "impl"] or rows
        rows = [row for row in rows if row.qualified_name == whole] or rows
        near = [row for row in rows if row.path == self._path] or [
            row for row in rows if _folder(row.path) == _folder(self._path)
        ]
        return (near or rows)[:1]


def certain(rows: Iterable[DefinitionRow]) -> Meaning:
    """Return a meaning without doubt."""
    return Meaning(Certainty.CERTAIN, tuple(rows))


def same_thing(row: DefinitionRow) -> tuple[str, str]:
    """Return what definitions of one thing have in common: overloads, a prototype and its function, class parts."""
    rules = rules_of(row.language)
    # What is not a function is only shared through a header, and a macro may have the name of a function.
    is_common = row.kind in _CALLED or row.kind == "namespace" or row.path.endswith(_HEADERS)
    is_shared = rules.includes and is_common and "static" not in row.modifiers.split()
    if rules.includes and row.kind == "macro":
        return ("" if is_shared else row.path), f"#define {row.qualified_name}"
    is_part = rules.nests_constants and is_holder(row) and ("." in row.qualified_name or row.kind == "module")
    return ("" if is_shared or is_part else row.path), row.qualified_name


def is_constructor(row: DefinitionRow) -> bool:
    """Return whether a definition is a constructor that has the name of its class: only `new` means it."""
    return row.kind in _CALLED and row.parent.rpartition(".")[2] == row.name


def _is_static(row: DefinitionRow) -> bool:
    """Return whether a function of C can only be used in its file; that of a header is in each that includes it."""
    is_c = rules_of(row.language).includes and "static" in row.modifiers.split()
    return is_c and not row.path.endswith((".h", ".hpp", ".hh", ".hxx", ".inl"))


def _count_things(rows: Iterable[DefinitionRow]) -> int:
    """Return how many things are defined; after `using namespace draw`, `Group::area` is `draw::Group::area`."""
    things = {same_thing(row) for row in rows}
    wholes = [name for path, name in things if not path]
    short = {name for name in wholes if any(other.endswith(f".{name}") for other in wholes)}
    return len(things) - len(short)


def _by_number(rows: list[DefinitionRow]) -> Meaning:
    """Return the only definition as likely, or several by name."""
    is_only = _count_things(rows) == 1
    return Meaning(Certainty.LIKELY if is_only else Certainty.BY_NAME, tuple(rows))


def _of_one_name(rows: list[DefinitionRow], path: str) -> Meaning:
    """Return definitions of one full name: parts of one class, or outside modules, maybe those of several programs."""
    is_one = "." in rows[0].qualified_name or all(row.kind == "module" for row in rows)
    if is_one or len({row.path for row in rows}) == 1:
        return certain(rows)
    own = [row for row in rows if row.path == path]
    return certain(own) if own else Meaning(Certainty.BY_NAME, tuple(rows))


def _is_constant(name: str) -> bool:
    return name[:1].isupper()


def _is_in_module(path: str, module: str) -> bool:
    """Return whether a file is a module, or a folder has it as one of its own files."""
    return path == module or _folder(path) == module


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
