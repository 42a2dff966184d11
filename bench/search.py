"""Measure the latency of a query, warm and cold, at several index sizes.

    .venv/bin/python bench/search.py [--sizes 1000,10000,100000] [--record]

The trees are the Python files of Django 5.2, copied with edits until there are enough chunks. The vectors come from
Keyhole's own model.
"""

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import fetch_sdist, save_record

from keyhole.core.files.read import SourceReader
from keyhole.core.index.embedder import Embedder, quantise
from keyhole.core.index.index_home import SqliteHome
from keyhole.core.index.location import INDEX_FILE, index_folder
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.index.store import Store
from keyhole.core.index.trigrams import fill_trigrams
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.engine import Engine
from keyhole.core.search.semantic import nearest_to
from keyhole.core.search.sign_cache import SignCache
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

# As keyhole does: the threads of BLAS wait actively, which more than doubles the CPU time of a search.
with single_threaded():
    import numpy as np

MAX_BYTES = 1_000_000
ROUNDS = 3
WARM_MODES = (Mode.KEYWORD, Mode.SEMANTIC, Mode.HYBRID, Mode.SYMBOL, Mode.REGEX)
QUERIES = (
    "QuerySet",
    "get_queryset",
    "ModelAdmin.get_urls",
    "HttpResponseRedirect",
    "csrf token",
    "password reset form",
    "where is the session cookie written",
    "how are database migrations ordered",
    "parse the accept language header",
    "validate an uploaded image",
    "cache key prefix and version",
    "escape html in a template",
    "connection to the database is usable",
    "which middleware handles gzip",
    "serialize a model to json",
    "raise an error when the field is missing",
)
PATTERNS = (r"def get_\w+_display", r"class \w+Admin\(", r"raise \w*Http404", r"_meta\.get_field\(")
# Figures with their lower limits.
LEAST = {"recall of the nearest 200 at 100,000 chunks against the former scan": 0.995}
# Figures with their upper limits.
TARGETS = {
    "hybrid p50 at 10,000 chunks, ms": 12.0,
    "hybrid p50 at 100,000 chunks, ms": 40.0,
    "cold search against importing numpy": 6.0,
    "keyword p50 at 100,000 against 10,000 chunks": 10.0,
}


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="1000,10000,100000", help="chunks, separated by commas")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        sources = python_files(fetch_sdist("django", "5.2"))
        embedder = open_embedder(BUILTIN)
        assert embedder is not None
        for size in map(int, chosen.sizes.split(",")):
            tree, folder = grow(Path(scratch) / str(size), sources, size, embedder)
            figures |= warm(tree, folder, size, embedder)
            if size == 10_000:
                figures |= cold(tree, folder)
    ratio = "keyword p50 at 100,000 against 10,000 chunks"
    if "keyword p50 at 100,000 chunks, ms" in figures:
        figures[ratio] = figures["keyword p50 at 100,000 chunks, ms"] / figures["keyword p50 at 10,000 chunks, ms"]
    for name, figure in figures.items():
        print(f"{name:<72}{figure:>12,.3f}  {verdict(name, figure)}")
    if chosen.record:
        print("recorded as", save_record("search", figures))


def verdict(name: str, figure: float) -> str:
    """Compare a figure with its limit, if it has one."""
    if name in LEAST:
        return f">= {LEAST[name]:g}  {'met' if figure >= LEAST[name] else 'MISSED'}"
    return f"<= {TARGETS[name]:g}  {'met' if figure <= TARGETS[name] else 'MISSED'}" if name in TARGETS else ""


def python_files(tree: Path) -> list[str]:
    """Read the Python files, always in the same order."""
    return [path.read_text("utf-8", "replace") for path in sorted(tree.rglob("*.py")) if path.stat().st_size > 500]


