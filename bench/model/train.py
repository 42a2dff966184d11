"""Train the token vectors, so that the vector of a doc is nearest to that of its own code.

    python bench/model/train.py --name one --epochs 1 [--seed 0]

The vector of a text is the normalised, weighted sum of its token vectors; a token that occurs n times counts √n times.
The loss is a symmetric InfoNCE over the batch. A batch has runs of pairs from one package, so that the model learns to
distinguish code within a project too. Some answers are trained without the words of their query: search by words finds
those anyway, and vectors are for the rest. Sparse matrix products, and an Adam that updates only the tokens of the
batch, make a step cheap on a CPU.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from initialise import INITIAL
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, vstack
from sources import DATA
from tokenise import Ids, load_labels, load_tokens

BATCH, RUN = 1_024, 32
TEMPERATURE = 0.05
LEARNING_RATE, WEIGHT_FACTOR, WARM_UP = 3e-3, 5, 50
DECAY = (0.9, 0.99)
DROPPED_WORDS = 0.1
NAME_QUERIES = 0.12
NAMELESS_CODES = 0.5
NAMELESS_FOR_NAMES = 0.15
HIDDEN_WORDS = 0.25
ROOT = 0.5
LANGUAGE_EXPONENT, MOST_REPEATS = 0.7, 3

Floats = NDArray[np.float32]


def main() -> None:
    """Train one run and store its vectors and weights."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--name", required=True)
    options.add_argument("--epochs", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    target = DATA / "runs" / f"{chosen.name}.npz"
    if target.exists():
        raise SystemExit(f"{target.name} exists; delete it to train it again")
    trained = Run(chosen.seed)
    trained.train(chosen.epochs)
    target.parent.mkdir(exist_ok=True)
    np.savez(target, vectors=trained.vectors.value, weights=trained.weights.value)


@dataclass(slots=True)
class Parameter:
    """A learned parameter, with Adam's two averages of its gradients."""

    value: Floats
    first: Floats
    second: Floats

    @classmethod
    def of(cls, value: Floats) -> "Parameter":
        """Return a parameter with an initial value."""
        return cls(value, np.zeros_like(value), np.zeros_like(value))

    def move(self, rows: Ids, gradient: Floats, rate: float, step: int) -> None:
        """Update some rows by one step."""
        fast, slow = DECAY
        self.first[rows] = first = fast * self.first[rows] + (1 - fast) * gradient
        self.second[rows] = second = slow * self.second[rows] + (1 - slow) * gradient * gradient
        self.value[rows] -= rate * (first / (1 - fast**step)) / (np.sqrt(second / (1 - slow**step)) + 1e-8)


class Run:
    """One training run over the tokenised pairs."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        with np.load(INITIAL) as initial:
            self.vectors = Parameter.of(initial["vectors"])
            self.weights = Parameter.of(np.log(initial["weights"] + 1e-3))
        self._packages, self._languages = load_labels()
        self._docs, self._codes, self._names, self._nameless = map(self._counts, ("doc", "code", "name", "nameless"))
        self._is_named = np.diff(self._names.indptr) > 0

    def train(self, epochs: float) -> None:
        """Train on the pairs, with a learning rate that falls to zero."""
        per_epoch = len(self._order()) // BATCH
        total, started, average = int(per_epoch * epochs), time.monotonic(), 0.0
        for step, batch in enumerate(islice(self._batches(), total), 1):
            rate = LEARNING_RATE * min(1, step / WARM_UP) * max(0.02, 1 - step / total)
            loss = self._step(*self._sample(batch), rate, step)
            average = loss if step == 1 else 0.98 * average + 0.02 * loss
            if step % 50 == 0:
                print(f"step {step}/{total}  loss {average:.4f}  {time.monotonic() - started:.0f} s", flush=True)

    def _counts(self, part: str) -> csr_matrix:
        ids, offsets = load_tokens(part)
        matrix = csr_matrix((np.ones(len(ids), np.float32), ids, offsets), (len(offsets) - 1, len(self.vectors.value)))
        matrix.sum_duplicates()
        matrix.data **= ROOT
        return matrix

    def _batches(self) -> Iterator[Ids]:
        while True:
            order = self._order()
            for start in range(0, len(order) - BATCH + 1, BATCH):
                yield np.unique(order[start : start + BATCH])

    def _order(self) -> Ids:
        """Shuffle runs of pairs from one package; pairs in rarer languages occur up to three times."""
        share = np.bincount(self._languages) / np.bincount(self._languages).max()
        repeats = np.minimum(np.maximum(share, 1e-9) ** (LANGUAGE_EXPONENT - 1), MOST_REPEATS)[self._languages]
        count = len(self._packages)
        pairs = np.repeat(np.arange(count), np.floor(repeats + self._chance.random(count)).astype(int))
        pairs = pairs[np.lexsort((self._chance.random(len(pairs)), self._packages[pairs]))]
        runs = pairs[: len(pairs) // RUN * RUN].reshape(-1, RUN)
        self._chance.shuffle(runs)
        return runs.ravel().astype(np.int32)

    def _sample(self, batch: Ids) -> tuple[csr_matrix, csr_matrix]:
        """Choose queries (docs, some names) and answers (code, some without its name) for a batch."""
        by_name = (self._chance.random(len(batch)) < NAME_QUERIES) & self._is_named[batch]
        batch = np.concatenate([batch[~by_name], batch[by_name]])
        docs = len(batch) - int(by_name.sum())
        queries = vstack([self._docs[batch[:docs]], self._names[batch[docs:]]], format="csr")
        queries.data = queries.data * (self._chance.random(len(queries.data)) > DROPPED_WORDS)
        limit = np.where(np.arange(len(batch)) < docs, NAMELESS_CODES, NAMELESS_FOR_NAMES)
        nameless = self._chance.random(len(batch)) < limit
        stacked = vstack([self._codes[batch[~nameless]], self._nameless[batch[nameless]]], format="csr")
        places = np.empty(len(batch), np.int64)
        places[np.argsort(nameless, kind="stable")] = np.arange(len(batch))
        return queries, self._hide_words(queries, stacked[places])

    def _hide_words(self, queries: csr_matrix, answers: csr_matrix) -> csr_matrix:
        """Remove the words of some queries from their answers."""
        chosen = self._chance.random(queries.shape[0]) < HIDDEN_WORDS
        hidden = answers.multiply(diags(chosen.astype(np.float32)) @ (queries > 0).astype(np.float32))
        left = (answers - hidden).tocsr()
        left.eliminate_zeros()
        return left

    def _step(self, queries: csr_matrix, answers: csr_matrix, rate: float, step: int) -> float:
        """Update the vectors of a batch's tokens; return the loss before the update."""
        texts = vstack([queries, answers], format="csr")
        tokens, columns = np.unique(texts.indices, return_inverse=True)
        texts = csr_matrix((texts.data, columns.astype(np.int32), texts.indptr), (texts.shape[0], len(tokens)))
        vectors, weights = self.vectors.value[tokens], np.exp(self.weights.value[tokens])[:, None]
        sums = texts @ (vectors * weights)
        loss, gradient = contrast(sums)
        per_token = texts.T.tocsr() @ gradient
        self.vectors.move(tokens, per_token * weights, rate, step)
        self.weights.move(tokens, (per_token * vectors).sum(axis=1) * weights[:, 0], rate * WEIGHT_FACTOR, step)
        return loss


def contrast(sums: Floats) -> tuple[float, Floats]:
    """Return the InfoNCE loss of queries (first half) against answers (second half), and its gradient."""
    norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    units = sums / norms
    half = len(units) // 2
    queries, answers = units[:half], units[half:]
    raised = np.exp((queries @ answers.T - 1) / TEMPERATURE)
    by_query, by_answer = raised / raised.sum(axis=1, keepdims=True), raised / raised.sum(axis=0, keepdims=True)
    right = np.arange(half)
    loss = -(np.log(by_query[right, right] + 1e-30) + np.log(by_answer[right, right] + 1e-30)).mean() / 2
    by_query += by_answer
    by_query[right, right] -= 2
    by_query /= 2 * half * TEMPERATURE
    gradient = np.concatenate([by_query @ answers, by_query.T @ queries])
    gradient -= units * (gradient * units).sum(axis=1, keepdims=True)
    return float(loss), (gradient / norms).astype(np.float32)


if __name__ == "__main__":
    main()
