"""What Keyhole can do with a workspace; every door (CLI, explorer, MCP) comes through here.

Imports that cost time stand inside the methods that need them.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.config import Settings, load_settings
from keyhole.core.errors import PathError
from keyhole.core.files.read import read_source
from keyhole.core.files.walk import examine, printable, scan
from keyhole.core.files.workspace import open_workspace
from keyhole.core.index.location import INDEX_FILE, index_folder
from keyhole.core.types import Analysis, Candidate, IndexReport, Progress, Skip, Status

if TYPE_CHECKING:
    from keyhole.core.index.embedder import Embedder

_SAMPLE_BYTES = 5_000


class Service:
    """One open workspace."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.settings = settings
        self.folder = index_folder(settings.cache_dir, root)

    @classmethod
    def open(cls, path: Path, *, force: bool = False, flags: Mapping[str, object] | None = None) -> "Service":
        """Open a folder, with its settings."""
        root = open_workspace(path, force=force)
        return cls(root, load_settings(root, flags))

    def index(
        self,
        *,
        full: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_message: Callable[[str], None] = lambda _: None,
    ) -> IndexReport:
        """Bring the index up to date."""
        from keyhole.core.index.update import Hooks, Request, update_index

        request = Request(
            root=self.root,
            folder=self.folder,
            max_bytes=self.settings.index.max_file_bytes,
            workers=self.settings.index.workers,
            embedder=self._embedder(),
            full=full,
        )
        return update_index(request, Hooks(on_progress, on_message))

    def status(self) -> Status:
        """Tell what the index holds, and how far the files have moved on since."""
        from keyhole.core.index.status import read_status

        return read_status(self.root, self.folder / INDEX_FILE, max_bytes=self.settings.index.max_file_bytes)

    def clear(self) -> bool:
        """Delete the index; False when there was none."""
        from keyhole.core.index.lock import writer_lock

        if not self.folder.exists():
            return False
        with writer_lock(self.folder, wait=False):
            shutil.rmtree(self.folder)
        return True

    def analyse(self, path: str) -> Analysis:
        """Parse one file as it is now."""
        from keyhole.core.syntax.analyse import analyse

        relative = self.relative(path)
        limit = self.settings.index.max_file_bytes
        admitted = examine(self.root, relative, max_bytes=limit)
        source = read_source(self.root, relative, max_bytes=limit) if isinstance(admitted, Candidate) else admitted
        if isinstance(source, Skip):
            raise PathError(f"{source.path} is not served: {source.reason}: {source.detail}")
        return analyse(source)

    def sample(self) -> Analysis | None:
        """Parse a file that shows well what a map is: code, and not too long."""
        from keyhole.core.syntax.languages import detect_language

        sizes = {
            candidate.path: candidate.size
            for candidate in scan(self.root, max_bytes=_SAMPLE_BYTES).candidates
            if detect_language(candidate.path, "").has_definitions
        }
        return self.analyse(max(sizes, key=lambda path: (sizes[path], path))) if sizes else None

    def relative(self, path: str) -> str:
        """Turn what a caller wrote into a path relative to the root, or refuse it."""
        try:
            # Resolve the folder only: the file itself may be a link, which has a reason of its own.
            given = self.root / path
            inside = (given.parent.resolve() / given.name).relative_to(self.root)
        except (ValueError, OSError, RuntimeError):
            raise PathError(f"{printable(path)} is outside the workspace; paths are relative to its root") from None
        if inside.name in ("", "..") or not (self.root / inside).is_file():
            raise PathError(f"{printable(path)} is not a file in the workspace; keyhole status lists what there is")
        return inside.as_posix()

    def _embedder(self) -> "Embedder | None":
        if self.settings.index.model is None:
            return None
        from keyhole.core.index.model import StaticEmbedder

        return StaticEmbedder(self.settings.index.model)
