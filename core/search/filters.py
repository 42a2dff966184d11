"""Filters for path, language, kind and tests; and the role of a file, such as test or vendored, by its path."""

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import PurePosixPath

from keyhole.core.errors import FilterError, QueryError
from keyhole.core.files.globs import glob_test
from keyhole.core.index.protocols import FactStore, SearchStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.suggest import close_names, did_you_mean, suggest_name, suggest_paths
from keyhole.core.syntax.languages import BY_ID, language_named
from keyhole.core.types import Query

PathTest = Callable[[str], bool]

_GLOB = re.compile(r"[*?\[]")
_TEST_FOLDERS = frozenset(["test", "tests", "testing", "spec", "specs", "__tests__", "e2e", "testdata", "fixtures"])
# Test file names by the conventions of pytest, Go, Jest, JUnit and RSpec.
_TEST_STEM = re.compile(r"^(?:test_.+|.+[_.-](?:test|tests|spec)|.+Tests?|.+Spec|Test[A-Z]\w*|conftest)$")
_VENDOR_FOLDERS = frozenset(
    ["vendor", "vendored", "_vendor", "third_party", "thirdparty", "node_modules", "external", "deps"]
)
_EXAMPLE_FOLDERS = frozenset(
    ["example", "examples", "demo", "demos", "sample", "samples", "doc", "docs", "benchmark", "benchmarks", "bench"]
)
_LOCALE_FOLDERS = frozenset(["locale", "locales", "i18n", "translations"])
# Code for older versions ranks like translations: it matches often, but people rarely look for it.
_OLD_CODE_FOLDERS = frozenset(["legacy", "compat"])


@lru_cache(maxsize=100_000)
def role_of(path: str) -> str:
    """Return the role of a file: "source", "test", "vendored", "example" or "locale"."""
    parts = PurePosixPath(path)
    folders = {part.lower() for part in parts.parts[:-1]}
    # The tests of a vendored project count as vendored: people who search for tests do not mean those.
    if folders & _VENDOR_FOLDERS:
        return "vendored"
    if folders & _TEST_FOLDERS or _TEST_STEM.match(parts.stem):
        return "test"
    if folders & _EXAMPLE_FOLDERS:
        return "example"
    if folders & (_LOCALE_FOLDERS | _OLD_CODE_FOLDERS):
        return "locale"
    return "source"


def chunk_scope(store: SearchStore, query: Query) -> ChunkScope:
    """Return which chunks the filters of a query allow; raise QueryError for an unknown language, kind or path."""
    language = _known_language(store, query.language)
    kind = _known_kind(store, query.kind)
    if not (query.path or language or not query.include_tests):
        return ChunkScope(kind=kind)
    admits = _path_test(query.path)
    files = [file for file in store.files_in(language) if admits(file.path)]
    # A path that exists but has nothing in this language is an empty answer, not an error.
    if query.path and not files:
        _check_path(store, query.path)
    admitted = (file.id for file in files if query.include_tests or role_of(file.path) != "test")
    return ChunkScope(frozenset(admitted), kind)


def files_matching(store: FactStore, path: str) -> frozenset[int]:
    """Return the ids of the files in a folder, or that match a glob; raise QueryError when there are none."""
    admits = _path_test(path)
    files = frozenset(file.id for file in store.files_in() if admits(file.path))
    if not files:
        _check_path(store, path)
    return files


def _path_test(pattern: str) -> PathTest:
    pattern = pattern.strip().removeprefix("./").strip("/")
    if not pattern:
        return lambda _: True
    if not _GLOB.search(pattern):
        return lambda path: path == pattern or path.startswith(f"{pattern}/")
    # As in an ignore file, a glob without a slash matches file names in any folder.
    matches = glob_test(pattern if "/" in pattern else f"**/{pattern}")
    # A path may contain brackets, as in `app/[id]/page.ts`.
    return lambda path: matches(path) or path == pattern or path.startswith(f"{pattern}/")


def _known_language(store: SearchStore, language: str) -> str:
    if not language:
        return ""
    if known := language_named(language):
        return known.id
    # If no language is close, only those in the index are worth listing.
    names = BY_ID if close_names(language, BY_ID) else store.languages()
    raise QueryError(f"unknown language {language!r}", suggestion=suggest_name(language, names))


def _known_kind(store: SearchStore, kind: str) -> str:
    if not kind:
        return ""
    present = store.kinds()
    if kind.lower() in present:
        return kind.lower()
    raise FilterError(f"the index has no symbols of kind {kind!r}", suggestion=suggest_name(kind, present))


def path_suggestion(store: FactStore, path: str, *, with_folders: bool = False) -> str:
    """Return the question that suggests indexed paths similar to one that is not indexed; empty if none is close."""
    return did_you_mean(suggest_paths(path, store.paths(), with_folders=with_folders))


def _check_path(store: FactStore, pattern: str) -> None:
    """Raise QueryError when no file in any language matches a path."""
    paths = store.paths()
    if any(map(_path_test(pattern), paths)):
        return
    # Of a glob, only the folders before its first wildcard can be misspelled.
    plain = _GLOB.split(pattern)[0]
    wanted = plain if plain == pattern else plain.rpartition("/")[0]
    suggestion = did_you_mean(suggest_paths(wanted, paths, with_folders=True))
    raise FilterError(f"no indexed file matches path {pattern!r}", suggestion=suggestion)
