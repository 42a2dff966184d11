"""The meanings of the names in one file, by the rules that most languages share.

Nothing is guessed: what a name means is either told by the scope, an import, the class around it or the module or class
before it, or the answer says that only the name matches. Of types, only what names tell is known (value_types.py).
Languages with their own ways override single steps (by_language/).
"""

from collections.abc import Iterable, Sequence

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.bindings import Binding
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.common_members import is_common_member
from keyhole.core.references.language_rules import LanguageRules, family_of, is_holder, rules_of
from keyhole.core.references.name_meaning import (
    CALLED,
    NOTHING,
    PARTS,
    VALUES,
    NameMeaning,
    by_name,
    by_number,
    certain,
    folder_of,
    is_constructor,
)
from keyhole.core.references.name_resolver import NameResolver, Reachable
from keyhole.core.references.names_in_file import NO_SYMBOL, NOT_A_NAME, NamesInFile, role_set
from keyhole.core.references.reachable import HIDES_DEFINITIONS, can_reach, is_override
from keyhole.core.syntax.occurrences import UNNAMED, OccurrenceRole

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
_TYPES = frozenset([OccurrenceRole.TYPE, OccurrenceRole.BASE])
_NO_KINDS = frozenset[str]()
# See `_since`.
FIRST_LINE = 1


