"""The first and the last line of a screen, and other lines that are drawn whole."""

from collections.abc import Iterable

from textual.app import RenderResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from keyhole.core.view.text import name_text
from keyhole.tui.index_state import IndexState
from keyhole.tui.server_state import ServerState

# The actions that are shown at the end of the last line, whatever else there is no room for.
_ALWAYS = ("command_palette", "help")
# The name of the program, and something of the workspace's.
_LEAST_LEFT = 20


def clickable(content: Content, action: str) -> Content:
    """Make a text do something when it is clicked."""
    return content.stylize(Style.from_meta({"@click": action}))


def chooser(name: str, value: str, action: str) -> Content:
    """Write a value that can be changed to both sides: `detail ◂ compact ▸`."""
    return Content.assemble(
        f"{name} ",
        clickable(Content("◂"), f"screen.{action}(-1)"),
        (f" {value} ", "bold $primary"),
        clickable(Content("▸"), f"screen.{action}(1)"),
    )


def tab_names(tabs: Iterable[str], chosen: str) -> Content:
    """Write the names of tabs, the chosen one in front."""
    names = []
    for tab in tabs:
        style = "bold $primary underline" if tab == chosen else "$text-muted"
        names.append(clickable(Content.styled(tab, style), f"screen.show_tab('{tab}')"))
    return Content(" │ ").join(names)


def set_title(widget: Widget, title: Content) -> None:
    """Write into the frame of a widget, which is drawn anew only when that changes something."""
    if widget.border_title != title.markup:
        widget.border_title = title


def set_subtitle(widget: Widget, subtitle: Content) -> None:
    """Write into the lower frame of a widget, in the same way."""
    if widget.border_subtitle != subtitle.markup:
        widget.border_subtitle = subtitle


def spread(left: Content, right: Content, width: int) -> Content:
    """Put two texts at the ends of a line; when there is no room for both, the right one goes."""
    room = width - left.cell_length - right.cell_length
    return left + Content(" " * room) + right if room >= 0 else left.truncate(width, ellipsis=True)


class Line(Widget):
    """One line, drawn whole; what can be clicked keeps its own colours."""

    def __init__(self) -> None:
        super().__init__()
        self.auto_links = False


class TopBar(Line):
    """Says where one is, what the index is doing, and which screens there are."""

    def on_mount(self) -> None:
        """Follow the index."""
        self.watch(self.app, "index_state", self._refresh)
        self.watch(self.app, "server_state", self._refresh)

    def _refresh(self, _: object) -> None:
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the line."""
        state: IndexState = getattr(self.app, "index_state", IndexState())
        project = name_text(getattr(self.app, "project", ""), 30)
        left = Content.assemble((" keyhole ", "bold $primary reverse"), "  ", (project, "bold"), "  ", state.content())
        server: ServerState = getattr(self.app, "server_state", ServerState())
        screens = self._screens()
        if left.cell_length + server.short.cell_length + screens.cell_length + 6 <= self.size.width:
            left += Content("   ") + server.short
        # Where one can go is worth more than the end of how the index stands.
        room = self.size.width - screens.cell_length - 1
        return spread(left.truncate(max(room, _LEAST_LEFT), ellipsis=True), screens, self.size.width)

    def _screens(self) -> Content:
        parts = []
        for binding in self._jumps():
            is_here = binding.action.endswith(f"'{self.app.current_mode}')")
            style = "bold $primary underline" if is_here else "$text-muted"
            name = Content.styled(f"{binding.key} {binding.description}", style)
            parts.append(clickable(name, binding.action))
        return Content("   ").join(parts) + Content(" ")

    def _jumps(self) -> list[Binding]:
        """Return the bindings that lead to screens."""
        bindings = [found[0] for found in self.app._bindings.key_to_bindings.values()]  # noqa: SLF001
        return [binding for binding in bindings if binding.action.startswith("app.switch_mode")]


class KeyBar(Line):
    """Shows what can be done here: the bindings that are in force, as many as there is room for."""

    def on_mount(self) -> None:
        """Follow the focus, which changes what keys do."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the line."""
        bindings = self._shown()
        # Whoever finds no room for the rest must still find these.
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
        """List the bindings that do something here."""
        active = self.screen.active_bindings.values()
        enabled = [found.binding for found in active if found.enabled and found.binding.show]
        return [binding for binding in enabled if not self._is_typed(binding)]

    def _grouped(self, bindings: Iterable[Binding]) -> list[tuple[str, dict[str, str]]]:
        """Put the keys together that do the same to both sides, such as `d` and `D`."""
        groups: dict[str, list[Binding]] = {}
        for binding in bindings:
            groups.setdefault(binding.description, []).append(binding)
        return [(description, self._keys(group)) for description, group in groups.items()]

    def _keys(self, bindings: Iterable[Binding]) -> dict[str, str]:
        """Name each key as people know it, with its name in Textual."""
        keys: dict[str, str] = {}
        for binding in bindings:
            keys.setdefault(self.app.get_key_display(binding), binding.key)
        return keys

    def _is_typed(self, binding: Binding) -> bool:
        """Whether the key would only write a letter into the line that has the focus."""
        focused = self.screen.focused
        if focused is None or binding.priority:
            return False
        letter = binding.key if len(binding.key) == 1 else None
        return focused.check_consume_key(binding.key, _CHARACTERS.get(binding.key, letter))


# Keys that Textual names in words although they write a character.
_CHARACTERS = {
    "slash": "/",
    "question_mark": "?",
    "minus": "-",
    "plus": "+",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def _item(description: str, keys: dict[str, str]) -> Content:
    """Write one thing to do: each of its keys can be clicked."""
    names = [clickable(Content.styled(name, "bold $primary"), _press(key)) for name, key in keys.items()]
    label = clickable(Content.styled(f" {description}  ", "$text-muted"), _press(next(iter(keys.values()))))
    return Content.styled("/", "$text-muted").join(names) + label


def _press(key: str) -> str:
    return f"app.simulate_key('{key}')"
