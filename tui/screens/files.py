"""Browse the workspace as the index knows it, and read files as an agent would: the map, then the source."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from keyhole.core.errors import KeyholeError
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import IndexedFile, Inventory, MapLevel, Skip, Symbol
from keyhole.core.view.limits import DEFAULT_TOKENS
from keyhole.core.view.listing import View
from keyhole.core.view.text import count_of, name_text, one_line
from keyhole.tui.asking import next_budget
from keyhole.tui.folders import Folder, build_tree
from keyhole.tui.highlighting import lexer_of
from keyhole.tui.messages import Loaded, Outlined
from keyhole.tui.screens.base import KeyholeScreen
from keyhole.tui.screens.pick import Choice, PickScreen
from keyhole.tui.sources import read_map, read_outline, read_text
from keyhole.tui.widgets.bars import clickable
from keyhole.tui.widgets.line_view import Document, LineView

if TYPE_CHECKING:
    from keyhole.core.service import Service

Entry = Folder | IndexedFile | Skip
TABS = ("Source", "Map")
LEVELS = tuple(MapLevel)
_WELCOME = """Choose a file: ⏎ opens it, f finds one by its name.

Source shows the file; Map shows what an agent gets to see of it first:
what it imports and defines, and on which lines. s goes to a symbol.

  indexed files are plain
○ what is passed over says why
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """A file to show on a tab; a late text for anything else is dropped."""

    path: str
    tab: str
    level: MapLevel
    max_tokens: int
    marked: range = range(1, 1)


