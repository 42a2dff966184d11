"""Ranking: a candidate's score is the sum of its features, each multiplied with its learnt weight.

The ranking does not depend on pages.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf, log
from operator import attrgetter

from keyhole.core.search.features import FEATURES, ChunkCandidate, measure
from keyhole.core.search.wanted import QuestionKind, Wanted
from keyhole.core.search.weights import weights_for

# The number of candidates from words and from vectors; further down a list are hardly any right answers.
POOL_SIZE = 120
HYBRID_VECTORS = 64
SEMANTIC_VECTORS = 200
# The largest share of the best score that a chunk gets if it contains no word of the query, however similar it is.
MOST_SIMILAR = 0.49
# A score this much below the best one is shown as a share of 1/e of it. With the plain exponential, which is the
# probability of a file against the best, most results would be shown with 0.00, though people do look at them.
_SCALE = 1.8
# Scores that differ less than this are equal: path and line decide.
_DIGITS = 9


def rank(
    candidates: Sequence[ChunkCandidate],
    wanted: Wanted,
    *,
    has_vectors: bool = True,
    without: frozenset[str] = frozenset(),
) -> list[ChunkCandidate]:
    """Order the pool; `without` disables features, to measure the value of each."""
    # The last sort is stable, so this order decides between equal scores.
    candidates = sorted(candidates, key=attrgetter("path", "start_line", "chunk_id"))
    learnt = weights_for(wanted.kind, has_vectors=has_vectors)
    weights = [0.0 if name in without else weight for name, weight in zip(FEATURES, learnt, strict=True)]
    features = measure(candidates, wanted)
    # Added one feature after the other, so that a score does not depend on the number of candidates.
    scores = sum(values * weight for values, weight in zip(features.T, weights, strict=True))
    for candidate, row, score in zip(candidates, features.tolist(), scores.tolist(), strict=True):
        candidate.features, candidate.weights, candidate.score = row, weights, score
    _put_similar_below(candidates)
    _put_members_first(candidates)
    ordered = sorted(candidates, key=lambda candidate: -round(candidate.score, _DIGITS))
    _give_shares(ordered)
    return ordered


def as_exact_text(wanted: Wanted, candidates: Sequence[ChunkCandidate]) -> Wanted:
    """Return what is wanted: if a chunk contains several words exactly as written, that text is."""
    if wanted.kind == QuestionKind.NAME or len(wanted.words) < 2:
        return wanted
    is_written = any(candidate.closeness == candidate.coverage == 1 for candidate in candidates)
    return replace(wanted, kind=QuestionKind.EXACT) if is_written else wanted


def _put_similar_below(candidates: Sequence[ChunkCandidate]) -> None:
    """Limit what is only similar to a share of the best that contains words of the query."""
    best = max((candidate.score for candidate in candidates if not candidate.is_similar), default=None)
    if best is None:
        return
    for candidate in candidates:
        excess = candidate.score - best - _SCALE * log(MOST_SIMILAR)
        if candidate.is_similar and excess > 0:
            candidate.score -= excess
            candidate.signals.append(("only similar", -excess, ""))


def _put_members_first(candidates: Sequence[ChunkCandidate]) -> None:
    """Raise what the query names by owner and name above everything else."""
    members = [candidate for candidate in candidates if candidate.is_named_member]
    others = max((candidate.score for candidate in candidates if not candidate.is_named_member), default=-inf)
    # All others get at most half the share.
    lack = others + _SCALE * log(2) - min((candidate.score for candidate in members), default=0.0)
    if members and lack > 0:
        for candidate in members:
            candidate.score += lack
            candidate.signals.append(("is the member asked for", lack, ""))


def _give_shares(ordered: Sequence[ChunkCandidate]) -> None:
    """Give each candidate the share of the best that is shown; what is only similar stays below one half."""
    most = MOST_SIMILAR if ordered and ordered[0].is_similar else 1.0
    for candidate in ordered:
        candidate.relative_score = most * exp(min(0.0, candidate.score - ordered[0].score) / _SCALE)
