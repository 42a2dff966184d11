"""Files that only their owner may read: the index holds source text, and the journal what agents read."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner may enter, and take away the rights of others on an existing one.

    Folders above it are private if they are new; otherwise they are not Keyhole's to change.
    """
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        with suppress(FileExistsError):
            missing.mkdir(PRIVATE_FOLDER)
    with suppress(OSError):
        close_to_others(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    close_to_others(Path(entry.path))


def close_to_others(path: Path) -> None:
    """Remove all permissions of other users; those of the owner don't change, so a read-only file stays read-only."""
    mode = stat.S_IMODE(path.lstat().st_mode)
    if mode & _OTHERS:
        path.chmod(mode & ~_OTHERS)


def create_private_file(path: Path) -> None:
    """Create an empty file that only its owner may read, if there is none."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), PRIVATE_FILE))


def write_private_file(path: Path, text: str) -> None:
    """Replace a file at once by one that only its owner may read."""
    make_private_folder(path.parent)
    # In the same folder, so that it can be renamed; `mkstemp` creates a private file.
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)  # noqa: PTH105  # as with mkstemp, plain names
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise
