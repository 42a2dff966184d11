"""Choosing a theme: each is shown as soon as the cursor is on it."""

from collections.abc import Sequence

from textual.widgets import OptionList

from keyhole.tui.key_names import marked_up_key
from keyhole.tui.screens.pick import Choice, PickScreen


class ThemeScreen(PickScreen):
    """Lists the themes, our own first."""

    HELP_TITLE = "Choose theme"
    HINT = f"⏎ Use · {marked_up_key('cancel')} Cancel"

    def __init__(self, theme: str, names: Sequence[str]) -> None:
        ours = sorted(names, key=lambda name: not name.startswith("keyhole-"))
        super().__init__("Choose a theme", [Choice(name, "", name) for name in ours], ours.index(theme))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the theme under the cursor."""
        if event.option_index < len(self._shown):
            self.app.theme = str(self._shown[event.option_index].value)
