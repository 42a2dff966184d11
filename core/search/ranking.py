"""All matches of a search in order, with the scores that are shown; and as results, one for each file."""

from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from types import MappingProxyType

from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.wanted import Wanted
from keyhole.core.types.search_results import GOOD, WEAK

# A page that ends before weak results still has so many: the best one is not always the right one.
_FEWEST = 2


class Ranking:
    """All matches in order, and what the query asks for.

    `candidates` is the ranked pool; `counts` are the matching chunks of each file, if there are more.
    """

    def __init__(
        self, candidates: list[ChunkCandidate], wanted: Wanted, counts: Mapping[int, int] = MappingProxyType({})
    ) -> None:
        self.candidates = candidates
        self.wanted = wanted
        self._counts = Counter(candidate.file_id for candidate in candidates) | Counter(counts)

    @property
    def has_words(self) -> bool:
        """Whether anything contains a word of the query; if not, all matches are only similar."""
        return not self.candidates or not all(candidate.is_similar for candidate in self.candidates)

    @property
    def total(self) -> int:
        """The number of matches, including those outside the pool."""
        return sum(self._counts.values())

    @property
    def files(self) -> int:
        """The number of files with a match."""
        return len(self._counts)

    def matches_in(self, file_id: int) -> int:
        """Return the number of matches in a file."""
        return self._counts[file_id]


def grouped(ordered: list[ChunkCandidate], *, by_file: bool) -> list[list[ChunkCandidate]]:
    """Return the chunks of each file together, files in the order of their best; or each chunk alone."""
    if not by_file:
        return [[candidate] for candidate in ordered]
    files: dict[int, list[ChunkCandidate]] = {}
    for candidate in ordered:
        files.setdefault(candidate.file_id, []).append(candidate)
    return list(files.values())


def without_weak(page: list[list[ChunkCandidate]]) -> list[list[ChunkCandidate]]:
    """Return the results of a page up to the first weak one, but never less than a few to choose from."""
    strong = sum(1 for _ in takewhile(lambda result: result[0].relative_score >= WEAK, page))
    return page[: max(strong, _FEWEST)]


def only_good(page: list[list[ChunkCandidate]]) -> ChunkCandidate | None:
    """Return the first chunk of a page if all other results are less than good."""
    good = list(takewhile(lambda result: result[0].relative_score >= GOOD, page[:2]))
    return good[0][0] if len(good) == 1 else None
