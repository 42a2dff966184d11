"""The types that every step of the pipeline passes to the next.

Everywhere, lines are 1-based and inclusive, a line ends at a line feed, and paths are POSIX paths relative to the
workspace root.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keyhole.core.masking import MASKING_VERSION, Mask
from keyhole.core.notes import Note


class SkipReason(StrEnum):
    """Why a path is not indexed, or not parsed; the value is stored in the index and shown in JSON."""

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
    # The grammar cannot parse the file. Unlike the others, it is indexed, as plain text.
    UNPARSED = "unparsed"

    @property
    def label(self) -> str:
        """The reason as people read it."""
        return "not parsed" if self == SkipReason.UNPARSED else self.value.replace("-", " ")


@dataclass(frozen=True, slots=True)
class Skip:
    """A path that is not indexed, with the reason and its details: the rule, the size, the target of the link."""

    path: str
    reason: SkipReason
    detail: str
    is_dir: bool = False

    @property
    def text(self) -> str:
        """The reason with its details, as people read it."""
        return f"{self.reason.label}: {self.detail}"


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """What the user has decided about secrets: whether tokens are masked, and which secret paths are served anyway.

    `readmits` are patterns relative to the root, in the syntax of .gitignore.
    """

    masks: bool = True
    readmits: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What an index made with this policy records: another one needs every file to be read again."""
        return " ".join([f"masks-{MASKING_VERSION}" if self.masks else "unmasked", *self.readmits])


DEFAULT_SECRETS = SecretPolicy()


# The size of a file, the times of its last write and of its last change of any kind, and its inode. If they are the
# same, the file has not changed.
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file that passed the checks of name and size; its content has not been read yet."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0

    @property
    def stamp(self) -> Stamp:
        """The facts that show whether the file has changed."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's decoded text, with the stamp and the hash that show whether it has changed since.

    Secrets in `text` are masked, and `masked` says which; `size` and `digest` are those of the file itself.
    """

    path: str
    size: int
    mtime_ns: int
    digest: str
    encoding: str
    text: str
    ctime_ns: int = 0
    inode: int = 0
    masked: tuple[Mask, ...] = ()

    @property
    def stamp(self) -> Stamp:
        """The stamp to record; its time is unknown if the file had changed just before it was read."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


# Functions inside definitions of these kinds are methods.
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
    """A definition. Its range includes decorators, and its doc is one sentence."""

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
    """One import, include or use: the name it imports and the statement as written."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The symbols and imports that parsing found in one file."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    has_errors: bool = False
    # Why the file was not parsed; empty if it was.
    missed: str = ""
    # Imports inside other statements. They count as links but are not listed with the imports of the file.
    references: tuple[Import, ...] = ()

    def walk(self) -> Iterator[Symbol]:
        """Yield every symbol at every depth, in source order."""
        for symbol in self.symbols:
            yield from symbol.walk()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file; the chunks of a file, joined in order, give the whole file."""

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
    # Every name with its role, as syntax/occurrences.py packs them.
    occurrences: bytes = b""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an index run."""

    done: int
    total: int
    chunks: int
    path: str


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did, and what the index now contains.

    `outdated` counts the files that an older version of keyhole indexed, and that are not read again yet.
    """

    added: int
    changed: int
    removed: int
    current: int
    skipped: int
    unparsed: int
    files: int
    chunks: int
    generation: int
    model: str
    seconds: float
    outdated: int = 0


@dataclass(frozen=True, slots=True)
class LanguageCount:
    """How many files, chunks and symbols of a workspace are in one language."""

    language: str
    files: int
    chunks: int
    symbols: int


@dataclass(frozen=True, slots=True)
class Status:
    """What an index contains and which paths are skipped; `stale` counts files that changed since it was updated.

    `outdated` counts files that an older version of keyhole indexed, and that are not read again yet. `model_problem`
    says why search by meaning is not available although the settings name a model.
    """

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
    model_problem: str = ""
    outdated: int = 0


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file in the index."""

    path: str
    language: str
    lines: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every path in the index, indexed or skipped, and every kind of symbol."""

    files: tuple[IndexedFile, ...] = ()
    skips: tuple[Skip, ...] = ()
    kinds: tuple[str, ...] = ()
    generation: int = 0


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


@dataclass(frozen=True, slots=True)
class ChangedFilter:
    """Admits the files that changed since the last commit, or all others; everything in a new folder is new."""

    is_wanted: bool
    files: frozenset[str]
    new_folders: frozenset[str] = frozenset()

    def admits(self, path: str) -> bool:
        """Return whether a file is among those wanted."""
        return self._is_changed(path) == self.is_wanted

    def _is_changed(self, path: str) -> bool:
        if path in self.files or "" in self.new_folders:
            return True
        # Most workspaces have few new folders, and a path has few folders.
        return bool(self.new_folders) and any(
            character == "/" and path[:end] in self.new_folders for end, character in enumerate(path)
        )

    def __str__(self) -> str:
        return "yes" if self.is_wanted else "no"


@dataclass(frozen=True, slots=True)
class Query:
    """A search: the text, the mode, the filters and the page."""

    text: str
    mode: Mode = Mode.AUTO
    path: str = ""
    language: str = ""
    kind: str = ""
    include_tests: bool = True
    limit: int = 10
    offset: int = 0
    output: Output = Output.LINES
    # Roles of files, separated by commas; those with a minus sign are left out.
    role: str = ""
    changed: ChangedFilter | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as a front end sends it; fields that are None or empty get their default."""

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
    context_lines: int = 0
    output: Output = Output.LINES
    line_numbers: bool = True
    role: str = ""
    # Only files that changed since the last commit, or only others; agents have no such parameter.
    changed: bool | None = None


