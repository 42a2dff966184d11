"""What readers of one index remember together, so that memory does not grow with their number."""

from dataclasses import dataclass, field
from functools import partial
from itertools import count

from keyhole.core.search.bounded_cache import BoundedCache
from keyhole.core.search.sign_cache import SignCache


@dataclass(frozen=True, slots=True)
class SharedCaches:
    """Every name with its letters, in how many chunks a word stands, and the signs of all vectors."""

    names: BoundedCache[dict[str, str]] = field(default_factory=BoundedCache)
    word_counts: BoundedCache[dict[str, int]] = field(default_factory=BoundedCache)
    signs: SignCache = field(default_factory=SignCache)
    # Counts the index files that this process has opened: numbers of chunks mean something in one of them only.
    opening: int = field(default_factory=partial(next, count(1)))
