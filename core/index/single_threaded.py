"""Loading libraries that would start threads of their own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

# Texts are embedded by the hundred, on every core at once: threads below that only wait for each other.
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_environment = RLock()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep libraries loaded inside this block from starting threads, unless the user has chosen a number.

    They only read environment variables: BLAS when it is loaded, the tokenizer for each batch. Programs that are
    started later ($EDITOR) must not inherit them, so they are removed afterwards.
    """
    with _environment:
        added = [name for name in _SINGLE_THREADED if name not in os.environ]
        os.environ.update({name: _SINGLE_THREADED[name] for name in added})
        try:
            yield
        finally:
            for name in added:
                os.environ.pop(name, None)
