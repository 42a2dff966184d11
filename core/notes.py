"""What Keyhole says beside its results: each with a kind that programs look at, and words that only people read."""

from dataclasses import dataclass
from enum import StrEnum


class NoteKind(StrEnum):
    """What a note on an answer is about."""

    LIMIT_LOWERED = "limit-lowered"
    BUDGET_LOWERED = "budget-lowered"
    MODE_CHOSEN = "mode-chosen"
    WORDS_ONLY = "words-only"
    INDEX_INCOMPLETE = "index-incomplete"
    NOTHING_FOUND = "nothing-found"
    HITS_LEFT_OUT = "hits-left-out"
    SAME_NAME = "same-name"
    INSIDE_FILE = "inside-file"
    LIKE_WHAT = "like-what"
    NEAREST_ONLY = "nearest-only"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on an answer."""

    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return self.text


class IndexEvent(StrEnum):
    """What an index run has to say."""

    WAITING = "waiting"
    DAMAGED = "damaged"
    NO_VECTORS = "no-vectors"
    MODEL_CHANGED = "model-changed"
    READING_ALL = "reading-all"


@dataclass(frozen=True, slots=True)
class IndexMessage:
    """A message of an index run to the people who wait for it."""

    event: IndexEvent
    text: str

    def __str__(self) -> str:
        return self.text
