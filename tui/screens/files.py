"""The Files screen: browse the indexed and skipped files, and read them as source or as map."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Tree

from keyhole.core.errors import KeyholeError
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import IndexedFile, MapLevel, Skip, Symbol
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.core.view.text import count_of, name_text, one_line
from keyhole.core.view.writing import View
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.history import Place
from keyhole.tui.messages import Loaded, Outlined
from keyhole.tui.reference_trail import TrailStep
from keyhole.tui.screens.link_navigation import LinkNavigationScreen
from keyhole.tui.screens.panes import BUDGET_KEYS, PANE_KEYS, REFERENCE_KEYS, TAB_KEYS
from keyhole.tui.screens.pick import Choice, PickScreen
from keyhole.tui.search_state import next_budget
from keyhole.tui.source_colours import lexer_of
from keyhole.tui.sources import read_map, read_outline, read_text
from keyhole.tui.widgets.bars import chooser
from keyhole.tui.widgets.file_tree import Entry, FileTree
from keyhole.tui.widgets.line_view import Document, LineView
from keyhole.tui.widgets.links_pane import LinksPane

if TYPE_CHECKING:
    from keyhole.core.service import Service

SOURCE, MAP = TABS = ("Source", "Map")
LEVELS = tuple(MapLevel)
_WELCOME = """Select a file and press ⏎, or press f to find one by name.

Source shows the file. Map shows what an agent sees first:
imports, definitions and their lines.

Press s to go to a symbol, u to see what uses it.
Press l to see the links of a file, and ⏎ to follow one.
Press < to go back, > to go forward.

  indexed file
○ skipped file, with the reason
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """A file to show on a tab; texts that arrive late for another one are ignored."""

    path: str
    tab: str
    level: MapLevel
    max_tokens: int
    marked: range = range(1, 1)


