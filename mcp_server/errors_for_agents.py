"""The next step for an agent, by kind of error: call a tool, change a parameter, or ask the user."""

from keyhole.core.errors import ErrorKind, NextSteps
from keyhole.core.types.choices import ToolSet

AGENT_STEPS: NextSteps = {
    ErrorKind.TOO_WIDE: "ask the user to name a project folder",
    ErrorKind.NOT_A_FILE: "get_tree lists the files",
    ErrorKind.DELETED_FILE: "search again",
    ErrorKind.NOT_INDEXED: "index_status counts skipped files by reason",
    ErrorKind.LINKS_OF_FOLDER: "get_links path={path} category=incoming lists the links to it",
    ErrorKind.SECRET_FILE: "continue without it; only the user can allow it, with secrets.readmit in their config.toml",
    ErrorKind.UNKNOWN_PATH: "get_tree lists what is indexed",
    ErrorKind.NO_VECTORS: "use mode=keyword",
    ErrorKind.NO_SYMBOL: "map_file path={path} lists its symbols",
    ErrorKind.UNKNOWN_SYMBOL: "search_code query={symbol} mode=symbol finds similar names",
    ErrorKind.SYMBOL_WITHOUT_FILE: "search_code query={symbol} mode=symbol finds it in any file",
    ErrorKind.NO_FILTER: "use has_links_to, linked_from, external_domains or broken",
    ErrorKind.NO_SYMBOL_ASKED: "give symbol, or path and line",
    ErrorKind.NO_DEFINITION_AT_LINE: "give a line inside a definition, or symbol",
    ErrorKind.AMBIGUOUS_SYMBOL: "give one as symbol=OWNER.NAME, or add path",
    ErrorKind.NO_REFERENCE: "use path and line, or symbol",
    ErrorKind.OLD_CURSOR: "repeat the request with offset instead of cursor",
    ErrorKind.BUSY: "try again in a few seconds",
    ErrorKind.TOO_SLOW: "narrow the search with path or language, or try again: the next try is faster",
    ErrorKind.NO_INDEX: "try again in a few seconds; index_status shows the progress",
    ErrorKind.BUILDING: "try again in a few seconds; index_status shows the progress",
    ErrorKind.INTERRUPTED: "ask the user to run `keyhole index`",
    ErrorKind.DAMAGED_INDEX: "ask the user to run `keyhole index`, which rebuilds it",
    ErrorKind.NEWER_INDEX: "ask the user to update keyhole",
    ErrorKind.FULL_DISK: "ask the user to free some disk space",
    ErrorKind.LOCKED_INDEX: "try again in a few seconds",
    ErrorKind.UNUSABLE_FOLDER: "ask the user to check keyhole's cache folder",
    ErrorKind.DAMAGED_JOURNAL: "ask the user to run `keyhole clear`",
    ErrorKind.NO_WORKER: "ask the user to check the limits on processes and memory",
    ErrorKind.NO_TEAM_EXTRA: "ask the user to run `pip install 'keyhole[team]'`",
    ErrorKind.NO_SERVER: "try again in a few seconds; if that fails, ask the user to check the database server",
    ErrorKind.NO_EXTENSION: "ask the user to have pgvector installed on the database server",
    ErrorKind.NO_TABLES: "ask the user to run `keyhole admin init`",
    ErrorKind.OLD_TABLES: "ask the user to run `keyhole admin migrate`",
    ErrorKind.NEWER_TABLES: "ask the user to update Keyhole",
    ErrorKind.FULL_DATABASE: "ask the user to free some space on the database server",
    ErrorKind.NO_DATABASE_RIGHTS: "ask the user to check the rights of the database user",
    ErrorKind.TAKEN_PORT: "ask the user for another port",
    ErrorKind.NO_TOKEN: "ask the user for a token",
}

# Without the tool index_status.
_CORE_STEPS: NextSteps = {
    ErrorKind.NOT_INDEXED: "get_tree lists what is indexed",
    ErrorKind.NO_INDEX: "try again in a few seconds",
    ErrorKind.BUILDING: "try again in a few seconds",
}


def agent_steps(tools: ToolSet) -> NextSteps:
    """Return the next steps for an agent that has these tools."""
    return AGENT_STEPS if tools == ToolSet.ALL else {**AGENT_STEPS, **_CORE_STEPS}
