"""The folder tree of a workspace: indexed files, and skipped ones with the reason."""

from dataclasses import dataclass, field

from keyhole.core.types.inventory import IndexedFile, Inventory
from keyhole.core.types.source_files import Skip


@dataclass(slots=True)
class Folder:
    """Holds the entries of a folder; `count` is the number of indexed files at any depth."""

    path: str = ""
    folders: dict[str, "Folder"] = field(default_factory=dict)
    files: list[IndexedFile] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    count: int = 0

    def enter(self, name: str) -> "Folder":
        """Return a subfolder, created if needed."""
        if name not in self.folders:
            self.folders[name] = Folder(f"{self.path}/{name}" if self.path else name)
        return self.folders[name]


def build_tree(inventory: Inventory) -> Folder:
    """Build the tree from all indexed and skipped paths."""
    root = Folder()
    for file in inventory.files:
        folder = root
        folder.count += 1
        for name in file.path.split("/")[:-1]:
            folder = folder.enter(name)
            folder.count += 1
        folder.files.append(file)
    for skip in inventory.skips:
        folder = root
        for name in skip.path.split("/")[:-1]:
            folder = folder.enter(name)
        folder.skips.append(skip)
    return root
