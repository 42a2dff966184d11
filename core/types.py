"""The vocabulary: what every step of the pipeline hands to the next.

Lines are 1-based and inclusive, a line ends at a line feed, and paths are POSIX
and relative to the workspace root: everywhere.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keyhole.core.notes import Note, NoteKind


class SkipReason(StrEnum):
    """Why a path is not indexed; the value is the word people and `--json` see."""

    IGNORED = "ignored"
    SECRET = "secret"  # noqa: S105
    LOCKFILE = "lockfile"
    MINIFIED = "minified"
    GENERATED = "generated"
    BINARY = "binary"
    PICTURE = "picture"
    TOO_LARGE = "too-large"
    SYMLINK = "symlink"
    SPECIAL = "special"
    BAD_NAME = "bad-name"
    UNREADABLE = "unreadable"
    WORKTREE = "worktree"
    INTERNAL = "internal"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Skip:
    """A path that was passed over, with the reason and the evidence for it."""

    path: str
    reason: SkipReason
    detail: str
    is_dir: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file whose name and size admit it; its content is not read yet."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's decoded text, with what tells whether it has changed since."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    encoding: str
    text: str


# Kinds of definitions whose functions are methods.
HOLDS_METHODS = frozenset(
    [
        "class",
        "enum",
        "extension",
        "given",
        "impl",
        "interface",
        "object",
        "protocol",
        "record",
        "struct",
        "trait",
        "union",
    ]
)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: its range takes in decorators, its doc is one sentence."""

    name: str
    kind: str
    signature: str
    doc: str
    returns: str
    start_line: int
    end_line: int
    name_line: int
    parent: str
    exported: bool
    modifiers: tuple[str, ...] = ()
    children: tuple["Symbol", ...] = ()

    def walk(self) -> Iterator["Symbol"]:
        """Yield this symbol and everything inside it, in source order."""
        stack = [self]
        while stack:
            symbol = stack.pop()
            yield symbol
            stack.extend(reversed(symbol.children))


