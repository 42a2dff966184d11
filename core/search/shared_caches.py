"""Caches that all readers of one index share, so that memory does not grow with the number of readers."""

from dataclasses import dataclass, field
from functools import partial
from itertools import count

from keyhole.core.references.kept_references import KeptReferences
from keyhole.core.search.bounded_cache import BoundedCache
from keyhole.core.search.sign_cache import SignCache
from keyhole.core.search.symbol_search import NameLetters


@dataclass(frozen=True, slots=True)
class SharedCaches:
    """The names with their letters, the number of chunks for each word, the signs of all vectors, and references."""

    names: BoundedCache[NameLetters] = field(default_factory=BoundedCache)
    word_counts: BoundedCache[dict[str, int]] = field(default_factory=BoundedCache)
    signs: SignCache = field(default_factory=SignCache)
    references: BoundedCache[KeptReferences] = field(default_factory=BoundedCache)
    # Numbers the index files that this process has opened, because chunk ids are valid in only one file.
    opening: int = field(default_factory=partial(next, count(1)))