class FilesScreen(KeyholeScreen):
    """A tree, and the file that was chosen in it."""

    HELP_TITLE = "Files"
    CSS_PATH = "../styles/files.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f,slash", "find", "find file", key_display="f", tooltip="Find a file by its name"),
        Binding("s", "symbol", "symbol", tooltip="Go to a symbol of this file"),
        Binding("right_square_bracket", "tab(1)", "tab", key_display="]", tooltip="Next tab: source, map"),
        Binding("left_square_bracket", "tab(-1)", "tab", key_display="[", tooltip="Previous tab"),
        Binding(
            "d", "level(1)", "detail", tooltip="Next level of the map: auto, full, compact, minimal, outline, ends"
        ),
        Binding("D", "level(-1)", "detail", tooltip="Previous level of the map"),
        Binding("minus", "budget(-1)", "budget", key_display="-", tooltip="Smaller budget of tokens for the map"),
        Binding("plus,equals_sign", "budget(1)", "budget", key_display="+", tooltip="Larger budget of tokens"),
        Binding("e", "edit", "editor", tooltip="Open the file in $EDITOR, at the line in view"),
        Binding("y", "copy", "copy", tooltip="Copy the text of this tab"),
        Binding("z", "zoom", "zoom", tooltip="Give one pane the whole width"),
        Binding("r", "look_again", "look again", show=False, tooltip="Look for changed files now"),
        Binding("escape", "back", "back", show=False, tooltip="Go back to the tree"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.tab = TABS[0]
        self.level = MapLevel.AUTO
        self.max_tokens = DEFAULT_TOKENS
        self.opened: Opening | None = None
        self._wanted: Opening | None = None
        self._wants_symbols = ""

    def compose_body(self) -> ComposeResult:
        """Make the panes."""
        with Horizontal(id="panes"):
            tree: Tree[Entry] = Tree("", id="tree")
            tree.show_root = False
            tree.guide_depth = 2
            yield tree
            yield LineView(id="view")

    def on_mount(self) -> None:
        """Fill the tree, and follow the index."""
        self.query_one("#tree").border_title = "files"
        self.query_one(LineView).show(Document(_WELCOME))
        self._show_frame("")
        self.watch(self.app, "inventory", self._on_inventory)
        self.query_one(Tree).focus()

    def on_screen_resume(self) -> None:
        """Open what another screen wants to be opened."""
        if wanted := self.explorer.wanted_file:
            self.explorer.wanted_file = None
            self.tab = "Source"
            self.open(wanted[0], range(wanted[1], wanted[1] + 1))
            self.query_one(LineView).focus()

    @property
    def is_settled(self) -> bool:
        """Whether everything asked for is on the screen."""
        return self._wanted is None and not self._wants_symbols

    # The tree

    def _on_inventory(self, inventory: Inventory) -> None:
        """Build the tree anew, with the folders open that were open."""
        tree = self._tree
        was_open = {node.data.path for node in _all_nodes(tree.root) if node.is_expanded and node.data}
        tree.clear()
        tree.root.data = build_tree(inventory)
        _fill(tree.root, was_open)
        facts = f"{len(inventory.files):,} indexed · {len(inventory.skips):,} passed over"
        tree.border_subtitle = Content(facts)

    @property
    def _tree(self) -> Tree[Entry]:
        return self.query_one("#tree", Tree)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        """Fill a folder when it is opened."""
        if not event.node.children:
            _fill(event.node, set())

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Open a file, or say why it is not shown."""
        entry = event.node.data
        if isinstance(entry, Skip):
            self._wanted = None
            self.opened = None
            self._show_frame(f"{entry.path} · passed over")
            self.query_one(LineView).show(Document(f"○ {entry.path}\n\n{entry.reason}: {entry.detail}\n"))
        elif isinstance(entry, IndexedFile):
            self.open(entry.path)

    # The file

    def open(self, path: str, marked: range = range(1, 1)) -> None:
        """Show a file on the present tab."""
        service = self.explorer.service
        if service is not None:
            self._wanted = Opening(path, self.tab, self.level, self.max_tokens, marked)
            self.run_worker(partial(self._load, service, self._wanted), thread=True, name="file")

    def _load(self, service: "Service", wanted: Opening) -> None:
        try:
            if wanted.tab == "Source":
                self.post_message(Loaded(wanted, read_text(service, wanted.path)))
            else:
                view = read_map(service, wanted.path, wanted.level, wanted.max_tokens)
                self.post_message(Loaded(wanted, view.text, note=_cost(view)))
        except KeyholeError as error:
            self.post_message(Loaded(wanted, f"✗ {error}\n", is_error=True))

    def on_loaded(self, message: Loaded) -> None:
        """Show the file, if it is still wanted."""
        opened = message.key
        if opened != self._wanted or not isinstance(opened, Opening):
            return
        self._wanted = None
        self.opened = opened
        is_source = opened.tab == "Source" and not message.is_error
        lexer = lexer_of(opened.path) if is_source else ""
        document = Document(message.text, lexer, is_numbered=is_source, marked=opened.marked)
        self.query_one(LineView).show(document, line=opened.marked.start)
        self._show_frame(f"{name_text(opened.path, 60)} · {message.note or self._facts(opened.path, document)}")

    def _facts(self, path: str, document: Document) -> str:
        language = next((file.language for file in self.explorer.inventory.files if file.path == path), "")
        label = BY_ID[language].label if language else "not indexed"
        return f"{count_of(len(document.lines), 'line')} · {label}"

    def _show_frame(self, subtitle: str) -> None:
        view = self.query_one(LineView)
        title = Content(" │ ").join(self._tab_name(tab) for tab in TABS)
        view.border_title = title + self._controls() if self.tab == "Map" else title
        view.border_subtitle = Content(subtitle)

    def _controls(self) -> Content:
        return Content.assemble(
            "   detail ",
            clickable(Content("◂"), "screen.level(-1)"),
            (f" {self.level} ", "bold $primary"),
            clickable(Content("▸"), "screen.level(1)"),
            "  budget ",
            clickable(Content("◂"), "screen.budget(-1)"),
            (f" {self.max_tokens:,} ", "bold $primary"),
            clickable(Content("▸"), "screen.budget(1)"),
        )

    def _tab_name(self, tab: str) -> Content:
        style = "bold $primary underline" if tab == self.tab else "$text-muted"
        return clickable(Content.styled(tab, style), f"screen.show_tab('{tab}')")

    def on_outlined(self, message: Outlined) -> None:
        """Let one choose among the symbols of the file."""
        if message.path != self._wants_symbols:
            return
        self._wants_symbols = ""
        symbols = [(symbol, depth) for top in message.outline.symbols for symbol, depth in _walk(top, 0)]
        if not symbols:
            self.notify("No symbols found in this file.", timeout=3)
            return
        choices = [
            Choice(f"{'  ' * depth}{one_line(symbol.name)}", f"{symbol.kind} {symbol.start_line}", number)
            for number, (symbol, depth) in enumerate(symbols)
        ]

        def go(number: str | int | None) -> None:
            if isinstance(number, int):
                symbol = symbols[number][0]
                self.tab = "Source"
                self.open(message.path, range(symbol.start_line, symbol.end_line + 1))
                self.query_one(LineView).focus()

        self.app.push_screen(PickScreen("go to a symbol", choices), go)

    def _find_symbols(self, service: "Service", path: str) -> None:
        try:
            self.post_message(Outlined(path, read_outline(service, path)))
        except KeyholeError as error:
            self.post_message(Loaded(None, str(error)))

    # Actions

    def action_find(self) -> None:
        """Find a file by its name."""
        files = self.explorer.inventory.files
        choices = [Choice(file.path, count_of(file.lines, "line"), file.path) for file in files]

        def go(path: str | int | None) -> None:
            if isinstance(path, str):
                self.open(path)
                self.query_one(LineView).focus()

        self.app.push_screen(PickScreen("find a file", choices), go)

    def action_symbol(self) -> None:
        """Choose a symbol of the file."""
        service = self.explorer.service
        if self.opened and service:
            self._wants_symbols = self.opened.path
            self.run_worker(partial(self._find_symbols, service, self.opened.path), thread=True, name="symbols")

    def action_tab(self, step: int) -> None:
        """Go to the next tab."""
        self.action_show_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        self.tab = tab
        self._show_frame(str(self.opened.path) if self.opened else "")
        if self.opened:
            self.open(self.opened.path)

    def action_level(self, step: int) -> None:
        """Tell more or less in the map."""
        self.level = LEVELS[(LEVELS.index(self.level) + step) % len(LEVELS)]
        self.action_show_tab("Map")

    def action_budget(self, step: int) -> None:
        """Spend more or less on the map."""
        self.max_tokens = next_budget(self.max_tokens, step)
        self.action_show_tab("Map")

    def action_zoom(self) -> None:
        """Give the pane with the focus the whole width, or both their share."""
        self.toggle_class("-zoomed")

    def action_back(self) -> None:
        """Go back one step: out of the zoom, out of the file."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        else:
            self._tree.focus()

    def action_edit(self) -> None:
        """Open the file in the user's editor."""
        if self.opened:
            is_source = self.opened.tab == "Source"
            line = self.query_one(LineView).scroll_offset.y + 1 if is_source else 1
            self.explorer.edit(self.opened.path, line)

    def action_copy(self) -> None:
        """Copy what the tab shows."""
        if self.opened:
            self.explorer.copy(self.query_one(LineView).document.text, self.opened.tab.lower())

    def action_look_again(self) -> None:
        """Look for changed files now."""
        self.explorer.index_again()

    def on_descendant_focus(self) -> None:
        """One pane at a time has the width when there is little of it: the one with the focus."""
        self.set_class(self.query_one(LineView).has_focus, "-reading")


def _fill(node: TreeNode[Entry], was_open: set[str]) -> None:
    """Put what a folder holds below its node: folders, files, then what is passed over."""
    folder = node.data
    if not isinstance(folder, Folder):
        return
    for name in sorted(folder.folders):
        inside = folder.folders[name]
        label = Text.assemble((f"{one_line(name)}/", "bold"), (f"  {inside.count:,}", "dim"))
        child = node.add(label, inside)
        if inside.path in was_open:
            _fill(child, was_open)
            child.expand()
    for file in folder.files:
        node.add_leaf(Text(one_line(file.path.rpartition("/")[2])), file)
    for skip in folder.skips:
        name = one_line(skip.path.rpartition("/")[2]) + ("/" if skip.is_dir else "")
        node.add_leaf(Text(f"○ {name}  {skip.reason}", "dim"), skip)


def _cost(view: View) -> str:
    info = view.truncation
    cut = "▲ cut · " if info.reason else ""
    return f"{cut}{info.estimated_tokens:,} / {info.limit_tokens:,} tokens"


def _all_nodes(node: TreeNode[Entry]) -> list[TreeNode[Entry]]:
    return [node, *(below for child in node.children for below in _all_nodes(child))]


def _walk(symbol: Symbol, depth: int) -> list[tuple[Symbol, int]]:
    return [(symbol, depth), *(below for child in symbol.children for below in _walk(child, depth + 1))]