@dataclass(frozen=True, slots=True)
class Import:
    """One import, include or use: what it names and the statement as written."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What parsing found in one file."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    has_errors: bool = False
    # Why nothing was looked for, when nothing was.
    missed: str = ""
    # Imports in the middle of other statements: links, but not what a file starts with.
    references: tuple[Import, ...] = ()

    def walk(self) -> Iterator[Symbol]:
        """Yield every symbol at every depth, in source order."""
        for symbol in self.symbols:
            yield from symbol.walk()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file; the pieces of a file, in order, are the file."""

    start_line: int
    end_line: int
    text: str
    definitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything the index needs to know about one file."""

    source: SourceFile
    outline: Outline
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index run has come."""

    done: int
    total: int
    chunks: int
    path: str


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did, and what the index holds now."""

    added: int
    changed: int
    removed: int
    current: int
    skipped: int
    files: int
    chunks: int
    generation: int
    model: str
    seconds: float


@dataclass(frozen=True, slots=True)
class LanguageCount:
    """How much of a workspace is in one language."""

    language: str
    files: int
    chunks: int
    symbols: int


@dataclass(frozen=True, slots=True)
class Status:
    """What an index holds and what is passed over; `stale` counts paths that changed since."""

    root: str
    index_path: str
    index_bytes: int
    generation: int
    updated: str
    model: str
    pending: int
    stale: int
    files: int
    size: int
    chunks: int
    symbols: int
    languages: tuple[LanguageCount, ...]
    skipped: dict[str, int]
    skips: tuple[Skip, ...]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file that the index holds."""

    path: str
    language: str
    lines: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every path the index knows, the ones it passes over included, and the kinds of what it found in them."""

    files: tuple[IndexedFile, ...] = ()
    skips: tuple[Skip, ...] = ()
    kinds: tuple[str, ...] = ()
    generation: int = 0


class Mode(StrEnum):
    """How a query is understood; `auto` looks at its shape."""

    AUTO = "auto"
    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    REGEX = "regex"
    SYMBOL = "symbol"


class Detail(StrEnum):
    """How much a view tells of each result; `auto` shows the best in full and the rest on a line."""

    AUTO = "auto"
    MINIMAL = "minimal"
    COMPACT = "compact"
    RICH = "rich"


class MapLevel(StrEnum):
    """How much a map tells, from everything down; `auto` is the first that fits."""

    AUTO = "auto"
    FULL = "full"
    COMPACT = "compact"
    MINIMAL = "minimal"
    OUTLINE = "outline"
    TRUNCATED = "truncated"


class Format(StrEnum):
    """How a view is written; the facts are the same."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Query:
    """A search: what for, how, and where."""

    text: str
    mode: Mode = Mode.AUTO
    path: str = ""
    language: str = ""
    kind: str = ""
    include_tests: bool = True
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as it comes in at a door; what is None or empty takes its default."""

    query: str
    mode: Mode | None = None
    path: str = ""
    language: str = ""
    kind: str = ""
    include_tests: bool = True
    detail_level: Detail = Detail.COMPACT
    limit: int | None = None
    offset: int = 0
    cursor: str = ""
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class MapRequest:
    """A map as it is asked for; `symbol` is a name, a dotted name or the line that a definition starts on."""

    path: str
    level: MapLevel = MapLevel.AUTO
    symbol: str = ""
    symbols_each: int = 50
    offset: int = 0
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Lines of one or several files as they are asked for; columns are the characters of a line."""

    paths: tuple[str, ...]
    start_line: int = 1
    start_column: int = 1
    max_lines: int | None = None
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class Refusal:
    """A path that is not served, and why."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a hit's score: what it is, and what it does to the score."""

    name: str
    effect: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a query, labelled by its best matching definition."""

    path: str
    language: str
    start_line: int
    end_line: int
    chunk_id: int
    score: float
    kind: str
    name: str
    line: int
    signature: str
    doc: str
    returns: str
    definitions: str
    signals: tuple[Signal, ...]
    key_methods: tuple[str, ...] = ()
    match_lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """The source of a hit, exactly as the file has it now, with some lines around it."""

    text: str
    before: str
    after: str
    match_lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """Which index answers: its generation, how many files it still misses and how many it skips."""

    generation: int
    # None before the first files are in it.
    pending: int | None = 0
    skipped: int = 0
    # Counts the indexes that this process has opened: numbers of chunks mean something in one of them only.
    opening: int = 0

    def for_json(self) -> dict[str, int]:
        """Name the facts as answers do."""
        return {"generation": self.generation, "stale": self.pending or 0, "skipped": self.skipped}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of hits, and what there is to say about it; `passages` are by chunk."""

    query: Query
    mode: Mode
    hits: tuple[Hit, ...]
    total: int
    index: IndexVersion
    notes: tuple[Note, ...] = ()
    passages: Mapping[int, Passage] = field(default_factory=dict)

    def answer_to(self, query: Query) -> "SearchResult | None":
        """Return what a search would find in the same index, if this page has it all: the same hits, or the first."""
        is_whole = all(note.kind != NoteKind.HITS_LEFT_OUT for note in self.notes)
        has_enough = query.limit <= self.query.limit and replace(query, limit=self.query.limit) == self.query
        return replace(self, query=query, hits=self.hits[: query.limit]) if is_whole and has_enough else None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a file is where it is in an answer; `rank` is 0 when it is not there."""

    path: str
    verdict: str
    rank: int = 0
    page: int = 0
    total: int = 0
    hit: Hit | None = None


# Where agents find a server over HTTP when nothing else is said.
DEFAULT_PORT = 7777


class Completeness(StrEnum):
    """What an answer lacks, in the words that banner, gauge, Traffic, Stats and filters share.

    Several can hold at once; an answer is called by the last one here that does. The last three are the work of the
    budget, and JSON calls them all `truncated`.
    """

    COMPLETE = "complete"
    MORE_PAGES = "more pages"
    PARTIAL = "partial"
    SHORTENED = "shortened"
    CLIPPED = "clipped"
    LEFT_OUT = "left out"

    @property
    def is_truncated(self) -> bool:
        """Whether the budget took something."""
        return self in (Completeness.SHORTENED, Completeness.CLIPPED, Completeness.LEFT_OUT)


class CallStatus(StrEnum):
    """How an agent's call ended, if it has: with an answer, which may lack something, or without one."""

    PENDING = "pending"
    COMPLETE = Completeness.COMPLETE
    MORE_PAGES = Completeness.MORE_PAGES
    PARTIAL = Completeness.PARTIAL
    SHORTENED = Completeness.SHORTENED
    CLIPPED = Completeness.CLIPPED
    LEFT_OUT = Completeness.LEFT_OUT
    ERROR = "error"
    # The client gave up before there was an answer.
    CANCELLED = "cancelled"
    # The process that was to answer is gone.
    LOST = "lost"

    @property
    def completeness(self) -> Completeness | None:
        """What the answer lacks; None without an answer."""
        return next((word for word in Completeness if word.value == self.value), None)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an agent as the journal keeps it, without the answer.

    `change` grows with every call that starts or ends. `started` is in seconds since 1970, `arguments` is JSON in ASCII
    (empty when too long to keep), `budget` in tokens (0: none), `utilisation` the share of the budget that was used.
    """

    id: int
    change: int
    started: float
    process: int
    transport: str
    client: str
    client_version: str
    tool: str
    arguments: str
    status: CallStatus = CallStatus.PENDING
    ms: float = 0.0
    tokens: int = 0
    budget: int = 0
    utilisation: float = 0.0
    response_bytes: int = 0
    # A code: why the budget took something, as `truncation_info` names it. Never a sentence.
    note: str = ""

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments; none when they were too long to keep."""
        found = json.loads(self.arguments) if self.arguments else {}
        return found if isinstance(found, dict) else {}
