"""The Files screen: browse the indexed and skipped files, and read them as source or as map."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Tree

from keyhole.core.errors import KeyholeError
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.bundle import BundleItem
from keyhole.core.types.choices import MapLevel
from keyhole.core.types.inventory import IndexedFile, Inventory
from keyhole.core.types.source_files import Skip
from keyhole.core.types.syntax import Symbol
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.core.view.maps.symbol_names import dotted_name
from keyhole.core.view.text import count_of, name_text, one_line
from keyhole.core.view.writing import View
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread
from keyhole.tui.document import Document, ViewPlace
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.folders import Folder
from keyhole.tui.history import KeptView, Place
from keyhole.tui.key_names import key_of
from keyhole.tui.map_pages import FIRST_PAGE, next_offset, page_line
from keyhole.tui.messages import Loaded, Outlined
from keyhole.tui.reference_trail import TrailStep
from keyhole.tui.screens.cost_column import CostColumnScreen
from keyhole.tui.screens.pick import Choice, PickScreen
from keyhole.tui.search_state import next_budget
from keyhole.tui.sources import read_map, read_outline, read_source, source_document
from keyhole.tui.widgets.bars import chooser
from keyhole.tui.widgets.file_tree import Entry, FileTree
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.links_pane import LinksPane

if TYPE_CHECKING:
    from keyhole.core.search.match_marks import Marks
    from keyhole.core.service import Service

SOURCE, MAP = TABS = ("Source", "Map")
LEVELS = tuple(MapLevel)
# The files of a larger folder do not fit any budget.
_MOST_MARKED = 100
_WELCOME = f"""Select a file and press ⏎, or press {key_of("find-file")} to find one by name.

Source shows the file. Map shows what an agent sees first: imports, definitions and their lines.

Press {key_of("find-symbol")} to go to a symbol, {key_of("references")} to see what uses it.
Press {key_of("links")} to see the links of a file, and ⏎ to follow one.
Press {key_of("history-back")} to go back, {key_of("history-forward")} to go forward.

  indexed file
○ skipped file, with the reason
● folder with files that changed since the last commit
M modified, A added, R renamed, U conflicted, ? not in git
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """A file to show on a tab; texts that arrive late for another one are ignored."""

    path: str
    tab: str
    level: MapLevel
    max_tokens: int
    marked: range = range(1, 1)
    # What to mark in the file, if it was found by a search.
    marks: "Marks | None" = None
    # The start of each page of the map up to this one: pages differ in length, since the budget limits them.
    offsets: tuple[int, ...] = FIRST_PAGE
    # Where the view was when the file was left.
    place: ViewPlace | None = None


