"""Measure how well models find held-out code by its description, and how fast they are.

    python bench/model/evaluate.py [--record] [NAME=FOLDER ...]

Every language has a pool of functions from packages outside the training data. Each function's doc comment is a query,
both for the code as it is and for the code without the function's own name. Two more sets are not doc comments, and
decide when to stop training: "mentions" are sentences in readmes and changelogs that name a function, without the name,
and "comments" are comments inside a function, removed from its code.
"""

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from dataset import asked_by_comment, load_evaluation_pairs
from mine import Pair
from model2vec import StaticModel
from numpy.typing import NDArray
from record import save_record
from scipy.sparse import csr_matrix
from sources import DATA, HERE

from keyhole.core.index.model import from_folder
from keyhole.core.index.word_model import WordEmbedder

OURS = HERE.parent.parent / "assets" / "model"
# Smaller pools are easier, so they count separately; the smallest are ignored.
SMALLEST_POOL, SMALLEST_OF_ALL = 1_000, 100
DEPTH = 10
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

Scores = NDArray[np.float32]
Scorer = Callable[[list[str], list[str]], Scores]


class Encoder(Protocol):
    """Anything that turns texts into vectors."""

    def encode(self, texts: list[str]) -> Scores:
        """Return one row per text."""
        ...


def main() -> None:
    """Measure every model on the same pools, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", nargs="*", metavar="NAME=FOLDER", help="instead of the default models")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    named = dict(model.split("=", 1) for model in chosen.models)
    models: dict[str, Callable[[], Encoder]] = {name: partial(Static, Path(path)) for name, path in named.items()}
    models = models or own_models()
    held_out = load_evaluation_pairs(kinds=("symbol", "section"))
    pools = {k: p for k, p in held_out.items() if len(p) >= SMALLEST_POOL}
    small = {k: p for k, p in held_out.items() if SMALLEST_OF_ALL <= len(p) < SMALLEST_POOL}
    others = {
        "mentions": {k: p for k, p in load_evaluation_pairs(kinds=("mention",)).items() if k in pools},
        "comments": {k: [asked for p in pool if (asked := asked_by_comment(p))] for k, pool in pools.items()},
    }
    figures: dict[str, object] = {"pools": sizes(pools), "small pools": sizes(small)}
    for title, sets in others.items():
        figures[title] = sizes(sets)
    scorers: dict[str, Scorer] = {"random": by_chance, "BM25": by_words}
    if not named and (wordllama := load_wordllama()):
        scorers["wordllama"] = wordllama
    for name, scorer in (scorers | {name: by_vectors(open_model()) for name, open_model in models.items()}).items():
        figures[name] = judge(name, scorer, pools, small, others)
    for name, open_model in models.items():
        figures[f"cost of {name}"] = cost = costs(open_model, pools)
        print(f"{name:<18}", "  ".join(f"{key} {value:.2f}" for key, value in cost.items()))
    figures["MB of ours"] = size = sum(path.stat().st_size for path in OURS.iterdir()) / 1e6
    print(f"ours: {size:.1f} MB")
    if chosen.record:
        print("recorded as", save_record("model", figures))


def own_models() -> "dict[str, Callable[[], Encoder]]":
    """Return our model as Keyhole and as model2vec embed with it, and the distilled teacher, made on the first run."""
    distilled = DATA / "minilm-distilled"
    if not distilled.exists():
        from initialise import teacher_folder
        from model2vec.distill import distill

        distill(str(teacher_folder()), device="cpu", pca_dims=256).save_pretrained(distilled)
    return {
        "MiniLM distilled": partial(Static, distilled),
        "ours in model2vec": partial(Static, OURS),
        "ours": partial(open_words, OURS),
    }


def load_wordllama() -> Scorer | None:
    """Return wordllama's scorer if that package is installed; it includes its vectors."""
    try:
        import wordllama
    except ImportError as error:
        print(f"without wordllama: {error}")
        return None
    # Its tokenizer is in the folder where it expects downloads.
    model = wordllama.WordLlama.load(dim=256, disable_download=True, cache_dir=Path(wordllama.__file__).parent)
    return lambda queries, codes: model.embed(queries, norm=True) @ model.embed(codes, norm=True).T


def judge(
    name: str,
    scorer: Scorer,
    pools: dict[str, list[Pair]],
    small: dict[str, list[Pair]],
    others: dict[str, dict[str, list[Pair]]],
) -> dict[str, dict[str, float]]:
    """Score one model on all pools; small pools don't count in the means."""
    results: dict[str, dict[str, float]] = {}
    for variant, text_of in (("plain", plain), ("nameless", nameless)):
        scores = {k: scorer([p["doc"] for p in pool], [text_of(p) for p in pool]) for k, pool in pools.items()}
        measured = {k: measure(score, np.arange(len(score))) for k, score in scores.items()}
        results[f"{variant} MRR@10"] = _with_mean({k: mrr for k, (mrr, _) in measured.items()})
        results[f"{variant} NDCG@10"] = _with_mean({k: ndcg for k, (_, ndcg) in measured.items()})
    results["small pools MRR@10"] = {
        k: measure(scorer([p["doc"] for p in pool], [p["code"] for p in pool]), np.arange(len(pool)))[0]
        for k, pool in small.items()
    }
    for title, sets in others.items():
        results[f"{title} MRR@10"] = {"all": average_over(sets, scorer, pools)}
    for title, row in results.items():
        cells = "  ".join(f"{language[:6]} {value:.3f}" for language, value in row.items())
        print(f"{name:<18}{title:<20}{cells}", flush=True)
    return results


