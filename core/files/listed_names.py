"""The names of files as their folders list them, on file systems where other spellings open them too."""

import os
from contextlib import suppress
from pathlib import Path


def listed_path(root: Path, path: str) -> str:
    """Return a path as the folders list it, so that ignore rules see the name that the file has.

    If upper and lower case open the same file, so may other spellings: other forms of a letter, or short names.
    """
    if not _is_same_file(root / path, root / path.swapcase()):
        return path
    listed = ""
    for name in path.split("/"):
        own = _listed_name(root / listed, name)
        listed = f"{listed}/{own}" if listed else own
    return listed


def _listed_name(folder: Path, name: str) -> str:
    with suppress(OSError):
        with os.scandir(folder) as listing:
            inodes = {entry.name: entry.inode() for entry in listing}
        if name not in inodes:
            wanted = (folder / name).lstat().st_ino
            return next((listed for listed, inode in inodes.items() if inode == wanted), name)
    return name


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one != other and os.path.samestat(one.lstat(), other.lstat())
    except (OSError, ValueError):
        return False