class FilesScreen(CostColumnScreen):
    """Shows the tree of files, and the selected file."""

    HELP_TITLE = "Files"
    TABS = TABS
    CSS_PATH = "../styles/files.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.FILES

    def __init__(self) -> None:
        super().__init__()
        self.level = MapLevel.AUTO
        self.max_tokens = DEFAULT_TOKENS
        self.opened: Opening | None = None
        # Where each tab of the files was.
        self._tab_places: dict[tuple[str, str], ViewPlace] = {}
        self._wanted: Opening | None = None
        self._next_offset: int | None = None
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
        self.view.show(Document(_WELCOME, wraps=True))
        self._show_frame("")
        self.watch(self.app, "inventory", self._show_tree)
        self.watch(self.app, "inventory", self.on_inventory_changed, init=False)
        self.watch(self.app, "found_files", self._show_tree)
        self.watch(self.app, "index_state", self._tree.show_progress)
        self.watch(self.app, "usual_budget", self._on_usual_budget)
        self._tree.focus()

    def show_wanted(self) -> None:
        """Open the file that another screen has requested."""
        if wanted := self.explorer.wanted_file:
            self.explorer.wanted_file = None
            path, line, is_map = wanted
            self.tab = MAP if is_map else SOURCE
            self._tree.reveal(path)
            self.open(path, range(line, line + 1), self.explorer.wanted_marks)
            self.view.focus()

    def _on_usual_budget(self, budget: int) -> None:
        self.max_tokens = budget

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._wanted is None and not self._symbols_path and self.links.is_settled

    @property
    def current_place(self) -> Place | None:
        """The current line of the source."""
        opened = self.opened
        is_shown = opened and opened.tab == SOURCE and self.view.display
        return Place(opened.path, self.view.current_line) if opened and is_shown else None

    # The tree

    def _show_tree(self, _: Inventory) -> None:
        known = self.explorer.inventory
        self._tree.show(known if known.generation else self.explorer.found_files)
        self._tree.show_progress(self.explorer.index_state)

    @property
    def _tree(self) -> FileTree:
        return self.query_one(FileTree)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Open a file, or show why it is skipped; some skipped files are served, such as large ones."""
        entry = event.node.data
        if isinstance(entry, Skip) and entry.is_dir:
            self._show_skip(entry)
        elif isinstance(entry, IndexedFile | Skip):
            self.open(entry.path)

    def _show_skip(self, skip: Skip) -> None:
        self._wanted = self.opened = None
        self._show_frame(f"{skip.path} · skipped")
        self.view.show(Document(f"○ {skip.path}\n\nSkipped: {skip.text}\n"))

    def _skip_of(self, path: str) -> Skip | None:
        known = self.explorer.inventory if self.explorer.inventory.generation else self.explorer.found_files
        return next((skip for skip in known.skips if skip.path == path), None)

    # The file

    def open(self, path: str, marked: range = range(1, 1), marks: "Marks | None" = None) -> None:
        """Show a file on the current tab."""
        self.keep_view()
        self._open(Opening(path, self.tab, self.level, self.max_tokens, marked, marks))

    def _open(self, wanted: Opening) -> None:
        service = self.explorer.service
        if service is not None:
            self._wanted = wanted
            run_in_thread(self, partial(self._load, service, self._wanted), "file")

    def _load(self, service: "Service", wanted: Opening) -> None:
        try:
            if wanted.tab == SOURCE:
                source = read_source(service, wanted.path, wanted.marked.start)
                self.post_message(Loaded(wanted, source=source))
            else:
                view = read_map(service, wanted.path, wanted.level, wanted.max_tokens, wanted.offsets[-1])
                self.post_message(Loaded(wanted, view.text, note=_cost(view), next_offset=next_offset(view)))
        except KeyholeError as error:
            self.post_message(Loaded(wanted, f"✗ {problem_text(error)}\n", is_error=True))

    def on_loaded(self, message: Loaded) -> None:
        """Show the file, unless another one was requested since."""
        opened = message.key
        if opened != self._wanted or not isinstance(opened, Opening):
            return
        skip = self._skip_of(opened.path)
        if skip and message.is_error:
            self._show_skip(skip)
            return
        self._wanted = None
        self.opened, self._next_offset = opened, message.next_offset
        document = Document(message.text)
        if message.source:
            document = source_document(opened.path, message.source, opened.marked, opened.marks)
        self.view.show(document, line=opened.marked.start if opened.tab == SOURCE else 1)
        if opened.place:
            self.view.go_back_to(opened.place)
        facts = message.note or self._facts(opened.path, document)
        reason = f" · not indexed: {skip.text}" if skip else ""
        page = page_line(len(opened.offsets), has_next=message.next_offset is not None)
        self._show_frame(page + Content(f"{name_text(opened.path, 60)} · {facts}{reason}"))
        self.arrived(Place(opened.path, opened.marked.start))

    def on_line_view_clicked(self, message: LineView.Clicked) -> None:
        """Mark the clicked line of the source: its references can be found."""
        if self.opened and self.opened.tab == SOURCE and self.view.document.is_numbered:
            self.keep_view()
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

    def go_back_to(self, place: Place, kept: KeptView | None) -> None:
        """Show a file as it was when it was left."""
        if kept is None:
            self.go_to(place)
            return
        self._tree.reveal(place.path)
        self.tab = kept.tab
        opening = Opening(place.path, kept.tab, self.level, self.max_tokens, kept.marked, kept.marks, kept.offsets)
        self._open(replace(opening, place=kept.place))

    def keep_view(self) -> None:
        """Keep what is shown of the file, to go back to it, and where each of its tabs was."""
        if (opened := self.opened) and self._wanted is None:
            kept = KeptView(opened.tab, opened.marked, opened.marks, opened.offsets, self.view.place)
            self._history.keep(opened.path, kept)
            self._tab_places[opened.path, opened.tab] = self.view.place

    def _facts(self, path: str, document: Document) -> str:
        language = next((file.language for file in self.explorer.inventory.files if file.path == path), "")
        lines = count_of(len(document.lines), "line")
        return f"{lines} · {BY_ID[language].label}" if language else lines

    def _show_frame(self, subtitle: str | Content) -> None:
        view = self.view
        view.border_title = self.tabs() + self._controls() if self.tab == MAP else self.tabs()
        view.border_subtitle = Content(subtitle) if isinstance(subtitle, str) else subtitle

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
        line = self.view.top_line if self.tab == SOURCE else 1
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
        self.explorer.find_name("Files")

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
        return Place(opened.path, opened.marked.start) if view.is_in_view(opened.marked) else None

    @property
    def marked_line(self) -> int | None:
        """The first marked line, whether it is in view or not."""
        return self.opened.marked.start if self.opened and self.opened.marked else None

    def _choose_symbol(self, use_symbol: Callable[[str, Symbol], None]) -> None:
        service = self.explorer.service
        if self.opened and service:
            self._use_symbol, self._symbols_path = use_symbol, self.opened.path
            run_in_thread(self, partial(self._find_symbols, service, self.opened.path), "symbols")

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        super().action_show_tab(tab)
        self._show_frame(str(self.opened.path) if self.opened else "")
        # A file that is still being read counts already.
        if opened := self._wanted or self.opened:
            if self._wanted is None:
                self.keep_view()
            wanted = replace(opened, tab=tab, place=self._tab_places.get((opened.path, tab)))
            if (opened.level, opened.max_tokens) != (self.level, self.max_tokens):
                # Another map is read from its start.
                wanted = replace(wanted, level=self.level, max_tokens=self.max_tokens, offsets=FIRST_PAGE, place=None)
            self._open(wanted)

    def action_level(self, step: int) -> None:
        """Switch to the next or the previous map level."""
        self.level = LEVELS[(LEVELS.index(self.level) + step) % len(LEVELS)]
        self.action_show_tab(MAP)

    def action_budget(self, step: int) -> None:
        """Raise or lower the budget of the map."""
        self.max_tokens = next_budget(self.max_tokens, step)
        self.action_show_tab(MAP)

    def action_next_page(self) -> None:
        """Go to the next page of the map."""
        if self.opened is None or self.opened.tab != MAP:
            self.notify("Only a map has pages: press ] to see the map of this file.", timeout=3)
        elif self._next_offset is None:
            self.notify("Last page of the map.", timeout=3)
        elif self._wanted is None:
            self._open(replace(self.opened, offsets=(*self.opened.offsets, self._next_offset), place=None))

    def action_previous_page(self) -> None:
        """Go to the previous page of the map."""
        if self.opened and self.opened.tab == MAP and len(self.opened.offsets) > 1 and self._wanted is None:
            self._open(replace(self.opened, offsets=self.opened.offsets[:-1], place=None))

    def part_to_mark(self) -> BundleItem | None:
        """Return the file under the cursor of the tree, or lines of the source."""
        if self._tree.has_focus:
            entry = self._entry
            return BundleItem(entry.path) if isinstance(entry, IndexedFile | Skip) else None
        return super().part_to_mark()

    def action_mark(self) -> None:
        """Mark or unmark a file or lines; the lines of a map are symbols to choose from."""
        if self.opened and self.opened.tab == MAP and self.view.has_focus:
            self._choose_symbol(self._mark_chosen)
        elif self._tree.has_focus and isinstance(folder := self._entry, Folder):
            self._mark_folder(folder)
        else:
            super().action_mark()

    @property
    def _entry(self) -> Entry | None:
        return self._tree.cursor_node.data if self._tree.cursor_node else None

    def _mark_folder(self, folder: Folder) -> None:
        inside = [file.path for file in self.explorer.inventory.files if file.path.startswith(f"{folder.path}/")]
        if len(inside) > _MOST_MARKED:
            count = count_of(len(inside), "file")
            self.notify(f"The folder has {count}; at most {_MOST_MARKED:,} can be marked at once.", timeout=5)
        elif inside:
            self.explorer.marking.toggle(*map(BundleItem, inside))

    def action_mark_symbol(self) -> None:
        """Mark or unmark the definition around the current line, or one from the list."""
        if self.opened and self.opened.tab == MAP:
            self._choose_symbol(self._mark_chosen)
        else:
            super().action_mark_symbol()

    def _mark_chosen(self, path: str, symbol: Symbol) -> None:
        self.explorer.marking.toggle(BundleItem(path, symbol=dotted_name(symbol)))

    def action_edit(self) -> None:
        """Open the file in the user's editor."""
        if self.opened:
            is_source = self.opened.tab == SOURCE
            line = self.view.current_line if is_source else 1
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
