"""Every path of a workspace, looked up the ways that links name them."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from keyhole.core.links.link_types import Reason, Resolution, internal, unresolved

NOTE_ENDINGS = (".md", ".markdown", ".mdx", ".mdown")


class Paths:
    """The files of a workspace, indexed or passed over, and the folders that hold them."""

    def __init__(self, files: Iterable[str], skipped_files: Iterable[str], skipped_folders: Iterable[str]) -> None:
        # What is passed over can be linked to as well: a generated module, a picture.
        self.files = frozenset([*files, *skipped_files])
        self._skipped_folders = frozenset(skipped_folders)

    def __contains__(self, path: str) -> bool:
        return path in self.files

    def first(self, candidates: Iterable[str]) -> str | None:
        """Return the first of some paths that is there."""
        return next((path for path in candidates if path in self.files), None)

    def is_folder(self, path: str) -> bool:
        """Tell whether there are files below a path."""
        return path in self.folders

    def place(self, path: str) -> Resolution | None:
        """Resolve a path that names exactly what it means; None when nothing is there."""
        if path in self.files or path in self.folders:
            return internal(path)
        if any(folder in self._skipped_folders for folder in (path, *parents(path))):
            return unresolved(Reason.NOT_INDEXED)
        return None

    def ending_in(self, tail: str) -> list[str]:
        """Return every path that is the tail, or has it below some folder."""
        return [p for p in self._by_name.get(basename(tail), ()) if p == tail or p.endswith(f"/{tail}")]

    def noted(self, name: str) -> list[str]:
        """Return every path that ends as a note names it, in letters of any case."""
        wanted = name.lower()
        found = self._notes.get(basename(wanted), [])
        return found if "/" not in wanted else [path for path in found if _ends(_as_note(path), wanted)]

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds something, the workspace itself included."""
        found = {""}
        for path in self.files:
            folder = path.rpartition("/")[0]
            while folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files):
            found[basename(path)].append(path)
        return found

    @cached_property
    def _notes(self) -> dict[str, list[str]]:
        """Paths by their last part in small letters; a note also without its ending."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            name = basename(path).lower()
            found.setdefault(name, []).append(path)
            if name.endswith(NOTE_ENDINGS):
                found.setdefault(_as_note(name), []).append(path)
        return found


def basename(path: str) -> str:
    """Return the last part of a path."""
    return path.rpartition("/")[2]


def join(folder: str, *parts: str) -> str | None:
    """Join and simplify a path; None when it leads out of the workspace."""
    path = posixpath.normpath(posixpath.join(folder, *parts))
    if path == ".." or path.startswith(("../", "/")):
        return None
    return "" if path == "." else path


def parents(path: str) -> Iterable[str]:
    """Yield the folders above a path, the nearest first and the workspace itself last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _as_note(path: str) -> str:
    """Write a path as a note may name it."""
    small = path.lower()
    return small.rpartition(".")[0] if small.endswith(NOTE_ENDINGS) else small


def _ends(path: str, wanted: str) -> bool:
    bare = _as_note(wanted)
    return path == bare or path.endswith(f"/{bare}")
