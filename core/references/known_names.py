"""The names, definitions and imports of files, read from the index once each."""

from collections.abc import Iterable
from functools import cache

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow, ImportRow, NamesOfFile
from keyhole.core.references.language_rules import family_of, is_holder
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.types.choices import Role

_TESTS = (Role.TEST, Role.FIXTURE)


class KnownNames:
    """What one question has read so far; it lives no longer than the question, so it is never stale."""

    def __init__(self, store: ReferenceStore) -> None:
        self._store = store
        self._names: dict[str, NamesInFile | None] = {}
        self._languages: dict[str, str] = {}
        self._roles: dict[str, str] = {}
        self._holder_names: dict[str, frozenset[str]] = {}
        self._without_imports: set[str] = set()
        self._without_holders: set[str] = set()
        self._imports: dict[str, list[ImportRow]] = {}
        self._imports_of: dict[str, dict[str, list[ImportRow]]] = {}
        self._expected: set[str] = set()
        self._holders: dict[str, list[DefinitionRow]] = {}
        self._symbols: dict[str, list[DefinitionRow]] = {}
        self.definitions = cache(self._definitions)

    def release(self) -> None:
        """Forget everything; see `NameResolver.release`."""
        self.__dict__.clear()

    def files_with(self, name: str) -> list[str]:
        """Return the files that contain a name, in order."""
        found = [file for file in self._store.files_with_name(name) if name in self._add(file)]
        return [file.path for file in found]

    def names(self, path: str) -> NamesInFile | None:
        """Return the names of a file; None if they are not recorded."""
        if path not in self._names:
            self._names[path] = None
            for file in self._store.names_of_files([path]):
                self._add(file)
        return self._names[path]

    def language(self, path: str) -> str:
        """Return the language of a file whose names are known."""
        return self._languages.get(path, "")

    def tests_among(self, paths: Iterable[str]) -> set[str]:
        """Return which of these files are tests or their data."""
        wanted = set(paths)
        if unknown := wanted - self._roles.keys():
            self._roles.update({**dict.fromkeys(unknown, ""), **self._store.roles_of(unknown)})
        return {path for path in wanted if self._roles[path] in _TESTS}

    def is_test(self, path: str) -> bool:
        """Return whether a file whose names are known is a test or its data."""
        return self._roles.get(path, "") in _TESTS

    def imports(self, path: str) -> list[ImportRow]:
        """Return the imports of a file, by line."""
        if path not in self._imports:
            self.read_imports({path, *self._without_imports})
            self._without_imports.clear()
        return self._imports[path]

    def imports_of(self, path: str, name: str) -> list[ImportRow]:
        """Return the imports of a file that bring a name, or whole modules; of all expected files at once."""
        known = self._imports_of.get(name)
        if known is None or path not in known:
            known = self._read_imports_of(name, {path} if known else {path, *self._expected})
        return known[path]

    def _read_imports_of(self, name: str, paths: Iterable[str]) -> dict[str, list[ImportRow]]:
        known = self._imports_of.setdefault(name, {})
        wanted = [path for path in paths if path not in known]
        known.update((path, []) for path in wanted)
        for row in self._store.imports_of(name, wanted):
            known[row.origin].append(row)
        return known

    def read_imports(self, paths: Iterable[str]) -> None:
        """Read the imports of many files at once."""
        wanted = [path for path in paths if path not in self._imports]
        self._imports.update((path, []) for path in wanted)
        for row in self._store.imports_in(wanted):
            self._imports[row.origin].append(row)

    def holders(self, path: str) -> list[DefinitionRow]:
        """Return the classes of a file, and its methods that stand outside their classes."""
        if path not in self._holders:
            self.read_holders({path, *self._without_holders})
            self._without_holders.clear()
        return self._holders[path]

    def holder_names(self, path: str) -> frozenset[str]:
        """Return the qualified names of the classes of a file."""
        if path not in self._holder_names:
            names = (row.qualified_name for row in self.holders(path) if is_holder(row))
            self._holder_names[path] = frozenset(names)
        return self._holder_names[path]

    def expect(self, paths: Iterable[str]) -> None:
        """Say which files the question is about: when something of one is read, it is read of all at once."""
        expected = list(paths)
        self._expected.update(expected)
        self._without_imports.update(path for path in expected if path not in self._imports)
        self._without_holders.update(path for path in expected if path not in self._holders)

    def read_holders(self, paths: Iterable[str]) -> None:
        """Read the classes of many files at once."""
        wanted = [path for path in paths if path not in self._holders]
        self._holders.update((path, []) for path in wanted)
        for row in self._store.holders_in(wanted):
            self._holders[row.path].append(row)

    def definitions_of(self, name: str, like: DefinitionRow) -> list[DefinitionRow]:
        """Return what has this name in the languages that can use another definition."""
        return self.definitions(name, family_of(like.language))

    def definitions_in(self, path: str) -> list[DefinitionRow]:
        """Return the symbols of a file, in order."""
        if path not in self._symbols:
            self._symbols[path] = self._store.definitions_in([path])
        return self._symbols[path]

    def definitions_around(self, lines: Iterable[tuple[str, int]]) -> dict[tuple[str, int], list[DefinitionRow]]:
        """Return the symbols around each of these lines of files, the outermost first."""
        return self._store.definitions_around(list(lines))

    def _definitions(self, name: str, family: str) -> list[DefinitionRow]:
        """Return what has this name in a family of languages."""
        return [row for row in self._store.definitions_named(name) if family_of(row.language) == family]

    def _add(self, file: NamesOfFile) -> NamesInFile:
        known = self._names.get(file.path)
        if known is None:
            known = self._names[file.path] = NamesInFile(file.names)
            self._languages[file.path] = file.language
            self._roles[file.path] = file.role
        return known
