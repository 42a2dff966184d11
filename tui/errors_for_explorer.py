"""The next step after each kind of error, for someone in the explorer: mostly a key to press."""

from keyhole.core.errors import ErrorKind, KeyholeError, NextSteps

EXPLORER_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "open a project folder, or start again with --force",
    ErrorKind.NOT_A_FILE: "press 2 to see the files",
    ErrorKind.DELETED_FILE: "press r to check for changed files",
    ErrorKind.NOT_INDEXED: "press 2 to see why it is skipped",
    ErrorKind.UNKNOWN_PATH: "press 2 to see what is indexed",
    ErrorKind.NO_VECTORS: "press / and add mode:keyword",
    ErrorKind.NO_SYMBOL: "press 2, open {path}, then press s to see its symbols",
    ErrorKind.UNKNOWN_SYMBOL: "press / and search for {symbol} mode:symbol to see similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "press / and add mode:symbol to find it in any file",
    ErrorKind.OLD_CURSOR: "press / and search again",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "press / and narrow the search with path: or lang:, or try again: the next search is faster",
    ErrorKind.NO_INDEX: "press r to build it",
    ErrorKind.BUILDING: "wait: results appear as files are indexed",
    ErrorKind.DAMAGED_INDEX: "press r to rebuild it",
    ErrorKind.NEWER_INDEX: "press q and update Keyhole",
    ErrorKind.FULL_DISK: "free some space, then press r",
    ErrorKind.LOCKED_INDEX: "press r to try again",
    ErrorKind.UNUSABLE_FOLDER: "check the folder's permissions, or press q and set KEYHOLE_CACHE_DIR",
    ErrorKind.DAMAGED_JOURNAL: "press q, delete the journal file and start again",
    ErrorKind.MISSING_MODEL: "press r to download it",
    ErrorKind.TAKEN_PORT: "press s to use any free port",
    ErrorKind.NO_TOKEN: "press q and start again with a token",
}


def problem_text(error: KeyholeError) -> str:
    """Return what happened and what to do next."""
    return error.worded(EXPLORER_STEPS)
