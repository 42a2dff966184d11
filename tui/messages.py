"""The messages that workers post to the interface."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from keyhole.core.errors import KeyholeError
from keyhole.core.notes import IndexMessage
from keyhole.core.types.index import IndexReport, Status
from keyhole.core.types.inventory import Inventory, Progress
from keyhole.core.types.syntax import Outline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.core.git.blame_line import Blame
    from keyhole.core.git.git_changes import GitChanges
    from keyhole.core.journal.reader import Changes
    from keyhole.core.journal.statistics import Statistics
    from keyhole.core.links.requests import RelationRequest
    from keyhole.core.search.sample_queries import SampleQueries
    from keyhole.core.service import Service
    from keyhole.core.types.bundle import Bundle, BundleItem, BundleRequest
    from keyhole.core.types.calls import Call
    from keyhole.core.types.costs import TokenCost
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.lists.relation_results import RelationResults
    from keyhole.core.wrap.server_statistics import ServerFigures
    from keyhole.tui.answer import Answer
    from keyhole.tui.history import Place
    from keyhole.tui.link_rows import LinkRow
    from keyhole.tui.names_to_find import FoundNames, NamesToFind
    from keyhole.tui.sources import FileText


@dataclass
class Opened(Message):
    """The workspace is open."""

    service: "Service"


@dataclass
class Failed(Message):
    """The workspace could not be opened."""

    error: KeyholeError


@dataclass
class Indexing(Message):
    """An index run made progress."""

    progress: Progress


@dataclass
class IndexNotice(Message):
    """An index run reported something for the user."""

    message: IndexMessage


@dataclass
class Indexed(Message):
    """An index run succeeded; `status` describes the index now."""

    report: IndexReport
    inventory: Inventory
    status: Status
    # Only after the first run.
    samples: "SampleQueries | None" = None


@dataclass
class IndexingFailed(Message):
    """An index run failed; `inventory` and `status` describe the index from before, if it can be read."""

    error: KeyholeError
    inventory: Inventory | None = None
    status: Status | None = None


@dataclass
class FilesChanged(Message):
    """Files of the workspace have changed."""


@dataclass
class GitAnswered(Message):
    """Git was asked what changed; `changes` also says why if it could not answer."""

    changes: "GitChanges"


@dataclass
class Blamed(Message):
    """It is known who changed a line last, or why not."""

    place: "Place"
    blame: "Blame | KeyholeError"


@dataclass
class WatchingFailed(Message):
    """The files cannot be watched for changes."""

    reason: str


@dataclass
class NamesRead(Message):
    """The names of files, or of files and symbols, are ready to be searched."""

    names: "NamesToFind"


@dataclass
class NamesFound(Message):
    """The names that match what is typed are known; `number` tells which search this was."""

    number: int
    found: "FoundNames"


@dataclass
class Answered(Message):
    """A search succeeded."""

    answer: "Answer"


@dataclass
class SearchFailed(Message):
    """A search failed."""

    number: int
    error: KeyholeError


@dataclass
class FilesFound(Message):
    """The paths of the workspace are known, before the first index run has ended."""

    inventory: Inventory
    samples: "SampleQueries | None" = None


@dataclass
class Loaded(Message):
    """A text to show is ready; `key` is the request it belongs to."""

    key: object
    text: str = ""
    note: str = ""
    is_error: bool = False
    # Of a map: where its next page starts.
    next_offset: int | None = None
    # Of a file: its text with definitions and colours.
    source: "FileText | None" = None


@dataclass
class Outlined(Message):
    """The symbols of a file are ready."""

    path: str
    outline: Outline


@dataclass
class RelationAnswered(Message):
    """A request for links or related code was answered: with results and their view, or with an error."""

    request: "RelationRequest"
    answer: "tuple[RelationResults, ListView] | KeyholeError"


@dataclass
class CallersFound(Message):
    """The callers of a place in a file are ready, as rows; `place` is the request itself."""

    place: "Place"
    rows: "list[LinkRow]"


@dataclass
class Explained(Message):
    """The explanation of a file is ready."""

    number: int
    explanation: str | KeyholeError


@dataclass
class ServerStarted(Message):
    """The server is running at an address; `client_setup` is the configuration to paste into a client."""

    address: str
    client_setup: str


@dataclass
class ServerStopped(Message):
    """The server stopped, or could not start."""

    error: KeyholeError | None = None


@dataclass
class RequestRejected(Message):
    """The server rejected a request because of its token; `reason` says what was wrong."""

    reason: str


@dataclass
class CallsChanged(Message):
    """Calls of agents started or ended."""

    changes: "Changes"


@dataclass
class JournalFailed(Message):
    """The journal could not be read."""

    error: KeyholeError


@dataclass
class StatisticsCounted(Message):
    """The statistics of all calls are ready."""

    statistics: "Statistics | KeyholeError"
    servers: "tuple[ServerFigures, ...]" = ()


@dataclass
class OlderCallsFound(Message):
    """Calls of the journal that Traffic no longer keeps, but that its filter admits, with their conversations."""

    line: str
    calls: "list[Call]"


@dataclass
class ToolCostsMeasured(Message):
    """The cost of Keyhole's tool definitions is known for each client."""

    costs: "Mapping[str, int]"


@dataclass
class Replayed(Message):
    """A call was replayed."""

    call_id: int
    arguments: str
    text: str


@dataclass
class PartsChecked(Message):
    """Parts to mark were read; `error` says why others can't be served."""

    items: "list[BundleItem]"
    error: KeyholeError | None = None


@dataclass
class BundleMeasured(Message):
    """What is marked was written and measured."""

    bundle: "Bundle"
    tokens: int
    error: KeyholeError | None = None


@dataclass
class BundleShown(Message):
    """The text of a bundle was made."""

    request: "BundleRequest"
    answer: "ListView | KeyholeError"


@dataclass
class CostsMeasured(Message):
    """Files were measured: all of them, or some so far; `costs` has folders too."""

    costs: "Mapping[str, TokenCost] | None"
    done: int
    total: int
    error: KeyholeError | None = None
