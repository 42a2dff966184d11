"""Loading a model starts no threads, and leaves the environment as it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.core.index.model_folder import BUILTIN

# Runs in a separate process, so that its side effects stay there.
SCRIPT = """
import os, sys, threading
from keyhole.core.index.model import open_embedder

before = dict(os.environ)
embedder = open_embedder(sys.argv[1])
if sys.argv[2] == "load":
    embedder.load()
vectors = embedder.encode(["retry with backoff", "parse a file"] * 100)
# Large enough for BLAS to share it out among threads, if it has any.
import numpy as np
np.ones((600, 600), np.float32) @ np.ones((600, 600), np.float32)
assert dict(os.environ) == before, set(os.environ.items()) ^ set(before.items())
assert "numpy" in sys.modules
# model2vec's progress bar has a thread of Python's, which only waits.
print(len(vectors), len(os.listdir("/proc/self/task")) - threading.active_count() + 1)
"""


def threads_after(model: str, start: str, **variables: str) -> int:
    plain = {name: value for name, value in os.environ.items() if name not in THREADING}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, model, start], env=plain | variables, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    vectors, threads = map(int, run.stdout.split())
    assert vectors == 200
    return threads


THREADING = ("OPENBLAS_NUM_THREADS", "TOKENIZERS_PARALLELISM", "OMP_NUM_THREADS")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads in /proc")
@pytest.mark.parametrize("start", ["load", "encode"])
@pytest.mark.parametrize("kind", [BUILTIN, "folder"])
def test_a_model_starts_no_threads_and_leaves_the_environment_alone(kind: str, start: str, model_folder: Path) -> None:
    assert threads_after(BUILTIN if kind == BUILTIN else str(model_folder), start) == 1


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads in /proc")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="BLAS starts no threads on one core")
def test_the_users_own_number_of_threads_is_kept() -> None:
    assert threads_after(BUILTIN, "load", OPENBLAS_NUM_THREADS="2") == 2


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads in /proc")
@pytest.mark.parametrize("module", ["core.references.names_in_file", "core.search.name_matcher"])
def test_modules_that_compute_with_numpy_start_no_threads(module: str) -> None:
    code = f"import os, keyhole.{module}; print(len(os.listdir('/proc/self/task')))"
    plain = {name: value for name, value in os.environ.items() if name not in THREADING}
    run = subprocess.run([sys.executable, "-c", code], env=plain, capture_output=True, text=True, check=True)
    assert run.stdout == "1\n"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads in /proc")
def test_sqlite_vec_brings_no_threads_along(tmp_path: Path) -> None:
    """It imports numpy, whose threads would receive Ctrl-C while worker processes start."""
    code = """
import os, sys
from pathlib import Path
from keyhole.core.index.store import Store

with Store(Path(sys.argv[1])) as store:
    assert store.load_vectors()
print("numpy" in sys.modules, len(os.listdir("/proc/self/task")))
"""
    plain = {name: value for name, value in os.environ.items() if name not in THREADING}
    command = [sys.executable, "-c", code, str(tmp_path / "index.db")]
    assert subprocess.run(command, env=plain, capture_output=True, text=True, check=True).stdout == "True 1\n"
