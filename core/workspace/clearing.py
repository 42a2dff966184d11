"""Deleting what Keyhole has stored: the index and the journal of one workspace, or everything in the cache folder."""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from keyhole.core.errors import ErrorKind, LockedStoreError, UnwritableStoreError
from keyhole.core.index.location import (
    ANSWERS_FOLDER,
    BUNDLE_FILE,
    INDEX_FILE,
    JOURNAL_FILE,
    JOURNAL_LOCK_FILE,
    LOCK_FILE,
    ROOT_FILE,
    store_folder,
)
from keyhole.core.index.private_files import write_private_file

# The names that index_folder gives; the user may have chosen a folder that contains other things too.
_FOLDER_NAME = re.compile(r".*-[0-9a-f]{16}", re.DOTALL)

# A folder that is missing may be on a disk that is not connected, so its index is kept for a while.
_KEPT_SECONDS = 30 * 86_400


class Cleared(NamedTuple):
    """What was deleted: folders of workspaces, those left alone because a process is indexing, and the store."""

    folders: list[Path]
    busy: list[Path]
    has_store: bool


def clear_folder(folder: Path) -> bool:
    """Delete the index, the journal and kept answers in a folder; return False if there are none."""
    from keyhole.core.journal.file import delete

    try:
        is_deleted = _delete_answers(folder) | delete(folder)
        if not (folder / INDEX_FILE).exists():
            return is_deleted
        _delete_index(folder)
    except OSError as error:
        text = f"cannot delete {folder} ({error.strerror})"
        raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER) from error
    return True


def clear_cache(cache_dir: Path) -> Cleared:
    """Delete the indexes and journals of all workspaces, and the content store."""
    from keyhole.core.index.content_store import delete_content

    cleared = Cleared([], [], delete_content(store_folder(cache_dir)))
    for folder in _workspace_folders(cache_dir):
        try:
            if clear_folder(folder):
                cleared.folders.append(folder)
        except LockedStoreError:
            cleared.busy.append(folder)
    return cleared


def remember_root(folder: Path, root: Path) -> bool:
    """Record the path of a workspace next to its index, so that it can be cleared when the workspace is gone.

    Return whether it was not recorded before.
    """
    path = folder / ROOT_FILE
    if path.exists():
        return False
    with suppress(OSError, UnicodeEncodeError):
        write_private_file(path, str(root))
    return True


def clear_gone(cache_dir: Path) -> None:
    """Delete the indexes of workspaces that do not exist any more, such as removed worktrees, and were not used lately.

    What can't be deleted now is left to a later run.
    """
    for folder in _workspace_folders(cache_dir):
        with suppress(OSError, LockedStoreError, UnwritableStoreError, UnicodeDecodeError):
            if _is_gone(folder) and clear_folder(folder):
                for name in (LOCK_FILE, JOURNAL_LOCK_FILE):
                    (folder / name).unlink(missing_ok=True)
                folder.rmdir()


def _is_gone(folder: Path) -> bool:
    root = Path((folder / ROOT_FILE).read_text("utf-8"))
    used = max(path.stat().st_mtime for path in folder.iterdir())
    return not root.exists() and time.time() - used > _KEPT_SECONDS


def _workspace_folders(cache_dir: Path) -> Iterator[Path]:
    try:
        found = sorted(cache_dir.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        text = f"cannot read {cache_dir} ({error.strerror})"
        raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER) from error
    for folder in found:
        is_ours = _FOLDER_NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
        if is_ours and any((folder / name).exists() for name in (INDEX_FILE, JOURNAL_FILE, ANSWERS_FOLDER)):
            yield folder


def _delete_answers(folder: Path) -> bool:
    answers = folder / ANSWERS_FOLDER
    if not answers.is_dir():
        return False
    shutil.rmtree(answers)
    return True


def _delete_index(folder: Path) -> None:
    from keyhole.core.index.lock import writer_lock

    with writer_lock(folder, wait=False):
        # Keep the lock files, since another process may be waiting for them, a journal created since the old one was
        # deleted, and what the user has marked.
        for path in folder.iterdir():
            if path.name not in (LOCK_FILE, BUNDLE_FILE, ANSWERS_FOLDER) and not path.name.startswith("journal."):
                path.unlink(missing_ok=True)
