"""What a user or an agent can choose from, in the words of settings, flags and parameters."""

from enum import StrEnum


class Role(StrEnum):
    """What a file is for, in the words that filters and explanations use."""

    SOURCE = "source"
    TEST = "test"
    # Data of tests.
    FIXTURE = "fixture"
    EXAMPLE = "example"
    DOCS = "docs"
    CONFIG = "config"
    # Translations, and code for older versions.
    LOCALE = "locale"
    DATA = "data"
    GENERATED = "generated"
    BUILT = "built"
    VENDORED = "vendored"


class Mode(StrEnum):
    """How to interpret a query; `auto` chooses by its form."""

    AUTO = "auto"
    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    REGEX = "regex"
    SYMBOL = "symbol"


class Detail(StrEnum):
    """How much to show of each result; `auto` shows the best results in full and the others on one line each."""

    AUTO = "auto"
    MINIMAL = "minimal"
    COMPACT = "compact"
    RICH = "rich"


class MapLevel(StrEnum):
    """How much a map shows, most detailed first; `auto` is the first level that fits the budget."""

    AUTO = "auto"
    FULL = "full"
    COMPACT = "compact"
    MINIMAL = "minimal"
    OUTLINE = "outline"
    TRUNCATED = "truncated"


class Format(StrEnum):
    """The output format of a view; every format has the same facts."""

    TEXT = "text"
    JSON = "json"


class ToolSet(StrEnum):
    """Which tools a server offers to agents: all, or those that most tasks need, for fewer tokens."""

    ALL = "all"
    CORE = "core"


class Output(StrEnum):
    """What a search by pattern lists: matching lines, files with their number of lines, or folders with theirs."""

    LINES = "lines"
    FILES = "files"
    COUNT = "count"


# Not a setting: a token in a settings file would end up in backups and dotfile repositories.
TOKEN_VARIABLE = "KEYHOLE_TOKEN"  # noqa: S105  # the name of a variable
# Printed in place of a token that the user gave: the output may go to a log.
TOKEN_PLACEHOLDER = "YOUR_TOKEN"  # noqa: S105  # not a token


# The default ports of the server for agents, and of the one for browsers.
DEFAULT_PORT = 7777
DEFAULT_WEB_PORT = 7778
