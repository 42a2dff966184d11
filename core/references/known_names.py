"""The names, definitions and imports of files, read from the index once each."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import DefinitionRow, ImportRow, NamedImport, NamesOfFile
from keyhole.core.references.language_rules import family_of, is_holder
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.types.choices import Role

_SEPARATOR = re.compile(r"::|[./\\]")
TESTS = (Role.TEST, Role.FIXTURE)
# The imports of so many single names are read one by one, each in all files that the question is about; after that, it
# is faster to read all imports of these files.
_MOST_SINGLE_NAMES = 4


class KnownNames:
    """What one question has read so far; it lives no longer than the question, so it is never stale."""

    def __init__(self, store: ReferenceStore) -> None:
        self._store = store
        self._names: dict[str, NamesInFile | None] = {}
        self._files: dict[str, NamesOfFile] = {}
        self._roles: dict[str, str] = {}
        self._holder_names: dict[str, frozenset[str]] = {}
        self._without_imports: set[str] = set()
        self._without_holders: set[str] = set()
        self._imports: dict[str, list[ImportRow]] = {}
        self._imports_of: dict[tuple[str, str], list[NamedImport]] = {}
        self._imports_read: dict[str, frozenset[str]] = {}
        self._names_at_once = 0
        self._by_name: dict[str, dict[str, list[NamedImport]]] = {}
        self._expected: set[str] = set()
        self._holders: dict[str, list[DefinitionRow]] = {}
        self._symbols: dict[str, list[DefinitionRow]] = {}
        self._named: dict[str, list[DefinitionRow]] = {}
        self.definitions = cache(self._definitions)

    def release(self) -> None:
        """Forget everything; see `NameResolver.release`."""
        self.__dict__.clear()

    def files_with(self, name: str) -> list[NamesOfFile]:
        """Return the files that contain a name, in order."""
        # The index also finds names in another case.
        text = f"\n{name}\n".encode()
        found = [file for file in self._store.files_with_name(name) if text in file.names]
        self._files.update((file.path, file) for file in found)
        return found

    def names(self, path: str) -> NamesInFile | None:
        """Return the names of a file; None if they are not recorded."""
        if path not in self._names:
            if path not in self._files:
                self._files.update((file.path, file) for file in self._store.names_of_files([path]))
            file = self._files.get(path)
            self._names[path] = NamesInFile(file.names) if file else None
        return self._names[path]

    def language(self, path: str) -> str:
        """Return the language of a file whose names are known."""
        file = self._files.get(path)
        return file.language if file else ""

    def tests_among(self, paths: Iterable[str]) -> set[str]:
        """Return which of these files are tests or their data."""
        wanted = set(paths)
        if unknown := wanted - self._roles.keys():
            self._roles.update({**dict.fromkeys(unknown, ""), **self._store.roles_of(unknown)})
        return {path for path in wanted if self._roles[path] in TESTS}

    def is_test(self, path: str) -> bool:
        """Return whether a file whose names are known is a test or its data."""
        file = self._files.get(path)
        return file is not None and file.role in TESTS

    def imports(self, path: str) -> list[ImportRow]:
        """Return the imports of a file, by line."""
        if path not in self._imports:
            self.read_imports({path, *self._without_imports})
            self._without_imports.clear()
        return self._imports[path]

    def imports_of(self, path: str, name: str) -> list[NamedImport]:
        """Return the imports of a file that bring a name, by line."""
        if path not in self._imports_read.get(name, ()):
            if len(self._imports_read) > self._names_at_once + _MOST_SINGLE_NAMES:
                return self._imports_by_name(path).get(name, [])
            paths = {path} if name in self._imports_read else {path, *self._expected}
            self._read_imports_of({name}, paths)
        return self._imports_of.get((path, name), [])

    def _imports_by_name(self, path: str) -> dict[str, list[NamedImport]]:
        """Return all imports of a file by the names that they bring."""
        if path not in self._by_name:
            found = self._by_name[path] = dict[str, list[NamedImport]]()
            for row in self.imports(path):
                name = row.part or last_part(row.target)
                found.setdefault(name, []).append(NamedImport(row.line, row.target, row.part, row.path))
        return self._by_name[path]

    def all_imports_of(self, names: set[str]) -> Iterator[tuple[str, str, list[NamedImport]]]:
        """Yield a file, a name and its imports there, for several names in all expected files at once."""
        new = {name for name in names if name not in self._imports_read}
        self._names_at_once += len(new)
        self._read_imports_of(new, self._expected)
        for (path, name), imports in self._imports_of.items():
            if name in names:
                yield path, name, imports

    def _read_imports_of(self, names: set[str], paths: Iterable[str]) -> None:
        by_id = {self._files[path].file_id: path for path in paths if path in self._files}
        read = frozenset(by_id.values())
        for name in names:
            before = self._imports_read.get(name)
            self._imports_read[name] = before | read if before else read
        for file_id, row in self._store.imports_of(names, by_id) if names else ():
            # Those of whole modules are not chosen by name, because their name is only a part of what is written.
            name = row.part or last_part(row.target)
            if row.part or name in names:
                self._imports_of.setdefault((by_id[file_id], name), []).append(row)

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
        self.read_definitions([name])
        return [row for row in self._named[name] if family_of(row.language) == family]

    def read_definitions(self, names: Iterable[str]) -> None:
        """Read what has these names, of many names at once."""
        new = {name: list[DefinitionRow]() for name in names if name not in self._named}
        for row in self._store.definitions_of_names(new) if new else ():
            new.setdefault(row.name, []).append(row)
        self._named |= new


@lru_cache(10_000)
def last_part(target: str) -> str:
    """Return the last part of a dotted name or path."""
    return _SEPARATOR.split(target.strip("\"'<>"))[-1]
