"""The tree of files: indexed ones, and skipped ones with the reason."""

from rich.text import Text
from textual.content import Content
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from keyhole.core.types import IndexedFile, Inventory, Skip
from keyhole.core.view.text import one_line
from keyhole.tui.folders import Folder, build_tree

Entry = Folder | IndexedFile | Skip


class FileTree(Tree[Entry]):
    """Shows folders and files; a folder is filled when it is opened."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__("", id=id)
        self.show_root = False
        self.guide_depth = 2
        self.border_title = "Files"

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


def _all_nodes(node: TreeNode[Entry]) -> list[TreeNode[Entry]]:
    return [node, *(below for child in node.children for below in _all_nodes(child))]
