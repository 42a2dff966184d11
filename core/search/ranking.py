"""All matches of a search in order, with the scores that are shown; and as results, one for each file."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.wanted import Wanted


# A result with a smaller share of the best score is hardly ever a right answer: of 628 in bench/quality's tune half,
# two were.
WEAK = 0.2
# So many results are on the first page, however weak.
_FEWEST = 1
CLEAR = 0.6


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
    """Return the results of a page up to the first that is much weaker than the best."""
    strong = (number for number, result in enumerate(page) if result[0].relative_score < WEAK)
    return page[: max(_FEWEST, next(strong, len(page)))]


def clear_winner(page: list[list[ChunkCandidate]]) -> int:
    """Return the chunk of the first result if all others are clearly weaker, or -1."""
    others = [result[0].relative_score for result in page[1:2]]
    return page[0][0].chunk_id if page and all(score < CLEAR for score in others) else -1