def average_over(sets: dict[str, list[Pair]], scorer: Scorer, pools: dict[str, list[Pair]]) -> float:
    """Return the mean MRR@10 of queries, searched among their own answers and the pool of their language."""
    found: list[tuple[float, int]] = []
    for language, pairs in sets.items():
        if pairs:
            codes = [plain(pair) for pair in pairs] + [plain(pair) for pair in pools[language]]
            mrr, _ = measure(scorer([pair["doc"] for pair in pairs], codes), np.arange(len(pairs)))
            found.append((mrr, len(pairs)))
    return sum(mrr * count for mrr, count in found) / max(1, sum(count for _, count in found))


def measure(scores: Scores, right: NDArray[np.int64]) -> tuple[float, float]:
    """Return MRR@10 and NDCG@10; ties share their ranks."""
    own = scores[np.arange(len(right)), right][:, None]
    places = 1 + (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2
    found = places <= DEPTH
    return float((found / places).mean()), float((found / np.log2(1 + places)).mean())


def by_chance(queries: list[str], codes: list[str]) -> Scores:
    """Score at random."""
    return np.random.default_rng(0).random((len(queries), len(codes)), np.float32)


def by_words(queries: list[str], codes: list[str], k1: float = 1.5, b: float = 0.75) -> Scores:
    """Score by BM25 over the parts of words and identifiers."""
    columns: dict[str, int] = {}
    rows = [Counter(_parts(code)) for code in codes]
    entries = [
        (row, columns.setdefault(word, len(columns)), n) for row, words in enumerate(rows) for word, n in words.items()
    ]
    places, words, counts = (np.array(values) for values in zip(*entries, strict=True))
    lengths = np.bincount(places, counts, len(codes))
    holding = np.bincount(words, minlength=len(columns))
    rarity = np.log(1 + (len(codes) - holding + 0.5) / (holding + 0.5))
    values = rarity[words] * counts * (k1 + 1) / (counts + k1 * (1 - b + b * lengths[places] / lengths.mean()))
    matrix = csr_matrix((values, (places, words)), (len(codes), len(columns)))
    asked = [
        (row, columns[word]) for row, query in enumerate(queries) for word in set(_parts(query)) if word in columns
    ]
    query_rows, query_words = zip(*asked, strict=True)
    wanted = csr_matrix((np.ones(len(asked)), (query_rows, query_words)), (len(queries), len(columns)))
    scores: Scores = (wanted @ matrix.T).toarray().astype(np.float32)
    return scores


class Static:
    """A model that embeds with model2vec."""

    def __init__(self, folder: Path) -> None:
        self._model = StaticModel.from_pretrained(folder)

    def encode(self, texts: list[str]) -> Scores:
        """Return one row per text."""
        vectors: Scores = self._model.encode(texts, max_length=None, use_multiprocessing=False).astype(np.float32)
        return vectors


def open_words(folder: Path) -> WordEmbedder:
    """Open and load a model as Keyhole does its own."""
    embedder = WordEmbedder(from_folder(folder))
    embedder.load()
    return embedder


def by_vectors(model: Encoder) -> Scorer:
    """Score by the similarity of a model's vectors."""

    def encode(texts: list[str]) -> Scores:
        vectors = model.encode(texts)
        unit: Scores = vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)
        return unit

    return lambda queries, codes: encode(queries) @ encode(codes).T


def costs(open_model: Callable[[], Encoder], pools: dict[str, list[Pair]]) -> dict[str, float]:
    """Measure how fast a model loads and encodes."""
    started = time.perf_counter()
    model = open_model()
    loaded = time.perf_counter()
    codes = [pair["code"] for pool in pools.values() for pair in pool]
    docs = [pair["doc"] for pool in pools.values() for pair in pool][:500]
    model.encode(docs[:10])
    before, cpu = time.perf_counter(), time.process_time()
    model.encode(codes)
    cpu = time.process_time() - cpu
    between = time.perf_counter()
    for doc in docs:
        model.encode([doc])
    return {
        "load, s": loaded - started,
        "MB per second": sum(map(len, codes)) / 1e6 / (between - before),
        "MB per CPU second": sum(map(len, codes)) / 1e6 / cpu,
        "ms per query": (time.perf_counter() - between) / len(docs) * 1e3,
    }


def sizes(sets: dict[str, list[Pair]]) -> dict[str, int]:
    """Count the pairs of each language."""
    return {language: len(pairs) for language, pairs in sets.items() if pairs}


def plain(pair: Pair) -> str:
    """Return the code as it is."""
    return pair["code"]


def nameless(pair: Pair) -> str:
    """Return the code without the name of what it defines."""
    name = pair["name"].split(".")[-1]
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", pair["code"]) if len(name) > 2 else pair["code"]


def _parts(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)]


def _with_mean(values: dict[str, float]) -> dict[str, float]:
    return {"mean": sum(values.values()) / len(values), **values}


if __name__ == "__main__":
    main()
