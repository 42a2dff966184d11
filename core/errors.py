"""Every error Keyhole raises on purpose; front ends map them to exit codes and tool errors.

KeyholeError                 exit 2; the message says what is wrong and what to do next
├── WorkspaceError           the folder cannot be opened, or is refused
├── PathError                a path is outside the workspace, missing, or not served
├── ConfigError              a setting is unknown or has a wrong value
├── QueryError               a search cannot be run as asked
│   └── CursorError          a cursor is stale, of another request, or made up
├── DeadlineError            an answer takes too long
├── PortError                nothing can be served at a port
├── AssetError               a file that ships with Keyhole is missing or broken
└── StoreError               the index cannot be read or written
    ├── CorruptStoreError    the index file is damaged; the next index run sets it aside
    ├── FullStoreError       there is no room to write
    ├── LockedStoreError     another process is writing
    └── NewerStoreError      a newer keyhole made the index
"""


class KeyholeError(Exception):
    """The root: a problem the person at the keyboard, or the model, can act on."""


class WorkspaceError(KeyholeError):
    """The folder cannot be opened as a workspace."""


class PathError(KeyholeError):
    """A path inside the workspace cannot be served."""


class ConfigError(KeyholeError):
    """A setting is unknown or has a wrong value."""


class QueryError(KeyholeError):
    """A search cannot be run as asked."""


class CursorError(QueryError):
    """A cursor cannot be followed."""


class DeadlineError(KeyholeError):
    """An answer takes too long."""


class PortError(KeyholeError):
    """Nothing can be served at a port; `problem` is what is wrong, without what to do at the command line."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; try another --port")
        self.problem = problem


class AssetError(KeyholeError):
    """A file that ships with Keyhole is missing or broken."""


class StoreError(KeyholeError):
    """The index cannot be read or written."""


class CorruptStoreError(StoreError):
    """The index file is damaged."""


class FullStoreError(StoreError):
    """There is no room to write."""


class LockedStoreError(StoreError):
    """Another process is writing."""


class NewerStoreError(StoreError):
    """A newer keyhole made the index."""
