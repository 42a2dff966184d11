"""Jumping: every pane and tab shows a letter, and pressing it goes there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widgets import Static

from keyhole.tui import keys

_LETTERS = "asdfghjklqwertzuiop"


@dataclass(frozen=True, slots=True)
class Target:
    """A pane or tab to jump to: the place of its letter, and the function that goes there."""

    place: Offset
    go: Callable[[], object]


class JumpScreen(ModalScreen[Target | None]):
    """Shows the letters over the screen below."""

    HELP_TITLE = "Jump"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.JUMP

    def __init__(self, targets: Sequence[Target]) -> None:
        super().__init__()
        self._targets = dict(zip(_LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        """Yield the letters at their places."""
        for letter, target in self._targets.items():
            label = Static(f" {letter} ", classes="jump-letter")
            label.styles.offset = target.place
            yield label

    def on_key(self, event: events.Key) -> None:
        """Go to the target of the letter; any other key cancels."""
        event.stop()
        self.dismiss(self._targets.get(event.key))
