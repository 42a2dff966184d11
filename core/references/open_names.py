"""Chooses how the names of a file are resolved, by its language."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from keyhole.core.collector import collector_paused
from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.index.rows import NamesOfFile
from keyhole.core.references.by_language.c_names import CNames
from keyhole.core.references.by_language.csharp_names import CsharpNames
from keyhole.core.references.by_language.go_names import GoNames
from keyhole.core.references.by_language.javascript_names import JavascriptNames
from keyhole.core.references.by_language.jvm_names import JvmNames
from keyhole.core.references.by_language.lua_names import LuaNames
from keyhole.core.references.by_language.php_names import PhpNames
from keyhole.core.references.by_language.python_names import PythonNames
from keyhole.core.references.by_language.ruby_names import RubyNames
from keyhole.core.references.by_language.rust_names import RustNames
from keyhole.core.references.by_language.shared_names import SharedNames
from keyhole.core.references.by_language.shared_uses import Level, SharedUses
from keyhole.core.references.by_language.shell_names import ShellNames
from keyhole.core.references.by_language.sql_names import SqlNames
from keyhole.core.references.by_language.swift_names import SwiftNames
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.language_rules import family_of
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.references.reference import Reference

_BY_FAMILY: dict[str, type[FileNames]] = {
    "bash": ShellNames,
    "c": CNames,
    "csharp": CsharpNames,
    "go": GoNames,
    "javascript": JavascriptNames,
    "python": PythonNames,
    "jvm": JvmNames,
    "lua": LuaNames,
    "php": PhpNames,
    "ruby": RubyNames,
    "rust": RustNames,
    "sql": SqlNames,
    "swift": SwiftNames,
}
# A table of as many files takes about 10 MB.
_MOST_AT_ONCE = 1_000


@contextmanager
def opened_resolver(store: ReferenceStore) -> Iterator[NameResolver]:
    """Provide a resolver of one snapshot of the index; it lives no longer than the question."""
    resolver = open_resolver(store)
    # A question creates 100 objects for each file that it looks at. None is garbage before it ends, and then all are.
    with collector_paused():
        try:
            yield resolver
        finally:
            resolver.release()


def open_resolver(store: ReferenceStore) -> NameResolver:
    """Return a resolver of one snapshot of the index, without releasing it."""
    return NameResolver(store, _open_names)


def shared_uses(
    resolver: NameResolver, name: str, files: Sequence[NamesOfFile], level_of: Callable[[NameMeaning], Level]
) -> dict[str, list[Reference]]:
    """Return the places of a name in files of one family, for those that can share what it means, by path."""
    family = family_of(files[0].language) if files else ""
    is_shared = issubclass(_BY_FAMILY.get(family, FileNames), SharedNames)
    found: dict[str, list[Reference]] = {}
    for start in range(0, len(files) if is_shared else 0, _MOST_AT_ONCE):
        found |= SharedUses(resolver, name, files[start : start + _MOST_AT_ONCE], level_of).find()
    return found


def _open_names(resolver: NameResolver, path: str, names: NamesInFile) -> FileNames:
    kind = _BY_FAMILY.get(family_of(resolver.known.language(path)), FileNames)
    return kind(resolver, path, names)
