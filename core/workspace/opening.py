"""Opening a workspace: its folder, its settings and the location of its index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.config import Settings, load_settings
from keyhole.core.errors import ErrorKind, StoreError
from keyhole.core.files.read import SourceReader
from keyhole.core.files.text_source import TextSource
from keyhole.core.files.workspace import open_workspace
from keyhole.core.index.location import index_folder, store_folder
from keyhole.core.types.source_files import SecretPolicy

if TYPE_CHECKING:
    from keyhole.core.index.content_store import ContentPlace
    from keyhole.core.index.embedder import Embedder
    from keyhole.core.index.index_home import IndexHome
    from keyhole.core.index.protocols import IndexStore
    from keyhole.core.index.update import Request


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """An open workspace; `folder` contains its index and its journal."""

    root: Path
    settings: Settings
    folder: Path = field(init=False)

    # Where the index is, if it is not a file in the folder.
    elsewhere: "IndexHome | None" = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", index_folder(self.settings.cache_dir, self.root))
        if url := self.settings.store.url.get_secret_value():
            object.__setattr__(self, "elsewhere", _home_on_server(url, self.folder.name, self.root))

    @classmethod
    def at(cls, path: Path, *, force: bool, flags: Mapping[str, object] | None) -> "OpenWorkspace":
        """Open a folder and load its settings."""
        root = open_workspace(path, force=force)
        return cls(root, load_settings(root, flags))

    @property
    def home(self) -> "IndexHome":
        """Where the index is: in a file, or on the server of `store.url`."""
        from keyhole.core.index.index_home import SqliteHome

        return self.elsewhere or SqliteHome(self.folder)

    @property
    def max_bytes(self) -> int:
        """The size limit of files; larger ones are not indexed."""
        return self.settings.index.max_file_bytes

    @property
    def secrets(self) -> SecretPolicy:
        """What the user has decided about secrets, with paths relative to this workspace."""
        settings = self.settings.secrets
        return SecretPolicy(settings.mask, tuple(filter(None, map(self._readmitted, settings.readmit))))

    @property
    def name(self) -> str:
        """What tells this workspace from others in cursors."""
        return self.folder.name

    @property
    def files(self) -> TextSource:
        """The files of the workspace, as they are read for the index."""
        return SourceReader(self.root, self.max_bytes, self.secrets)

    def texts_for(self, store: "IndexStore") -> TextSource:  # noqa: ARG002  # a team's texts are in the store
        """Return where a reader of the index gets the texts of files from."""
        return self.files

    def _readmitted(self, pattern: str) -> str:
        """Return a pattern relative to the root; empty for an absolute path in another workspace."""
        if not pattern.startswith(("/", "~")):
            return pattern
        try:
            return f"/{Path(pattern).expanduser().relative_to(self.root).as_posix()}"
        except (ValueError, RuntimeError):
            return ""

    def update_request(
        self, embedder: "Embedder | None", *, full: bool = False, retry: bool = False, renew: bool = True
    ) -> "Request":
        """Return the request for an update of the index."""
        from keyhole.core.index.update import Request

        return Request(
            root=self.root,
            folder=self.folder,
            max_bytes=self.max_bytes,
            secrets=self.secrets,
            workers=self.settings.index.workers,
            embedder=embedder,
            full=full,
            retry=retry,
            renew=renew,
            elsewhere=self.elsewhere,
            content=self.content_place,
        )

    @property
    def content_place(self) -> "ContentPlace | None":
        """The content store that all workspaces share; None if the settings turn it off."""
        from keyhole.core.index.content_store import ContentPlace

        limit = self.settings.content_store.max_bytes
        return ContentPlace(store_folder(self.settings.cache_dir), limit) if limit else None


def _home_on_server(url: str, name: str, root: Path) -> "IndexHome":
    """Return the home of an index on a PostgreSQL server; the modules for it are imported only here."""
    require_team_extra()
    from keyhole.core.postgres.postgres_home import PostgresHome

    return PostgresHome(url, name, root)


def require_team_extra() -> None:
    """Raise StoreError unless the library for PostgreSQL can be used."""
    try:
        import psycopg  # noqa: F401  # only to see whether it works
    except ImportError:
        text = "store.url needs the extra team, which is not installed"
        raise StoreError(text, ErrorKind.NO_TEAM_EXTRA) from None
