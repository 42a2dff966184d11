"""How changed files are marked: with a letter and a colour, in every list of files."""

from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from keyhole.core.git.git_changes import GitChanges

# A folder with changed files in it.
FOLDER_MARK = "●"
# Variables of the theme, by letter.
COLOURS = {
    "M": "warning",
    "A": "success",
    "?": "success",
    "R": "accent",
    "U": "error",
    "D": "error",
}


def change_mark(changes: "GitChanges | None", path: str) -> Content:
    """Return the mark of a file after its name; empty if it has not changed."""
    kind = changes.kind_of(path) if changes else None
    return Content.styled(f" {kind}", f"bold ${COLOURS[kind]}") if kind else Content("")
