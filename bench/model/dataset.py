"""The mined pairs as two separate data sets: one for training, one for evaluation."""

import random
import re
from collections import Counter, defaultdict
from zlib import crc32

from mine import Pair, code_key, read_pairs
from sources import EVALUATION, MANIFEST, read_packages

SAME_DOC = 3
POOL = 1_500
# A comment inside code describes a few lines, much as people ask for them.
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//|--)[ \t]+([A-Za-z][^\n]{19,200})$", re.MULTILINE)
_NO_COMMENT = re.compile(r"todo|fixme|xxx|noqa|nolint|pragma|eslint|lint|type:|https?:|copyright|[=;{}]", re.IGNORECASE)
_WORDS_OF_COMMENT = 4


def load_training_pairs(*, with_comments: bool = True) -> list[Pair]:
    """Return the training pairs, shuffled: no doc more than three times, nothing held out.

    Code occurs only once, except a second time with a comment inside it as the query.
    """
    judged = {code_key(pair["code"]) for package in read_packages(EVALUATION) for pair in read_pairs(package)}
    seen: set[bytes] = set()
    docs: Counter[str] = Counter()
    kept = []
    for package in read_packages(MANIFEST):
        for pair in read_pairs(package):
            key, doc = code_key(pair["code"]), pair["doc"].lower()[:100]
            # Mentions repeat the code of another pair with another description.
            is_new = key not in judged and (pair["kind"] == "mention" or key not in seen)
            if is_new and docs[doc] < SAME_DOC:
                seen.add(key)
                docs[doc] += 1
                kept.append(pair)
    if with_comments:
        kept += [asked for pair in kept if (asked := asked_by_comment(pair))]
    random.Random(0).shuffle(kept)
    return kept


def load_evaluation_pairs(*, kinds: tuple[str, ...]) -> dict[str, list[Pair]]:
    """Return the evaluation pairs, at most one pool per language, no code or doc twice."""
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


def asked_by_comment(pair: Pair) -> Pair | None:
    """Remove one comment from the code and return it as the query for the rest."""
    if pair["kind"] != "symbol":
        return None
    found = [
        match
        for match in _COMMENT.finditer(pair["code"])
        if not _NO_COMMENT.search(match[1]) and len(match[1].split()) >= _WORDS_OF_COMMENT
    ]
    if not found:
        return None
    chosen = found[crc32(pair["code"].encode()) % len(found)]
    code = pair["code"][: chosen.start()] + pair["code"][chosen.end() :]
    return {**pair, "kind": "comment", "doc": chosen[1], "code": code}
