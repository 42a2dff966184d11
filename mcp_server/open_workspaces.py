"""The workspaces that the shared server has open: each once, however many clients use it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from keyhole.core.config import Settings
from keyhole.core.service import Service
from keyhole.core.types.choices import ToolSet
from keyhole.core.workspace.opening import OpenWorkspace
from keyhole.mcp_server.freshness import Freshness

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from keyhole.core.journal.writer import Journal


@dataclass(slots=True, eq=False)
class SharedWorkspace:
    """An open workspace with what its clients share."""

    service: Service
    freshness: Freshness
    journal: "Journal | None"
    # The server of each set of tools.
    servers: "dict[ToolSet | None, FastMCP]" = field(default_factory=dict)
    clients: int = 0
    used: float = field(default_factory=time.monotonic)
    # What else ends with the workspace.
    closers: list[Callable[[], object]] = field(default_factory=list)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Mark the workspace as used at the start and at the end of a call."""
        self.used = time.monotonic()
        try:
            yield
        finally:
            self.used = time.monotonic()

    def close(self) -> None:
        """Write the rest of the journal, and end what belongs to the workspace."""
        for closer in self.closers:
            closer()
        if self.journal:
            self.journal.close()


class OpenWorkspaces:
    """Opens a workspace for its first client, and closes it when nobody has used it for a while."""

    def __init__(self) -> None:
        self._lock = Lock()
        # Settings may differ between clients of one folder (`--no-journal`), and never mix.
        self._open: dict[tuple[Path, str], SharedWorkspace] = {}

    @contextmanager
    def lend(self, path: Path, *, force: bool, flags: Mapping[str, object]) -> Iterator[SharedWorkspace]:
        """Open a workspace for a client; raise what the command line would raise if it can't be opened."""
        found = OpenWorkspace.at(path, force=force, flags=flags)
        with self._lock:
            key = found.root, found.settings.model_dump_json()
            if key not in self._open:
                self._open[key] = _opened(found.root, found.settings)
            workspace = self._open[key]
            workspace.clients += 1
        try:
            yield workspace
        finally:
            with self._lock:
                workspace.clients -= 1
                workspace.used = time.monotonic()

    def close_idle(self, seconds: float) -> None:
        """Close what was not used for some time: the readers of the index, and all else if no client is left."""
        with self._lock:
            for key, workspace in list(self._open.items()):
                if time.monotonic() - workspace.used < seconds:
                    continue
                # The next call opens it again.
                workspace.service.close()
                if not workspace.clients:
                    del self._open[key]
                    workspace.close()

    def close(self) -> None:
        """Write the rest of every journal."""
        with self._lock:
            for workspace in self._open.values():
                workspace.close()

    def roots(self) -> list[Path]:
        """Return the folders of the open workspaces."""
        with self._lock:
            return sorted({root for root, _ in self._open})


def _opened(root: Path, settings: Settings) -> SharedWorkspace:
    service = Service(root, settings)
    return SharedWorkspace(service, Freshness(service), service.journal())
