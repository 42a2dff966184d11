"""The help screen, and the palette's commands: every key that works on a screen, taken from the bindings."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from keyhole.tui.command_order import use_rank

Section = tuple[str, list[tuple[str, str]]]


def sections(screen: Screen[object]) -> list[Section]:
    """Return the keys of a screen by where they work: the focused pane, the screen, everywhere; most used first."""
    groups: dict[DOMNode, dict[str, tuple[list[str], str]]] = {}
    for active in _by_use(screen):
        group = groups.setdefault(active.node, {})
        keys, _ = group.setdefault(active.binding.action, ([], active.binding.tooltip))
        keys.append(screen.app.get_key_display(active.binding))
    return [
        (_title(node), [(" ".join(dict.fromkeys(keys)), text) for keys, text in groups[node].values()])
        for node in sorted(groups, key=lambda node: (isinstance(node, App), isinstance(node, Screen)))
    ]


def commands(screen: Screen[object]) -> Iterator[tuple[str, Binding]]:
    """Yield the palette's commands, each action once with its first key; most used first, quitting last."""
    # The palette is open already, and `interrupt` would be a second way to quit.
    seen = {"command_palette", "interrupt"}
    for active in _by_use(screen):
        if active.enabled and active.binding.action not in seen:
            seen.add(active.binding.action)
            yield screen.app.get_key_display(active.binding), active.binding


def _by_use(screen: Screen[object]) -> list[ActiveBinding]:
    described = [active for active in screen.active_bindings.values() if active.binding.tooltip]
    return sorted(described, key=lambda active: use_rank(active.binding))


def _title(node: DOMNode) -> str:
    return str(getattr(node, "HELP_TITLE", "") or type(node).__name__)


class HelpScreen(ModalScreen[None]):
    """Shows the keys and what they do."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close", key_display="esc"),
    ]

    def __init__(self, found: list[Section]) -> None:
        super().__init__()
        self._sections = found

    def compose(self) -> ComposeResult:
        """Yield the keys as one text."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc Close"
            yield Static(self._content())

    def _content(self) -> Content:
        lines = []
        for title, keys in self._sections:
            lines.append(Content.styled(title, "bold $primary"))
            lines += [Content.assemble((f"  {key:<16}", "bold"), (text, "$foreground")) for key, text in keys]
            lines.append(Content(""))
        return Content("\n").join(lines[:-1])
