"""The next step after each kind of error, for someone in the explorer: mostly a key to press."""

from keyhole.core.errors import ErrorKind, KeyholeError, NextSteps
from keyhole.tui.key_names import key_of


def _key(command: str) -> str:
    """Return the key of a command for a text in which braces stand for values."""
    return key_of(command).replace("{", "{{").replace("}", "}}")


_BACK, _FILES, _REFRESH, _REFERENCES = _key("back"), _key("files"), _key("refresh"), _key("references")

# Most errors appear while the search line has the focus, and there letters are text: esc leaves it first.
EXPLORER_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "open a project folder, or start again with --force",
    ErrorKind.NOT_A_FILE: f"press {_FILES} to see the files",
    ErrorKind.DELETED_FILE: f"press {_REFRESH} to check for changed files",
    ErrorKind.NOT_INDEXED: f"press {_FILES} to see why it is skipped",
    ErrorKind.LINKS_OF_FOLDER: f"press {_FILES}, open one of its files, then press {_key('links')}",
    ErrorKind.SECRET_FILE: "to see it anyway, press ^q and add its path to secrets.readmit in your config.toml",
    ErrorKind.UNKNOWN_PATH: f"press {_BACK}, then {_FILES} to see what is indexed",
    ErrorKind.NO_VECTORS: "add mode:keyword",
    ErrorKind.NO_SYMBOL: f"press {_FILES}, open {{path}}, then press {_key('find-symbol')} to see its symbols",
    ErrorKind.UNKNOWN_SYMBOL: "search for {symbol} mode:symbol to see similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "add mode:symbol to find it in any file",
    ErrorKind.NO_FILTER: "add a filter",
    ErrorKind.NO_SYMBOL_ASKED: f"press {_BACK}, select a result and press {_REFERENCES}",
    ErrorKind.NO_DEFINITION_AT_LINE: f"press {_BACK} and choose a line inside a definition",
    ErrorKind.AMBIGUOUS_SYMBOL: f"press {_BACK}, add mode:symbol to the search, select one and press {_REFERENCES}",
    ErrorKind.NO_REFERENCE: f"press {_BACK}, select a result and press {_key('similar')}",
    ErrorKind.OLD_CURSOR: "search again",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "narrow the search with path: or lang:, or try again: the next search is faster",
    ErrorKind.NO_INDEX: f"press {_BACK}, then {_REFRESH} to build it",
    ErrorKind.BUILDING: "wait: results appear as files are indexed",
    ErrorKind.INTERRUPTED: f"press {_BACK}, then {_REFRESH} to continue",
    ErrorKind.DAMAGED_INDEX: f"press {_BACK}, then {_REFRESH} to rebuild it",
    ErrorKind.NEWER_INDEX: "press ^q and update Keyhole",
    ErrorKind.FULL_DISK: f"free some space, then press {_BACK} and {_REFRESH} to try again",
    ErrorKind.LOCKED_INDEX: f"press {_BACK}, then {_REFRESH} to try again",
    ErrorKind.UNUSABLE_FOLDER: "check the folder's permissions, or press ^q and set KEYHOLE_CACHE_DIR",
    ErrorKind.DAMAGED_JOURNAL: "press ^q, delete the journal file and start again",
    ErrorKind.NO_WORKER: f"check the limits on processes and memory, then press {_BACK} and {_REFRESH}",
    ErrorKind.NO_TEAM_EXTRA: "press ^q and run pip install 'keyhole[team]', or remove store.url from your settings",
    ErrorKind.NO_SERVER: f"check the server and store.url, then press {_BACK} and {_REFRESH} to try again",
    ErrorKind.NO_EXTENSION: "press ^q and have pgvector installed on the server",
    ErrorKind.NO_TABLES: "press ^q and have the tables created; docs/team.md says how",
    ErrorKind.OLD_TABLES: "press ^q and have the tables updated; docs/team.md says how",
    ErrorKind.NEWER_TABLES: "press ^q and update Keyhole",
    ErrorKind.FULL_DATABASE: f"free some space on the database's server, then press {_BACK} and {_REFRESH}",
    ErrorKind.NO_DATABASE_RIGHTS: "press ^q and use a database user that may read and write the schema keyhole",
    ErrorKind.TAKEN_PORT: f"press {_key('serve')} to use any free port",
    ErrorKind.NO_TOKEN: "press ^q and start again with a token",
}


def problem_text(error: KeyholeError) -> str:
    """Return what happened and what to do next."""
    return error.worded(EXPLORER_STEPS)
