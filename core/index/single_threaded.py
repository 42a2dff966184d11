"""Loading libraries without letting them start threads."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

# Every core already embeds texts in its own process, so more threads would only wait for each other.
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_environment = RLock()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep libraries loaded inside this block from starting threads, unless the user has set the variables.

    The libraries read environment variables: BLAS when it is loaded, the tokenizer for each batch. Programs started
    later ($EDITOR) must not inherit them, so they are removed afterwards.
    """
    with _environment:
        added = [name for name in _SINGLE_THREADED if name not in os.environ]
        os.environ.update({name: _SINGLE_THREADED[name] for name in added})
        try:
            yield
        finally:
            for name in added:
                os.environ.pop(name, None)


def load_numpy() -> None:
    """Load numpy in this way, if it is not loaded yet."""
    if "numpy" not in sys.modules:
        with single_threaded():
            import numpy as np  # noqa: F401  # only loaded here
