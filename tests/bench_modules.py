"""Modules of bench/ in tests: they import each other by their bare names, so their folders must be on the path."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BENCH = Path(__file__).parent.parent / "bench"


@contextmanager
def bench_folders(*names: str) -> Iterator[None]:
    """Put folders of bench/ on the path; afterwards, their modules are forgotten."""
    folders = [str(BENCH / name) for name in names]
    known = set(sys.modules)
    sys.path[:0] = folders
    yield
    for folder in folders:
        sys.path.remove(folder)
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCH)):
            del sys.modules[name]
