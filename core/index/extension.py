"""sqlite-vec, loaded into a connection."""

import apsw


def load_vectors(db: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection; False where it cannot be loaded."""
    import sqlite_vec

    try:
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
    except (apsw.ExtensionLoadingError, OSError):
        return False
    finally:
        db.enable_load_extension(False)
    return True
