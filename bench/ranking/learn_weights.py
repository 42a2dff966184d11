"""Learn the weights of the ranking from the measured features, and check them by cross-validation over repositories.

    .venv/bin/python bench/ranking/learn_weights.py [--check] [--without FEATURE ...]

The model is log-linear: the score of a chunk is the sum of its features times their weights, and the probability that
a file is meant is proportional to the exponential of the score of its best chunk. Each kind of question has its own
weights, drawn towards those of the others. Without --check, the weights and their card are written to assets/ranking.
"""

import argparse
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from collect_features import FEATURE_FILE
from mine_queries import SEED, WRITTEN_KINDS
from numpy.typing import NDArray
from repositories import HERE, MANIFEST, fold_of, read_repositories

from keyhole.core.search.features import FEATURES, MEANING_FEATURES, ROLES
from keyhole.core.search.wanted import QuestionKind
from keyhole.core.search.weights import WORDS_ONLY
from keyhole.core.types.choices import Role

ASSETS = HERE.parent.parent / "assets" / "ranking"
WEIGHTS_FILE, CARD_FILE = ASSETS / "weights.toml", ASSETS / "CARD.md"
PARTS = 5
DEPTH = 10
# How strongly the weights that all kinds of questions share are drawn to 0, and those of each kind to the shared ones.
_TO_ZERO, _TO_SHARED = 3e-4, 1e-3
# How much the choice of the right lines inside a file counts against the choice of the file.
_LINES = 0.3
_ROUNDS, _STEPS, _RATE = 3, 150, 0.08
# So many mined queries count as much as one written question. There are few of those, but they are much more like
# what people ask.
_WRITTEN = 15.0
# Queries mined from history never ask for tests, docs or data, so their weights would come out too strong.
_LEAST_ROLE = -2.5
_LEAST_CONFIG = -1.5
# Plain words occur in prose and tests more often than names do. The written questions show how much that matters.
_LEAST_ROLE_IN_PLAIN_WORDS = -3.5
_PLAIN_WORDS = frozenset([QuestionKind.DESCRIPTION, QuestionKind.QUESTION])
_NEVER_NEGATIVE = (
    frozenset(FEATURES)
    - frozenset(ROLES)
    - {"long file", "deep folder", "starts the file", "covers many lines", "contains no word of the query"}
)

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(slots=True)
class Data:
    """Rows of candidates: the query of each, its file, and whether its file or its lines are an answer."""

    rows: NDArray[np.float32]
    query: Whole
    file: Whole
    right: Flags
    best: Flags
    # Of each query.
    kind: Whole
    source: NDArray[np.str_]
    repository: NDArray[np.str_]

    def part(self, queries: Flags) -> "Data":
        """Return some of the queries, with new numbers."""
        keep = queries[self.query]
        number = np.cumsum(queries) - 1
        return Data(
            self.rows[keep],
            number[self.query[keep]],
            self.file[keep],
            self.right[keep],
            self.best[keep],
            self.kind[queries],
            self.source[queries],
            self.repository[queries],
        )


class Choice(NamedTuple):
    """The chunks that stand for their files; groups of rows compete, and some of each group are right."""

    rows: Whole
    group: Whole
    right: Flags
    weight: Numbers


