"""Opening a file at a line in the user's editor: each editor has its own arguments for that."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath, PureWindowsPath

from keyhole.tui.program_search import find_program

# Arguments by program name; other editors take `+LINE FILE`, as vi, nano and emacs do.
_PLACES = {
    "code": ("--wait", "--goto", "{file}:{line}"),
    "codium": ("--wait", "--goto", "{file}:{line}"),
    "cursor": ("--wait", "--goto", "{file}:{line}"),
    "windsurf": ("--wait", "--goto", "{file}:{line}"),
    "subl": ("--wait", "{file}:{line}"),
    "zed": ("--wait", "{file}:{line}"),
    "hx": ("{file}:{line}",),
    "helix": ("{file}:{line}",),
    "idea": ("--wait", "--line", "{line}", "{file}"),
    "pycharm": ("--wait", "--line", "{line}", "{file}"),
    "mate": ("--wait", "--line", "{line}", "{file}"),
    "kate": ("--block", "--line", "{line}", "{file}"),
    "notepad": ("{file}",),
}
_DEFAULT_PLACE = ("+{line}", "{file}")


class UnusableEditorError(Exception):
    """The chosen editor can't be started safely."""


def editor_command(
    file: Path, line: int, root: Path, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> list[str]:
    """Return the command that opens a file of a workspace at a line in $VISUAL or $EDITOR."""
    is_windows = platform == "win32"
    fallback = "notepad" if is_windows else "vi"
    program = _words(environment.get("VISUAL") or environment.get("EDITOR") or "", is_windows=is_windows) or [fallback]
    name: PurePath = PureWindowsPath(program[0].lower()) if is_windows else PurePath(program[0])
    place = _PLACES.get(name.stem, _DEFAULT_PLACE)
    if is_windows:
        program[0] = _windows_program(program[0], root, environment)
    # $EDITOR may contain `--wait` already.
    return program + [part.format(file=file, line=line) for part in place if part not in program[1:]]


def _words(text: str, *, is_windows: bool) -> list[str]:
    try:
        # On Windows, a backslash separates folders and escapes nothing.
        return [word.strip('"') for word in shlex.split(text, posix=False)] if is_windows else shlex.split(text)
    except ValueError:
        # A quote without its end: the text is taken as the program, and starting it gives a clear error.
        return [text]


def _windows_program(name: str, root: Path, environment: Mapping[str, str]) -> str:
    """Return the path of a program; Windows itself would look into the current folder first, often the workspace."""
    if PureWindowsPath(name).suffix.lower() in (".bat", ".cmd"):
        # The command interpreter would run what follows a & in the name of a file.
        raise UnusableEditorError(f"{name} is a batch file; set $EDITOR to the path of the editor's .exe file")
    if PureWindowsPath(name).is_absolute():
        return name
    found = find_program(name if name.lower().endswith(".exe") else f"{name}.exe", root, environment)
    if found is None:
        raise UnusableEditorError(f"{name}.exe is not in PATH; set $EDITOR to the path of the editor's .exe file")
    return found
