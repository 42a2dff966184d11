"""The top line and the footer of a screen, and helpers to draw lines and frames."""

from collections.abc import Iterable

from textual.app import RenderResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from keyhole.core.types.bundle import Bundle
from keyhole.core.view.text import name_text
from keyhole.tui.index_state import IndexState
from keyhole.tui.key_names import character_of
from keyhole.tui.server_state import ServerState
from keyhole.tui.themes import MATCH_STYLE
from keyhole.tui.widgets.screen_names import screen_names

# The actions that are always shown at the end of the footer.
_ALWAYS = ("palette", "help", "quit")
# Room for the program's name and the start of the workspace's.
_LEAST_LEFT = 18


def clickable(content: Content, action: str) -> Content:
    """Return a text that runs an action when clicked."""
    return content.stylize(Style.from_meta({"@click": action}))


def chooser(name: str, value: str, action: str) -> Content:
    """Return a value with arrows that change it: `Detail ◂ compact ▸`."""
    return Content.assemble(
        f"{name} ",
        clickable(Content("◂"), f"screen.{action}(-1)"),
        (f" {value} ", "bold $primary"),
        clickable(Content("▸"), f"screen.{action}(1)"),
    )


def tab_names(tabs: Iterable[str], selected: str, between: str = " │ ") -> Content:
    """Return the names of the tabs, with the selected one highlighted."""
    names = []
    for tab in tabs:
        style = "bold $primary underline" if tab == selected else "$text-muted"
        names.append(clickable(Content.styled(tab, style), f"screen.show_tab('{tab}')"))
    return Content(between).join(names)


def with_marks(content: Content, spans: Iterable[tuple[int, int]]) -> Content:
    """Return a text with its matches marked."""
    for start, end in spans:
        content = content.stylize(MATCH_STYLE, start, end)
    return content


def set_title(widget: Widget, title: Content) -> None:
    """Set the title in a widget's frame; an unchanged title causes no redraw."""
    if widget.border_title != title.markup:
        widget.border_title = title


def set_subtitle(widget: Widget, subtitle: Content) -> None:
    """Set the subtitle in a widget's frame; an unchanged subtitle causes no redraw."""
    if widget.border_subtitle != subtitle.markup:
        widget.border_subtitle = subtitle


def spread(left: Content, right: Content, width: int) -> Content:
    """Return a line with a text at each end; when both do not fit, the right one is dropped."""
    room = width - left.cell_length - right.cell_length
    return left + Content(" " * room) + right if room >= 0 else left.truncate(width, ellipsis=True)


class Line(Widget):
    """A widget of one line; clickable parts keep their own colours."""

    def __init__(self) -> None:
        super().__init__()
        self.auto_links = False


class TopBar(Line):
    """Shows the workspace, the state of the index, and the screens."""

    def on_mount(self) -> None:
        """Watch the index, the server, and the focus, which changes the keys that open screens."""
        self.screen.bindings_updated_signal.subscribe(self, self._refresh)
        self.watch(self.app, "index_state", self._refresh)
        self.watch(self.app, "server_state", self._refresh)
        self.watch(self.app, "bundle", self._refresh)
        self.watch(self.app, "bundle_tokens", self._refresh)

    def _refresh(self, _: object) -> None:
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the line."""
        state: IndexState = getattr(self.app, "index_state", IndexState())
        project = name_text(getattr(self.app, "project", ""), 30)
        left = Content.assemble((" keyhole ", "bold $primary reverse"), "  ", (project, "bold"), "  ", state.content())
        server: ServerState = getattr(self.app, "server_state", ServerState())
        screens = screen_names(self.screen, self.size.width - _LEAST_LEFT - 1)
        if left.cell_length + server.short.cell_length + screens.cell_length + 6 <= self.size.width:
            left += Content("   ") + server.short
        bundle = self._bundle()
        if left.cell_length + bundle.cell_length + screens.cell_length + 5 <= self.size.width:
            left += Content("   ") + bundle
        # The screens matter more than the end of the index state.
        room = self.size.width - screens.cell_length - 1
        return spread(left.truncate(max(room, _LEAST_LEFT), ellipsis=True), screens, self.size.width)

    def _bundle(self) -> Content:
        """Return how many parts are marked, and what they cost."""
        bundle: Bundle = getattr(self.app, "bundle", Bundle())
        if not bundle.items:
            return Content("")
        tokens: int | None = getattr(self.app, "bundle_tokens", None)
        cost = f" {tokens:,} tok" if tokens else ""
        return clickable(Content.styled(f"■ {len(bundle.items):,} marked{cost}", "$secondary"), "app.bundle")


class KeyBar(Line):
    """Shows the active bindings, as many as there is room for."""

    def on_mount(self) -> None:
        """Watch the focus, which changes what keys do."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the line."""
        bindings = self._shown()
        # Help and palette list the commands that do not fit here, and everyone wants to know how to leave.
        first = [next((found for found in bindings if found.action == action), None) for action in _ALWAYS]
        end = Content("").join(_item(found.description, self._keys([found])) for found in first if found)
        line = Content(" ")
        for description, keys in self._grouped(found for found in bindings if found.action not in _ALWAYS):
            item = _item(description, keys)
            if line.cell_length + item.cell_length + end.cell_length > self.size.width:
                break
            line += item
        return spread(line, end, self.size.width) if end else line

    def _shown(self) -> list[Binding]:
        """Return the bindings that do something here."""
        active = self.screen.active_bindings.values()
        enabled = [found.binding for found in active if found.enabled and found.binding.show]
        return [binding for binding in enabled if not self._is_typed(binding)]

    def _grouped(self, bindings: Iterable[Binding]) -> list[tuple[str, dict[str, str]]]:
        """Group the keys that have the same label, such as `d` and `D`; a command is shown with its first key only."""
        groups: dict[str, list[Binding]] = {}
        commands: set[str] = set()
        for binding in bindings:
            if binding.id not in commands:
                groups.setdefault(binding.description, []).append(binding)
                commands.add(binding.id or binding.key)
        return [(description, self._keys(group)) for description, group in groups.items()]

    def _keys(self, bindings: Iterable[Binding]) -> dict[str, str]:
        """Return each key's display name with its name in Textual."""
        keys: dict[str, str] = {}
        for binding in bindings:
            keys.setdefault(self.app.get_key_display(binding), binding.key)
        return keys

    def _is_typed(self, binding: Binding) -> bool:
        """Return whether the key would only type a character into the focused line."""
        focused = self.screen.focused
        if focused is None or binding.priority:
            return False
        return focused.check_consume_key(binding.key, character_of(binding.key))


def _item(description: str, keys: dict[str, str]) -> Content:
    """Return the keys and the label of a command; each key can be clicked."""
    names = [clickable(Content.styled(name, "bold $primary"), _press(key)) for name, key in keys.items()]
    label = clickable(Content.styled(f" {description}  ", "$text-muted"), _press(next(iter(keys.values()))))
    return Content.styled("/", "$text-muted").join(names) + label


def _press(key: str) -> str:
    return f"app.simulate_key('{key}')"
