"""Choosing another workspace: those that are open in this run, then recent ones, or any folder by its path."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from keyhole.core.view.text import name_text
from keyhole.tui.screens.pick import Choice, PickScreen, matching


class WorkspacesScreen(PickScreen):
    """Lists workspaces; the value is a path."""

    HELP_TITLE = "Workspaces"
    PLACEHOLDER = "Type part of a name, or the path of a folder"

    def __init__(self, choices: Sequence[Choice], first: int, hint: str) -> None:
        super().__init__("Workspaces", choices, first)
        self.HINT = hint or self.HINT

    def matching(self, typed: str) -> list[Choice]:
        """Return the workspaces whose path matches; something that looks like a path can also be opened itself."""
        texts = [Choice(str(choice.value), "", number) for number, choice in enumerate(self._choices)]
        found = [self._choices[int(text.value)] for text in matching(texts, typed)]
        path = typed.strip()
        return [*found, Choice(f"Open folder {name_text(path)}", "", path)] if _is_path(path) else found


def _is_path(typed: str) -> bool:
    return typed.startswith(("/", "~", "./", "../"))


def workspace_choices(current: Path, opened: Iterable[Path], recent: Iterable[Path]) -> list[Choice]:
    """Return the open workspaces and then the recent ones, each once."""
    notes = {current: "this workspace"} | {root: "open" for root in opened if root != current}
    order = dict.fromkeys([*opened, current, *recent])
    return [_choice(root, notes.get(root, "recent")) for root in order]


def _choice(root: Path, note: str) -> Choice:
    return Choice(name_text(root.name or str(root)), f"{note} · {name_text(short_path(root))}", str(root))


def short_path(root: Path) -> str:
    """Return a path with `~` for the home folder."""
    try:
        return f"~/{root.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(root)
