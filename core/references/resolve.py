"""Resolving an occurrence of a name to the definitions that it may mean, with how certain that is.

Nothing is guessed: what a name means is either told by the scope, an import, the class around it or the module or class
before it, or the answer says that only the name matches. Types of variables are not known.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.bindings import Binding, FileBindings
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.common_members import is_common_member
from keyhole.core.references.known_names import KnownNames
from keyhole.core.references.language_rules import LanguageRules, family_of, is_holder, rules_of
from keyhole.core.references.names_in_file import NOT_A_NAME, NamesInFile, Occurrence
from keyhole.core.references.namespaces import SEPARATOR, Namespaces
from keyhole.core.references.packages import Packages, whole_name
from keyhole.core.syntax.occurrences import OUTERMOST, OccurrenceRole
from keyhole.core.types import HOLDS_METHODS

# How many files an import may lead through, and how many classes up a member is looked for.
_LONGEST_CHAIN = 10
_MEMBERS = frozenset(["method", "property", "getter", "setter", "constructor", "field"])
# Parts of a type that stand beside it.
_PARTS = frozenset(["impl", "extension"])
_NEVER = frozenset(
    [
        OccurrenceRole.DEFINITION,
        OccurrenceRole.LOCAL,
        OccurrenceRole.TYPE_PARAMETER,
        OccurrenceRole.ARGUMENT,
        OccurrenceRole.ALIAS,
    ]
)
_NOT_CALLED = frozenset([OccurrenceRole.MENTION, OccurrenceRole.ATTRIBUTE, OccurrenceRole.ASSIGNMENT])
_CALLED = frozenset(["function", "method", "constructor"])


class Meaning(NamedTuple):
    """What a name may mean. An empty meaning is one outside the workspace, or a local variable."""

    certainty: Certainty
    definitions: tuple[DefinitionRow, ...]


class Members(NamedTuple):
    """The definitions of a member in a class and what it inherits from.

    `is_complete` is False if a base is not in the workspace: then a member that is not found may be there.
    """

    definitions: tuple[DefinitionRow, ...]
    is_complete: bool


NOTHING = Meaning(Certainty.CERTAIN, ())


class Resolver:
    """Resolves names of one snapshot of the index."""

    def __init__(self, store: ReferenceStore) -> None:
        self.known = KnownNames(store)
        self.namespaces = Namespaces(self.known)
        self.packages = Packages(self.known)
        self._bindings: dict[str, FileBindings] = {}
        self._bases: dict[int, Members] = {}
        self._reached: dict[str, frozenset[str]] = {}

    def meaning(self, path: str, place: int) -> Meaning:
        """Return what the name at a place of a file may mean."""
        names = self.known.names(path)
        return NOTHING if names is None else _Place(self, path, names, names.at(place)).meaning()

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
            holder.qualified_name == row.parent and is_holder(holder) for holder in self.known.holders(row.path)
        )

    def members(self, holder: DefinitionRow, name: str, *, inherited: bool = False) -> Members:
        """Return a member of a class: its own, or else the one that it inherits."""
        return self._members(holder, name, inherited=inherited, seen=set())

    def bases(self, holder: DefinitionRow) -> Members:
        """Return the classes that a class extends; not complete if one of them is not in the workspace."""
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
                found = [row for row in meaning.definitions if is_holder(row) and row.kind != "impl"]
                is_sure = bool(found) and meaning.certainty is not Certainty.BY_NAME
                is_complete = is_complete and (is_sure or names.name_at(place) == "object")
                bases.update((row.id, row) for row in found if is_sure)
        return Members(tuple(bases.values()), is_complete)

    def _parts(self, holder: DefinitionRow) -> list[DefinitionRow]:
        """Return all declarations of a class: one, except where a class can be continued elsewhere."""
        if not rules_of(holder.language).has_open_classes:
            return [holder]
        rows = self.known.definitions(holder.name, family_of(holder.language))
        same = [row for row in rows if is_holder(row) and row.parent == holder.parent]
        return [row for row in same if _may_continue(holder, row)] or [holder]


class _Place:
    """One occurrence of a name, with everything that its meaning depends on."""

    def __init__(self, resolver: Resolver, path: str, names: NamesInFile, found: Occurrence) -> None:
        self._resolver = resolver
        self._path = path
        self._names = names
        self._found = found
        self._name = names.name_at(found.place)
        self._language = resolver.known.language(path)
        self._rules: LanguageRules = rules_of(self._language)
        self._family = family_of(self._language)

    def meaning(self) -> Meaning:
        """Return what the name may mean."""
        if self._rules.functions_are_called and self._found.role in _NOT_CALLED:
            found = self._find([row for row in self._candidates() if row.kind not in _CALLED])
            return found._replace(definitions=tuple(row for row in found.definitions if row.kind not in _CALLED))
        return self._find(self._candidates())

    def _candidates(self) -> list[DefinitionRow]:
        return self._resolver.known.definitions(self._name, self._family)

    def _find(self, candidates: list[DefinitionRow]) -> Meaning:
        is_own_name = self._found.role in _NEVER and not self._found.receiver
        if is_own_name or self._found.role is OccurrenceRole.DEFINITION:
            return NOTHING
        if self._rules.has_namespaces and (meaning := self._by_full_name()) is not None:
            return meaning
        if not candidates and (self._found.receiver or not self._has_new_name()):
            return NOTHING
        if self._found.role is OccurrenceRole.STRING:
            return Meaning(Certainty.BY_NAME, tuple(candidates))
        if self._found.role is OccurrenceRole.IMPORT:
            return self._imported(candidates)
        return self._of_receiver(candidates) if self._found.receiver else self._bare(candidates)

    def _has_new_name(self) -> bool:
        """Return whether the name is the one that an import of this file gives to something."""
        bindings = self._resolver.bindings(self._path)
        return bindings is not None and bool(bindings.of(self._name))

    # Names in imports

    def _imported(self, candidates: list[DefinitionRow]) -> Meaning:
        if self._rules.has_packages:
            return self._with_whole_name(whole_name(self._names, self._found.place))
        bindings = self._resolver.bindings(self._path)
        found = bindings.at(self._found, self._name) if bindings else []
        if self._rules.needs_import:
            return self._through(found)
        top = [row for row in candidates if not self._resolver.is_member(row)]
        return _by_number(top)

    def _through(self, bindings: list[Binding]) -> Meaning:
        """Follow the imports of a name."""
        rows: list[DefinitionRow] = []
        for binding in bindings:
            if binding.path:
                rows += self._resolver.provided(binding.path, binding.name or self._name, self._family)
        return certain(rows)

    def _by_full_name(self) -> Meaning | None:
        """Return what has the full name of this one; None if the name may be that of a member or in a text."""
        if self._found.role is OccurrenceRole.STRING:
            return None
        spaces = self._resolver.namespaces
        for full_name in spaces.full_names(self._path, self._names, self._found):
            rows = self._resolver.known.definitions(full_name.rpartition(SEPARATOR)[2], self._family)
            rows = [row for row in rows if spaces.full_name(row) == full_name and not self._resolver.is_member(row)]
            if rows:
                # Outside namespaces, other programs in the workspace may define the same name.
                is_sure = SEPARATOR in full_name or all(row.path == self._path for row in rows)
                found = _by_number(rows)
                return certain(rows) if is_sure and found.certainty is Certainty.LIKELY else found
        is_member = self._found.receiver not in OUTERMOST | {""} and self._found.role is not OccurrenceRole.IMPORT
        return None if is_member else NOTHING

    # Names on their own

    def _bare(self, candidates: list[DefinitionRow]) -> Meaning:
        if self._names.is_type_parameter(self._name, self._found.place):
            return NOTHING
        nested = self._nested(candidates)
        if nested is not None:
            return nested
        steps: list[Callable[[list[DefinitionRow]], Meaning | None]] = [
            self._in_class,
            self._in_file,
            self._in_packages,
            self._by_import,
            self._in_folder,
            self._included,
        ]
        for step in steps:
            if (meaning := step(candidates)) is not None:
                return meaning
        if self._rules.needs_import:
            return NOTHING
        if self._rules.has_packages:
            # A member of what a block of code is run for, as in `with(plant) { grow() }`, or of an imported value.
            return Meaning(Certainty.BY_NAME, tuple(candidates))
        return _by_number([row for row in candidates if not self._resolver.is_member(row)])

    def _nested(self, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a function inside a function around the place, or nothing if the name is a variable there."""
        for symbol in self._names.functions_around(self._found.place):
            lines = self._names.lines_of(symbol)
            inner = [row for row in candidates if row.path == self._path and row.start_line in lines[1:]]
            if own := [row for row in inner if not self._resolver.is_member(row)]:
                return certain(own)
            if self._found.role not in self._rules.never_variables and self._is_local(self._found, symbol):
                return NOTHING
        return None

    def _in_class(self, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a member of a class around the place, in languages where that needs no `this`."""
        if not any(map(self._resolver.is_member, candidates)):
            return None
        holders = self._holders()
        if not self._rules.has_implicit_self:
            # In the body of a class itself, its members so far are ordinary names.
            is_direct = self._language == "python" and self._names.is_holder(self._names.symbol_at(self._found.place))
            holders = holders[:1] if is_direct else []
        for holder in holders:
            found = self._resolver.members(holder, self._name)
            if found.definitions:
                return certain(found.definitions)
        return None

    def _in_file(self, candidates: list[DefinitionRow]) -> Meaning | None:
        own = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        own = [row for row in own if self._is_visible(row)]
        if own and self._rules.includes:
            # A prototype in this file is that of the function itself.
            own += [row for row in candidates if row.path != self._path and "static" not in row.modifiers.split()]
        return certain(own) if own else None

    def _is_visible(self, row: DefinitionRow) -> bool:
        """Return whether a definition of this file is not inside a function that the place is outside of."""
        return not self._names.is_inside_function(row.name, row.name_line)

    def _in_packages(self, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return what the file imports by this name, what its package has, or what a star import brings."""
        if not self._rules.has_packages:
            return None
        packages = self._resolver.packages
        imports = packages.imports(self._path, self._names)
        if imported := imports.by_name.get(self._name):
            found = [self._with_whole_name(name) for name in imported]
            rows = tuple(row for meaning in found for row in meaning.definitions)
            return Meaning(max((meaning.certainty for meaning in found), key=list(Certainty).index), rows)
        own = [row for row in candidates if packages.owner(row) == packages.package(self._path)]
        if own:
            return self._nearest(own)
        starred = [row for row in candidates if self._is_starred(packages.owner(row), imports.whole_names)]
        return self._nearest(starred) if starred else None

    def _is_starred(self, owner: str, imported: set[str]) -> bool:
        if owner in imported:
            return True
        return self._rules.has_relative_imports and any(owner.endswith(f".{name}") for name in imported)

    def _with_whole_name(self, whole: str) -> Meaning:
        packages = self._resolver.packages
        rows = self._resolver.known.definitions(whole.rpartition(".")[2], self._family)
        exact = [row for row in rows if packages.has_name(row, whole)]
        if exact or not self._rules.has_relative_imports:
            return self._nearest(exact)
        return _by_number([row for row in rows if packages.ends_with(row, whole)])

    def _nearest(self, rows: list[DefinitionRow]) -> Meaning:
        """Return definitions with one whole name; if several projects have one, that of the same project."""
        project = self._path.rpartition("/src/")[0]
        near = [row for row in rows if row.path.rpartition("/src/")[0] == project]
        is_clear = bool(near) or len({same_thing(row) for row in rows}) <= 1
        return certain(near or rows) if is_clear else Meaning(Certainty.BY_NAME, tuple(rows))

    def _by_import(self, _: list[DefinitionRow]) -> Meaning | None:
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return None
        bound = bindings.of(self._name)
        if bound and self._rules.needs_import:
            return self._through(bound)
        stars = set() if self._rules.includes else set(bindings.stars())
        rows = [row for star in sorted(stars) for row in self._resolver.provided(star, self._name, self._family)]
        return certain(rows) if rows else None

    def _in_folder(self, candidates: list[DefinitionRow]) -> Meaning | None:
        if not self._rules.shares_folder:
            return None
        rows = [row for row in candidates if _is_in_module(row.path, _folder(self._path))]
        rows = [row for row in rows if not self._resolver.is_member(row)]
        return certain(rows) if rows else None

    def _included(self, candidates: list[DefinitionRow]) -> Meaning | None:
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

    def _of_receiver(self, candidates: list[DefinitionRow]) -> Meaning:
        receiver = self._found.receiver
        if receiver in self._rules.self_words or receiver in self._rules.super_words or self._is_go_receiver():
            return self._of_self(candidates, inherited=receiver in self._rules.super_words)
        if receiver == NOT_A_NAME:
            return self._of_unknown(candidates)
        before = self._before()
        if before is None:
            return self._of_unknown(candidates)
        if self._rules.has_packages and (rows := self._after_package(candidates)):
            return self._nearest(rows)
        if (module := self._of_module(before, candidates)) is not None:
            return module
        if before.role is OccurrenceRole.IMPORT or self._is_variable(before):
            return self._of_unknown(candidates)
        meaning = self._resolver.meaning(self._path, before.place)
        holders = [row for row in meaning.definitions if is_holder(row)]
        if holders:
            return self._of_class(holders, meaning.certainty, candidates)
        if self._rules.has_namespaces and before.role is OccurrenceRole.MENTION and not receiver.startswith("$"):
            return NOTHING  # a class outside the workspace
        spaces = [row for row in candidates if row.parent.rpartition(".")[2] == receiver]
        if spaces and not any(map(self._resolver.is_member, spaces)):
            return certain(spaces)
        return self._of_unknown(candidates)

    def _after_package(self, candidates: list[DefinitionRow]) -> list[DefinitionRow]:
        """Return what the name means if everything before it is its package or class, written out."""
        whole = self._names.dotted(self._found.place)
        first = self._names.at(self._found.place - whole.count("."))
        if self._is_variable(first):
            return []
        return [row for row in candidates if self._resolver.packages.has_name(row, whole)]

    def _of_self(self, candidates: list[DefinitionRow], *, inherited: bool) -> Meaning:
        holders = self._holders()
        if not holders:
            return self._of_unknown(candidates)
        found = self._resolver.members(holders[0], self._name, inherited=inherited)
        if found.definitions:
            return certain(found.definitions)
        members = [row for row in candidates if self._resolver.is_member(row)]
        return Meaning(Certainty.BY_NAME, tuple(members))

    def _of_class(self, holders: list[DefinitionRow], certainty: Certainty, candidates: list[DefinitionRow]) -> Meaning:
        rows: list[DefinitionRow] = []
        is_complete = True
        for holder in holders:
            found = self._resolver.members(holder, self._name)
            rows += found.definitions
            is_complete = is_complete and found.is_complete
        if rows:
            return Meaning(certainty, tuple(rows))
        if is_complete:
            return NOTHING
        return Meaning(Certainty.BY_NAME, tuple(row for row in candidates if self._resolver.is_member(row)))

    def _of_module(self, before: Occurrence, candidates: list[DefinitionRow]) -> Meaning | None:
        """Return a definition of the module before the name; None if there is no module before it."""
        bindings = self._resolver.bindings(self._path)
        if bindings is None or (not before.receiver and self._hides_module(before)):
            return None
        paths = [binding.path for binding in bindings.of(self._found.receiver) if not binding.name]
        if before.receiver:
            paths = bindings.modules(self._names.dotted(before.place))
        elif not paths and self._rules.shares_folder:
            paths = bindings.packages(self._found.receiver)
        if not paths:
            return None
        inside = [path for path in paths if path]
        return certain([row for path in inside for row in self._resolver.provided(path, self._name, self._family)])

    def _of_unknown(self, candidates: list[DefinitionRow]) -> Meaning:
        members = [row for row in candidates if self._resolver.is_member(row)]
        if is_common_member(self._family, self._name):
            return Meaning(Certainty.BY_NAME, tuple(members))
        return _by_number(members)

    def _before(self) -> Occurrence | None:
        """Return the occurrence that the name is taken from."""
        before = self._names.at(self._found.place - 1) if self._found.place else None
        is_it = before is not None and self._names.name_at(before.place) == self._found.receiver
        return before if is_it else None

    def _is_variable(self, place: Occurrence) -> bool:
        return any(self._is_local(place, symbol) for symbol in self._names.functions_around(place.place))

    def _is_local(self, place: Occurrence, symbol: int) -> bool:
        """Return whether the name at a place is a variable of a function around it."""
        line = place.line if self._rules.has_late_variables else None
        return self._names.has_local(self._names.name_at(place.place), symbol, line)

    def _hides_module(self, place: Occurrence) -> bool:
        """Return whether a variable hides a module: in `config := config.New()`, it does not do so yet."""
        above = place._replace(line=place.line - 1)
        return self._found.role not in self._rules.never_variables - {OccurrenceRole.CALL} and self._is_variable(above)

    def _is_go_receiver(self) -> bool:
        """Return whether the receiver is the variable that a method of Go is defined with: `func (s *Server) …`."""
        if self._language != "go":
            return False
        around = list(self._names.functions_around(self._found.place))
        return bool(around) and self._names.first_local(around[-1]) == self._found.receiver

    def _holders(self) -> list[DefinitionRow]:
        """Return the classes around the place, the innermost first."""
        line = self._found.line
        around = [row for row in self._resolver.known.holders(self._path) if row.start_line <= line <= row.end_line]
        found = []
        for row in reversed(around):
            if is_holder(row):
                found += [row] if row.kind != "impl" else self._type_of(row.name)
            elif row.depth == 0:
                found += self._type_of(row.parent.rpartition(".")[2])
        return found

    def _type_of(self, name: str) -> list[DefinitionRow]:
        """Return the type that methods outside its body belong to."""
        rows = [row for row in self._resolver.known.definitions(name, self._family) if is_holder(row)]
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
