"""Everything that reaches the interface from its workers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from keyhole.core.errors import KeyholeError
from keyhole.core.notes import IndexMessage
from keyhole.core.types import Explanation, IndexReport, Inventory, Outline, Progress, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.core.journal.reader import Changes
    from keyhole.core.journal.statistics import Statistics
    from keyhole.core.links.requests import RelationRequest
    from keyhole.core.service import Service
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.lists.relation_view import RelationResults
    from keyhole.tui.answer import Answer


@dataclass
class Opened(Message):
    """The workspace is open."""

    service: "Service"


@dataclass
class Failed(Message):
    """The workspace cannot be opened."""

    error: KeyholeError


@dataclass
class Indexing(Message):
    """An index run has come so far."""

    progress: Progress


@dataclass
class IndexNotice(Message):
    """An index run has something to say."""

    message: IndexMessage


@dataclass
class Indexed(Message):
    """An index run has ended well; the status is what the index holds now."""

    report: IndexReport
    inventory: Inventory
    status: Status


@dataclass
class IndexingFailed(Message):
    """An index run has failed."""

    error: KeyholeError


@dataclass
class FilesChanged(Message):
    """Files of the workspace have changed."""


@dataclass
class WatchingFailed(Message):
    """Changes will not be noticed."""

    reason: str


@dataclass
class Answered(Message):
    """A search has its answer."""

    answer: "Answer"


@dataclass
class SearchFailed(Message):
    """A search cannot be answered."""

    number: int
    error: KeyholeError


@dataclass
class Loaded(Message):
    """A text to show has been made; `key` tells what for."""

    key: object
    text: str
    note: str = ""
    is_error: bool = False


@dataclass
class Outlined(Message):
    """The symbols of a file are known."""

    path: str
    outline: Outline


@dataclass
class RelationAnswered(Message):
    """What was asked about links or related code: what was found and its view, or why there is none."""

    request: "RelationRequest"
    answer: "tuple[RelationResults, ListView] | KeyholeError"


@dataclass
class Explained(Message):
    """Why a file is where it is in an answer."""

    number: int
    explanation: Explanation | KeyholeError


@dataclass
class ServerStarted(Message):
    """Agents can reach the workspace at an address; `client_setup` is what to paste into a client."""

    address: str
    client_setup: str


@dataclass
class ServerStopped(Message):
    """The server has stopped, or could not be started."""

    error: KeyholeError | None = None


@dataclass
class RequestRejected(Message):
    """A request did not come with the right token, but with what the reason says."""

    reason: str


@dataclass
class CallsChanged(Message):
    """Agents have asked something, or got an answer."""

    changes: "Changes"


@dataclass
class JournalFailed(Message):
    """The journal cannot be read just now."""

    error: KeyholeError


@dataclass
class StatisticsCounted(Message):
    """The calls of agents have been counted."""

    statistics: "Statistics | KeyholeError"


@dataclass
class ToolCostsMeasured(Message):
    """It is known what our own tools cost each client."""

    costs: "Mapping[str, int]"


@dataclass
class Replayed(Message):
    """A call was made again."""

    call_id: int
    arguments: str
    text: str
