"""The location of a workspace's index: one folder per workspace, inside the cache folder."""

from hashlib import blake2b
from pathlib import Path

INDEX_FILE = "index.db"
LOCK_FILE = "writer.lock"
JOURNAL_FILE = "journal.db"
JOURNAL_LOCK_FILE = "journal.lock"
# The path of the workspace, to find indexes whose workspace is gone.
ROOT_FILE = "workspace.txt"
# Oversized answers of wrapped servers.
ANSWERS_FOLDER = "answers"
# What is marked in the explorer.
BUNDLE_FILE = "bundle.toml"
# The content store, in a folder of its own next to those of workspaces.
STORE_FILE = "content.db"
_STORE_FOLDER = "content-store"


def index_folder(cache_dir: Path, root: Path) -> Path:
    """Return the folder of a workspace's index: its name, so that people recognise it, and a hash."""
    digest = blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in root.name)[:40]
    return cache_dir / f"{name}-{digest}"


def store_folder(cache_dir: Path) -> Path:
    """Return the folder of the content store, which all workspaces share."""
    return cache_dir / _STORE_FOLDER