@dataclass(frozen=True, slots=True)
class MapRequest:
    """A request for a map; `symbol` is a name, a dotted name or the line where a definition starts."""

    path: str
    level: MapLevel = MapLevel.AUTO
    symbol: str = ""
    symbols_each: int = 50
    offset: int = 0
    max_tokens: int | None = None
    format: Format = Format.TEXT


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request for lines of one or several files; columns count the characters of a line."""

    paths: tuple[str, ...]
    start_line: int = 1
    start_column: int = 1
    max_lines: int | None = None
    max_tokens: int | None = None
    format: Format = Format.TEXT
    line_numbers: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """A path that cannot be read, and why."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a hit's score: its name, and how much it adds to or takes from the score."""

    name: str
    effect: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """The definition around a line: its qualified name, and its lines."""

    qualified_name: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines of a file, unchanged."""

    start_line: int
    text: str

    @property
    def end_line(self) -> int:
        """The number of its last line."""
        return self.start_line + self.text.removesuffix("\n").count("\n")


@dataclass(frozen=True, slots=True)
class Passage:
    """The current source of a hit: its chunk or line, and what it names, with some lines before and after that.

    What it names may be long; then `content` is the start of it and the stretches around the matches.
    """

    text: str
    before: str
    after: str
    match_lines: tuple[int, ...]
    content: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query, labelled with its best matching definition; or one line that matches a pattern.

    In a search by words or meaning, it stands for its file, and `further` are the next best hits of that file.
    """

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
    # The score before it is compared with the best one's: the sum of the signals.
    points: float = 0.0
    # The definitions around the named one: `Outer.Inner`.
    parent: str = ""
    # The lines of the named definition; zeros if none is named.
    named_lines: tuple[int, int] = (0, 0)
    # Whether it was found by meaning alone: it contains no word of the query.
    is_similar: bool = False
    # None if the file has changed since it was indexed, and of a further hit, whose source no view shows.
    passage: Passage | None = None
    # The line with the most words of the query that the signature does not contain; None if there is none. Of a further
    # hit it is only there if nothing else names the hit.
    best_line: Stretch | None = None
    # Where the first match on that line starts, counted from 0.
    best_column: int = 0
    further: tuple["Hit", ...] = ()
    # How many hits of the file are not this one, including those that are not in `further`.
    further_count: int = 0
    # Of a line that matches a pattern: where the first match starts, and the definition around it.
    column: int = 0
    owner: Owner | None = None

    @property
    def qualified_name(self) -> str:
        """The name of the definition with the names around it."""
        return f"{self.parent}.{self.name}" if self.parent and self.name else self.name

    @property
    def is_line(self) -> bool:
        """Whether this is one line that matches a pattern, not a chunk."""
        return self.column > 0


@dataclass(frozen=True, slots=True)
class MatchCount:
    """How many lines of a file, or of the files in a folder, match a pattern."""

    path: str
    lines: int
    files: int = 1


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """The state of the index that an answer came from: generation, and number of files still to index and skipped."""

    generation: int
    # None before the first walk of the workspace has ended.
    pending: int | None = 0
    skipped: int = 0
    # Counts the index files that this process has opened: chunk ids are only valid in the file they came from.
    opening: int = 0
    # How many files the index will have when none is pending; 0 if unknown.
    total: int = 0
    # Whether files are pending and no process is indexing them: the last run was killed, or failed.
    is_interrupted: bool = False
    # How many files an older version of keyhole indexed, so that data for ranking and references is missing; and
    # whether a process is indexing them again.
    outdated: int = 0
    is_updating: bool = False

    @property
    def outdated_note(self) -> str:
        """Why ranking is less exact than it could be; empty if it is not."""
        return f"ranking is less exact for {self._outdated_files}" if self.outdated else ""

    @property
    def missing_names_note(self) -> str:
        """Why references may be missing; empty if none are."""
        return f"references are missing from {self._outdated_files}" if self.outdated else ""

    @property
    def _outdated_files(self) -> str:
        count = f"{self.outdated:,} file{'s' if self.outdated > 1 else ''}"
        remedy = "being read again now" if self.is_updating else "run keyhole index to read them again"
        return f"{count} indexed by an older version of keyhole; {remedy}"

    @property
    def incomplete(self) -> str:
        """Why files are missing from the index, and how far it is; empty if it is complete."""
        if self.pending == 0:
            return ""
        reason = "the last index run did not finish" if self.is_interrupted else "the index is being built"
        if self.pending is None:
            return f"{reason} and the index is empty" if self.is_interrupted else f"{reason} and is still empty"
        done = self.total - self.pending
        if done < 0:
            return f"{reason}; remaining files: {self.pending:,}"
        return f"{reason}, {done:,} of {self.total:,} files {'are indexed' if self.is_interrupted else 'so far'}"

    @property
    def incomplete_note(self) -> str:
        """The same for an answer, with what to do if waiting does not help."""
        return f"{self.incomplete}; run keyhole index to continue" if self.is_interrupted else self.incomplete

    def for_json(self) -> dict[str, int]:
        """Return the facts with the keys that JSON answers use."""
        return {"generation": self.generation, "stale": self.pending or 0, "skipped": self.skipped}


