"""The tree of files: indexed ones, and skipped ones with the reason."""

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from keyhole.core.types.bundle import Bundle
from keyhole.core.types.inventory import IndexedFile, Inventory
from keyhole.core.types.source_files import Skip
from keyhole.core.view.text import one_line
from keyhole.tui import keys
from keyhole.tui.change_marks import COLOURS, FOLDER_MARK
from keyhole.tui.folders import Folder, build_tree
from keyhole.tui.index_state import IndexState
from keyhole.tui.mark_sign import MARK
from keyhole.tui.token_heat import HeatColumn

if TYPE_CHECKING:
    from keyhole.core.git.git_changes import GitChanges

Entry = Folder | IndexedFile | Skip


class FileTree(Tree[Entry]):
    """Shows folders and files; a folder is filled when it is opened."""

    HELP_TITLE = "Tree of files"
    BINDINGS: ClassVar[list[BindingType]] = keys.TREE

    _changes: "GitChanges | None" = None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        # Textual renders the label of the root at once.
        self._changes: GitChanges | None = None
        self._column: HeatColumn | None = None
        # The files of which something is marked.
        self._bundled: frozenset[str] = frozenset()
        super().__init__("", id=id)
        self.show_root = False
        self.guide_depth = 2
        self.border_title = "Files"

    def on_mount(self) -> None:
        """Watch what changed since the last commit."""
        self.watch(self.app, "git_changes", self._on_changes)
        self.watch(self.app, "bundle", self._on_bundle)

    def _on_changes(self, changes: "GitChanges | None") -> None:
        self._changes = changes
        self._draw_labels()

    def _on_bundle(self, bundle: Bundle) -> None:
        self._bundled = frozenset(item.path for item in bundle.items)
        self._draw_labels()

    def show_heat(self, column: HeatColumn | None) -> None:
        """Show what files and folders cost; None shows only their names."""
        self._column = column
        self._draw_labels()

    def _draw_labels(self) -> None:
        # Labels are rendered from the marks and costs, and Textual keeps them until a node has a new one.
        for node in _all_nodes(self.root):
            node.set_label(node.label)

    def render_label(self, node: TreeNode[Entry], base_style: Style, style: Style) -> Text:
        """Render a label with its marks, and with its cost in a column on the right."""
        label = self._marked_label(node, base_style, style)
        if self._column is None or not isinstance(node.data, Folder | IndexedFile):
            return label
        # As Textual indents a tree without its root.
        indent = self.guide_depth * max(0, len(_ancestors(node)) - 1)
        room = self.scrollable_content_region.width - indent - self._column.width
        label.truncate(max(4, room), overflow="ellipsis", pad=True)
        muted = self.app.theme_variables.get("warning", "")
        return label.append(self._column.cell(node.data.path), Style(color=muted or None))

    def _marked_label(self, node: TreeNode[Entry], base_style: Style, style: Style) -> Text:
        label = super().render_label(node, base_style, style)
        if isinstance(node.data, IndexedFile) and node.data.path in self._bundled:
            label.append(f" {MARK}", Style(bold=True, color=self.app.theme_variables.get("secondary") or None))
        if mark := self._mark(node.data):
            colour = self.app.theme_variables.get(COLOURS.get(mark, "warning"), "")
            label.append(f" {mark}", Style(bold=True, color=colour or None))
        return label

    def _mark(self, entry: Entry | None) -> str:
        if self._changes is None or entry is None:
            return ""
        if isinstance(entry, Folder):
            return FOLDER_MARK if self._changes.has_changes_in(entry.path) else ""
        # A skipped file is dim as a whole, and an ignored one can't have changed.
        return self._changes.kind_of(entry.path) or "" if isinstance(entry, IndexedFile) else ""

    def show(self, inventory: Inventory) -> None:
        """Rebuild the tree; open folders stay open, and the cursor stays where it was."""
        was_open = {node.data.path for node in _all_nodes(self.root) if node.is_expanded and node.data}
        was_on = self.cursor_node.data.path if self.cursor_node and self.cursor_node.data else ""
        self.clear()
        self.root.data = build_tree(inventory)
        _fill(self.root, was_open)
        self.border_subtitle = Content(f"{len(inventory.files):,} indexed · {len(inventory.skips):,} skipped")
        if was_on:
            self.reveal(was_on)

    def show_progress(self, state: IndexState) -> None:
        """Show how far the index is, until it is known what is indexed; and why nothing is shown yet."""
        if not state.is_first_run:
            return
        bar = state.bar()
        self.border_subtitle = bar or Content("looking for files")
        if not self.root.children:
            self.root.add_leaf(Text("◌ looking for files", "dim"))

    def reveal(self, path: str) -> None:
        """Open the folders down to a path and put the cursor on it; an unknown path changes nothing."""
        node = self.root
        while node.data is None or node.data.path != path:
            if not node.children:
                _fill(node, set())
            inside = [child for child in node.children if child.data and _leads_to(child.data.path, path)]
            if not inside:
                return
            node.expand()
            node = inside[0]
        # A new line gets its number when it is drawn.
        self.call_after_refresh(self._put_cursor_on, node)

    def _put_cursor_on(self, node: TreeNode[Entry]) -> None:
        self.move_cursor(node)
        self.scroll_to_node(node, animate=False)

    def on_resize(self) -> None:
        """Keep the cursor in view when the tree becomes smaller, as when the links are shown."""
        if self._column:
            self._draw_labels()
        if self.cursor_line >= 0:
            self.scroll_to_line(self.cursor_line, animate=False)

    def action_move_half(self, step: int) -> None:
        """Move the cursor by half a screen."""
        self._move_to_line(self.cursor_line + step * max(1, self.scrollable_content_region.height // 2))

    def action_move_to(self, line: int) -> None:
        """Move the cursor to a row; -1 is the last."""
        self._move_to_line(line if line >= 0 else self.last_line)

    def _move_to_line(self, line: int) -> None:
        self.cursor_line = min(max(0, line), self.last_line)
        self.scroll_to_line(self.cursor_line, animate=False)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        """Fill a folder when it is opened."""
        if not event.node.children:
            _fill(event.node, set())


def _leads_to(here: str, path: str) -> bool:
    return path == here or path.startswith(f"{here}/")


def _fill(node: TreeNode[Entry], was_open: set[str]) -> None:
    """Add the entries of a folder to its node: folders, files, then skipped ones."""
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


def _ancestors(node: TreeNode[Entry]) -> list[TreeNode[Entry]]:
    return [node.parent, *_ancestors(node.parent)] if node.parent else []


def _all_nodes(node: TreeNode[Entry]) -> list[TreeNode[Entry]]:
    return [node, *(below for child in node.children for below in _all_nodes(child))]
