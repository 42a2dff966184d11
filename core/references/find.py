"""Finding the references of a definition, as lines with their role and certainty."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.language_rules import ATTRIBUTE, family_of, rules_of
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.names_in_file import ROLES
from keyhole.core.references.open_names import shared_uses
from keyhole.core.references.reference import WORDS_OF_ROLES, Reference
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.types.syntax import HOLDS_METHODS

_SURENESS = {level: number for number, level in enumerate(Certainty)}


class ReferenceLine(NamedTuple):
    """A line with one or more references; role and certainty are those of the surest one."""

    path: str
    line: int
    columns: tuple[int, ...]
    role: str
    certainty: Certainty


class ReferenceLines(NamedTuple):
    """All lines that refer to a definition, the surest first, with their numbers by certainty and by role."""

    lines: list[ReferenceLine]
    by_certainty: Counter[str]
    by_role: Counter[str]


def references_to(resolver: NameResolver, target: DefinitionRow) -> list[Reference]:
    """Return the references of a definition, by path and place; those of a constructor include calls of its class."""
    found = _of_name(resolver, target)
    if target.name == rules_of(target.language).constructor:
        for holder in resolver.known.holders(target.path):
            is_around = holder.start_line <= target.start_line <= holder.end_line
            if is_around and holder.qualified_name == target.parent:
                found += [one for one in _of_name(resolver, holder) if one.role is OccurrenceRole.CALL]
    return found


def _of_name(resolver: NameResolver, target: DefinitionRow) -> list[Reference]:
    family = family_of(target.language)
    known = resolver.known
    wanted = resolver.same_definitions(target)
    written = _written(target)
    by_path = {file.path: file for name in written for file in known.files_with(name)}
    files = [by_path[path] for path in sorted(by_path) if family_of(by_path[path].language) == family]
    known.expect(file.path for file in files)

    def level_of(meaning: NameMeaning) -> Certainty | None:
        return meaning.certainty if any(row.id in wanted for row in meaning.definitions) else None

    shared = shared_uses(resolver, target.name, files, level_of)
    found: list[Reference] = []
    for file in files:
        uses = shared.get(file.path)
        found += _in_file(resolver, target, file.path, written, level_of) if uses is None else uses
    return found


def _in_file(
    resolver: NameResolver,
    target: DefinitionRow,
    path: str,
    written: list[str],
    level_of: Callable[[NameMeaning], Certainty | None],
) -> Iterator[Reference]:
    """Yield the places of a file that have the name of a definition, or one that an import gives it."""
    names, meanings = resolver.known.names(path), resolver.names_of(path)
    if names is None or meanings is None:
        return
    new_names = {new for name in written for new in names.new_names(name)} - {target.name}
    if target.language == "csharp":
        new_names |= resolver.csharp.usings(path, names).new_names(target.name)
    found: list[tuple[int, NameMeaning]] = []
    for name in dict.fromkeys([*written, *new_names]):
        places = names.places(name)
        found += zip(places, meanings.meanings(name, places), strict=True)
    if len(written) > 1 or new_names:
        found.sort(key=itemgetter(0))
    for place, meaning in found:
        level = level_of(meaning)
        if level is not None:
            yield Reference(path, names.line_at(place), names.column_at(place), ROLES[names.roles[place]], level)


def _written(target: DefinitionRow) -> list[str]:
    """Return how a definition is called where it is used."""
    short = target.name.removesuffix(ATTRIBUTE)
    is_short = target.language == "csharp" and target.kind in HOLDS_METHODS and short not in ("", target.name)
    return [target.name, short] if is_short else [target.name]


def reference_lines(
    references: Iterable[Reference], is_wanted: Callable[[Reference], bool] | None = None
) -> ReferenceLines:
    """Return the lines of the wanted references, the surest first, then by path and line."""
    by_line: dict[tuple[str, int], list[Reference]] = {}
    for reference in references if is_wanted is None else filter(is_wanted, references):
        by_line.setdefault(reference[:2], []).append(reference)
    by_level: dict[Certainty, list[ReferenceLine]] = {level: [] for level in Certainty}
    for (path, line), found in by_line.items():
        surest = found[0] if len(found) == 1 else min(found, key=lambda one: _SURENESS[one.certainty])
        columns, level = tuple([one.column for one in found]), surest.certainty
        by_level[level].append(ReferenceLine(path, line, columns, WORDS_OF_ROLES[surest.role], level))
    # Each line is there once, so its path and its number decide.
    lines = [one for of_level in by_level.values() for one in sorted(of_level)]
    return ReferenceLines(
        lines,
        Counter({str(level): len(of_level) for level, of_level in by_level.items() if of_level}),
        Counter([one.role for one in lines]),
    )