class FileNames:
    """The meanings of the names in one file."""

    # The roles of names that only give something its name, even after a receiver.
    _never_uses = frozenset([OccurrenceRole.DEFINITION])

    def __init__(self, resolver: NameResolver, path: str, names: NamesInFile) -> None:
        self._resolver = resolver
        self._path = path
        self._names = names
        self._language = resolver.known.language(path)
        self._rules: LanguageRules = rules_of(self._language)
        self._family = family_of(self._language)
        self._is_test = resolver.known.is_test(path)
        self._known: dict[tuple[int, ...], NameMeaning] = {}
        self._scoped: dict[int, bool] = {UNNAMED: False}
        self._hides_some = self._family in HIDES_DEFINITIONS
        self._known_reachable: Reachable = {} if self._hides_some else resolver.reachable

    def meaning(self, place: int) -> NameMeaning:
        """Return what the name at a place may mean; places with all in common that counts share their meaning."""
        names = self._names
        role = names.role_at(place)
        if role is OccurrenceRole.IMPORT:
            return self._find(place, role)
        number, before = names.number_at(place), names.taken_from(place)
        first = before[-1] if before else number + 1
        scope, since = NO_SYMBOL, 0
        if self._is_scoped(first) or not (before or self._rules.has_plain_scopes):
            scope = names.symbol_at(place)
            since = self._since(place, names.name_numbered(first)) if self._rules.has_late_variables else 0
        shape = (number, role, scope, since, *before)
        known = self._known.get(shape)
        if known is None:
            known = self._known[shape] = self._fitting(role, self._find(place, role))
        return known

    def meanings(self, _: str, places: Sequence[int], /) -> list[NameMeaning]:
        """Return what a name may mean at each of its places."""
        return list(map(self.meaning, places))

    def _fitting(self, role: OccurrenceRole, found: NameMeaning) -> NameMeaning:
        """Leave out functions where a name cannot mean one, and add the constructors of a class that is called."""
        if not found.definitions:
            return found
        if role is OccurrenceRole.CALL and (constructors := self._constructors(found.definitions)):
            return NameMeaning(found.certainty, (*found.definitions, *constructors))
        excluded = CALLED if role in self._rules.never_functions else _NO_KINDS
        if role is OccurrenceRole.MENTION and any(map(is_constructor, found.definitions)):
            found = NameMeaning(found.certainty, tuple(row for row in found.definitions if not is_constructor(row)))
        if role in _TYPES and role in self._rules.never_variables:
            excluded = VALUES
        if not excluded:
            return found
        rows = tuple(row for row in found.definitions if row.kind not in excluded)
        return NameMeaning(found.certainty, rows) if len(rows) != len(found.definitions) else found

    def _constructors(self, rows: Iterable[DefinitionRow]) -> list[DefinitionRow]:
        classes = [row for row in rows if row.kind not in CALLED and is_holder(row)]
        return classes and [
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

    def _find(self, place: int, role: OccurrenceRole) -> NameMeaning:
        name, receiver = self._names.name_at(place), self._names.receiver_at(place)
        candidates = self._reachable(self._candidates(place))
        is_own_name = role in self._never_uses or (role in _NEVER and not receiver)
        if is_own_name and not self._names_part_of(place, candidates):
            return NOTHING
        if (meaning := self._by_full_name(place)) is not None:
            return meaning
        if not candidates and (receiver or not self._has_new_name(name)):
            return NOTHING
        if role is OccurrenceRole.STRING:
            return by_name(candidates)
        if role is OccurrenceRole.IMPORT:
            return self._imported(place, candidates)
        return self._in_code(place, receiver, candidates)

    def _reachable(self, candidates: list[DefinitionRow]) -> list[DefinitionRow]:
        """Return the definitions that the file can use; many places of a name share one list of them.

        Where every file can use all definitions, all files share it.
        """
        known = self._known_reachable.get(id(candidates))
        if known is None:
            # The type itself instead of its parts, if the workspace has it.
            whole = [row for row in candidates if row.kind not in PARTS] or candidates
            reachable = [row for row in whole if can_reach(self._path, row)]
            # The list itself is kept too, so that no other list gets its id.
            known = self._known_reachable[id(candidates)] = candidates, reachable
        return known[1]

    # What languages do in their own ways

    def _candidates(self, place: int) -> list[DefinitionRow]:
        """Return the definitions that the name at a place may mean."""
        return self._resolver.known.definitions(self._names.name_at(place), self._family)

    def _by_full_name(self, _: int, /) -> NameMeaning | None:
        """Return what has the full name of this one, in languages where each name has one; None elsewhere."""
        return None

    def _in_code(self, place: int, receiver: str, candidates: list[DefinitionRow]) -> NameMeaning:
        """Return what a name outside imports and texts means."""
        return self._of_receiver(place, receiver) if receiver else self._bare(place, candidates)

    def _has_new_name(self, name: str) -> bool:
        """Return whether the name is the one that an import of this file gives to something."""
        bindings = self._resolver.bindings(self._path)
        return bindings is not None and bool(bindings.of(name))

    def _is_hidden(self, place: int) -> bool:
        """Return whether a name on its own stands for something that is no definition."""
        return self._names.is_type_parameter(self._names.name_at(place), place)

    def _elsewhere(self, place: int, _: list[DefinitionRow], /) -> NameMeaning | None:
        """Return what a name means that other files define; None if nothing tells."""
        return self._by_import(place)

    def _unreached(self, _: int, candidates: list[DefinitionRow], /) -> NameMeaning:
        """Return what a name may mean that neither the scope nor an import tells."""
        if self._rules.needs_import:
            return NOTHING
        return by_number([row for row in candidates if not self._resolver.is_member(row)])

    def _is_self(self, place: int, receiver: str) -> bool:
        """Return whether a name is taken from the object or class around it."""
        rules = self._rules
        is_class = receiver in rules.class_words and self._names.receiver_at(place - 1) in rules.self_words
        return is_class or receiver in rules.self_words or receiver in rules.super_words

    def _of_space(self, place: int, receiver: str) -> NameMeaning | None:
        """Return what a name means after its module, package or namespace; None if that is not before it."""
        return self._of_module(place, receiver)

    def _is_class_from_outside(self, _: int, /) -> bool:
        """Return whether the name at a place, which means no definition, is a class that the workspace has not."""
        return False

    # Names in imports

    def _imported(self, place: int, candidates: list[DefinitionRow], /) -> NameMeaning:
        if self._rules.needs_import:
            bindings = self._resolver.bindings(self._path)
            name = self._names.name_at(place)
            return self._through(bindings.at(self._names.line_at(place), name) if bindings else (), name)
        return by_number([row for row in candidates if not self._resolver.is_member(row)])

    def _through(self, bindings: Sequence[Binding], name: str) -> NameMeaning:
        """Follow the imports of a name."""
        rows: list[DefinitionRow] = []
        for binding in bindings:
            if binding.path:
                rows += self._resolver.provided(binding.path, binding.name or name, self._family)
        return certain(rows)

    def _by_import(self, place: int) -> NameMeaning | None:
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return None
        name = self._names.name_at(place)
        bound = bindings.of(name)
        if bound and self._rules.needs_import:
            return self._through(bound, name)
        rows = [row for star in bindings.stars for row in self._resolver.provided(star, name, self._family)]
        return certain(rows) if rows else None

    # Names on their own

    def _bare(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        if self._is_hidden(place):
            return NOTHING
        for step in (self._nested, self._in_class, self._in_file, self._elsewhere):
            if (meaning := step(place, candidates)) is not None:
                return meaning
        return self._unreached(place, candidates)

    def _nested(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        """Return a function inside a function around the place, or nothing if the name is a variable there."""
        names, role = self._names, self._names.role_at(place)
        first_lines = names.local_scopes(names.name_at(place))
        if role in self._rules.never_variables:
            first_lines = {}
        in_file = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        if not first_lines and not in_file:
            return None
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

    def _scopes_around(self, place: int) -> list[int]:
        """Return the functions around a place, and the classes where their fields count as variables."""
        has_fields = self._rules.has_fields_as_variables
        return self._names.scopes_around(place) if has_fields else self._names.functions_around(place)

    def _is_called_first(self, place: int, symbol: int, first_line: int) -> bool:
        """Return whether a variable gets its name from a function that it is made with: `let area = area(x)`."""
        names = self._names
        is_call = names.role_at(place) is OccurrenceRole.CALL and self._rules.has_late_variables
        return is_call and names.line_at(place) == first_line > names.lines_of(symbol).start

    def _in_class(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        """Return a member of a class around the place, in languages where that needs no `this`."""
        is_member = any(map(self._resolver.is_member, candidates))
        if not is_member and not (self._rules.has_open_classes and self._rules.has_fields_as_variables):
            return None
        if self._rules.has_implicit_self:
            holders = self._holders_of_self(place)
        else:
            # In the body of a class itself, its members so far are ordinary names.
            is_direct = self._rules.has_class_scopes and self._names.is_holder(self._names.symbol_at(place))
            holders = self.holders(place)[:1] if is_direct else []
        for holder in holders:
            if self._is_field_of(holder, place):
                return NOTHING
            found = self._resolver.members(holder, self._names.name_at(place)).definitions
            if not self._rules.has_implicit_self:
                # The body of a class does not see what it inherits.
                found = tuple(row for row in found if self._resolver.owns(holder, row))
            if self._names.role_at(place) in self._rules.never_variables - {OccurrenceRole.CALL}:
                found = tuple(row for row in found if row.kind not in VALUES)
            if found:
                return self._of_member(place, found, candidates)
        return None

    def _holders_of_self(self, place: int) -> list[DefinitionRow]:
        """Return the classes whose members need no `this`, the innermost first."""
        return self.holders(place)

    def _of_member(self, _: int, members: tuple[DefinitionRow, ...], __: list[DefinitionRow], /) -> NameMeaning:
        """Return what a name means that a class around it has as a member."""
        return certain(members)

    def _is_field_of(self, holder: DefinitionRow, place: int) -> bool:
        """Return whether the name is a field of a class that stands in another file."""
        role = self._names.role_at(place)
        if holder.path == self._path or not self._rules.has_fields_as_variables or role is OccurrenceRole.CALL:
            return False
        names = self._resolver.known.names(holder.path)
        fields = names.local_scopes(self._names.name_at(place)) if names else {}
        return bool(fields) and names is not None and names.symbol_named(holder.name, holder.name_line) in fields

    def _in_file(self, _: int, candidates: list[DefinitionRow], /) -> NameMeaning | None:
        own = [row for row in candidates if row.path == self._path and not self._resolver.is_member(row)]
        own = [row for row in own if self._is_visible(row)]
        return certain(own) if own else None

    def _is_visible(self, row: DefinitionRow) -> bool:
        """Return whether a definition of this file is not inside a function that the place is outside of."""
        return not self._names.is_inside_function(row.name, row.name_line)

    def _names_part_of(self, place: int, types: list[DefinitionRow]) -> bool:
        """Return whether the place names one of these types, as in `impl Circle` or `extension Circle`."""
        if self._names.role_at(place) is not OccurrenceRole.DEFINITION:
            return False
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        if len(types) == len(rows):
            return False
        line = self._names.line_at(place)
        return any(row.kind in PARTS and row.path == self._path and row.name_line == line for row in rows)

    # Names after a receiver

    def _of_receiver(self, place: int, receiver: str) -> NameMeaning:
        found = None
        if self._is_self(place, receiver):
            found = self._of_self(place, inherited=receiver in self._rules.super_words)
        elif self._is_known(place, receiver):
            found = self._of_space(place, receiver) or self._of_named(place, receiver)
        return found or self._of_type(place, receiver) or self._of_unknown(place, self._names.name_at(place))

    def _is_known(self, place: int, receiver: str) -> bool:
        """Return whether the place before a name has its receiver, and that is no variable."""
        if not place or receiver == NOT_A_NAME or self._names.name_at(place - 1) != receiver:
            return False
        since = self._since(place - 1, receiver)
        if not since:
            return True
        # In `config := config.New()`, the variable does not exist yet, and a type is not taken from a variable.
        is_type = self._names.role_at(place) in self._rules.never_variables - {OccurrenceRole.CALL}
        if not is_type and since != FIRST_LINE:
            return False
        bindings = self._resolver.bindings(self._path)
        return bindings is not None and bool(bindings.of(receiver))

    def _of_self(self, place: int, *, inherited: bool) -> NameMeaning | None:
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

    def _of_named(self, place: int, receiver: str) -> NameMeaning | None:
        """Return the member of a class or namespace that is named before it; None if the name means something else."""
        before = place - 1
        if self._names.role_at(before) is OccurrenceRole.IMPORT or self._since(before, receiver):
            return None
        meaning = self.meaning(before)
        if holders := [row for row in meaning.definitions if is_holder(row)]:
            return self._of_class(holders, meaning.certainty, self._names.name_at(place))
        if not meaning.definitions and self._is_class_from_outside(before):
            return NOTHING
        return self._in_space(place, receiver, meaning)

    def _in_space(self, place: int, receiver: str, _: NameMeaning, /) -> NameMeaning | None:
        """Return what a namespace has; None if the receiver is none."""
        rows = self._resolver.known.definitions(self._names.name_at(place), self._family)
        rows = [row for row in rows if row.parent.rpartition(".")[2] == receiver]
        return certain(rows) if rows and not any(map(self._resolver.is_member, rows)) else None

    def _of_class(self, holders: list[DefinitionRow], certainty: Certainty, name: str) -> NameMeaning:
        found = [self._resolver.members(holder, name) for holder in holders]
        if rows := [row for one in found for row in one.definitions]:
            return NameMeaning(certainty, tuple(rows))
        if all(one.is_complete for one in found):
            return NOTHING
        return self._resolver.by_members(name, self._language, is_of_several=True)

    def _of_module(self, place: int, receiver: str) -> NameMeaning | None:
        """Return a definition of the module before the name; None if there is no module before it."""
        paths = self._modules(place, receiver)
        name = self._names.name_at(place)
        rows = (row for path in paths if path for row in self._resolver.provided(path, name, self._family))
        return certain(rows) if paths else None

    def _modules(self, place: int, receiver: str) -> list[str]:
        """Return the paths of the modules before a name; empty ones are outside the workspace."""
        bindings = self._resolver.bindings(self._path)
        if bindings is None:
            return []
        if self._names.receiver_at(place - 1):
            return bindings.modules(self._names.dotted(place - 1))
        return [binding.path for binding in bindings.of(receiver) if not binding.name]

    def _of_type(self, place: int, receiver: str) -> NameMeaning | None:
        """Return a member of what the receiver holds; None if that is not known."""
        if not self._rules.has_value_types or not place or self._names.name_at(place - 1) != receiver:
            return None
        name, types = self._names.name_at(place), self._resolver.types.at(self._path, place - 1)
        if rows := [row for holder in types.holders for row in self._resolver.members(holder, name).definitions]:
            found = by_number(rows)
            overriding = [row for holder in types.holders for row in self._resolver.overriding(holder, name)]
            if self._rules.has_contracts:
                overriding += [row for holder in types.holders for row in self._resolver.overridden(holder, name)]
            return NameMeaning(found.certainty, (*rows, *(row for row in overriding if row not in rows)))
        if any(self._resolver.types.has_attribute(holder, name) for holder in types.holders):
            return NOTHING
        if types.holders and not self._rules.has_extensions and not self._may_inherit(types.holders, name):
            return self._resolver.by_members(name, self._language, is_of_several=True)
        return NOTHING if types.is_outside and not types.is_unknown else None

    def _may_inherit(self, holders: Iterable[DefinitionRow], name: str) -> bool:
        """Return whether a class may have a member from a base that is not known, where that is common."""
        is_asked = self._rules.has_unnamed_functions
        return is_asked and not all(self._resolver.members(holder, name).is_complete for holder in holders)

    def _of_unknown(self, place: int, name: str) -> NameMeaning:
        """Return the members that a name may mean, if what it is taken from is not known."""
        found = self._resolver.by_members(name, self._language, without_tests=not self._is_test)
        if self._hides_some:
            rows = [row for row in found.definitions if can_reach(self._path, row)]
            if len(rows) != len(found.definitions):
                is_common = is_common_member(self._language, name)
                found = by_name(rows) if is_common else by_number(rows)
        if found.certainty is not Certainty.LIKELY:
            return found
        if is_override(found.definitions[0]) or self._may_be_field(place, name):
            # The only method that overrides one is not the only one: the other is outside the workspace.
            return NameMeaning(Certainty.BY_NAME, found.definitions)
        return found

    def _may_be_field(self, place: int, name: str) -> bool:
        is_called = self._names.role_at(place) is OccurrenceRole.CALL
        return self._rules.has_unlisted_fields and not is_called and self._resolver.is_field(name, self._family)

    # Variables and classes around a place

    def _since(self, place: int, name: str) -> int:
        """Return 0 where a name is no variable, FIRST_LINE where one starts to exist, and more below that."""
        first_lines = self._names.local_scopes(name)
        if first_lines:
            for symbol in self._scopes_around(place):
                first = first_lines.get(symbol)
                if first is not None and self._has_started(place, symbol, first):
                    is_first = self._rules.has_late_variables and self._names.line_at(place) == first
                    return FIRST_LINE if is_first else FIRST_LINE + 1
        return 0

    def _has_started(self, place: int, symbol: int, first_line: int) -> bool:
        """Return whether a variable of a symbol exists at a place; a field exists everywhere in its class."""
        is_late = self._rules.has_late_variables and not self._names.is_holder(symbol)
        return not is_late or first_line <= self._names.line_at(place)

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
        return found

    def _type_of(self, name: str, whole: str = "") -> list[DefinitionRow]:
        """Return the type that methods outside its body belong to; `whole` is its qualified name, if that is known."""
        rows = [row for row in self._resolver.known.definitions(name, self._family) if is_holder(row)]
        rows = [row for row in rows if row.kind != "impl"] or rows
        rows = [row for row in rows if row.qualified_name == whole] or rows
        near = [row for row in rows if row.path == self._path] or [
            row for row in rows if folder_of(row.path) == folder_of(self._path)
        ]
        return (near or rows)[:1]


def is_type_name(names: NamesInFile, place: int) -> bool:
    """Return whether a name is written as types are, and is no parameter: `Vec::new()`."""
    name = names.name_at(place)
    is_written_so = name[:1].isupper() and not name.isupper() and not names.receiver_at(place)
    return is_written_so and not names.is_type_parameter(name, place)
