"""Jumping: a letter over every pane and every tab, and the next key goes there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widgets import Static

_LETTERS = "asdfghjklqwertzuiop"


@dataclass(frozen=True, slots=True)
class Target:
    """Somewhere to go: where its letter stands, and how to get there."""

    place: Offset
    go: Callable[[], object]


class JumpScreen(ModalScreen[Target | None]):
    """The screen below, with letters on it."""

    HELP_TITLE = "Jump"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", tooltip="Go nowhere")]

    def __init__(self, targets: Sequence[Target]) -> None:
        super().__init__()
        self._targets = dict(zip(_LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        """Put the letters where they belong."""
        for letter, target in self._targets.items():
            label = Static(f" {letter} ", classes="jump-letter")
            label.styles.offset = target.place
            yield label

    def on_key(self, event: events.Key) -> None:
        """Go where the letter is; any other key goes nowhere."""
        event.stop()
        self.dismiss(self._targets.get(event.key))
