"""Filters for path, language, kind, role, tests and changes."""

import re
from collections.abc import Callable

from keyhole.core.errors import FilterError, QueryError
from keyhole.core.files.globs import glob_test
from keyhole.core.index.protocols import FactStore, SearchStore
from keyhole.core.index.rows import ChunkScope
from keyhole.core.suggest import close_names, did_you_mean, suggest_name, suggest_paths
from keyhole.core.syntax.languages import BY_ID, language_named
from keyhole.core.types.choices import Role
from keyhole.core.types.view_requests import Query

PathTest = Callable[[str], bool]

_GLOB = re.compile(r"[*?\[]")
# What `include_tests=false` leaves out.
TEST_ROLES = frozenset([Role.TEST, Role.FIXTURE])
ALL_ROLES = frozenset(Role)


def chunk_scope(store: SearchStore, query: Query) -> ChunkScope:
    """Return which chunks the filters of a query allow; raise QueryError for an unknown language, kind or path."""
    language = _known_language(store, query.language)
    kind = _known_kind(store, query.kind)
    roles = admitted_roles(query)
    if not (query.path or language or roles < ALL_ROLES or query.changed):
        return ChunkScope(kind=kind)
    admits = _path_test(query.path)
    files = [file for file in store.files_in(language) if admits(file.path)]
    # A path that exists but has nothing in this language is an empty answer, not an error.
    if query.path and not files:
        _check_path(store, query.path)
    changed = query.changed
    wanted = [file for file in files if file.role in roles and (changed is None or changed.admits(file.path))]
    return ChunkScope(frozenset(file.id for file in wanted), kind)


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


def admitted_roles(query: Query) -> frozenset[Role]:
    """Return the roles that a query asks for: those it names, or all but those it names with a minus sign."""
    named = [part.strip().lower() for part in query.role.split(",") if part.strip()]
    wanted = frozenset(_known_role(name) for name in named if not name.startswith("-"))
    unwanted = frozenset(_known_role(name[1:]) for name in named if name.startswith("-"))
    return (wanted or ALL_ROLES) - unwanted - (frozenset() if query.include_tests else TEST_ROLES)


def _known_role(name: str) -> Role:
    if name in ALL_ROLES:
        return Role(name)
    suggestion = did_you_mean(close_names(name, Role)) or f"Choose from: {', '.join(Role)}"
    raise QueryError(f"unknown role {name!r}", suggestion=suggestion)


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
