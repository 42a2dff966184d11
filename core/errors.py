"""Every error Keyhole raises on purpose: what happened, its kind, and the facts.

The core knows what happened, but not who reads it. So an error states only the facts, and its `kind` selects the next
step, which each front end words for its own reader: a command for the shell, a tool and its parameters for an agent, a
key for the explorer. The tables are in core/cli/errors_for_shell.py, mcp_server/errors_for_agents.py and
tui/errors_for_explorer.py.

KeyholeError                 exit 2
├── WorkspaceError           the folder cannot be opened, or must not be
├── PathError                a path is outside the workspace, missing, or not served
├── ConfigError              a setting is unknown or has a wrong value
├── QueryError               a request is invalid
│   ├── ParameterError       a parameter has a value that is not allowed
│   ├── CursorError          a cursor is outdated, invalid, or from another request
│   └── FilterError          a filter names what the index does not have
├── DeadlineError            an answer takes too long
├── PortError                a port cannot be used
├── TeamError                a repository, group or token of a team is unknown, or its name can't be used
├── GitError                 git can't answer
├── ServerError              another MCP server can't be started, or does not answer
├── AssetError               a file that ships with Keyhole is missing or broken
├── ParserError              the process that parses files cannot start
├── ModelError               the embedding model can't be used, so search is by words only
└── StoreError               the index cannot be read or written
    ├── CorruptStoreError    the index file is damaged; the next index run replaces it
    ├── FullStoreError       the disk is full
    ├── LockedStoreError     another process is writing
    ├── LostJobError         another worker indexes the repository
    ├── UnwritableStoreError the folder of the index can't be written
    └── NewerStoreError      a newer version of Keyhole made the index
"""

from collections.abc import Mapping
from enum import Enum, auto

from keyhole.core.untrusted_text import LONGEST_ERROR, middle_cut, visible

# Next steps quote the facts, and what happened usually has too, so the second time a part of each will do.
_LONGEST_FACT = 60
_LONGEST_SUGGESTION = 200
_SHORTEST_PROBLEM = 100


class ErrorKind(Enum):
    """The kinds of errors, by what the reader can do about them."""

    # The problem already says what to do, or it is obvious.
    PLAIN = auto()
    # The workspace and its files
    TOO_WIDE = auto()
    NOT_A_FILE = auto()
    DELETED_FILE = auto()
    NOT_INDEXED = auto()
    LINKS_OF_FOLDER = auto()
    SECRET_FILE = auto()
    UNKNOWN_PATH = auto()
    # Searches
    NO_VECTORS = auto()
    NO_SYMBOL = auto()
    UNKNOWN_SYMBOL = auto()
    SYMBOL_WITHOUT_FILE = auto()
    NO_FILTER = auto()
    NO_REFERENCE = auto()
    NO_SYMBOL_ASKED = auto()
    NO_DEFINITION_AT_LINE = auto()
    AMBIGUOUS_SYMBOL = auto()
    OLD_CURSOR = auto()
    BUSY = auto()
    TOO_SLOW = auto()
    # The index and the journal
    NO_INDEX = auto()
    BUILDING = auto()
    INTERRUPTED = auto()
    DAMAGED_INDEX = auto()
    NEWER_INDEX = auto()
    FULL_DISK = auto()
    LOCKED_INDEX = auto()
    UNUSABLE_FOLDER = auto()
    DAMAGED_JOURNAL = auto()
    NO_WORKER = auto()
    # The database of a team
    NO_TEAM_EXTRA = auto()
    NO_SERVER = auto()
    NO_EXTENSION = auto()
    NO_TABLES = auto()
    OLD_TABLES = auto()
    NEWER_TABLES = auto()
    FULL_DATABASE = auto()
    NO_DATABASE_RIGHTS = auto()
    # Serving
    TAKEN_PORT = auto()
    NO_TOKEN = auto()


NextSteps = Mapping[ErrorKind, str]


class KeyholeError(Exception):
    """A problem that the user or the model can act on; `suggestion` is a sentence such as "Did you mean a.py?"."""

    def __init__(
        self, problem: str, kind: ErrorKind = ErrorKind.PLAIN, *, suggestion: str = "", **facts: object
    ) -> None:
        from keyhole.core.masking import mask_text

        # An error may repeat what a caller sent.
        self.problem = mask_text(problem)
        self.suggestion = mask_text(suggestion)
        super().__init__(_with_suggestion(self.problem, self.suggestion))
        self.kind = kind
        self.facts = facts

    def worded(self, steps: NextSteps) -> str:
        """Return what happened, the next step from a front end's table, and the suggestion; never too long.

        A request may be a megabyte, so what happened is shortened in the middle: it quotes what was asked for. Secrets
        are masked first: half a token is still half a secret.
        """
        from keyhole.core.masking import mask_text

        facts = {name: middle_cut(visible(mask_text(str(fact))), _LONGEST_FACT) for name, fact in self.facts.items()}
        step = steps.get(self.kind, "").format_map(facts)
        suggestion = middle_cut(visible(mask_text(self.suggestion)), _LONGEST_SUGGESTION)
        rest = _with_suggestion(f"; {step}" if step else "", suggestion)
        # Clipped twice, because escapes make it longer.
        problem = visible(middle_cut(mask_text(self.problem), LONGEST_ERROR))
        return middle_cut(problem, max(LONGEST_ERROR - len(rest), _SHORTEST_PROBLEM)) + rest


def _with_suggestion(text: str, suggestion: str) -> str:
    return f"{text}. {suggestion}" if suggestion else text


class WorkspaceError(KeyholeError):
    """The folder cannot be opened as a workspace."""


class PathError(KeyholeError):
    """A path inside the workspace cannot be served."""


class ConfigError(KeyholeError):
    """A setting is unknown or has a wrong value."""


class QueryError(KeyholeError):
    """A request is invalid."""


class ParameterError(QueryError):
    """A parameter has a value that is not allowed; `rule` says what is, so that a shell can name its own option."""

    def __init__(self, parameter: str, rule: str) -> None:
        super().__init__(f"{parameter} {rule}")
        self.parameter = parameter
        self.rule = rule


class CursorError(QueryError):
    """A cursor is outdated, invalid, or from another request."""


class FilterError(QueryError):
    """A filter names a path or a kind that the index does not have."""


class DeadlineError(KeyholeError):
    """An answer takes too long."""


class ServerError(KeyholeError):
    """Another MCP server can't be started, or does not answer."""


class GitError(KeyholeError):
    """Git can't answer: there is no git, no repository, or it failed."""


class PortError(KeyholeError):
    """A port cannot be used."""


class TeamError(KeyholeError):
    """A repository, group or token of a team is unknown, or its name can't be used."""


class AssetError(KeyholeError):
    """A file that ships with Keyhole is missing or broken."""


class ParserError(KeyholeError):
    """The process that parses files cannot start."""


class ModelError(KeyholeError):
    """The embedding model can't be used: the reason, and how to repair that."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


class StoreError(KeyholeError):
    """The index cannot be read or written."""


class CorruptStoreError(StoreError):
    """The index file is damaged."""


class FullStoreError(StoreError):
    """The disk is full."""


class LockedStoreError(StoreError):
    """Another process is writing."""


class LostJobError(StoreError):
    """Another worker indexes the repository now, so what this one found must not be written."""


class UnwritableStoreError(StoreError):
    """The folder of the index can't be written, or not even read."""


class NewerStoreError(StoreError):
    """A newer version of Keyhole made the index."""
