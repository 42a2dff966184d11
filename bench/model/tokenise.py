"""Turn the training pairs into token ids: docs, code, names, and code without its own name.

python bench/model/tokenise.py
"""

from collections.abc import Sequence

import numpy as np
from dataset import load_training_pairs
from numpy.typing import NDArray
from sources import DATA
from tokenizers import Tokenizer
from vocabulary import TOKENIZER

TOKENS = DATA / "tokens.npz"
LONGEST = {"doc": 48, "code": 192, "name": 12}
Ids = NDArray[np.int32]
Offsets = NDArray[np.int64]


def main() -> None:
    """Tokenise the pairs, unless the file exists; delete it to do so again."""
    if TOKENS.exists():
        return
    tokenizer, pairs = Tokenizer.from_file(str(TOKENIZER)), load_training_pairs()
    docs = _encode(tokenizer, [pair["doc"] for pair in pairs], LONGEST["doc"])
    codes = _encode(tokenizer, [pair["code"][:1_300] for pair in pairs], LONGEST["code"])
    # The heading of a section is its doc, not a name that people search for.
    names = _encode(
        tokenizer, ["" if p["kind"] == "section" else p["name"].split(".")[-1] for p in pairs], LONGEST["name"]
    )
    nameless = [_without(code, name) for code, name in zip(codes, names, strict=True)]
    columns = {"doc": docs, "code": codes, "name": names, "nameless": nameless}
    arrays: dict[str, NDArray[np.generic]] = {}
    for part, rows in columns.items():
        arrays[part] = np.concatenate([np.array(row, np.int32) for row in rows])
        arrays[f"{part} offsets"] = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    for label in ("package", "language"):
        numbers: dict[object, int] = {}
        arrays[label] = np.array([numbers.setdefault(pair[label], len(numbers)) for pair in pairs], np.int32)
    arrays["is comment"] = np.array([pair["kind"] == "comment" for pair in pairs])
    np.savez(TOKENS, allow_pickle=False, **arrays)
    print(f"{len(pairs):,} pairs, {len(arrays['code']):,} tokens of code")


def load_tokens(part: str) -> tuple[Ids, Offsets]:
    """Return the tokens of one part of all pairs, and where each pair starts."""
    with np.load(TOKENS) as arrays:
        return arrays[part], arrays[f"{part} offsets"]


def count_tokens(size: int) -> NDArray[np.float64]:
    """Count each token in docs and code, without the code of comment pairs, which repeats that of other pairs."""
    counts = np.zeros(size)
    with np.load(TOKENS) as arrays:
        for part in ("doc", "code"):
            lengths = np.diff(arrays[f"{part} offsets"])
            counted = arrays[part][np.repeat(~arrays["is comment"], lengths)]
            counts += np.bincount(counted, minlength=size)
    return counts


def load_labels() -> tuple[Ids, Ids]:
    """Return the number of each pair's package and language."""
    with np.load(TOKENS) as arrays:
        return arrays["package"], arrays["language"]


def _encode(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> list[list[int]]:
    rows = []
    for start in range(0, len(texts), 4_096):
        for encoding in tokenizer.encode_batch_fast(texts[start : start + 4_096], add_special_tokens=False):
            rows.append([number for number in encoding.ids[:longest] if number > 1])  # noqa: PERF401
    return rows


def _without(code: list[int], name: list[int]) -> list[int]:
    """Remove every run of the name's tokens, unless nothing would remain."""
    if not name:
        return code
    kept, place = [], 0
    while place < len(code):
        if code[place : place + len(name)] == name:
            place += len(name)
        else:
            kept.append(code[place])
            place += 1
    return kept or code


if __name__ == "__main__":
    main()
