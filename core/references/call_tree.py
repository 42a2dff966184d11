"""Who calls a function, and what it calls, followed for several steps."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.name_meaning import same_thing
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.references.reference import Reference
from keyhole.core.syntax.occurrences import OccurrenceRole

# How many callers or callees of one function a tree shows and follows; how many there are is always said. A list of one
# level needs no such limit, since its pages lead to the rest.
MOST_PER_FUNCTION = 50
# The whole tree; a page shows a part of it.
MOST_IN_TREE = 2_000
_CALLS = (OccurrenceRole.CALL, OccurrenceRole.DECORATOR)
_SURENESS = {level: number for number, level in enumerate(Certainty)}


class CallNode(NamedTuple):
    """A function in the tree of calls; `path` and `line` are those of its first call.

    `definition` is None for code outside any function, and for a called name that several definitions have: then `name`
    is that name, and `meanings` is how many. `is_cycle` marks a function that is already further up. `left_out` is how
    many more there are on this level.
    """

    definition: DefinitionRow | None
    path: str
    line: int
    calls: int
    certainty: Certainty
    name: str
    meanings: int
    depth: int
    is_cycle: bool = False
    left_out: int = 0


class _Step(NamedTuple):
    definition: DefinitionRow | None
    path: str
    line: int
    calls: int
    certainty: Certainty
    name: str = ""
    meanings: int = 1


class CallTree:
    """Follows calls up or down from a definition."""

    def __init__(
        self,
        resolver: NameResolver,
        references: Callable[[DefinitionRow], Iterable[Reference]],
        admits: Callable[[str], bool],
        levels: frozenset[Certainty],
    ) -> None:
        self._resolver = resolver
        self._references = references
        self._admits = admits
        self._levels = levels

    def callers(self, target: DefinitionRow, depth: int) -> list[CallNode]:
        """Return who calls a function, and who calls these, in the order of a tree."""
        return self._walk(target, depth, self._callers)

    def callees(self, target: DefinitionRow, depth: int) -> list[CallNode]:
        """Return what a function calls, and what these call, in the order of a tree."""
        return self._walk(target, depth, self._callees)

    def _walk(
        self, target: DefinitionRow, depth: int, steps_of: Callable[[DefinitionRow], list[_Step]]
    ) -> list[CallNode]:
        nodes: list[CallNode] = []
        most = MOST_PER_FUNCTION if depth > 1 else MOST_IN_TREE
        seen: set[tuple[str, str]] = set()

        def follow(one: DefinitionRow, level: int, above: tuple[tuple[str, str], ...]) -> None:
            seen.add(same_thing(one))
            steps = steps_of(one)
            for number, step in enumerate(steps[:most], 1):
                if len(nodes) >= MOST_IN_TREE:
                    return
                is_last = number == most
                key = same_thing(step.definition) if step.definition else None
                is_cycle = key in above
                nodes.append(CallNode(*step, level, is_cycle, len(steps) - number if is_last else 0))
                # What only the name suggests leads astray, and what was followed before would grow without end.
                is_sure = step.certainty is not Certainty.BY_NAME
                if step.definition and key and is_sure and level < depth and key not in seen:
                    follow(step.definition, level + 1, (*above, key))

        follow(target, 1, (same_thing(target),))
        return nodes

    def _callers(self, target: DefinitionRow) -> list[_Step]:
        found: dict[tuple[str, str], _Step] = {}
        calls = [one for one in self._references(target) if self._is_wanted(one)]
        around = self._resolver.known.definitions_around({(one.path, one.line) for one in calls})
        for reference in calls:
            caller = _caller(around[reference.path, reference.line], reference.line)
            key = same_thing(caller) if caller else (reference.path, "")
            _count(found, key, _Step(caller, reference.path, reference.line, 1, reference.certainty))
        return _in_order(found)

    def _is_wanted(self, reference: Reference) -> bool:
        is_call = reference.role in _CALLS
        return is_call and reference.certainty in self._levels and self._admits(reference.path)

    def _callees(self, target: DefinitionRow) -> list[_Step]:
        names = self._resolver.known.names(target.path)
        found: dict[tuple[str, str], _Step] = {}
        for place in self._calls_in(names, target) if names else ():
            meaning = self._resolver.meaning(target.path, place)
            if not meaning.definitions or meaning.certainty not in self._levels:
                continue
            line = names.line_at(place) if names else 0
            rows = list({same_thing(row): row for row in meaning.definitions if self._admits(row.path)}.values())
            if len(rows) == 1:
                _count(found, same_thing(rows[0]), _Step(rows[0], target.path, line, 1, meaning.certainty))
            elif rows:
                name = rows[0].name
                step = _Step(None, target.path, line, 1, meaning.certainty, name, len(rows))
                _count(found, ("", name), step)
        return _in_order(found)

    def _calls_in(self, names: NamesInFile, target: DefinitionRow) -> Iterator[int]:
        symbol = names.symbol_named(target.name, target.name_line)
        places = names.inside(symbol) if symbol >= 0 else range(0)
        return (place for place in places if names.role_at(place) is OccurrenceRole.CALL)


def _caller(around: list[DefinitionRow], line: int) -> DefinitionRow | None:
    """Return the innermost function around a line, or else the class whose body it is in."""
    # A decorator or the name itself stands on the first lines of a function, but is not called by it.
    inside = [row for row in around if row.name_line < line or row.start_line == row.end_line]
    callers = inside or around[:-1]
    return callers[-1] if callers else None


def _count(found: dict[tuple[str, str], _Step], key: tuple[str, str], step: _Step) -> None:
    """Add a call; of several calls, the first place and the surest level are kept."""
    known = found.get(key)
    if known is None:
        found[key] = step
    else:
        surest = min(known.certainty, step.certainty, key=_SURENESS.__getitem__)
        found[key] = known._replace(calls=known.calls + 1, certainty=surest)


def _in_order(found: dict[tuple[str, str], _Step]) -> list[_Step]:
    return sorted(found.values(), key=lambda step: (_SURENESS[step.certainty], step.path, step.line))
