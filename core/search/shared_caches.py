"""What readers of one index remember together, so that memory does not grow with their number."""

from dataclasses import dataclass, field
from functools import partial
from itertools import count

from keyhole.core.search.remembered import Remembered
from keyhole.core.search.sign_cache import SignCache


@dataclass(frozen=True, slots=True)
class SharedCaches:
    """Every name with its letters, in how many chunks a word stands, and the signs of all vectors."""

    names: Remembered[dict[str, str]] = field(default_factory=Remembered)
    word_counts: Remembered[dict[str, int]] = field(default_factory=Remembered)
    signs: SignCache = field(default_factory=SignCache)
    # Counts the index files that this process has opened: numbers of chunks mean something in one of them only.
    opening: int = field(default_factory=partial(next, count(1)))