def grow(folder: Path, sources: list[str], size: int, embedder: Embedder) -> tuple[Path, Path]:
    """Write edited copies of the files until there are about this many chunks, and index them."""
    tree, chance = folder / "tree", random.Random(size)
    # A chunk of these sources has about 1,450 bytes.
    left, copy, number = size * 1_450, 0, 0
    while left > 0:
        order = chance.sample(sources, len(sources))
        for text in order:
            edited = text if not copy else re.sub(r"\b([a-z]+_[a-z_]+)\b", rf"\1_{copy}", text)
            path = tree / f"part{number // 200}" / f"module_{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(edited)
            left -= len(edited)
            number += 1
            if left <= 0:
                break
        copy += 1
    index = index_folder(folder / "cache", tree.resolve())
    update_index(Request(tree.resolve(), index, MAX_BYTES, workers=2, embedder=embedder))
    return tree.resolve(), index


def warm(tree: Path, folder: Path, size: int, embedder: Embedder) -> dict[str, float]:
    """Time each mode on an open index, one query at a time."""
    figures = {}
    with Store(folder / INDEX_FILE) as store:
        fill_trigrams(store, SourceReader(tree, MAX_BYTES), SqliteHome(folder))
        engine = Engine(store, SourceReader(tree, MAX_BYTES), embedder=embedder)
        figures[f"chunks at size {size:,}"] = float(store.count_chunks())
        for mode in WARM_MODES:
            texts = PATTERNS if mode == Mode.REGEX else QUERIES
            engine.search(Query(texts[0], mode))
            times = []
            for _ in range(ROUNDS):
                for text in texts:
                    started = time.perf_counter()
                    # As every answer is read.
                    with store.snapshot():
                        engine.search(Query(text, mode))
                    times.append((time.perf_counter() - started) * 1e3)
            figures[f"{mode} p50 at {size:,} chunks, ms"] = statistics.median(times)
            figures[f"{mode} p95 at {size:,} chunks, ms"] = statistics.quantiles(times, n=20)[-1]
        figures |= recall(store, embedder, size)
    return figures


def recall(store: Store, embedder: Embedder, size: int) -> dict[str, float]:
    """Return the recall of the current and the former scan, compared with the nearest 200 of an exact scan.

    The former scan took the 400 nearest by signs, and among equally near chunks the lower number first.
    """
    rows = store.query(
        "SELECT chunk_id, signs, vector FROM chunk_signs JOIN chunk_vector USING (chunk_id) ORDER BY chunk_id"
    )
    ids = np.array([row[0] for row in rows])
    signs = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(len(rows), -1)
    numbers = np.frombuffer(b"".join(row[2] for row in rows), np.int8).reshape(len(rows), -1).astype(np.float32)
    now = before = 0
    for query in embedder.encode(QUERIES):
        closeness = numbers @ query
        exact = set(ids[np.argsort(-closeness, kind="stable")[:200]].tolist())
        ((own, _),) = quantise(query[None])
        differing = np.bitwise_count(signs ^ np.frombuffer(own, np.uint64)).sum(axis=1)
        former = np.argsort(differing, kind="stable")[:400]
        before += len(exact & set(ids[former[np.argsort(-closeness[former], kind="stable")[:200]]].tolist()))
        now += len(exact & {chunk_id for chunk_id, _ in nearest_to(store, query, SignCache(), limit=200)})
    share = f"recall of the nearest 200 at {size:,} chunks"
    return {share: now / (200 * len(QUERIES)), f"{share} against the former scan": now / before}


def cold(tree: Path, folder: Path) -> dict[str, float]:
    """Time a process from start to result, compared with one that only imports numpy."""
    keyhole = [sys.executable, "-m", "keyhole"]
    command = [*keyhole, "search", "where is the session cookie written", "--root", str(tree)]
    variables = {
        "KEYHOLE_CACHE_DIR": str(folder.parent),
        "PATH": "",
        "HOME": "/nowhere",
    }
    floor, search = [], []
    for _ in range(7):
        floor.append(seconds([sys.executable, "-c", "import numpy"], variables))
        search.append(seconds(command, variables))
    return {
        "import numpy, ms": statistics.median(floor) * 1e3,
        "cold search, ms": statistics.median(search) * 1e3,
        "cold search against importing numpy": statistics.median(search) / statistics.median(floor),
    }


def seconds(command: list[str], variables: dict[str, str]) -> float:
    """Run a process to its end, and return how long it took."""
    started = time.perf_counter()
    subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
