"""The file with what the explorer remembers of a workspace: its format, its limits, and how it is read and written.

Each workspace has a file in the user's state folder. It holds queries, so only its owner may read it. It may be
damaged, or written by another version of Keyhole, so everything that is read is checked.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from keyhole.core.index.location import index_folder
from keyhole.core.index.private_files import make_private_folder

VERSION = 1
MOST_QUERIES = 200
MOST_SAVED = 100
MOST_COMMANDS = 20
MOST_PANES = 20
MOST_WORKSPACES = 200
LONGEST_QUERY = 2_000
LONGEST_NAME = 80
# Larger than any file with these limits can be.
LARGEST_FILE = 4_000_000
_LOCK_SECONDS = 2.0
_SUFFIX = ".json"


@dataclass(slots=True)
class LastState:
    """How the explorer was left; each value is empty if it is not known."""

    line: str = ""
    detail: str = ""
    # 0: the usual budget of the workspace.
    max_tokens: int = 0
    screen: str = ""
    theme: str = ""
    # By the name of a pane, in cells or in parts, as its owner likes.
    pane_sizes: dict[str, int] = field(default_factory=dict)
    # The commands that were run last from the palette, newest first.
    commands: list[str] = field(default_factory=list)


@dataclass(slots=True)
class KeptState:
    """Everything that is remembered of a workspace."""

    # Queries, the newest last.
    history: list[str] = field(default_factory=list)
    # Queries by the names that the user gave them.
    saved: dict[str, str] = field(default_factory=dict)
    last: LastState = field(default_factory=LastState)


Change = Callable[[KeptState], None]


class UnusableStateError(Exception):
    """The file is damaged, or not a file of this version."""


def states_folder() -> Path:
    """Return the folder with the files of all workspaces, in the user's state folder."""
    from platformdirs import user_state_path

    return user_state_path("keyhole") / "workspaces"


def state_path(folder: Path, root: Path) -> Path:
    """Return the file of a workspace, named like the folder of its index."""
    return index_folder(folder, root).with_name(index_folder(folder, root).name + _SUFFIX)


def read_state(path: Path) -> KeptState:
    """Read a file; without one, nothing is remembered. Raise UnusableStateError for a damaged or foreign file."""
    return _parsed(_content(path))


def _content(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            encoded = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        return {"version": VERSION}
    except OSError as error:
        raise UnusableStateError(error.strerror or str(error)) from error
    if len(encoded) > LARGEST_FILE:
        raise UnusableStateError("it is too large")
    import json

    try:
        content = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise UnusableStateError("it is damaged") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise UnusableStateError("it is not from this version of Keyhole")
    return content


def _parsed(content: dict[str, object]) -> KeptState:
    last = _mapping(content.get("last"))
    return KeptState(
        history=[line for line in _texts(content.get("history")) if 0 < len(line) <= LONGEST_QUERY][-MOST_QUERIES:],
        saved=_saved(content.get("saved")),
        last=LastState(
            line=_text(last.get("line"))[:LONGEST_QUERY],
            detail=_text(last.get("detail")),
            max_tokens=_number(last.get("max_tokens")),
            screen=_text(last.get("screen")),
            theme=_text(last.get("theme")),
            pane_sizes=_sizes(last.get("pane_sizes")),
            commands=_texts(last.get("commands"))[:MOST_COMMANDS],
        ),
    )


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1_000_000 else 0


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _saved(value: object) -> dict[str, str]:
    pairs = {name: line for name, line in _mapping(value).items() if isinstance(line, str)}
    usable = [
        (name, line) for name, line in pairs.items() if 0 < len(name) <= LONGEST_NAME and len(line) <= LONGEST_QUERY
    ]
    return dict(usable[:MOST_SAVED])


def _sizes(value: object) -> dict[str, int]:
    return dict([(name, size) for name, found in _mapping(value).items() if (size := _number(found))][:MOST_PANES])


def update_state(path: Path, root: Path, change: Change) -> KeptState:
    """Change the file of a workspace and return what it holds now; other explorers may have changed it meanwhile.

    Raise OSError if the file can't be written.
    """
    import json

    from filelock import FileLock, Timeout

    make_private_folder(path.parent)
    is_new = not path.exists()
    try:
        with FileLock(path.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600):
            state = _known(path)
            change(state)
            _write(path, json.dumps({"version": VERSION, "root": str(root), **asdict(state)}, indent=1))
    except Timeout as error:
        raise OSError(None, "another process holds its lock") from error
    if is_new:
        _delete_oldest(path.parent)
    return state


def _known(path: Path) -> KeptState:
    """Return what a file holds; a damaged one is replaced."""
    try:
        return read_state(path)
    except UnusableStateError:
        return KeptState()


def _write(path: Path, text: str) -> None:
    """Replace a file at once, so that no reader sees half of it; the temporary file is private from the start."""
    import tempfile

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.replace(name, path)  # noqa: PTH105  # as with mkstemp, plain names
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise


def _by_age(folder: Path) -> list[Path]:
    """Return the files of all workspaces, the one that was written last first."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    found.append((-entry.stat().st_mtime_ns, entry.path))
    return [Path(path) for _, path in sorted(found)]


def _delete_oldest(folder: Path) -> None:
    for path in _by_age(folder)[MOST_WORKSPACES:]:
        for file in (path, path.with_suffix(".lock")):
            with suppress(OSError):
                file.unlink()


def recent_workspaces(folder: Path) -> list[Path]:
    """Return the roots of the workspaces that were open last, newest first, as far as they still exist."""
    found = []
    for path in _by_age(folder):
        with suppress(UnusableStateError, OSError, ValueError):
            root = _text(_content(path).get("root"))
            if root and Path(root).is_dir():
                found.append(Path(root))
    return found
