"""What a search finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keyhole.core.masking import Mask
from keyhole.core.notes import Note
from keyhole.core.types.choices import Mode
from keyhole.core.types.index import IndexVersion
from keyhole.core.types.missing import NONE_UNSHOWN, NothingFound, Unshown
from keyhole.core.types.view_requests import Query

# Scores are shares of the best one. A good result is described in full; a weak one is hardly ever what was asked for:
# of 892 weak results in the tune half of bench/quality, eight were.
GOOD = 0.6
WEAK = 0.2


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
class Use:
    """A line that uses a value: directly, or by calling the function `through`, which does.

    `owner` is the definition around it, and `fit` says how much of the query is near it.
    """

    path: str
    line: int
    text: str
    owner: str = ""
    through: str = ""
    fit: float = 0.0


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
    # If that line is a comment, the line of code that follows it.
    commented: Stretch | None = None
    # Where the first match on that line starts, counted from 0.
    best_column: int = 0
    # The lines that match best, if this is the only good result.
    excerpt: Stretch | None = None
    # The code that uses it, if the best result is a value, such as a table of messages.
    uses: tuple[Use, ...] = ()
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
    # Whether the page ends before its limit, because all other hits are weak.
    ends_early: bool = False
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


class DroppedBy(StrEnum):
    """The step of a search that drops a file."""

    INDEX = "index"
    FILTER = "filter"
    MATCHING = "matching"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a file has its rank in an answer; `rank` is 0 if the file is not in it, and `dropped_by` says where it ended.

    `parameter` is the filter that dropped it, if one did.
    """

    path: str
    verdict: str
    rank: int = 0
    page: int = 0
    total: int = 0
    hit: Hit | None = None
    masked: tuple[Mask, ...] = ()
    # The role of the file; empty if it is not indexed.
    role: str = ""
    dropped_by: DroppedBy | None = None
    parameter: str = ""
