"""Every key that works on a screen, taken from the bindings themselves."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

Section = tuple[str, list[tuple[str, str]]]


def sections(screen: Screen[object]) -> list[Section]:
    """Group the keys of a screen by where they come from."""
    groups: dict[str, dict[str, tuple[list[str], str]]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.tooltip:
            continue
        group = groups.setdefault(_title(active.node), {})
        keys, _ = group.setdefault(binding.action, ([], binding.tooltip))
        keys.append(screen.app.get_key_display(binding))
    return [
        (title, [(" ".join(dict.fromkeys(keys)), text) for keys, text in group.values()])
        for title, group in groups.items()
    ]


def commands(screen: Screen[object]) -> Iterator[tuple[str, Binding]]:
    """List what the palette offers: each action that says what it does, once."""
    seen: set[str] = set()
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.tooltip and active.enabled and binding.action not in seen | {"command_palette"}:
            seen.add(binding.action)
            yield screen.app.get_key_display(binding), binding


def _title(node: object) -> str:
    return str(getattr(node, "HELP_TITLE", "") or type(node).__name__)


class HelpScreen(ModalScreen[None]):
    """Shows keys and what they do."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "close", key_display="esc"),
    ]

    def __init__(self, found: list[Section]) -> None:
        super().__init__()
        self._sections = found

    def compose(self) -> ComposeResult:
        """Make one text of it."""
        with VerticalScroll(id="help") as box:
            box.border_title = "keys"
            box.border_subtitle = "esc closes"
            yield Static(self._content())

    def _content(self) -> Content:
        lines = []
        for title, keys in self._sections:
            lines.append(Content.styled(title, "bold $primary"))
            lines += [Content.assemble((f"  {key:<16}", "bold"), (text, "$foreground")) for key, text in keys]
            lines.append(Content(""))
        return Content("\n").join(lines[:-1])
