"""Notes on results and messages of index runs: each has a kind for programs and a text for people."""

from dataclasses import dataclass
from enum import StrEnum


class NoteKind(StrEnum):
    """The subject of a note."""

    LIMIT_LOWERED = "limit-lowered"
    BUDGET_LOWERED = "budget-lowered"
    CONTEXT_LOWERED = "context-lowered"
    ONLY_FOR_PATTERNS = "only-for-patterns"
    MODE_CHOSEN = "mode-chosen"
    WORDS_ONLY = "words-only"
    INDEX_INCOMPLETE = "index-incomplete"
    INDEX_OUTDATED = "index-outdated"
    NOTHING_FOUND = "nothing-found"
    FILES_CHANGING = "files-changing"
    SAME_NAME = "same-name"
    INSIDE_FILE = "inside-file"
    LIKE_WHAT = "like-what"
    REFERENCE_COUNTS = "reference-counts"
    OTHER_DEFINITIONS = "other-definitions"
    TREE_CUT = "tree-cut"
    LINKS_WITHIN = "links-within"
    PACKAGE_INSIDE = "package-inside"
    SKIPPED_MATCHES = "skipped-matches"
    NEAREST_ONLY = "nearest-only"
    BUNDLE_CHANGED = "bundle-changed"
    BUNDLE_REFUSED = "bundle-refused"


@dataclass(frozen=True, slots=True)
class Note:
    """A note on an answer."""

    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return self.text


class IndexEvent(StrEnum):
    """The event that a message of an index run reports."""

    WAITING = "waiting"
    DAMAGED = "damaged"
    NO_VECTORS = "no-vectors"
    MODEL_CHANGED = "model-changed"
    READING_ALL = "reading-all"


@dataclass(frozen=True, slots=True)
class IndexMessage:
    """A message that an index run shows to the user."""

    event: IndexEvent
    text: str

    def __str__(self) -> str:
        return self.text
