"""The next step for someone at a shell, by kind of error."""

from keyhole.core.errors import ErrorKind, NextSteps

SHELL_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "name a project folder, or pass --force",
    ErrorKind.NOT_A_FILE: "keyhole tree lists the files",
    ErrorKind.DELETED_FILE: "run keyhole index, or search again",
    ErrorKind.NOT_INDEXED: "keyhole status --skipped lists skipped paths with reasons",
    ErrorKind.UNKNOWN_PATH: "keyhole tree lists what is indexed",
    ErrorKind.NO_VECTORS: "use --mode keyword",
    ErrorKind.NO_SYMBOL: "keyhole map {path} lists its symbols",
    ErrorKind.UNKNOWN_SYMBOL: "keyhole search {symbol} --mode symbol finds similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "keyhole search --mode symbol finds symbols in any file",
    ErrorKind.OLD_CURSOR: "run it again with --offset instead of --cursor",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "narrow the search with --path or --language, or try again: the next try is faster",
    ErrorKind.NO_INDEX: "run keyhole index",
    ErrorKind.BUILDING: "try again in a few seconds",
    ErrorKind.DAMAGED_INDEX: "run keyhole index to rebuild it",
    ErrorKind.NEWER_INDEX: "update keyhole, or run keyhole clear",
    ErrorKind.FULL_DISK: "free some disk space, then run it again",
    ErrorKind.LOCKED_INDEX: "wait until it finishes, then try again",
    ErrorKind.UNUSABLE_FOLDER: "check the folder, or set KEYHOLE_CACHE_DIR",
    ErrorKind.DAMAGED_JOURNAL: "run keyhole clear to delete it",
    ErrorKind.TAKEN_PORT: "try another --port",
    ErrorKind.NO_TOKEN: "pass --token, or serve on 127.0.0.1",
}
