"""sqlite-vec, loaded into a connection."""

import apsw

from keyhole.core.index.single_threaded import single_threaded


def load_vectors(db: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection; False where it cannot be loaded."""
    # It imports numpy, whose threads would take the signals that worker processes are started without.
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
