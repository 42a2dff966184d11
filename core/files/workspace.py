"""Opening a folder as a workspace, and refusing folders that are too broad."""

from pathlib import Path

from keyhole.core.errors import ErrorKind, WorkspaceError


def open_workspace(path: Path, *, force: bool = False) -> Path:
    """Return the resolved path of a folder, or raise WorkspaceError if it may not be indexed."""
    try:
        root = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceError(f"cannot open {path}: {_cause(error)}; give an existing folder") from error
    if not root.is_dir():
        raise WorkspaceError(f"{path} is not a folder; give the folder that contains it: {root.parent}")
    if not force and _is_too_wide(root):
        raise WorkspaceError(f"refusing to index {root}: it contains more than one project", ErrorKind.TOO_WIDE)
    return root


def _is_too_wide(root: Path) -> bool:
    try:
        home = Path.home().resolve()
    except (OSError, RuntimeError):
        return root == Path(root.anchor)
    return root == Path(root.anchor) or home.is_relative_to(root)


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
