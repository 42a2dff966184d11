"""The mined pairs as data sets: one to train on, one to judge by, and none in both."""

import random
from collections import Counter, defaultdict

from mine import Pair, code_key, read_pairs
from sources import EVALUATION, MANIFEST, read_packages

SAME_DOC = 3
POOL = 1_500


def load_training_pairs() -> list[Pair]:
    """Return what the model learns from, shuffled: no code twice, no doc more than three times, nothing held out."""
    judged = {code_key(pair["code"]) for package in read_packages(EVALUATION) for pair in read_pairs(package)}
    seen: set[bytes] = set()
    docs: Counter[str] = Counter()
    kept = []
    for package in read_packages(MANIFEST):
        for pair in read_pairs(package):
            key, doc = code_key(pair["code"]), pair["doc"].lower()[:100]
            # Mentions repeat the code of another pair with other words for it.
            is_new = key not in judged and (pair["kind"] == "mention" or key not in seen)
            if is_new and docs[doc] < SAME_DOC:
                seen.add(key)
                docs[doc] += 1
                kept.append(pair)
    random.Random(0).shuffle(kept)
    return kept


def load_evaluation_pairs(*, kinds: tuple[str, ...]) -> dict[str, list[Pair]]:
    """Return what it is judged by, at most a pool per language, no code or doc twice."""
    by_language = defaultdict(list)
    seen: set[object] = set()
    for package in read_packages(EVALUATION):
        for pair in read_pairs(package):
            keys = {code_key(pair["code"]), pair["doc"].lower()[:100]}
            if pair["kind"] in kinds and seen.isdisjoint(keys):
                seen |= keys
                by_language[pair["language"]].append(pair)
    for pairs in by_language.values():
        random.Random(1).shuffle(pairs)
    return {language: pairs[:POOL] for language, pairs in sorted(by_language.items())}
