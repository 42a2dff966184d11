"""What one name means in many files at once, where files that use it in the same way share the answer.

Most files import a name and call it, and nothing else in them counts. So everything that decides is put together for a
whole file: the roles of the name there, where its imports lead, and what it is taken from. Only the first file with
such a use is resolved place by place (shared_names.py). Where anything else may count, a file is resolved by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from keyhole.core.index.rows import NamesOfFile
from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.references.by_language.shared_names import OWN, is_word_for_object
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.known_names import TESTS
from keyhole.core.references.language_rules import family_of
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.name_table import NO_NAME, NameTable
from keyhole.core.references.names_in_file import ROLES, Numbers
from keyhole.core.references.reference import Reference
from keyhole.core.syntax.occurrences import HAS_RECEIVER, ROLE_BITS, OccurrenceRole

with single_threaded():
    import numpy as np

# How certain it is that a place means the definition that is asked for; None if it does not mean it.
Level = Certainty | None
# Stands for a variable of which nothing is known, and for what has no name.
_ANYTHING = 1
_IMPORT, _ALIAS = int(OccurrenceRole.IMPORT), int(OccurrenceRole.ALIAS)


# The roles of a name that may be a file's own, or imported.
_TELLING = np.array([OWN[role] or role & ROLE_BITS in (_IMPORT, _ALIAS) for role in range(256)], bool)


class _Places(NamedTuple):
    """Some places: their numbers in the table, files, names, roles and lines."""

    numbers: list[int]
    files: list[int]
    names: list[int]
    roles: bytes
    lines: list[int]


@dataclass(slots=True)
class _Word:
    """What something is taken from in a file.

    `imported` has a number for each place where it is imported, and `starts` where it becomes a variable, by the scope.
    """

    text: str
    is_own: bool = False
    has_outer: bool = False
    imported: list[int | None] = field(default_factory=list)
    starts: dict[int, list[int]] = field(default_factory=dict)


class SharedUses:
    """The uses of one name in files of one family of languages. Loops are long, because each runs for every file."""

    def __init__(
        self, resolver: NameResolver, name: str, files: Sequence[NamesOfFile], level_of: Callable[[NameMeaning], Level]
    ) -> None:
        self._resolver = resolver
        self._name = name
        self._family = family_of(files[0].language)
        self._level_of = level_of
        self._table = table = NameTable([file.names for file in files])
        self._files = [files[number] for number in table.order]
        # Numbers for all that a place may depend on, besides its role.
        self._decisive: dict[object, int] = {"alone": 0, "anything": _ANYTHING}
        # A number for where the imports of a name on one line of a file lead.
        self._imports: dict[tuple[str, str, int], int] = {}

    def find(self) -> dict[str, list[Reference]]:
        """Return the places of the name in the files that share their use of it, by path."""
        table = self._table
        numbers = table.places_of(table.numbers_of(self._name))
        receivers = table.receivers_at(numbers)
        # Without `np.unique`, which imports a large part of NumPy.
        words = np.array(sorted(set(receivers[receivers >= 0].tolist())), np.int64)
        texts = dict(zip(words.tolist(), table.texts(words), strict=True))
        asked = {self._name, *texts.values()}
        self._read_imports(asked)
        self._resolver.known.read_definitions(asked)
        places = self._read_places(numbers)
        decisive = self._decisive_for(places, receivers.tolist(), self._words(words, texts))
        columns, defining = table.columns_at(numbers), self._resolver.defining(self._name, self._family)
        known: dict[tuple[object, ...], tuple[Level, ...]] = {}
        has_bare: dict[bytes, bool | None] = {}
        found: dict[str, list[Reference]] = {}
        for file, (start, end) in zip(self._files, table.spans_of_files(numbers), strict=True):
            roles, others = places.roles[start:end], decisive[start:end]
            if roles not in has_bare:
                has_bare[roles] = self._has_bare(roles)
            is_bare = has_bare[roles]
            if is_bare is None or None in others or (is_bare and file.path in defining):
                continue
            key = (file.language, file.role in TESTS, roles, *others)
            levels = known.get(key)
            if levels is None:
                levels = known[key] = self._resolve(file.path)
            found[file.path] = [
                Reference(file.path, line, column, ROLES[role], level)
                for line, column, role, level in zip(
                    places.lines[start:end], columns[start:end], roles, levels, strict=True
                )
                if level is not None
            ]
        return found

    def _read_imports(self, names: set[str]) -> None:
        numbers = self._decisive
        for path, name, imports in self._resolver.known.all_imports_of(names):
            for line in {row.line for row in imports}:
                key = name, *[row[1:] for row in imports if row.line == line]
                self._imports[path, name, line] = numbers.setdefault(key, len(numbers))

    def _resolve(self, path: str) -> tuple[Level, ...]:
        """Return how certain each place of the name in a file is."""
        names, meanings = self._resolver.known.names(path), self._resolver.names_of(path)
        found = meanings.meanings(self._name, names.places(self._name)) if names and meanings else ()
        return tuple(map(self._level_of, found))

    def _read_places(self, numbers: Numbers) -> _Places:
        table = self._table
        files, names = table.files_at(numbers).tolist(), table.names_at(numbers).tolist()
        return _Places(numbers.tolist(), files, names, table.roles_at(numbers), table.lines_at(numbers))

    def _has_bare(self, roles: bytes) -> bool | None:
        """Return whether a name with these roles in a file stands on its own outside imports.

        None if it may be the file's own, or gets another name there.
        """
        kinds = {(recorded >= HAS_RECEIVER, recorded & ROLE_BITS) for recorded in roles}
        has_own = any(OWN[recorded] for recorded in roles) or (True, _IMPORT) in kinds
        if not roles or has_own or _ALIAS in {role for _, role in kinds}:
            return None
        has_bare = any(not is_taken and role != _IMPORT for is_taken, role in kinds)
        if has_bare and not ((False, _IMPORT) in kinds and self._may_be_imported(self._name)):
            return None
        return has_bare

    def _may_be_imported(self, name: str) -> bool:
        """Return whether an import can decide what a name on its own means, as far as that is the same in all files."""
        # In the body of a class, its members so far are ordinary names.
        return not is_word_for_object(name, self._family) and not self._resolver.has_member(name, self._family)

    def _decisive_for(self, places: _Places, receivers: list[int], words: dict[int, _Word]) -> list[int | None]:
        """Return a number for what decides about each place, besides its role; None if other things of the file do."""
        found: list[int | None] = []
        functions = self._functions_around(places, receivers, words)
        for place, file, _, recorded, line, receiver in zip(*places, receivers, strict=True):
            if recorded < HAS_RECEIVER:
                is_import = recorded & ROLE_BITS == _IMPORT
                found.append(self._imported(self._name, place, file, line) if is_import else 0)
            elif receiver == NO_NAME:
                found.append(_ANYTHING)
            elif receiver not in words:
                found.append(None)
            elif (word := words[receiver]).is_own:
                found.append(_ANYTHING if self._is_of_unknown_type(word, functions.get(place, ()), file) else None)
            elif word.imported and None not in word.imported:
                key = (*word.imported,), self._table.roles[place - 1] & ROLE_BITS
                found.append(self._decisive.setdefault(key, len(self._decisive)))
            else:
                found.append(None)
        return found

    def _functions_around(self, places: _Places, receivers: list[int], words: dict[int, _Word]) -> dict[int, list[int]]:
        """Return the functions around each place that is taken from a file's own variable, the innermost first."""
        own = [
            place
            for place, receiver in zip(places.numbers, receivers, strict=True)
            if receiver in words and words[receiver].starts
        ]
        return dict(zip(own, self._table.functions_around(np.array(own, np.int64) - 1), strict=True))

    def _imported(self, name: str, place: int, file: int, line: int) -> int | None:
        """Return a number for where the import of a name leads; None if more than its line decides."""
        number = self._imports.get((self._files[file].path, name, line))
        return None if number is None or self._table.is_followed_by(place, _ALIAS) else number

    def _words(self, names: Numbers, texts: dict[int, str]) -> dict[int, _Word]:
        """Return what is known about the words that the name is taken from, by their numbers."""
        words = {number: _Word(texts[number]) for number in texts}
        numbers = self._table.places_of(names)
        numbers = numbers[_TELLING[np.frombuffer(self._table.roles_at(numbers), np.uint8)]]
        places, scopes = self._read_places(numbers), self._table.scopes_of_variables(numbers)
        for place, file, name, recorded, line, scope in zip(*places, scopes, strict=True):
            word = words[name]
            role = recorded & ROLE_BITS
            if role in (_IMPORT, _ALIAS):
                word.imported.append(self._imported(word.text, place, file, line) if recorded == _IMPORT else None)
            if OWN[recorded]:
                word.is_own = True
                if role == OccurrenceRole.LOCAL:
                    word.starts.setdefault(scope, []).append(place)
                elif role == OccurrenceRole.OUTER:
                    word.has_outer = True
        defining = {text: self._resolver.defining(text, self._family) for text in set(texts.values())}
        unclear = {text for text in defining if not self._may_be_imported(text)}
        for word, file in zip(words.values(), self._table.files_of_names(names), strict=True):
            word.is_own |= word.text in unclear or self._files[file].path in defining[word.text]
        return words

    def _is_of_unknown_type(self, word: _Word, functions: Sequence[int], file: int) -> bool:
        """Return whether a word is a variable that may hold anything; see `is_of_unknown_type` in shared_names.py."""
        if not word.starts or word.has_outer or is_word_for_object(word.text, self._family):
            return False
        starts = next((starts for symbol in functions if (starts := word.starts.get(symbol))), [])
        return bool(starts) and not any(self._table.has_values(start, file) for start in starts)