def main() -> None:
    """Check the weights, and write them with their card unless only the check is wanted."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="cross-validate and write nothing")
    options.add_argument("--without", nargs="*", default=[], help="features to leave out")
    chosen = options.parse_args()
    data = load(frozenset(chosen.without))
    figures = cross_validate(data)
    print(figures)
    if chosen.check:
        return
    tables = {}
    for words_only in (False, True):
        weights = learn(blind(data) if words_only else data)
        for number, kind in enumerate(QuestionKind):
            tables[f"{kind}, {WORDS_ONLY}" if words_only else str(kind)] = weights[number]
    write_weights(tables)
    write_card(data, figures)


def load(without: frozenset[str] = frozenset()) -> Data:
    """Read the measured features."""
    stored = np.load(FEATURE_FILE)
    if tuple(stored["features"]) != FEATURES:
        raise SystemExit("The features have changed; run collect_features.py again.")
    rows = stored["rows"]
    rows[:, [name in without for name in FEATURES]] = 0
    kinds = {str(kind): number for number, kind in enumerate(QuestionKind)}
    query = np.repeat(np.arange(len(stored["sizes"])), stored["sizes"])
    return Data(
        rows,
        query,
        stored["files"],
        stored["right"],
        stored["best"],
        np.array([kinds[kind] for kind in stored["kinds"]]),
        stored["sources"],
        stored["repositories"],
    )


def blind(data: Data) -> Data:
    """Return the data as a search by words alone sees it."""
    names = np.array(FEATURES)
    rows = data.rows.copy()
    by_words = rows[:, names == "fits by words"][:, 0] > 0
    rows[:, np.isin(names, MEANING_FEATURES)] = 0
    kept = Data(
        rows[by_words],
        data.query[by_words],
        data.file[by_words],
        data.right[by_words],
        data.best[by_words],
        data.kind,
        data.source,
        data.repository,
    )
    has_answer = np.zeros(len(data.kind), bool)
    has_answer[kept.query[kept.right]] = True
    return kept.part(has_answer)


def learn(data: Data) -> Numbers:
    """Return the weights, a row for each kind of question."""
    weights = np.zeros((len(QuestionKind), len(FEATURES)))
    weights[:, [FEATURES.index(name) for name in ("fits by words", "contains the words", "fits by meaning")]] = 1
    for _ in range(_ROUNDS):
        weights = descend(data, choose(data, weights), weights)
    return weights


def choose(data: Data, weights: Numbers) -> Choice:
    """Choose the best chunk of each file, and the best wrong chunk of a file whose right lines are known."""
    score = scores(data, weights)
    per_file = data.query * (data.file.max() + 1) + data.file
    # Of a file that is an answer, only chunks with the right lines stand for it.
    has_lines = np.isin(per_file, per_file[data.best])
    standing = np.where(has_lines & ~data.best, -np.inf, score)
    chosen = first_of_each(per_file, standing)
    positive = chosen[data.best[chosen]]
    wrong = np.where(has_lines & ~data.best, score, -np.inf)
    rivals = first_of_each(per_file, wrong)
    rivals = rivals[np.isfinite(wrong[rivals])]
    rivals = rivals[np.isin(per_file[rivals], per_file[positive])]
    pairs = np.concatenate([rivals, positive[np.isin(per_file[positive], per_file[rivals])]])
    pair_group = np.unique(per_file[pairs], return_inverse=True)[1] + len(data.kind)
    weights_of_queries = query_weights(data)
    return Choice(
        np.concatenate([chosen, pairs]),
        np.concatenate([data.query[chosen], pair_group]),
        np.concatenate([data.right[chosen], data.best[pairs]]),
        np.concatenate([weights_of_queries, _LINES * weights_of_queries[data.query[rivals]]]),
    )


def query_weights(data: Data) -> Numbers:
    """Return how much each query counts: written ones more, and repositories with many queries less for each."""
    _, repository, counts = np.unique(data.repository, return_inverse=True, return_counts=True)
    written = np.where(np.isin(data.source, WRITTEN_KINDS), _WRITTEN, 1.0)
    weights: Numbers = np.minimum(1.0, np.median(counts) / counts[repository]) * written
    return weights


def first_of_each(group: Whole, score: Numbers) -> Whole:
    """Return the row with the best score in each group."""
    order: Whole = np.lexsort((-score, group))
    first: Whole = order[np.concatenate([[True], np.diff(group[order]) != 0])]
    return first


def descend(data: Data, choice: Choice, weights: Numbers) -> Numbers:
    """Move the weights downhill (Adam, all rows at once)."""
    kind = data.kind[data.query[choice.rows]]
    order = np.lexsort((choice.group, kind))
    rows, right, group, kind = data.rows[choice.rows[order]], choice.right[order], choice.group[order], kind[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(group) != 0]))
    sizes = np.diff(np.append(starts, len(group)))
    weight = np.repeat(choice.weight[group[starts]] / choice.weight.sum(), sizes)
    edges = np.searchsorted(kind, np.arange(len(weights) + 1))
    of_kinds = [rows[start:end] for start, end in pairwise(edges)]
    # The first row is shared; the others are what each kind adds to it.
    parts = np.vstack([weights.mean(axis=0), weights - weights.mean(axis=0)])
    mean, spread = np.zeros_like(parts), np.zeros_like(parts)
    for step in range(1, _STEPS + 1):
        score = np.concatenate([some @ own.astype(np.float32) for some, own in zip(of_kinds, weights, strict=True)])
        score -= np.repeat(np.maximum.reduceat(score, starts), sizes)
        power = np.exp(score)
        good = np.where(right, power, 0)
        share = power / np.repeat(np.add.reduceat(power, starts), sizes)
        share_of_right = good / np.maximum(np.repeat(np.add.reduceat(good, starts), sizes), 1e-300)
        slope = (share - share_of_right) * weight
        slopes = np.stack([slope[start:end].astype(np.float32) @ rows[start:end] for start, end in pairwise(edges)])
        gradient = np.vstack([slopes.sum(axis=0) + _TO_ZERO * parts[0], slopes + _TO_SHARED * parts[1:]])
        mean = 0.9 * mean + 0.1 * gradient
        spread = 0.99 * spread + 0.01 * gradient**2
        parts -= _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
        parts[0] = np.clip(parts[0], LEAST.min(axis=0), MOST)
        weights = np.clip(parts[0] + parts[1:], LEAST, MOST)
        parts[1:] = weights - parts[0]
    return weights


def limits() -> tuple[Numbers, Numbers]:
    """Return the least weights, a row for each kind of question, and the largest ones.

    What speaks for a chunk never counts against it, and what a file is never speaks for it.
    """
    rows = []
    for kind in QuestionKind:
        least_role = _LEAST_ROLE_IN_PLAIN_WORDS if kind in _PLAIN_WORDS else _LEAST_ROLE
        roles = dict.fromkeys(ROLES, least_role) | {Role.CONFIG.value: _LEAST_CONFIG}
        rows.append([roles.get(name, 0 if name in _NEVER_NEGATIVE else -np.inf) for name in FEATURES])
    most = [0.0 if name in ROLES or name == "contains no word of the query" else np.inf for name in FEATURES]
    return np.array(rows), np.array(most)


LEAST, MOST = limits()


def scores(data: Data, weights: Numbers) -> Numbers:
    """Return the score of each row."""
    kind = data.kind[data.query]
    found = np.zeros(len(kind))
    for number, own in enumerate(weights):
        some = kind == number
        found[some] = data.rows[some] @ own
    return found


def ndcg(data: Data, score: Numbers, *, by_lines: bool = False) -> Numbers:
    """Return the NDCG@10 of each query over files, each represented by its best chunk."""
    found = np.zeros(len(data.kind))
    chosen = first_of_each(data.query * (data.file.max() + 1) + data.file, score)
    order = chosen[np.lexsort((-score[chosen], data.query[chosen]))]
    starts = np.concatenate([[True], np.diff(data.query[order]) != 0])
    place = np.arange(len(order)) - np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    right = (data.best if by_lines else data.right)[order]
    gain = np.where(right & (place < DEPTH), 1 / np.log2(place + 2), 0)
    np.add.at(found, data.query[order], gain)
    files = np.unique(np.stack([data.query[data.right], data.file[data.right]]), axis=1)[0]
    ideal = np.cumsum(1 / np.log2(np.arange(DEPTH) + 2))
    shares: Numbers = found / ideal[np.minimum(DEPTH, np.bincount(files, minlength=len(data.kind))) - 1]
    return shares


def cross_validate(data: Data) -> str:
    """Return a table of the quality on repositories that were not learnt from, by the kind of mined query."""
    fold = np.array([fold_of(name) % PARTS for name in data.repository])
    by_files, by_lines = np.zeros(len(fold)), np.zeros(len(fold))
    for number in range(PARTS):
        test = data.part(fold == number)
        score = scores(test, learn(data.part(fold != number)))
        by_files[fold == number] = ndcg(test, score)
        by_lines[fold == number] = ndcg(test, score, by_lines=True)
    rows = ["| kind of query | queries | files | lines |", "|---|---|---|---|"]
    for name in [*sorted(set(data.source)), "all"]:
        some = (data.source == name) | (name == "all")
        rows.append(f"| {name} | {some.sum():,} | {by_files[some].mean():.3f} | {by_lines[some].mean():.3f} |")
    return "\n".join(rows)


def write_weights(tables: dict[str, Numbers]) -> None:
    """Write the weights, rounded, without those that are 0."""
    lines = ["# Learnt by bench/ranking/learn_weights.py; CARD.md says from what.", ""]
    for name, weights in tables.items():
        lines.append(f'["{name}"]')
        rounded = [(feature, round(float(weight), 3)) for feature, weight in zip(FEATURES, weights, strict=True)]
        lines += [f'"{feature}" = {weight:.3f}' for feature, weight in rounded if weight]
        lines.append("")
    WEIGHTS_FILE.write_text("\n".join(lines), encoding="utf-8")
    print(f"wrote {WEIGHTS_FILE.name}: {len(tables)} tables of {len(FEATURES)} features")


def write_card(data: Data, figures: str) -> None:
    """Write what the weights were learnt from, and how good they are."""
    queries = dict(zip(*np.unique(data.repository, return_counts=True), strict=True))
    repositories = [found for found in read_repositories(MANIFEST) if found.repository in queries]
    languages = sorted({found.language for found in repositories})
    is_written = np.isin(data.source, WRITTEN_KINDS)
    written, asked = int(is_written.sum()), set(data.repository[is_written])
    rows = [(found.repository, found.language, found.licence, found.commit[:12]) for found in repositories]
    listed = "\n".join(f"| {' | '.join(row)} | {queries[row[0]]} |" for row in rows)
    features = "\n".join(f"- {name}" for name in FEATURES)
    CARD_FILE.write_text(
        f"""# The weights of the ranking

`weights.toml` has a weight for each feature of a candidate, for each kind of question, and once more for searches by
words alone. They were learnt from {len(data.kind) - written:,} queries mined from the history, the comments and the
names of {len(repositories)} public repositories in {len(languages)} languages, and from {written} written questions
about {len(asked)} of them; bench/ranking/README.md says how. A written question counts as much as {_WRITTEN:.0f} mined
queries. No project that search is measured on is among them.

Few of these queries ask for tests, docs or configuration, so the weights of these roles would come out too strong. They
are limited: none is below {_LEAST_ROLE}, or {_LEAST_ROLE_IN_PLAIN_WORDS} for descriptions and questions; that of
configuration is not below {_LEAST_CONFIG}. Where the table has exactly these values, the limit decided.

Choices while mining use the seed {SEED}; learning has none. To repeat it, run the three commands in
bench/ranking/README.md.

## Quality on repositories that were not learnt from

NDCG@10 by cross-validation over {PARTS} groups of repositories, for queries whose answer is among the candidates. Each
file is represented by its best chunk; "lines" counts it only if it has the right lines.

{figures}

## Features

{features}

## Data

| repository | language | licence | commit | queries |
|---|---|---|---|---|
{listed}
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