class StaleReason(StrEnum):
    """Why files in an answer differ from the index."""

    CHANGING = "changing"
    NOT_WRITABLE = "not writable"


@dataclass(frozen=True, slots=True)
class Unshown:
    """How many results of a page can't be shown, because the files have changed since they were indexed, and why."""

    count: int = 0
    reason: StaleReason = StaleReason.CHANGING

    @property
    def why(self) -> str:
        """The reason as part of a sentence."""
        if self.reason == StaleReason.CHANGING:
            return "the files are changing right now"
        return "the files have changed, and the index can't be written"


NONE_UNSHOWN = Unshown()


@dataclass(frozen=True, slots=True)
class NothingFound:
    """What a request without results looked for, and what exists instead; texts are not escaped yet.

    It looked in `files` files, in `place` if that is only one file, which the `filters` left. `without` has the number
    of results without some of the filters. `closest` are similar names, paths or packages, and `hints` say what else
    is there, as sentences.
    """

    looked_for: str
    files: int
    place: str = ""
    filters: tuple[tuple[str, str], ...] = ()
    without: tuple[tuple[tuple[str, ...], int], ...] = ()
    closest: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of hits with notes about it; `total` counts hits, or files if each hit stands for its file.

    `unshown` says how many hits of the page are not in `hits`, because their files differ from the index. A search by
    pattern also has the number of files with matches; it may have a page of counts instead of hits.
    """

    query: Query
    mode: Mode
    hits: tuple[Hit, ...]
    total: int
    index: IndexVersion
    notes: tuple[Note, ...] = ()
    unshown: Unshown = NONE_UNSHOWN
    # How many chunks match, if each hit stands for its file; None otherwise.
    total_hits: int | None = None
    # Whether any file contains a word of the query; if not, all hits are only similar.
    has_words: bool = True
    matches: MatchCount | None = None
    counts: tuple[MatchCount, ...] = ()
    # Files of the page whose content is not the one that was indexed.
    changed: frozenset[str] = frozenset()
    # What is masked in the files of the hits.
    masks: Mapping[str, tuple[Mask, ...]] = field(default_factory=dict)
    # What was looked for, if the total is 0 and the index is complete.
    nothing: NothingFound | None = None

    def answer_to(self, query: Query) -> "SearchResult | None":
        """Return the result of another search of the same index, if this page contains all of it.

        That is the case if the searches differ only in their limit, and the other limit is not larger.
        """
        has_enough = query.limit <= self.query.limit and replace(query, limit=self.query.limit) == self.query
        return (
            replace(self, query=query, hits=self.hits[: query.limit], counts=self.counts[: query.limit])
            if not self.unshown.count and has_enough
            else None
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a file has its rank in an answer; `rank` is 0 if the file is not in it."""

    path: str
    verdict: str
    rank: int = 0
    page: int = 0
    total: int = 0
    hit: Hit | None = None
    masked: tuple[Mask, ...] = ()
    # The role of the file; empty if it is not indexed.
    role: str = ""


# Not a setting: a token in a settings file would end up in backups and dotfile repositories.
TOKEN_VARIABLE = "KEYHOLE_TOKEN"  # noqa: S105  # the name of a variable
# The default port of the HTTP server.
DEFAULT_PORT = 7777


class Completeness(StrEnum):
    """What an answer lacks, in the words that banner, gauge, Traffic, Stats and filters share.

    If several apply, the last one in this list is used. The last three are caused by the budget, and JSON calls all of
    them `truncated`.
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
    """A call of an agent as the journal stores it, without the answer.

    `change` increases with every call that starts or ends. `started` is in seconds since 1970, `arguments` is JSON in
    ASCII (empty if too long to store), `budget` is in tokens (0: none), `utilisation` is the share of the budget used.
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
        """The arguments; empty if they were too long to store."""
        found = json.loads(self.arguments) if self.arguments else {}
        return found if isinstance(found, dict) else {}
