"""The next step for someone at a shell, by kind of error."""

from keyhole.core.errors import ErrorKind, NextSteps

SHELL_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "name a project folder, or pass --force",
    ErrorKind.NOT_A_FILE: "run `keyhole tree` to list the files",
    ErrorKind.DELETED_FILE: "run `keyhole index`, or search again",
    ErrorKind.NOT_INDEXED: "run `keyhole status --skipped` to see skipped paths and why",
    ErrorKind.LINKS_OF_FOLDER: "run `keyhole backlinks {path}` to list the links to it",
    ErrorKind.SECRET_FILE: "to serve it anyway, add its path to secrets.readmit in your config.toml",
    ErrorKind.UNKNOWN_PATH: "run `keyhole tree` to see what is indexed",
    ErrorKind.NO_VECTORS: "use --mode keyword",
    ErrorKind.NO_SYMBOL: "run `keyhole map {path}` to list its symbols",
    ErrorKind.UNKNOWN_SYMBOL: "run `keyhole search {symbol} --mode symbol` to find similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "run `keyhole search {symbol} --mode symbol` to find it in any file",
    ErrorKind.NO_FILTER: "use --has-links-to, --linked-from, --external-domains or --broken",
    ErrorKind.NO_REFERENCE: "use PATH and --line, or --symbol",
    ErrorKind.OLD_CURSOR: "run it again with --offset instead of --cursor",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "narrow the search with --path or --language, or try again: the next try is faster",
    ErrorKind.NO_INDEX: "run `keyhole index`",
    ErrorKind.BUILDING: "try again in a few seconds",
    ErrorKind.INTERRUPTED: "run `keyhole index` to continue",
    ErrorKind.DAMAGED_INDEX: "run `keyhole index` to rebuild it",
    ErrorKind.NEWER_INDEX: "update keyhole, or run `keyhole clear`",
    ErrorKind.FULL_DISK: "free some disk space, then run it again",
    ErrorKind.LOCKED_INDEX: "wait until it finishes, then try again",
    ErrorKind.UNUSABLE_FOLDER: "check the folder, or set KEYHOLE_CACHE_DIR",
    ErrorKind.DAMAGED_JOURNAL: "run `keyhole clear` to delete it",
    ErrorKind.NO_WORKER: "check the limits on processes and memory (ulimit -a), then try again",
    ErrorKind.TAKEN_PORT: "try another --port",
    ErrorKind.NO_TOKEN: "pass --token-file, or serve on 127.0.0.1",
}
