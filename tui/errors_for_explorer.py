"""The next step after each kind of error, for someone in the explorer: mostly a key to press."""

from keyhole.core.errors import ErrorKind, KeyholeError, NextSteps

# Most errors appear while the search line has the focus, and there letters are text: esc leaves it first.
EXPLORER_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "open a project folder, or start again with --force",
    ErrorKind.NOT_A_FILE: "press 2 to see the files",
    ErrorKind.DELETED_FILE: "press r to check for changed files",
    ErrorKind.NOT_INDEXED: "press 2 to see why it is skipped",
    ErrorKind.LINKS_OF_FOLDER: "press 2, open one of its files, then press l",
    ErrorKind.SECRET_FILE: "to see it anyway, press ^q and add its path to secrets.readmit in your config.toml",
    ErrorKind.UNKNOWN_PATH: "press esc, then 2 to see what is indexed",
    ErrorKind.NO_VECTORS: "add mode:keyword",
    ErrorKind.NO_SYMBOL: "press 2, open {path}, then press s to see its symbols",
    ErrorKind.UNKNOWN_SYMBOL: "search for {symbol} mode:symbol to see similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "add mode:symbol to find it in any file",
    ErrorKind.NO_FILTER: "add a filter",
    ErrorKind.NO_SYMBOL_ASKED: "press esc, select a result and press u",
    ErrorKind.NO_DEFINITION_AT_LINE: "press esc and choose a line inside a definition",
    ErrorKind.AMBIGUOUS_SYMBOL: "press esc, add mode:symbol to the search, select one and press u",
    ErrorKind.NO_REFERENCE: "press esc, select a result and press m",
    ErrorKind.OLD_CURSOR: "search again",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "narrow the search with path: or lang:, or try again: the next search is faster",
    ErrorKind.NO_INDEX: "press esc, then r to build it",
    ErrorKind.BUILDING: "wait: results appear as files are indexed",
    ErrorKind.INTERRUPTED: "press esc, then r to continue",
    ErrorKind.DAMAGED_INDEX: "press esc, then r to rebuild it",
    ErrorKind.NEWER_INDEX: "press ^q and update Keyhole",
    ErrorKind.FULL_DISK: "free some space, then press esc and r to try again",
    ErrorKind.LOCKED_INDEX: "press esc, then r to try again",
    ErrorKind.UNUSABLE_FOLDER: "check the folder's permissions, or press ^q and set KEYHOLE_CACHE_DIR",
    ErrorKind.DAMAGED_JOURNAL: "press ^q, delete the journal file and start again",
    ErrorKind.NO_WORKER: "check the limits on processes and memory, then press esc and r",
    ErrorKind.TAKEN_PORT: "press s to use any free port",
    ErrorKind.NO_TOKEN: "press ^q and start again with a token",
}


def problem_text(error: KeyholeError) -> str:
    """Return what happened and what to do next."""
    return error.worded(EXPLORER_STEPS)
