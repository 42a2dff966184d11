"""Loading the SQLite extension sqlite-vec."""

import apsw

from keyhole.core.index.single_threaded import single_threaded


def library_path() -> str:
    """Return where sqlite-vec is installed."""
    # sqlite_vec imports numpy. Its threads would receive the signals that are blocked while worker processes start.
    with single_threaded():
        import sqlite_vec
    return str(sqlite_vec.loadable_path())


def load_vectors(db: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection; return False if that fails."""
    path = library_path()
    try:
        db.enable_load_extension(True)
        db.load_extension(path)
    except (apsw.ExtensionLoadingError, OSError):
        return False
    finally:
        db.enable_load_extension(False)
    return True
