"""Loading the SQLite extension sqlite-vec."""

import apsw

from keyhole.core.index.single_threaded import single_threaded


def load_vectors(db: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection; return False if that fails."""
    # sqlite_vec imports numpy. Its threads would receive the signals that are blocked while worker processes start.
    with single_threaded():
        import sqlite_vec

    try:
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
    except (apsw.ExtensionLoadingError, OSError):
        return False
    finally:
        db.enable_load_extension(False)
    return True
