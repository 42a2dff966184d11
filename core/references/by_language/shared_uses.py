"""What one name means in many files at once, where files that use it in the same way share the answer.

Most files import a name and call it, and nothing else in them counts. So everything that decides is put together for a
whole file: the roles of the name there, where its imports lead, and what it is taken from. Only the first file with
such a use is resolved place by place (shared_names.py). Where anything else may count, a file is resolved by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat

from keyhole.core.index.rows import NamesOfFile
from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.references.by_language.shared_names import OWN, is_word_for_object
from keyhole.core.references.by_language.shared_words import UNCLEAR, SharedWords
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.known_names import TESTS
from keyhole.core.references.language_rules import family_of
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.name_table import NO_NAME, Flags, NameTable
from keyhole.core.references.names_in_file import ROLES, Numbers
from keyhole.core.references.reference import Reference
from keyhole.core.syntax.occurrences import HAS_RECEIVER, ROLE_BITS, OccurrenceRole

with single_threaded():
    import numpy as np

# How certain it is that a place means the definition that is asked for; None if it does not mean it.
Level = Certainty | None
# What decides about a place, besides its role, as a number: nothing else, or a variable of which nothing is known, or
# what has no name. Where imports lead has greater numbers, and UNCLEAR stands for other things of the file.
_ALONE, _ANYTHING = 0, 1
_IMPORT, _ALIAS = int(OccurrenceRole.IMPORT), int(OccurrenceRole.ALIAS)
# Below the number for where a word leads is the role of that word.
_ROLE_SHIFT = 8


@dataclass(slots=True)
class _Use:
    """A way to use the name in a file; `levels` are those of its places, once a file was resolved."""

    is_shared: bool
    is_bare: bool = False
    roles: Sequence[OccurrenceRole] = ()
    levels: Sequence[Level] | None = None


class SharedUses:
    """The uses of one name in files of one family of languages. Almost nothing is done for each place on its own."""

    def __init__(
        self, resolver: NameResolver, name: str, files: Sequence[NamesOfFile], level_of: Callable[[NameMeaning], Level]
    ) -> None:
        self._resolver = resolver
        self._name = name
        self._family = family_of(files[0].language)
        self._level_of = level_of
        self._table = table = NameTable([file.names for file in files])
        self._files = [files[number] for number in table.order]
        # Numbers for where imports lead, and for where all imports of a name on one line of a file do.
        self._leads: dict[object, int] = {}
        self._imports: dict[tuple[str, str, int], int] = {}

    def find(self) -> dict[str, list[Reference]]:
        """Return the places of the name in the files that share their use of it, by path."""
        table = self._table
        places = table.places_of(table.numbers_of(self._name))
        receivers = table.receivers_at(places)
        # Without `np.unique`, which imports a large part of NumPy.
        words = SharedWords(table, np.array(sorted(set(receivers[receivers >= 0].tolist())), np.int64))
        asked = {self._name, *words.texts}
        self._read_imports(asked)
        self._resolver.known.read_definitions(asked)
        decisive = self._decisive_for(places, receivers, words)
        roles, columns, lines = table.roles_at(places), table.columns_at(places), table.lines_at(places)
        defining = self._resolver.defining(self._name, self._family)
        # What decides about a place takes as many bytes as its number.
        keys, size = ((decisive << 8) | np.frombuffer(roles, np.uint8)).tobytes(), decisive.itemsize
        uses: dict[tuple[str, bool, bytes], _Use] = {}
        found: dict[str, list[Reference]] = {}
        for file, (start, end) in zip(self._files, table.spans_of_files(places), strict=True):
            key = file.language, file.role in TESTS, keys[start * size : end * size]
            use = uses.get(key)
            if use is None:
                use = uses[key] = self._use(roles[start:end], is_clear=UNCLEAR not in decisive[start:end])
            if not use.is_shared or (use.is_bare and file.path in defining):
                continue
            if use.levels is None:
                use.levels = self._resolve(file.path)
            cells = repeat(file.path), lines[start:end], columns[start:end], use.roles, use.levels
            one_by_one = map(Reference._make, zip(*cells, strict=False))
            found[file.path] = [one for one in one_by_one if one.certainty is not None]
        return found

    def _use(self, roles: bytes, *, is_clear: bool) -> _Use:
        is_bare = self._has_bare(roles)
        if is_bare is None or not is_clear:
            return _Use(is_shared=False)
        return _Use(is_shared=True, is_bare=is_bare, roles=[ROLES[recorded] for recorded in roles])

    def _read_imports(self, names: set[str]) -> None:
        leads = self._leads
        for path, name, imports in self._resolver.known.all_imports_of(names):
            for line in {row.line for row in imports} if len(imports) > 1 else (imports[0].line,):
                key = name, *[row[1:] for row in imports if row.line == line]
                self._imports[path, name, line] = leads.setdefault(key, len(leads) + 2)

    def _resolve(self, path: str) -> Sequence[Level]:
        """Return how certain each place of the name in a file is."""
        names, meanings = self._resolver.known.names(path), self._resolver.names_of(path)
        found = meanings.meanings(self._name, names.places(self._name)) if names and meanings else ()
        return [self._level_of(meaning) for meaning in found]

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

    def _decisive_for(self, places: Numbers, receivers: Numbers, words: SharedWords) -> Numbers:
        """Return what decides about each place besides its role, as a number; UNCLEAR for other things of the file."""
        recorded = self._table.recorded_at(places)
        is_alone = recorded < HAS_RECEIVER
        is_import = is_alone & (recorded & ROLE_BITS == _IMPORT)
        decisive = np.full(len(places), UNCLEAR, np.int64)
        decisive[is_alone] = _ALONE
        imports = places[is_import]
        decisive[is_import] = self._leads_of([self._name] * len(imports), imports)
        decisive[receivers == NO_NAME] = _ANYTHING
        has_word = receivers >= 0
        if has_word.any():
            decisive[has_word] = self._after_words(places[has_word], receivers[has_word], words)
        return decisive

    def _leads_of(self, names: Sequence[str], places: Numbers) -> list[int]:
        """Return a number for where the import of each of some names leads; UNCLEAR if more than its line decides."""
        table, files, imports = self._table, self._files, self._imports
        found = [
            imports.get((files[file].path, name, line), UNCLEAR)
            for name, file, line in zip(names, table.files_at(places).tolist(), table.lines_at(places), strict=True)
        ]
        renamed = table.are_followed_by(places, _ALIAS).tolist()
        return [UNCLEAR if is_renamed else number for number, is_renamed in zip(found, renamed, strict=True)]

    def _after_words(self, places: Numbers, receivers: Numbers, words: SharedWords) -> Numbers:
        """Return what decides about places where the name is taken from a word."""
        used = words.positions_of(receivers)
        is_own = words.is_own | np.array(self._may_be_own(words), bool)
        leads = np.array(words.leads(self._leads_of, self._leads), np.int64)[used]
        before = self._table.recorded_at(places - 1) & ROLE_BITS
        decisive = np.where(leads == UNCLEAR, UNCLEAR, (leads << _ROLE_SHIFT) | before)
        own = is_own[used]
        decisive[own] = np.where(self._hold_anything(places[own], used[own], words), _ANYTHING, UNCLEAR)
        return decisive

    def _may_be_own(self, words: SharedWords) -> list[bool]:
        """Return which words may be defined by their files, or have another meaning in some of them."""
        texts = set(words.texts)
        defining = {text: self._resolver.defining(text, self._family) for text in texts}
        unclear = {text for text in texts if not self._may_be_imported(text)}
        files = self._table.files_of_names(words.numbers)
        return [
            text in unclear or self._files[file].path in defining[text]
            for text, file in zip(words.texts, files, strict=True)
        ]

    def _hold_anything(self, places: Numbers, used: Numbers, words: SharedWords) -> Flags:
        """Return for which places the word before is a variable of which nothing is known."""
        objects = {text for text in set(words.texts) if is_word_for_object(text, self._family)}
        is_object = np.array([text in objects for text in words.texts], bool)
        holds: Flags = words.are_of_unknown_type(places, used) & ~is_object[used]
        return holds
