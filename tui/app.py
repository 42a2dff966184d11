"""The explorer app: its screens, keys and themes, and how it starts and ends."""

import asyncio
import gc
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Paste, Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from keyhole.tui import keys
from keyhole.tui.alt_keys import recognise_alt_keys
from keyhole.tui.closing import close_on_signals, close_without_terminal
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.explorer import Explorer
from keyhole.tui.key_names import key_of
from keyhole.tui.key_order import KeyOrder
from keyhole.tui.modes import MODES
from keyhole.tui.screens.base import is_too_small
from keyhole.tui.serving import ServerSide
from keyhole.tui.steady_stylesheet import SteadyStylesheet
from keyhole.tui.themes import DARK, LIGHT, THEMES, with_our_variables
from keyhole.tui.user_choices import UserChoices
from keyhole.tui.workspace_state import WorkspaceState

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.tui.messages import Failed, Opened
    from keyhole.tui.reference_trail import TrailStep

log = logging.getLogger("keyhole.tui")

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

_QUIT_KEYS = ("ctrl+q", "ctrl+c")
# A full garbage collection takes about as long as a key may, so it is rare: once in some fifty searches. Without any,
# memory grows by 100 KB with every search.
_GARBAGE_THRESHOLDS = (2_000, 20, 30)
# How long another thread, such as an index run, may keep the interface waiting each time; Python's default is 5 ms.
_SWITCH_SECONDS = 0.0005


