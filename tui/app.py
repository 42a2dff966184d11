"""The explorer as an app: its screens, keys and themes, how it starts and how it ends."""

import gc
import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from keyhole.tui.closing import close_on_signals, close_without_terminal
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.explorer import Explorer
from keyhole.tui.modes import MODES
from keyhole.tui.serving import ServerSide
from keyhole.tui.themes import DARK, LIGHT, THEMES

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.tui.messages import Failed

log = logging.getLogger("keyhole.tui")

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

# Looking through everything for garbage takes longer than a key may; what is young is looked through as ever.
_GARBAGE_THRESHOLDS = (2_000, 20, 1_000)


class KeyholeApp(Explorer):
    """See your codebase the way your agent does."""

    TITLE = "keyhole"
    HELP_TITLE = "Everywhere"
    CSS_PATH = ["styles/shared.tcss", "styles/explore.tcss"]  # noqa: RUF012  # declared so by Textual
    MODES = MODES
    DEFAULT_MODE = "explore"
    HORIZONTAL_BREAKPOINTS = [(0, "-too-narrow"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-too-short"), (16, "-short"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "app.switch_mode('explore')", "Explore", show=False, tooltip="Go to Explore: search"),
        Binding("2", "app.switch_mode('files')", "Files", show=False, tooltip="Go to Files: browse"),
        Binding("3", "app.switch_mode('traffic')", "Traffic", show=False, tooltip="Go to Traffic: calls of agents"),
        Binding("4", "app.switch_mode('stats')", "Stats", show=False, tooltip="Go to Stats: what calls cost"),
        Binding("ctrl+p", "command_palette", "palette", priority=True, tooltip="Find any command by its name"),
        Binding("ctrl+o", "jump", "jump", show=False, tooltip="Jump: a letter over every pane and every tab"),
        Binding("question_mark", "help", "help", key_display="?", tooltip="Show every key that works here"),
        Binding("f1", "help", "help", tooltip="Show every key that works here"),
        Binding("t", "toggle_theme", "theme", show=False, tooltip="Change between the dark and the light theme"),
        Binding("q", "quit", "quit", tooltip="Close the explorer"),
        Binding("ctrl+c", "interrupt", "quit", show=False, priority=True, tooltip="Close the explorer at once"),
    ]
    # Textual's own key for the palette is one of the bindings above.
    COMMAND_PALETTE_BINDING = "ctrl+p"

    def __init__(
        self,
        root: Path,
        open_service: Callable[[], "Service"],
        *,
        watches: bool = True,
        server_side: ServerSide | None = None,
        port: int | None = None,
    ) -> None:
        # Nothing made before the first picture is garbage, and looking for some would cost a tenth of the start.
        gc.disable()
        super().__init__(root, open_service, watches=watches, server_side=server_side, port=port)
        # What went wrong with the explorer itself, told once the terminal is restored.
        self.failure: Exception | None = None
        self.animation_level = "none"
        for theme in THEMES:
            self.register_theme(theme)
        # Set without its watcher, which would have every style sheet read twice.
        self.set_reactive(App.theme, DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())

    def on_mount(self) -> None:
        """Open the workspace once the first picture is on the screen: what that imports takes time."""
        close_on_signals(self)
        close_without_terminal(self)
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        # All that is loaded by now stays to the end, so it is never looked through for garbage. Only here: whatever is
        # frozen while it is garbage already, such as what an index run has left, would never be freed.
        gc.freeze()
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        gc.enable()
        self.open_workspace()

    def _handle_exception(self, error: Exception) -> None:
        """Close with a short message when something is wrong with the explorer itself; the log has the rest."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        log.error("the explorer failed", exc_info=error)
        # The short message is printed once the terminal is restored.
        self.failure = self.failure or error
        self.exit(return_code=EXIT_ERROR)

    def on_failed(self, message: "Failed") -> None:
        """Give up: without a workspace there is nothing to show."""
        self.exit(return_code=EXIT_ERROR, message=f"keyhole: {problem_text(message.error)}")

    def action_toggle_theme(self) -> None:
        """Change between dark and light."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_help(self) -> None:
        """Show the keys that work here."""
        from keyhole.tui.screens.help import HelpScreen, sections

        self.push_screen(HelpScreen(sections(self.screen)))

    def action_jump(self) -> None:
        """Put letters over where one can go."""
        from keyhole.tui.screens.base import KeyholeScreen
        from keyhole.tui.screens.jump import JumpScreen, Target

        def go(target: Target | None) -> None:
            if target:
                target.go()

        if isinstance(self.screen, KeyholeScreen):
            self.push_screen(JumpScreen(self.screen.jump_targets()), go)

    def action_interrupt(self) -> None:
        """Close at once."""
        self.exit(return_code=EXIT_INTERRUPTED)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer in the palette what keys do: the same bindings, by their names."""
        from keyhole.tui.screens.help import commands

        for key, binding in commands(screen):
            yield SystemCommand(
                binding.tooltip, f"{binding.description}: {key}", partial(self.simulate_key, binding.key)
            )
