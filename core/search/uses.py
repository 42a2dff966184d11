"""Finds the code that uses a value.

A constant or a table of messages often fits a question best, but it does not say when it counts. The code that uses it
does.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from keyhole.core.files.text_source import TextSource
from keyhole.core.index.protocols import IndexStore
from keyhole.core.index.rows import ChunkScope, DefinitionRow
from keyhole.core.index.words import split_words, stem
from keyhole.core.masking import MASK_START
from keyhole.core.search.lexical import Vocabulary
from keyhole.core.search.passages import FileLines, QueryStems, stems_of
from keyhole.core.search.wanted import QuestionKind, Wanted
from keyhole.core.types.choices import Role
from keyhole.core.types.search_results import Hit, Use
from keyhole.core.types.source_files import SourceFile

if TYPE_CHECKING:
    from keyhole.core.references.name_resolver import NameResolver

_VALUES = frozenset(["constant", "variable"])
# Whoever asks for a name or a text wants the value itself; find_references finds all of its uses.
_IN_WORDS = frozenset([QuestionKind.WORDS, QuestionKind.DESCRIPTION, QuestionKind.QUESTION])
_MOST_SHOWN = 2
# The uses of a name in more chunks take too long to find.
_MOST_CHUNKS = 100
# A use is about the code so many lines around it.
_AROUND = 3
# Words of programming languages: they say nothing about what the code around a use is for.
_KEYWORDS = frozenset(
    map(stem, ["class", "const", "default", "export", "function", "import", "new", "return", "static", "throw"])
)
# So many functions are followed to their callers.
_MOST_FUNCTIONS = 3


class FoundUses(NamedTuple):
    """The uses of a value that fit the question best, and the files that changed since they were indexed."""

    uses: tuple[Use, ...] = ()
    changed: frozenset[str] = frozenset()


class _UsePlace(NamedTuple):
    path: str
    line: int


def has_uses_to_show(hit: Hit, wanted: Wanted) -> bool:
    """Return whether a hit is a value, and the question is one about what happens."""
    return hit.kind in _VALUES and wanted.kind in _IN_WORDS and not hit.is_similar


class UseFinder:
    """Follows one value to the code that uses it, in the files that a search admits."""

    def __init__(self, store: IndexStore, files: TextSource, vocabulary: Vocabulary, scope: ChunkScope) -> None:
        self._store = store
        self._files = files
        self._vocabulary = vocabulary
        self._scope = scope
        self._texts: dict[str, FileLines] = {}
        self._changed: set[str] = set()

    def find(self, hit: Hit, wanted: Wanted) -> FoundUses:
        """Return the uses of the value that a hit names, and of the functions next to it that use it."""
        # Other searches must not load what only references need.
        from keyhole.core.references.open_names import opened_resolver

        symbols = self._store.definitions_in([hit.path])
        value = next((row for row in symbols if (row.name, row.name_line) == (hit.name, hit.line)), None)
        if value is None:
            return FoundUses()
        with opened_resolver(self._store) as resolver:
            uses = self._uses(resolver, value, wanted)
        # What calls a function that uses the value is one step further away.
        shown = sorted(uses, key=lambda use: (bool(use.through), -use.fit))[:_MOST_SHOWN]
        return FoundUses(tuple(shown), frozenset(self._changed))

    def _uses(self, resolver: "NameResolver", value: DefinitionRow, wanted: Wanted) -> list[Use]:
        direct = self._places(resolver, value)
        uses = self._best(direct, wanted, value.name)
        if len(uses) < _MOST_SHOWN:
            for function in self._functions_with(direct, value):
                places = self._places(resolver, function)
                uses += self._best(places, wanted, value.name, through=function.name)
        return uses

    def _places(self, resolver: "NameResolver", definition: DefinitionRow) -> list[_UsePlace]:
        """Return the lines of the source that surely or likely use a definition, outside of it."""
        from keyhole.core.references.certainty import Certainty
        from keyhole.core.references.find import references_to
        from keyhole.core.syntax.occurrences import OccurrenceRole

        name = split_words(definition.name).split()[-1:]
        if self._vocabulary.chunks_with(set(name)).get("".join(name), 0) > _MOST_CHUNKS:
            return []
        found = references_to(resolver, definition)
        roles = self._store.roles_of(filter(self._admits, {reference.path for reference in found}))
        own = range(definition.start_line, definition.end_line + 1)
        places = (
            _UsePlace(reference.path, reference.line)
            for reference in found
            if reference.certainty is not Certainty.BY_NAME
            and reference.role is not OccurrenceRole.IMPORT
            and roles.get(reference.path) == Role.SOURCE
            and not (reference.path == definition.path and reference.line in own)
        )
        return list(dict.fromkeys(places))

    def _admits(self, path: str) -> bool:
        return self._scope.file_ids is None or self._store.file_id(path) in self._scope.file_ids

    def _functions_with(self, places: Iterable[_UsePlace], value: DefinitionRow) -> list[DefinitionRow]:
        """Return the functions next to a value that use it."""
        inside = [place for place in places if place.path == value.path]
        around = self._store.definitions_around(inside)
        owners = (around[place][-1] for place in inside if around.get(place))
        return list({owner.id: owner for owner in owners}.values())[:_MOST_FUNCTIONS]

    def _best(self, places: Sequence[_UsePlace], wanted: Wanted, name: str, *, through: str = "") -> list[Use]:
        """Return the best use in each definition, without those that have no word of the question around them."""
        named = stems_of(name) | stems_of(through)
        stems = QueryStems(wanted.stems - named - _KEYWORDS, ())
        around = self._store.definitions_around(places)
        self._read({place.path for place in places})
        found: dict[tuple[str, str], Use] = {}
        for place in places:
            owner = around.get(place, [])[-1:]
            use = self._use(place, owner[0] if owner else None, through, stems, wanted)
            key = use.path, use.owner
            if use.fit and (key not in found or found[key].fit < use.fit):
                found[key] = use
        return sorted(found.values(), key=attrgetter("path", "line"))

    def _use(
        self, place: _UsePlace, owner: DefinitionRow | None, through: str, stems: QueryStems, wanted: Wanted
    ) -> Use:
        lines = self._texts.get(place.path, FileLines(""))
        first, last = place.line - _AROUND, place.line + _AROUND
        if owner:
            first, last = max(first, owner.start_line), min(last, owner.end_line)
        text = lines.line(place.line)
        # Where something is masked, an answer has to say so; this row does not.
        around = "" if MASK_START in text else lines.stretch(first, last).text
        fit = sum(wanted.worths.get(one, 0.0) for one in stems.in_text(around))
        return Use(place.path, place.line, text, owner.qualified_name if owner else "", through, round(fit, 6))

    def _read(self, paths: Iterable[str]) -> None:
        """Read files; those that changed since they were indexed have other lines now."""
        new = sorted(set(paths) - set(self._texts))
        stamps = self._store.file_stamps(new)
        for path, read in zip(new, self._files.read_all(new), strict=True):
            is_as_indexed = isinstance(read, SourceFile) and path in stamps and read.digest == stamps[path].digest
            self._texts[path] = FileLines(read.text if isinstance(read, SourceFile) and is_as_indexed else "")
            if not is_as_indexed:
                self._changed.add(path)
