"""What someone in the explorer can do about each kind of error: press a key, or leave for a shell."""

from keyhole.core.errors import ErrorKind, KeyholeError, NextSteps

EXPLORER_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "open a project folder, or start with --force",
    ErrorKind.NOT_A_FILE: "2 Files lists the files",
    ErrorKind.DELETED_FILE: "r looks for changed files",
    ErrorKind.NOT_INDEXED: "2 Files shows what is skipped and why",
    ErrorKind.UNKNOWN_PATH: "2 Files lists what is indexed",
    ErrorKind.NO_VECTORS: "use mode:keyword",
    ErrorKind.NO_SYMBOL: "2 Files shows the symbols of {path}",
    ErrorKind.UNKNOWN_SYMBOL: "{symbol} mode:symbol finds similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "mode:symbol finds symbols in any file",
    ErrorKind.OLD_CURSOR: "search again",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "narrow the search with path: or lang:, or try again: the next try is faster",
    ErrorKind.NO_INDEX: "r builds it",
    ErrorKind.BUILDING: "results appear as files are read",
    ErrorKind.DAMAGED_INDEX: "r rebuilds it",
    ErrorKind.NEWER_INDEX: "update keyhole, or run keyhole clear in a shell",
    ErrorKind.FULL_DISK: "free some space, then r tries again",
    ErrorKind.LOCKED_INDEX: "r tries again",
    ErrorKind.UNUSABLE_FOLDER: "check the folder, or set KEYHOLE_CACHE_DIR",
    ErrorKind.DAMAGED_JOURNAL: "keyhole clear in a shell deletes it",
    ErrorKind.MISSING_MODEL: "r downloads it",
    ErrorKind.TAKEN_PORT: "s serves on any free port instead",
    ErrorKind.NO_TOKEN: "start with a token",
}


def problem_text(error: KeyholeError) -> str:
    """Say what happened, and which key helps."""
    return error.worded(EXPLORER_STEPS)
