"""Resolving an occurrence of a name to the definitions that it may mean, with how certain that is.

Nothing is guessed: what a name means is either told by the scope, an import, the class around it or the module or class
before it, or the answer says that only the name matches. Types of variables are not known.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.bindings import Binding, FileBindings
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.common_members import is_common_member
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.language_rules import LanguageRules, family_of, rules_of
from keyhole.core.references.names_in_file import NO_SYMBOL, NOT_A_NAME, NamesInFile, role_set
from keyhole.core.syntax.occurrences import UNNAMED, OccurrenceRole
from keyhole.core.types import HOLDS_METHODS

# How many files an import may lead through, and how many classes up a member is looked for.
_LONGEST_CHAIN = 10
_MEMBERS = frozenset(["method", "property", "getter", "setter", "constructor", "field"])
# Parts of a type that stand beside it.
_PARTS = frozenset(["impl", "extension"])
_OWN = role_set(OccurrenceRole.DEFINITION, OccurrenceRole.LOCAL)
_NEVER = frozenset([OccurrenceRole.DEFINITION, OccurrenceRole.LOCAL, OccurrenceRole.ARGUMENT, OccurrenceRole.ALIAS])


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
        self._bindings: dict[str, FileBindings] = {}
        self._bases: dict[int, Members] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._files: dict[str, _NamesOfFile] = {}
        self.by_members = cache(self._by_members)

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
            self._bindings[path] = FileBindings(self.known.imports(path), names)
        return self._bindings[path]

    def provided(self, path: str, name: str, family: str, steps: int = _LONGEST_CHAIN) -> list[DefinitionRow]:
        """Return what a name means in a module: its own definition, or one that it imports itself."""
        own = [row for row in self.known.definitions(name, family) if _is_in_module(row.path, path)]
        if found := [row for row in own if not self.is_member(row)]:
            return found
        bindings = self.bindings(path) if steps else None
        if bindings is None:
            return []
        for binding in bindings.of(name):
            if binding.path not in ("", path) and (
                found := self.provided(binding.path, binding.name or name, family, steps - 1)
            ):
                return found
        stars = {star for star in bindings.stars() if star != path}
        return [row for star in sorted(stars) for row in self.provided(star, name, family, steps - 1)]

    def is_member(self, row: DefinitionRow) -> bool:
        """Return whether a definition is reached through its class."""
        if row.kind in _MEMBERS:
            return True
        return bool(row.parent) and any(
            holder.qualified_name == row.parent and holder.kind in HOLDS_METHODS
            for holder in self.known.holders(row.path)
        )

    def members(self, holder: DefinitionRow, name: str, *, inherited: bool = False) -> Members:
        """Return a member of a class: its own, or else the one that it inherits."""
        return self._members(holder, name, inherited=inherited, seen=set())

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
                    if row.kind in HOLDS_METHODS:
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
        names, bindings = self.known.names(path), self.bindings(path)
        if names is None or bindings is None or not rules_of(self.known.language(path)).needs_import:
            return False
        before = names.taken_from(place)
        if UNNAMED in before:
            return False
        first = names.name_numbered(before[-1]) if before else names.name_at(place)
        if bound := bindings.of(first):
            return not any(binding.path for binding in bound)
        return not names.places_in_roles(first, _OWN) and not any(bindings.stars())

    def _by_members(self, name: str, family: str, *, is_of_several: bool = False) -> Meaning:
        """Return the members with a name, for a receiver whose type is not known."""
        members = [row for row in self.known.definitions(name, family) if self.is_member(row)]
        if is_of_several or is_common_member(family, name):
            return Meaning(Certainty.BY_NAME, tuple(members))
        return _by_number(members)

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
        own = [] if inherited else [row for row in self.known.definitions(name, family) if owns(holder, row)]
        if own:
            return Members(tuple(own), is_complete=True)
        bases = self.bases(holder)
        is_complete = bases.is_complete
        for base in bases.definitions:
            found = self._members(base, name, inherited=False, seen=seen)
            if found.definitions:
                return found
            is_complete = is_complete and found.is_complete
        return Members((), is_complete)

    def _find_bases(self, holder: DefinitionRow) -> Members:
        bases: dict[int, DefinitionRow] = {}
        is_complete = True
        for part in self._parts(holder):
            names = self.known.names(part.path)
            if names is None:
                return Members((), is_complete=False)
            for place in names.bases_of(names.symbol_named(part.name, part.name_line)):
                meaning = self.meaning(part.path, place)
                found = [row for row in meaning.definitions if row.kind in HOLDS_METHODS and row.kind != "impl"]
                is_sure = bool(found) and meaning.certainty is not Certainty.BY_NAME
                is_complete = is_complete and (is_sure or self.is_from_outside(part.path, place))
                bases.update((row.id, row) for row in found if is_sure)
        return Members(tuple(bases.values()), is_complete)

    def _parts(self, holder: DefinitionRow) -> list[DefinitionRow]:
        """Return all declarations of a class: one, except where a class can be continued elsewhere."""
        if not rules_of(holder.language).has_open_classes:
            return [holder]
        rows = self.known.definitions(holder.name, family_of(holder.language))
        same = [row for row in rows if row.kind in HOLDS_METHODS and row.parent == holder.parent]
        return [row for row in same if _may_continue(holder, row)] or [holder]


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
        shape = (names.number_at(place), role, scope, *before)
        known = self._known.get(shape)
        if known is None:
            known = self._known[shape] = self._find(place)
        return known

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
        if role is OccurrenceRole.DEFINITION or (role in _NEVER and not receiver):
            return NOTHING
        candidates = self._resolver.known.definitions(name, self._family)
        if not candidates and (receiver or not self._has_new_name(name)):
            return NOTHING
        if role is OccurrenceRole.STRING:
            return Meaning(Certainty.BY_NAME, tuple(candidates))
        if role is OccurrenceRole.IMPORT:
            return self._imported(place, candidates)
        return self._of_receiver(place, receiver) if receiver else self._bare(place, candidates)

    def _has_new_name(self, name: str) -> bool:
        """Return whether the name is the one that an import of this file gives to something."""
        bindings = self._resolver.bindings(self._path)
        return bindings is not None and bool(bindings.of(name))

    # Names in imports

    def _imported(self, place: int, candidates: list[DefinitionRow]) -> Meaning:
        bindings = self._resolver.bindings(self._path)
        name = self._names.name_at(place)
        found = bindings.at(self._names.line_at(place), name) if bindings else []
        if self._rules.needs_import:
            return self._through(found, name)
        top = [row for row in candidates if not self._resolver.is_member(row)]
        return _by_number(top)

    def _through(self, bindings: list[Binding], name: str) -> Meaning:
        """Follow the imports of a name."""
        rows: list[DefinitionRow] = []
        for binding in bindings:
            if binding.path:
                rows += self._resolver.provided(binding.path, binding.name or name, self._family)
        return certain(rows)

    # Names on their own

    def _bare(self, place: int, candidates: list[DefinitionRow]) -> Meaning:
        nested = self._nested(place, candidates)
        if nested is not None:
            return nested
        steps: list[Callable[[int, list[DefinitionRow]], Meaning | None]] = [
            self._in_class,
            self._in_file,
            self._by_import,
            self._in_folder,
            self._included,
        ]
        for step in steps:
            if (meaning := step(place, candidates)) is not None:
                return meaning
        if self._rules.needs_import:
            return NOTHING
        return _by_number([row for row in candidates if not self._resolver.is_member(row)])

    def _nested(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a function inside a function around the place, or nothing if the name is a variable there."""
        name = self._names.name_at(place)
        in_file = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        for symbol in self._names.functions_around(place):
            lines = self._names.lines_of(symbol) if in_file else range(0)
            if own := [row for row in in_file if row.start_line in lines[1:]]:
                return certain(own)
            if self._names.has_local(name, symbol):
                return NOTHING
        return None

    def _in_class(self, place: int, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a member of a class around the place, in languages where that needs no `this`."""
        if not any(map(self._resolver.is_member, candidates)):
            return None
        if self._rules.has_implicit_self:
            holders = self._holders(place)
        else:
            # In the body of a class itself, its members so far are ordinary names.
            is_direct = self._language == "python" and self._names.is_holder(self._names.symbol_at(place))
            holders = self._holders(place)[:1] if is_direct else []
        for holder in holders:
            found = self._resolver.members(holder, self._names.name_at(place))
            if found.definitions:
                return certain(found.definitions)
        return None

    def _in_file(self, _: int, candidates: list[DefinitionRow]) -> Meaning | None:
        own = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        own = [row for row in own if self._is_visible(row)]
        if own and self._rules.includes:
            # A prototype in this file is that of the function itself.
            own += [row for row in candidates if row.path != self._path and "static" not in row.modifiers.split()]
        return certain(own) if own else None

    def _is_visible(self, row: DefinitionRow) -> bool:
        """Return whether a definition of this file is not inside a function that the place is outside of."""
        return not self._names.is_inside_function(row.name, row.name_line)

    def _by_import(self, place: int, _: list[DefinitionRow]) -> Meaning | None:
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return None
        name = self._names.name_at(place)
        bound = bindings.of(name)
        if bound and self._rules.needs_import:
            return self._through(bound, name)
        stars = set() if self._rules.includes else set(bindings.stars())
        rows = [row for star in sorted(stars) for row in self._resolver.provided(star, name, self._family)]
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
        rows = [row for row in candidates if "static" not in row.modifiers.split() or row.path.endswith((".h", ".hpp"))]
        rows = [row for row in rows if not self._resolver.is_member(row)]
        if len({row.qualified_name for row in rows}) == 1 and self._resolver.reaches(
            self._path, [row.path for row in rows]
        ):
            return certain(rows)
        return None

    # Names after a receiver

    def _of_receiver(self, place: int, receiver: str) -> Meaning:
        name = self._names.name_at(place)
        if receiver in self._rules.self_words or receiver in self._rules.super_words or self._is_go_receiver(place):
            found = self._of_self(place, inherited=receiver in self._rules.super_words)
        elif self._is_known(place, receiver):
            found = self._of_module(place, receiver) or self._of_named(place, receiver)
        else:
            found = None
        return found or self._resolver.by_members(name, self._family)

    def _is_known(self, place: int, receiver: str) -> bool:
        """Return whether the place before a name has its receiver, and that is no variable."""
        if not place or receiver == NOT_A_NAME or self._names.name_at(place - 1) != receiver:
            return False
        bindings = self._resolver.bindings(self._path)
        is_imported = bindings is not None and bool(bindings.of(receiver))
        return is_imported or not self._is_variable(place - 1, receiver)

    def _of_self(self, place: int, *, inherited: bool) -> Meaning | None:
        holders = self._holders(place)
        if not holders:
            return None
        name = self._names.name_at(place)
        found = self._resolver.members(holders[0], name, inherited=inherited)
        if found.definitions:
            return certain(found.definitions)
        if inherited and found.is_complete:
            return NOTHING
        return self._resolver.by_members(name, self._family, is_of_several=True)

    def _of_named(self, place: int, receiver: str) -> Meaning | None:
        """Return the member of a class or namespace that is named before it; None if the name means something else."""
        name, before = self._names.name_at(place), place - 1
        if self._names.role_at(before) is OccurrenceRole.IMPORT or self._is_variable(before, receiver):
            return None
        meaning = self.meaning(before)
        holders = [row for row in meaning.definitions if row.kind in HOLDS_METHODS]
        if holders:
            return self._of_class(holders, meaning.certainty, name)
        spaces = self._resolver.known.definitions(name, self._family)
        spaces = [row for row in spaces if row.parent.rpartition(".")[2] == receiver]
        return certain(spaces) if spaces and not any(map(self._resolver.is_member, spaces)) else None

    def _of_class(self, holders: list[DefinitionRow], certainty: Certainty, name: str) -> Meaning:
        found = [self._resolver.members(holder, name) for holder in holders]
        if rows := [row for one in found for row in one.definitions]:
            return Meaning(certainty, tuple(rows))
        if all(one.is_complete for one in found):
            return NOTHING
        return self._resolver.by_members(name, self._family, is_of_several=True)

    def _of_module(self, place: int, receiver: str) -> Meaning | None:
        """Return a definition of the module before the name; None if there is no module before it."""
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return None
        if self._names.receiver_at(place - 1):
            paths = bindings.modules(self._dotted(place - 1))
        else:
            paths = [binding.path for binding in bindings.of(receiver) if not binding.name]
            if not paths and self._rules.shares_folder:
                paths = bindings.packages(receiver)
        if not paths:
            return None
        name = self._names.name_at(place)
        return certain(row for path in paths if path for row in self._resolver.provided(path, name, self._family))

    def _dotted(self, place: int) -> str:
        """Return the name at a place with everything before it, such as `package.module`."""
        parts = [self._names.name_at(place)]
        while place and (receiver := self._names.receiver_at(place)) and receiver != NOT_A_NAME:
            parts.append(receiver)
            place -= 1
        return ".".join(reversed(parts))

    def _is_variable(self, place: int, name: str) -> bool:
        scopes = self._names.local_scopes(name)
        return bool(scopes) and not scopes.isdisjoint(self._names.functions_around(place))

    def _is_go_receiver(self, place: int) -> bool:
        """Return whether the receiver is the variable that a method of Go is defined with: `func (s *Server) …`."""
        if self._language != "go":
            return False
        around = list(self._names.functions_around(place))
        return bool(around) and self._names.first_local(around[-1]) == self._names.receiver_at(place)

    def _holders(self, place: int) -> list[DefinitionRow]:
        """Return the classes around the place, the innermost first."""
        line = self._names.line_at(place)
        around = [row for row in self._resolver.known.holders(self._path) if row.start_line <= line <= row.end_line]
        found = []
        for row in reversed(around):
            if row.kind in HOLDS_METHODS:
                found += [row] if row.kind != "impl" else self._type_of(row.name)
            else:
                found += self._type_of(row.parent.rpartition(".")[2])
        return found

    def _type_of(self, name: str) -> list[DefinitionRow]:
        """Return the type that methods outside its body belong to."""
        rows = [row for row in self._resolver.known.definitions(name, self._family) if row.kind in HOLDS_METHODS]
        rows = [row for row in rows if row.kind != "impl"] or rows
        near = [row for row in rows if row.path == self._path] or [
            row for row in rows if _folder(row.path) == _folder(self._path)
        ]
        return (near or rows)[:1]


def certain(rows: Iterable[DefinitionRow]) -> Meaning:
    """Return a meaning without doubt."""
    return Meaning(Certainty.CERTAIN, tuple(rows))


def owns(holder: DefinitionRow, row: DefinitionRow) -> bool:
    """Return whether a definition is a member of a class."""
    if row.path == holder.path:
        return row.parent == holder.qualified_name
    is_open = rules_of(holder.language).has_open_classes
    return is_open and row.parent.rpartition(".")[2] == holder.name and _may_continue(holder, row)


def same_thing(row: DefinitionRow) -> tuple[str, str]:
    """Return what definitions of one thing have in common: overloads, or a prototype and its function."""
    is_shared = rules_of(row.language).includes and "static" not in row.modifiers.split()
    return ("" if is_shared else row.path), row.qualified_name


def _by_number(rows: list[DefinitionRow]) -> Meaning:
    """Return the only definition as likely, or several by name."""
    is_only = len({same_thing(row) for row in rows}) == 1
    return Meaning(Certainty.LIKELY if is_only else Certainty.BY_NAME, tuple(rows))


def _may_continue(holder: DefinitionRow, row: DefinitionRow) -> bool:
    """Return whether a file can add members to a class of another one."""
    return holder.language != "go" or _folder(holder.path) == _folder(row.path)


def _is_in_module(path: str, module: str) -> bool:
    """Return whether a file is a module, or a folder has it as one of its own files."""
    return path == module or _folder(path) == module


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
