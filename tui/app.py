"""The explorer app: its screens, keys and themes, and how it starts and ends."""

import gc
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from keyhole.tui.closing import close_on_signals, close_without_terminal
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.explorer import Explorer
from keyhole.tui.modes import MODES
from keyhole.tui.screens.base import is_too_small
from keyhole.tui.serving import ServerSide
from keyhole.tui.themes import DARK, LIGHT, THEMES

if TYPE_CHECKING:
    from textual.command import Provider

    from keyhole.core.service import Service
    from keyhole.tui.messages import Failed
    from keyhole.tui.reference_trail import TrailStep

log = logging.getLogger("keyhole.tui")

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

# A full garbage collection takes longer than a key press may; young objects are still collected as usual.
_QUIT_KEYS = ("ctrl+q", "ctrl+c")
_GARBAGE_THRESHOLDS = (2_000, 20, 1_000)


def _palette_commands() -> type["Provider"]:
    """Import the palette's commands when the palette is first opened."""
    from keyhole.tui.palette import PaletteCommands

    return PaletteCommands


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
        Binding("1", "app.switch_mode('explore')", "Explore", show=False, tooltip="Go to Explore (search)"),
        Binding("2", "app.switch_mode('files')", "Files", show=False, tooltip="Go to Files (browse)"),
        Binding("3", "app.switch_mode('traffic')", "Traffic", show=False, tooltip="Go to Traffic (agent calls)"),
        Binding("4", "app.switch_mode('stats')", "Stats", show=False, tooltip="Go to Stats (cost of calls)"),
        Binding("ctrl+p", "command_palette", "Run", priority=True, tooltip="Run a command by name"),
        Binding("ctrl+o", "jump", "Jump", show=False, tooltip="Jump to a pane or tab by its letter"),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="Show all keys for this screen"),
        Binding("f1", "help", "Help", tooltip="Show all keys for this screen"),
        Binding("t", "toggle_theme", "Switch theme", show=False, tooltip="Switch between the dark and the light theme"),
        Binding("q", "quit", "Quit", tooltip="Quit the explorer"),
        # Textual binds this key too, with a tooltip in other words.
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, tooltip="Quit the explorer"),
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True, tooltip="Quit the explorer immediately"),
    ]
    COMMANDS: ClassVar[set[type["Provider"] | Callable[[], type["Provider"]]]] = {_palette_commands}
    # Textual's default key for the palette is among the bindings above.
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
        # Nothing allocated before the first frame is garbage, and collecting would take a tenth of the startup time.
        gc.disable()
        super().__init__(root, open_service, watches=watches, server_side=server_side, port=port)
        # The exception that ended the explorer; it is printed once the terminal is restored.
        self.failure: Exception | None = None
        # What had the focus on each screen before the terminal became too small.
        self._focus_before: dict[Screen[Any], Widget | None] = {}
        self.animation_level = "none"
        for theme in THEMES:
            self.register_theme(theme)
        # Setting it without its watcher avoids reading every style sheet twice.
        self.set_reactive(App.theme, DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())

    def on_mount(self) -> None:
        """Open the workspace after the first frame is drawn: its imports take time."""
        close_on_signals(self)
        close_without_terminal(self)
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        # Everything loaded by now stays until the end, so the collector can skip it. This must not run later: garbage
        # that is frozen, such as what an index run leaves behind, is never freed.
        gc.freeze()
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        gc.enable()
        self.open_workspace()

    async def on_event(self, event: Event) -> None:
        """Ignore keys while the terminal is too small to show what they do, and keep the focus meanwhile."""
        if isinstance(event, Key) and is_too_small(self.size) and event.key not in _QUIT_KEYS:
            return
        if isinstance(event, Resize):
            self._keep_focus(event.size)
        await super().on_event(event)

    def _keep_focus(self, size: Size) -> None:
        """Remember the focus before the widgets are hidden, and restore it once they are shown again."""
        if is_too_small(size):
            for screen in self.screen_stack:
                self._focus_before.setdefault(screen, screen.focused)
        elif self._focus_before:
            self.call_after_refresh(self._restore_focus)

    def _restore_focus(self) -> None:
        for screen, widget in self._focus_before.items():
            if screen.focused is None and screen.is_attached:
                # If the explorer started in a small terminal, nothing had the focus yet.
                screen.set_focus(widget or next(iter(screen.focus_chain), None), scroll_visible=False)
        self._focus_before.clear()

    def _handle_exception(self, error: Exception) -> None:
        """Exit with a short message after an unexpected error; the log has the traceback."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        log.error("the explorer failed", exc_info=error)
        self.failure = self.failure or error
        self.exit(return_code=EXIT_ERROR)

    def on_failed(self, message: "Failed") -> None:
        """Exit: without a workspace there is nothing to show."""
        self.exit(return_code=EXIT_ERROR, message=f"keyhole: {problem_text(message.error)}")

    def action_toggle_theme(self) -> None:
        """Switch between the dark and the light theme."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_help(self) -> None:
        """Show the keys that work on this screen."""
        from keyhole.tui.screens.help import HelpScreen, sections

        self.push_screen(HelpScreen(sections(self.screen)))

    def action_jump(self) -> None:
        """Show a letter over every pane and tab."""
        from keyhole.tui.screens.base import KeyholeScreen
        from keyhole.tui.screens.jump import JumpScreen, Target

        def go(target: Target | None) -> None:
            if target:
                target.go()

        if isinstance(self.screen, KeyholeScreen):
            self.push_screen(JumpScreen(self.screen.jump_targets()), go)

    def show_references(self, *trail: "TrailStep") -> None:
        """Show the references at the end of a trail; without one, those that were closed last."""
        from keyhole.tui.screens.references_screen import ReferencesScreen

        steps = trail or self.last_trail
        if not steps:
            self.notify("No references to show again: select a symbol and press u.", timeout=3)
        elif self.service:
            self.push_screen(ReferencesScreen(steps))

    def action_interrupt(self) -> None:
        """Quit immediately."""
        self.exit(return_code=EXIT_INTERRUPTED)
