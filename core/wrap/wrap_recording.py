"""Records what passes a wrap in the journal of a workspace; everything slow happens in the thread of the copies."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.wrap.copies import Copies
from keyhole.core.wrap.framing import CopiedLines

if TYPE_CHECKING:
    from keyhole.core.journal.writer import Journal
    from keyhole.core.types.calls import WrappedServer
    from keyhole.core.wrap.exchanges import CallWriter, Exchanges

# Long enough for a busy machine to import what the first record needs.
_CLOSE_SECONDS = 8.0


class WrapRecording:
    """Where the copies of one wrapped server go: to the journal of the workspace `root`."""

    def __init__(self, root: Path, name: str, *, command: tuple[str, ...] = (), url: str = "") -> None:
        self.copies = Copies()
        self._root = root
        self._name = name
        self._command = command
        self._url = url
        self._journal: Journal | None = None
        self._writer: CallWriter | None = None
        self._has_failed = False

    def writer(self) -> "CallWriter | None":
        """Return what writes to the journal, opened when it is first needed; None if calls are not to be recorded.

        Only the thread of the copies calls this.
        """
        if self._writer is None and not self._has_failed:
            # Set first: a journal that can't be opened is tried once, and its error is reported once.
            self._has_failed = True
            self._writer = self._opened()
        return self._writer

    def close(self) -> None:
        """Write what is left, within a time limit."""
        self.copies.close(_CLOSE_SECONDS)
        if self._journal is not None:
            self._journal.close(_CLOSE_SECONDS)

    def _opened(self) -> "CallWriter | None":
        from keyhole.core.journal.writer import Journal
        from keyhole.core.workspace.opening import OpenWorkspace
        from keyhole.core.wrap.exchanges import CallWriter

        # The journal of a folder that is too wide for an index is still its journal.
        workspace = OpenWorkspace.at(self._root, force=True, flags=None)
        limits = workspace.settings.journal
        if not limits.enabled:
            return None
        self._journal = Journal(workspace.folder, max_bytes=limits.max_bytes, max_seconds=limits.max_days * 86_400)
        self._journal.wraps(self._server(workspace.root))
        return CallWriter(self._journal, self._name, "http" if self._url else "stdio")

    def _server(self, root: Path) -> "WrappedServer":
        from keyhole.core.types.calls import WrappedServer

        return WrappedServer(self._name, self._command, self._url, str(root if self._url else Path.cwd()))


class StdioRecording:
    """Both directions of a wrap on stdio."""

    def __init__(self, recording: WrapRecording) -> None:
        self._recording = recording
        self._exchanges: Exchanges | None = None
        self._client = CopiedLines(lambda line, at: self._take(lambda pairs: pairs.from_client(line, at)))
        self._server = CopiedLines(lambda line, at: self._take(lambda pairs: pairs.from_server(line, at)))

    def saw_client(self, chunk: bytes) -> None:
        """Take a copy of what the client sent; the server starts faster if nothing is parsed before it answers."""
        self._recording.copies.saw(self._client, chunk, may_start=False)

    def saw_server(self, chunk: bytes) -> None:
        """Take a copy of what the server sent."""
        self._recording.copies.saw(self._server, chunk)

    def _take(self, pair: "Callable[[Exchanges], None]") -> None:
        if self._exchanges is None and (writer := self._recording.writer()):
            from keyhole.core.wrap.exchanges import Exchanges

            self._exchanges = Exchanges(writer)
        if self._exchanges is not None:
            pair(self._exchanges)
