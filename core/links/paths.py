"""All paths of a workspace, looked up in the ways that links name them."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from keyhole.core.links.link_types import Reason, Resolution, internal, unresolved

NOTE_ENDINGS = (".md", ".markdown", ".mdx", ".mdown")


class Paths:
    """The files of a workspace, indexed or skipped, and the folders that contain them."""

    def __init__(self, files: Iterable[str], skipped_files: Iterable[str], skipped_folders: Iterable[str]) -> None:
        # Links can point to skipped files too, such as a generated module or a picture.
        self.files = frozenset([*files, *skipped_files])
        self._skipped_folders = frozenset(skipped_folders)

    def __contains__(self, path: str) -> bool:
        return path in self.files

    def first(self, candidates: Iterable[str]) -> str | None:
        """Return the first of some paths that exists."""
        return next((path for path in candidates if path in self.files), None)

    def is_folder(self, path: str) -> bool:
        """Return whether a path is a folder that contains files."""
        return path in self.folders

    def place(self, path: str) -> Resolution | None:
        """Resolve an exact path; None if it does not exist."""
        if path in self.files or path in self.folders:
            return internal(path)
        if any(folder in self._skipped_folders for folder in (path, *parents(path))):
            return unresolved(Reason.NOT_INDEXED)
        return None

    def ending_in(self, tail: str) -> list[str]:
        """Return every path that equals `tail` or ends in it after a slash."""
        return [p for p in self._by_name.get(basename(tail), ()) if p == tail or p.endswith(f"/{tail}")]

    def noted(self, name: str) -> list[str]:
        """Return every path that matches the name of a note, ignoring case."""
        wanted = name.lower()
        found = self._notes.get(basename(wanted), [])
        return found if "/" not in wanted else [path for path in found if _ends(_as_note(path), wanted)]

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that contains files, including the root of the workspace."""
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
        """Paths by their name in lower case; notes also by their name without the extension."""
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
    """Join and normalise a path; None if it is outside the workspace."""
    path = posixpath.normpath(posixpath.join(folder, *parts))
    if path == ".." or path.startswith(("../", "/")):
        return None
    return "" if path == "." else path


def parents(path: str) -> Iterable[str]:
    """Yield the folders above a path, the nearest first and the root of the workspace last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _as_note(path: str) -> str:
    """Return a path as a link to a note may name it: in lower case and without the extension."""
    small = path.lower()
    return small.rpartition(".")[0] if small.endswith(NOTE_ENDINGS) else small


def _ends(path: str, wanted: str) -> bool:
    bare = _as_note(wanted)
    return path == bare or path.endswith(f"/{bare}")
