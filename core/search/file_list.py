"""Files by name: those in a folder that match a glob, by path or newest first."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from keyhole.core.errors import QueryError
from keyhole.core.files.globs import compile_glob
from keyhole.core.files.text_source import TextSource
from keyhole.core.index.protocols import RelationStore
from keyhole.core.index.rows import Found, Slice
from keyhole.core.links.requests import FileOrder, TreeRequest
from keyhole.core.search.tree import TreeNode, check_folder, file_node
from keyhole.core.types.source_files import SkipReason

# The last second that a date can have.
_LAST_SECOND = 253_402_300_799


@dataclass(frozen=True, slots=True)
class FileList:
    """A page of files; `skipped` counts the matching paths that are not indexed, and `gone` files were deleted."""

    found: Found[TreeNode]
    skipped: Counter[SkipReason]
    gone: frozenset[str] = frozenset()


def list_files(store: RelationStore, files: TextSource, request: TreeRequest, wanted: Slice) -> FileList:
    """Return one page of the files in a folder that match the pattern of a request."""
    folder = request.path
    if folder and store.file_id(folder) is not None:
        raise QueryError(f"{folder} is a file; pattern needs a folder as path, or none")
    if folder:
        check_folder(store, folder)
    matches = pattern_test(request.pattern, folder)
    paths = list(filter(matches, store.paths_in(folder)))
    skipped = Counter(skip.reason for skip in store.skips() if _is_inside(skip.path, folder) and matches(skip.path))
    if request.sort == FileOrder.PATH:
        return FileList(Found(tuple(_nodes(store, _page(paths, wanted))), len(paths)), skipped)
    # A file may have changed since it was indexed, so the times are read from the files themselves.
    times = files.write_times(paths)
    newest = sorted(times, key=lambda path: (-times[path], path))
    nodes = _nodes(store, _page(newest, wanted))
    found = Found(tuple(replace(node, changed=_date(times[node.path])) for node in nodes), len(newest))
    return FileList(found, skipped, frozenset(paths) - times.keys())


def pattern_test(pattern: str, folder: str = "") -> Callable[[str], bool]:
    """Return a function that tests paths; a glob may be relative to the workspace or to the folder."""
    given = pattern.strip().removeprefix("./").strip("/")
    if not given:
        return lambda _: True
    # As in an ignore file, a glob without a slash matches file names in any folder.
    test = compile_glob(given if "/" in given else f"**/{given}")
    if test is None:
        raise QueryError(f"pattern {pattern!r} is not a valid glob")
    start = f"{folder}/" if folder else ""

    def matches(path: str) -> bool:
        # Brackets may also be part of a name.
        return test(path) or f"/{path}".endswith(f"/{given}") or (bool(start) and test(path.removeprefix(start)))

    return matches


def _is_inside(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _page(paths: list[str], wanted: Slice) -> list[str]:
    return paths[wanted.offset : wanted.offset + wanted.limit]


def _nodes(store: RelationStore, paths: Iterable[str]) -> list[TreeNode]:
    """Return files as nodes, in the order of the paths."""
    ordered = list(paths)
    files = {file.path: file for file in store.files_at(ordered)}
    return [file_node(files[path], 1) for path in ordered]


def _date(nanoseconds: int) -> str:
    seconds = min(nanoseconds // 10**9, _LAST_SECOND)
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
