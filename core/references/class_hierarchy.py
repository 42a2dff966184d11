"""The classes above and below a class, and the methods that a method overrides or that override it."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.find import references_to
from keyhole.core.references.language_rules import is_holder
from keyhole.core.references.name_meaning import same_thing
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.syntax.occurrences import OccurrenceRole

MOST_RELATIVES = 2_000
_CONTRACTS = frozenset(["interface", "trait", "protocol"])


class Kinship(StrEnum):
    """How a class or method is related to the one that is asked for."""

    BASE = "base"
    SUBCLASS = "subclass"
    IMPLEMENTATION = "implementation"
    OVERRIDDEN = "overrides"
    OVERRIDING = "overridden by"


class Relative(NamedTuple):
    """A related class or method, with how many steps away its class is."""

    definition: DefinitionRow
    kinship: Kinship
    depth: int
    certainty: Certainty


class ClassHierarchy:
    """Finds the relatives of a class or method."""

    def __init__(self, resolver: NameResolver, admits: Callable[[str], bool], levels: frozenset[Certainty]) -> None:
        self._resolver = resolver
        self._admits = admits
        self._levels = levels

    def relatives(self, target: DefinitionRow, depth: int) -> list[Relative]:
        """Return the relatives of a class, or of a method through its class; those above come first."""
        if is_holder(target):
            found = [*self._above(target, depth), *self._below(target, depth)]
        else:
            holder = self._holder(target)
            found = (
                []
                if holder is None
                else [
                    *self._members(target, self._above(holder, depth), Kinship.OVERRIDDEN),
                    *self._members(target, self._below(holder, depth), Kinship.OVERRIDING),
                ]
            )
        return [one for one in found if self._admits(one.definition.path) and one.certainty in self._levels]

    def _holder(self, member: DefinitionRow) -> DefinitionRow | None:
        name = member.parent.rpartition(".")[2]
        rows = [row for row in self._resolver.known.definitions_of(name, member) if is_holder(row)]
        rows = [row for row in rows if self._resolver.owns(row, member)]
        return next((row for row in rows if row.kind != "impl"), rows[0] if rows else None)

    def _above(self, target: DefinitionRow, depth: int) -> list[Relative]:
        return self._spread(target, depth, self._bases)

    def _below(self, target: DefinitionRow, depth: int) -> list[Relative]:
        return self._spread(target, depth, self._heirs)

    def _spread(
        self,
        target: DefinitionRow,
        depth: int,
        next_of: Callable[[DefinitionRow], Iterable[tuple[DefinitionRow, Kinship, Certainty]]],
    ) -> list[Relative]:
        """Return classes in the order of a tree: each is followed by its own relatives."""
        found: list[Relative] = []
        seen = {same_thing(target)}

        def follow(one: DefinitionRow, level: int) -> None:
            for row, kinship, certainty in next_of(one):
                if same_thing(row) in seen or len(found) >= MOST_RELATIVES:
                    continue
                seen.add(same_thing(row))
                found.append(Relative(row, kinship, level, certainty))
                if level < depth:
                    follow(row, level + 1)

        follow(target, 1)
        return found

    def _bases(self, holder: DefinitionRow) -> Iterable[tuple[DefinitionRow, Kinship, Certainty]]:
        return [(row, Kinship.BASE, certainty) for row, certainty in self._resolver.known_bases(holder)]

    def _heirs(self, holder: DefinitionRow) -> Iterable[tuple[DefinitionRow, Kinship, Certainty]]:
        kinship = Kinship.IMPLEMENTATION if holder.kind in _CONTRACTS else Kinship.SUBCLASS
        for reference in references_to(self._resolver, holder):
            if reference.role is OccurrenceRole.BASE:
                heir = self._class_at(reference.path, reference.line)
                if heir is not None:
                    yield heir, kinship, reference.certainty

    def _class_at(self, path: str, line: int) -> DefinitionRow | None:
        """Return the class whose definition names a base on this line."""
        rows = [row for row in self._resolver.known.holders(path) if row.start_line <= line <= row.end_line]
        rows = [row for row in rows if is_holder(row)]
        return self._resolver.whole_type(rows[-1]) if rows else None

    def _members(self, target: DefinitionRow, classes: list[Relative], kinship: Kinship) -> list[Relative]:
        found = []
        for one in classes:
            rows = self._resolver.own_members(one.definition, target.name)
            found += [Relative(row, kinship, one.depth, one.certainty) for row in rows[:1]]
        return found
