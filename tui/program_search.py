"""Finding a program of the user: never in the workspace, which others may write."""

import os
from collections.abc import Mapping
from pathlib import Path


def find_program(name: str, root: Path, environment: Mapping[str, str]) -> str | None:
    """Return the path of a program in PATH; relative folders and the workspace are not searched."""
    for entry in environment.get("PATH", "").split(os.pathsep):
        folder = Path(entry)
        if folder.is_absolute() and not folder.resolve().is_relative_to(root.resolve()):
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return None