class FilesScreen(LinkNavigationScreen):
    """Shows the tree of files, and the selected file."""

    HELP_TITLE = "Files"
    TABS = TABS
    CSS_PATH = "../styles/files.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f,slash", "find", "Find file", key_display="f", tooltip="Find a file by name"),
        Binding("s", "symbol", "Find symbol", tooltip="Find a symbol in this file"),
        *REFERENCE_KEYS,
        *TAB_KEYS,
        Binding("d", "level(1)", "Set detail", tooltip="Switch to the next map level"),
        Binding("D", "level(-1)", "Set detail", tooltip="Switch to the previous map level"),
        *BUDGET_KEYS,
        Binding("e", "edit", "Edit", tooltip="Open the file in $EDITOR"),
        Binding("y", "copy", "Copy", tooltip="Copy the text of this tab"),
        *PANE_KEYS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.level = MapLevel.AUTO
        self.max_tokens = DEFAULT_TOKENS
        self.opened: Opening | None = None
        self._wanted: Opening | None = None
        self._symbols_path = ""
        # What to do with the symbol that is chosen from the list.
        self._use_symbol: Callable[[str, Symbol], None] = self._go_to_symbol

    def compose_body(self) -> ComposeResult:
        """Yield the panes."""
        with Horizontal(id="panes"):
            yield FileTree(id="tree")
            yield LineView(id="view")
        yield LinksPane(id="links")

    def on_mount(self) -> None:
        """Fill the tree, and watch the index."""
        self.view.show(Document(_WELCOME))
        self._show_frame("")
        self.watch(self.app, "inventory", self._tree.show)
        self.watch(self.app, "usual_budget", self._on_usual_budget)
        self._tree.focus()

    def on_screen_resume(self) -> None:
        """Open the file that another screen has requested."""
        if wanted := self.explorer.wanted_file:
            self.explorer.wanted_file = None
            path, line, is_map = wanted
            self.tab = MAP if is_map else SOURCE
            self._tree.reveal(path)
            self.open(path, range(line, line + 1))
            self.view.focus()

    def _on_usual_budget(self, budget: int) -> None:
        self.max_tokens = budget

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._wanted is None and not self._symbols_path and self.links.is_settled

    # The tree

    @property
    def _tree(self) -> FileTree:
        return self.query_one(FileTree)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Open a file, or show why it is skipped."""
        entry = event.node.data
        if isinstance(entry, Skip):
            self._wanted = None
            self.opened = None
            self._show_frame(f"{entry.path} · skipped")
            self.view.show(Document(f"○ {entry.path}\n\nSkipped: {entry.text}\n"))
        elif isinstance(entry, IndexedFile):
            self.open(entry.path)

    # The file

    def open(self, path: str, marked: range = range(1, 1)) -> None:
        """Show a file on the current tab."""
        service = self.explorer.service
        if service is not None:
            self._wanted = Opening(path, self.tab, self.level, self.max_tokens, marked)
            self.run_worker(partial(self._load, service, self._wanted), thread=True, name="file")

    def _load(self, service: "Service", wanted: Opening) -> None:
        try:
            if wanted.tab == SOURCE:
                self.post_message(Loaded(wanted, read_text(service, wanted.path)))
            else:
                view = read_map(service, wanted.path, wanted.level, wanted.max_tokens)
                self.post_message(Loaded(wanted, view.text, note=_cost(view)))
        except KeyholeError as error:
            self.post_message(Loaded(wanted, f"✗ {problem_text(error)}\n", is_error=True))

    def on_loaded(self, message: Loaded) -> None:
        """Show the file, unless another one was requested since."""
        opened = message.key
        if opened != self._wanted or not isinstance(opened, Opening):
            return
        self._wanted = None
        self.opened = opened
        is_source = opened.tab == SOURCE and not message.is_error
        lexer = lexer_of(opened.path) if is_source else ""
        document = Document(message.text, lexer, is_numbered=is_source, marked=opened.marked)
        self.view.show(document, line=opened.marked.start)
        self._show_frame(f"{name_text(opened.path, 60)} · {message.note or self._facts(opened.path, document)}")
        self.arrived(Place(opened.path, opened.marked.start))

    def on_line_view_clicked(self, message: LineView.Clicked) -> None:
        """Mark the clicked line of the source: its references can be found."""
        if self.opened and self.opened.tab == SOURCE and self.view.document.is_numbered:
            marked = range(message.line, message.line + 1)
            self.opened = replace(self.opened, marked=marked)
            self.view.mark(marked)
            self.arrived(Place(self.opened.path, message.line))

    def go_to(self, place: Place) -> None:
        """Show a file at a line; the focus stays where it is."""
        self._tree.reveal(place.path)
        if any(file.path == place.path for file in self.explorer.inventory.files):
            self.tab = SOURCE
            self.open(place.path, range(place.line, place.line + 1))
        else:
            is_folder = any(file.path.startswith(f"{place.path}/") for file in self.explorer.inventory.files)
            problem = "is a folder: see the tree" if is_folder else "is not indexed"
            self.notify(f"{place.path or 'The workspace'} {problem}.", timeout=3, markup=False)

    def _facts(self, path: str, document: Document) -> str:
        language = next((file.language for file in self.explorer.inventory.files if file.path == path), "")
        label = BY_ID[language].label if language else "not indexed"
        return f"{count_of(len(document.lines), 'line')} · {label}"

    def _show_frame(self, subtitle: str) -> None:
        view = self.view
        view.border_title = self.tabs() + self._controls() if self.tab == MAP else self.tabs()
        view.border_subtitle = Content(subtitle)

    def _controls(self) -> Content:
        detail = chooser("   Detail", self.level, "level")
        return detail + chooser("  Budget", f"{self.max_tokens:,}", "budget")

    def on_outlined(self, message: Outlined) -> None:
        """Show the symbols of the file to choose from."""
        if message.path != self._symbols_path:
            return
        self._symbols_path = ""
        symbols = [(symbol, depth) for top in message.outline.symbols for symbol, depth in _walk(top, 0)]
        if not symbols:
            self.notify("No symbols in this file.", timeout=3)
            return
        choices = [
            Choice(f"{'  ' * depth}{one_line(symbol.name)}", f"{symbol.kind}, line {symbol.start_line}", number)
            for number, (symbol, depth) in enumerate(symbols)
        ]
        use_symbol = self._use_symbol

        def go(number: str | int | None) -> None:
            if isinstance(number, int):
                use_symbol(message.path, symbols[number][0])

        title = "Find symbol" if use_symbol == self._go_to_symbol else "Find references of"
        self.app.push_screen(PickScreen(title, choices, self._symbol_in_view([symbol for symbol, _ in symbols])), go)

    def _symbol_in_view(self, symbols: list[Symbol]) -> int:
        """Return the number of the innermost symbol at the marked line, or at the top of the view, or else below."""
        line = self.view.scroll_offset.y + 1 if self.tab == SOURCE else 1
        line = self.marked_place.line if self.marked_place else line
        around = [number for number, symbol in enumerate(symbols) if symbol.start_line <= line <= symbol.end_line]
        below = (number for number, symbol in enumerate(symbols) if symbol.start_line > line)
        return around[-1] if around else next(below, 0)

    def _go_to_symbol(self, path: str, symbol: Symbol) -> None:
        self.tab = SOURCE
        self.open(path, range(symbol.start_line, symbol.end_line + 1))
        self.view.focus()

    def _find_references(self, path: str, symbol: Symbol) -> None:
        self.explorer.show_references(TrailStep(Place(path, symbol.start_line)))

    def _find_symbols(self, service: "Service", path: str) -> None:
        try:
            self.post_message(Outlined(path, read_outline(service, path)))
        except KeyholeError as error:
            self.post_message(Loaded(None, problem_text(error)))

    # Actions

    def action_find(self) -> None:
        """Find a file by name."""
        files = self.explorer.inventory.files
        choices = [Choice(file.path, count_of(file.lines, "line"), file.path) for file in files]

        def go(path: str | int | None) -> None:
            if isinstance(path, str):
                self._tree.reveal(path)
                self.open(path)
                self.view.focus()

        self.app.push_screen(PickScreen("Find file", choices), go)

    def action_symbol(self) -> None:
        """Find a symbol in the file."""
        self._choose_symbol(self._go_to_symbol)

    def action_references(self) -> None:
        """Find the references of the definition at the marked line; if none is in view, of one from the list."""
        if self.opened is None:
            self.notify("Open a file first to see what uses its symbols.", timeout=3)
        elif place := self.marked_place:
            self.explorer.show_references(TrailStep(place))
        else:
            self._choose_symbol(self._find_references)

    @property
    def marked_place(self) -> Place | None:
        """The start of the marked lines, if any of them is in view."""
        opened, view = self.opened, self.view
        if opened is None or opened.tab != SOURCE or not opened.marked:
            return None
        top = view.scroll_offset.y + 1
        is_in_view = opened.marked.start < top + view.scrollable_content_region.height and opened.marked.stop > top
        return Place(opened.path, opened.marked.start) if is_in_view else None

    @property
    def marked_line(self) -> int | None:
        """The first marked line, whether it is in view or not."""
        return self.opened.marked.start if self.opened and self.opened.marked else None

    def _choose_symbol(self, use_symbol: Callable[[str, Symbol], None]) -> None:
        service = self.explorer.service
        if self.opened and service:
            self._use_symbol, self._symbols_path = use_symbol, self.opened.path
            self.run_worker(partial(self._find_symbols, service, self.opened.path), thread=True, name="symbols")

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        super().action_show_tab(tab)
        self._show_frame(str(self.opened.path) if self.opened else "")
        if self.opened:
            self.open(self.opened.path)

    def action_level(self, step: int) -> None:
        """Switch to the next or the previous map level."""
        self.level = LEVELS[(LEVELS.index(self.level) + step) % len(LEVELS)]
        self.action_show_tab(MAP)

    def action_budget(self, step: int) -> None:
        """Raise or lower the budget of the map."""
        self.max_tokens = next_budget(self.max_tokens, step)
        self.action_show_tab(MAP)

    def action_edit(self) -> None:
        """Open the file in the user's editor."""
        if self.opened:
            is_source = self.opened.tab == SOURCE
            line = self.view.scroll_offset.y + 1 if is_source else 1
            self.explorer.edit(self.opened.path, line)

    def action_copy(self) -> None:
        """Copy the text of the tab."""
        if self.opened:
            self.explorer.copy(self.view.document.text, self.opened.tab.lower())


def _cost(view: View) -> str:
    info = view.truncation
    left_out = info.original_count - info.returned_count
    missing = f"{count_of(left_out, 'symbol')} left out" if left_out else "shortened"
    return f"{f'▲ {missing} · ' if info.reason else ''}{info.estimated_tokens:,} / {info.limit_tokens:,} tokens"


def _walk(symbol: Symbol, depth: int) -> list[tuple[Symbol, int]]:
    return [(symbol, depth), *(below for child in symbol.children for below in _walk(child, depth + 1))]