class KeyholeApp(Explorer):
    """See your codebase the way your agent does."""

    TITLE = "keyhole"
    HELP_TITLE = "Everywhere"
    CSS_PATH = ["styles/shared.tcss", "styles/explore.tcss"]  # noqa: RUF012  # declared so by Textual
    MODES = MODES
    DEFAULT_MODE = "explore"
    HORIZONTAL_BREAKPOINTS = [(0, "-too-narrow"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-too-short"), (16, "-short"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = keys.EVERYWHERE
    # The palette is our own, and its key is among the bindings above.
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        root: Path,
        open_service: Callable[[], "Service"],
        *,
        watches: bool = True,
        server_side: ServerSide | None = None,
        state: WorkspaceState | None = None,
    ) -> None:
        # Nothing allocated before the first frame is garbage, and collecting would take a tenth of the startup time.
        gc.disable()
        super().__init__(root, open_service, watches=watches, server_side=server_side, state=state)
        # The exception that ended the explorer; it is printed once the terminal is restored.
        self.failure: Exception | None = None
        self.key_order = KeyOrder(self)
        recognise_alt_keys(row.key for row in keys.EVERYWHERE if isinstance(row, Binding))
        # What had the focus on each screen before the terminal became too small.
        self._focus_before: dict[Screen[Any], Widget | None] = {}
        self._has_started = False
        # Whether the screen that was shown last is shown again.
        self._is_restored = False
        self._tour: asyncio.Task[None] | None = None
        # Nothing moves by itself, whatever TEXTUAL_ANIMATIONS says.
        self.animation_level = "none"
        self._choices = UserChoices()
        for theme in THEMES:
            self.register_theme(theme)
        self._start_with_theme()

    def use_choices(self, choices: UserChoices) -> None:
        """Start with what the user's settings choose; this comes before the app runs."""
        self._choices = choices
        for theme in choices.themes:
            self.register_theme(theme)
        if choices.themes or choices.theme:
            self._start_with_theme()

    def _start_with_theme(self) -> None:
        """Start with the theme that was used last, or else with the chosen one."""
        self._usual_theme = self._choices.theme or DARK.name
        known = [name for name in (self.state.last.theme, self._usual_theme) if name in self.available_themes]
        # Setting it without its watcher avoids reading every style sheet twice.
        self.set_reactive(App.theme, known[0])
        # The dark and the light theme that `t` switches between.
        self._theme_pair = {DARK.dark: DARK.name, LIGHT.dark: LIGHT.name}
        for name in reversed(known):
            self._theme_pair[self.available_themes[name].dark] = name
        self.stylesheet = SteadyStylesheet(self.get_css_variables())

    def on_mount(self) -> None:
        """Say that there is something to draw."""
        self.is_set_up = True
        close_on_signals(self)
        close_without_terminal(self)

    def frame_drawn(self) -> None:
        """Open the workspace after the first frame is drawn: its imports take time.

        Not by `call_after_refresh`: if a key opens the finder first, Textual never calls what waits for this screen.
        """
        if not self._has_started:
            self._has_started = True
            self.call_next(self._start)

    def on_opened(self, message: "Opened") -> None:
        """Start the demo, if this is one; the explorer itself handles the message too."""
        if self.demo:
            from keyhole.tui.demo_tour import DemoTour

            self._tour = asyncio.create_task(DemoTour(self, message.service, self.demo).run(), name="demo")

    def on_unmount(self) -> None:
        """Stop the demo."""
        if self._tour:
            self._tour.cancel()

    def _start(self) -> None:
        # Everything loaded by now stays until the end, so the collector can skip it. This must not run later: garbage
        # that is frozen, such as what an index run leaves behind, is never freed.
        gc.freeze()
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        gc.enable()
        sys.setswitchinterval(_SWITCH_SECONDS)
        self.open_workspace()
        self._restore_screen()
        if self.start_notice:
            self.notify(self.start_notice, markup=False)
        self.say_state_problem()
        if self._choices.problems:
            self.notify(self._choices.notice, title="Settings", severity="warning", timeout=30, markup=False)
        # This also puts the workspace among the recent ones.
        self.write_state()

    def _restore_screen(self) -> None:
        """Go to the screen that was shown last, unless a key was faster."""
        screen = self.state.last.screen
        if not self.has_key and screen in MODES and screen != self.current_mode:
            self.switch_mode(screen)
            self.notify(f"{screen.title()} is open, as you left it. Press {key_of('explore')} to search.", markup=False)
        self._is_restored = True

    def note_state(self) -> None:
        """Note the screen and the theme; screens note the rest as it changes."""
        if self._is_restored:
            self.state.last.screen = self.current_mode
            self.state.last.theme = "" if self.theme == self._usual_theme else self.theme

    async def on_event(self, event: Event) -> None:
        """Handle keys in their order; ignore them while the terminal is too small to show what they do."""
        if isinstance(event, Key | Paste) and not event.is_forwarded and not self._is_to_handle(event):
            return
        self.has_key |= isinstance(event, Key)
        if isinstance(event, Resize):
            self._keep_focus(event.size)
        await super().on_event(event)

    def _is_to_handle(self, event: Key | Paste) -> bool:
        """Return whether to handle a key now."""
        if isinstance(event, Key):
            if event.key in _QUIT_KEYS:
                return True
            if event.key.startswith("alt+"):
                # Textual has the letter as the character of such a key, and a line would insert it.
                event.character = None
        return not is_too_small(self.size) and self.key_order.admits(event)

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

    def get_css_variables(self) -> dict[str, str]:
        """Return the variables of the style sheets, also those that only our own themes have."""
        self.theme_variables = with_our_variables(super().get_css_variables(), self.current_theme)
        return self.theme_variables

    def action_show_screen(self, mode: str) -> None:
        """Go to a screen; dialogs that are open are closed first."""
        self.close_dialogs()
        self.switch_mode(mode)

    async def action_palette(self) -> None:
        """Show all commands to choose from."""
        from keyhole.tui.palette_commands import Command, offered_commands, run_command
        from keyhole.tui.screens.palette_screen import PaletteScreen
        from keyhole.tui.workspace_commands import workspace_commands

        def run(command: Command | None) -> None:
            if command:
                run_command(self, command)

        if not isinstance(self.screen, PaletteScreen):
            workspaces = await asyncio.to_thread(workspace_commands, self)
            self.push_screen(PaletteScreen(offered_commands(self, workspaces)), run)

    def action_choose_theme(self) -> None:
        """Show all themes to choose from; each is shown as soon as the cursor is on it."""
        from keyhole.tui.screens.theme_screen import ThemeScreen

        before = self.theme

        def use(theme: str | int | None) -> None:
            self.theme = str(theme or before)
            self._theme_pair[self.current_theme.dark] = self.theme

        self.push_screen(ThemeScreen(before, list(self.available_themes)), use)

    def action_toggle_theme(self) -> None:
        """Switch between the dark and the light theme."""
        self.theme = self._theme_pair[not self.current_theme.dark]

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
            self.notify(f"No references to show again: select a symbol and press {key_of('references')}.", timeout=3)
        elif self.service:
            self.push_screen(ReferencesScreen(steps))

    def find_name(self, scope: str = "Both") -> None:
        """Show the finder, unless a dialog is open."""
        from textual.screen import ModalScreen

        from keyhole.tui.screens.finder import FinderScreen

        if not isinstance(self.screen, ModalScreen):
            self.push_screen(FinderScreen(scope))

    def action_find_name(self) -> None:
        """Find a file or a symbol by name."""
        self.find_name()

    def action_bundle(self) -> None:
        """Show what is marked."""
        from keyhole.tui.screens.bundle_screen import BundleScreen

        if not isinstance(self.screen, BundleScreen):
            self.push_screen(BundleScreen())

    async def action_workspaces(self) -> None:
        """Choose another workspace."""
        from keyhole.tui.workspace_switching import choose_workspace

        await choose_workspace(self)

    def action_interrupt(self) -> None:
        """Quit immediately."""
        self.exit(return_code=EXIT_INTERRUPTED)
