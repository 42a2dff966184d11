"""Opening a file at a line in the user's editor: each editor has its own arguments for that."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

_FALLBACK = "vi"
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


def editor_command(file: Path, line: int, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command that opens a file at a line in $VISUAL or $EDITOR."""
    wanted = environment.get("VISUAL") or environment.get("EDITOR") or _FALLBACK
    try:
        program = shlex.split(wanted) or [_FALLBACK]
    except ValueError:
        # A quote without its end: the text is taken as the program, and starting it gives a clear error.
        program = [wanted]
    place = _PLACES.get(Path(program[0]).stem, _DEFAULT_PLACE)
    # $EDITOR may contain `--wait` already.
    return program + [part.format(file=file, line=line) for part in place if part not in program[1:]]
