"""Average training runs, quantise the result to bytes, and write it as a model2vec folder.

python bench/model/export.py FOLDER RUN...
"""

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sources import DATA
from vocabulary import TOKENIZER

# The few largest values are clipped, so that all others keep more precision.
CLIP = 0.9999
CONFIG = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True, "hidden_dim": 256}


def main() -> None:
    """Write the average of the named runs."""
    folder, *runs = sys.argv[1:]
    export(Path(folder), quantise(sum(map(load_run, runs[1:]), load_run(runs[0]))))


def load_run(name: str) -> NDArray[np.float32]:
    """Return a run's vectors, multiplied by the token weights, at a common scale."""
    with np.load(DATA / "runs" / f"{name}.npz") as run:
        vectors = run["vectors"] * np.exp(run["weights"])[:, None]
    vectors[:2] = 0
    scaled: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1).mean()).astype(np.float32)
    return scaled


def quantise(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Quantise to integers from -127 to 127."""
    limit = np.quantile(np.abs(vectors), CLIP)
    rounded: NDArray[np.int8] = np.clip(np.rint(vectors / limit * 127), -127, 127).astype(np.int8)
    return rounded


def export(folder: Path, embeddings: NDArray[np.int8]) -> None:
    """Write vectors, tokenizer and configuration, readable by everyone."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": embeddings}, folder / "model.safetensors")
    tokenizer = json.loads(TOKENIZER.read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    for path in folder.iterdir():
        path.chmod(0o644)
    print(f"{folder}: {embeddings.shape}, {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
