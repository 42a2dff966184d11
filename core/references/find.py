"""Finding the references of a definition, as lines with their role and certainty."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.language_rules import ATTRIBUTE, family_of, rules_of
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.types.syntax import HOLDS_METHODS

# The roles as people read them; an outer name is the same as any other mention.
ROLE_WORDS = {
    OccurrenceRole.CALL: "call",
    OccurrenceRole.IMPORT: "import",
    OccurrenceRole.TYPE: "type use",
    OccurrenceRole.BASE: "inheritance",
    OccurrenceRole.ASSIGNMENT: "assignment",
    OccurrenceRole.ATTRIBUTE: "attribute access",
    OccurrenceRole.DECORATOR: "decorator",
    OccurrenceRole.STRING: "string mention",
    OccurrenceRole.MENTION: "mention",
    # The only definitions that refer to something name the type that they belong to: `impl Circle`.
    OccurrenceRole.DEFINITION: "type use",
}
_SURENESS = {level: number for number, level in enumerate(Certainty)}


class Reference(NamedTuple):
    """A place that means, or may mean, a definition."""

    path: str
    line: int
    column: int
    role: OccurrenceRole
    certainty: Certainty

    @property
    def role_words(self) -> str:
        """The role as people read it."""
        return ROLE_WORDS.get(self.role, ROLE_WORDS[OccurrenceRole.MENTION])


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


def references_to(resolver: NameResolver, target: DefinitionRow) -> Iterator[Reference]:
    """Yield the references of a definition, by path and place; those of a constructor include calls of its class."""
    yield from _of_name(resolver, target)
    if target.name == rules_of(target.language).constructor:
        for holder in resolver.known.holders(target.path):
            is_around = holder.start_line <= target.start_line <= holder.end_line
            if is_around and holder.qualified_name == target.parent:
                yield from (one for one in _of_name(resolver, holder) if one.role is OccurrenceRole.CALL)


def _of_name(resolver: NameResolver, target: DefinitionRow) -> Iterator[Reference]:
    family = family_of(target.language)
    known = resolver.known
    wanted = resolver.same_definitions(target)
    written = _written(target)
    paths = sorted({path for name in written for path in known.files_with(name)})
    paths = [path for path in paths if family_of(known.language(path)) == family]
    known.expect(paths)
    for path in paths:
        names, meanings = known.names(path), resolver.names_of(path)
        if names is None or meanings is None:
            continue
        places = [place for name in written for place in names.places(name)]
        new_names = {new for name in written for new in names.new_names(name)} - {target.name}
        if target.language == "csharp":
            new_names |= resolver.csharp.usings(path, names).new_names(target.name)
        if new_names or len(written) > 1:
            places = sorted([*places, *(place for name in new_names for place in names.places(name))])
        for place in places:
            certainty, definitions = meanings.meaning_of_use(place)
            for row in definitions:
                if row.id in wanted:
                    line, column = names.line_at(place), names.column_at(place)
                    yield Reference(path, line, column, names.role_at(place), certainty)
                    break


def _written(target: DefinitionRow) -> list[str]:
    """Return how a definition is called where it is used."""
    short = target.name.removesuffix(ATTRIBUTE)
    is_short = target.language == "csharp" and target.kind in HOLDS_METHODS and short not in ("", target.name)
    return [target.name, short] if is_short else [target.name]


def reference_lines(references: Iterable[Reference], is_wanted: Callable[[Reference], bool]) -> ReferenceLines:
    """Return the lines of the wanted references, the surest first, then by path and line."""
    by_line: dict[tuple[str, int], list[Reference]] = {}
    for reference in references:
        if is_wanted(reference):
            by_line.setdefault((reference.path, reference.line), []).append(reference)
    lines = []
    for (path, line), found in by_line.items():
        surest = min(found, key=lambda one: _SURENESS[one.certainty]) if len(found) > 1 else found[0]
        columns = tuple([one.column for one in found])
        lines.append(ReferenceLine(path, line, columns, surest.role_words, surest.certainty))
    lines.sort(key=lambda one: (_SURENESS[one.certainty], one.path, one.line))
    return ReferenceLines(lines, Counter(str(one.certainty) for one in lines), Counter(one.role for one in lines))
