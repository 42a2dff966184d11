"""The workspaces of one run of the explorer: those that are open, and the one that is opened next."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyhole.core.service import Service


@dataclass(frozen=True, slots=True)
class NextWorkspace:
    """A workspace that could be opened, so the explorer may leave the current one for it."""

    service: "Service"
    # What the user should know about the workspace that is left.
    notice: str = ""


@dataclass(slots=True)
class Workspaces:
    """Opens workspaces, and lists those that were open in this run, in the order in which they were opened."""

    # Raises KeyholeError for a folder that can't be a workspace, and for wrong settings in it.
    open: Callable[[Path], "Service"]
    opened: list[Path] = field(default_factory=list)
    next: NextWorkspace | None = None

    def add(self, root: Path) -> None:
        """Add a workspace that is open now."""
        if root not in self.opened:
            self.opened.append(root)

    def take_next(self) -> NextWorkspace | None:
        """Return the workspace to open next, once."""
        chosen, self.next = self.next, None
        return chosen
