"""The help screen: every key that works on a screen, taken from the bindings."""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import ActiveBinding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from keyhole.tui import keys
from keyhole.tui.command_order import use_rank
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.screens.scrolling import Scrolling

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


def _by_use(screen: Screen[object]) -> list[ActiveBinding]:
    described = [active for active in screen.active_bindings.values() if active.binding.tooltip]
    return sorted(described, key=lambda active: use_rank(active.binding))


def _title(node: DOMNode) -> str:
    return str(getattr(node, "HELP_TITLE", "") or type(node).__name__)


class HelpScreen(Scrolling, ModalScreen[None]):
    """Shows the keys and what they do."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.HELP

    def __init__(self, found: list[Section]) -> None:
        super().__init__()
        self._sections = found

    def compose(self) -> ComposeResult:
        """Yield the keys as one text."""
        with VerticalScroll(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = f"{marked_up_key('close')} Close"
            yield Static(self._content())

    @property
    def scrolled(self) -> Widget:
        """The box with the keys."""
        return self.query_one("#help")

    def _content(self) -> Content:
        lines = []
        for title, rows in self._sections:
            lines.append(Content.styled(title, "bold $primary"))
            lines += [Content.assemble((f"  {key:<16}", "bold"), (text, "$foreground")) for key, text in rows]
            lines.append(Content(""))
        return Content("\n").join(lines[:-1])
