"""Run keyhole as its console script does, and record what it is doing (phases.py).

    python bench/phased_keyhole.py PHASE_FILE [ARGUMENTS OF keyhole]

Nothing of keyhole is replaced: its functions run inside wrappers that record when they begin and end. Processes that it
starts record nothing. Only two limits are lower, so that a small workspace is enough: a transaction holds fewer files,
and with KILL_TEST_POOL=1 an index run starts its pool of workers however little there is to do.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phases import PhaseFile

_BATCH_FILES = 12


class Recorder:
    """Wraps functions of keyhole."""

    def __init__(self, phases: "PhaseFile") -> None:
        self._phases = phases

    @contextmanager
    def during(self, phase: str, then: str = "") -> Iterator[None]:
        """Record a phase, and afterwards the one before it or `then`."""
        before = self._phases.now
        self._phases.begin(phase)
        try:
            yield
        finally:
            self._phases.begin(then) if then else self._phases.resume(before)

    def wrap(self, owner: Any, name: str, phase: str, then: str = "") -> None:
        """Record a phase whenever a function runs."""
        function = getattr(owner, name)

        @wraps(function)
        def recorded(*arguments: Any, **named: Any) -> Any:
            with self.during(phase, then):
                return function(*arguments, **named)

        setattr(owner, name, recorded)

    def wrap_transactions(self, store: Any) -> None:
        """Record writing, and committing from the moment when SQLite begins to commit."""
        transaction = store.transaction

        @contextmanager
        def recorded(own: Any) -> Iterator[None]:
            phase = "trigrams" if self._phases.now == "trigrams" else "writing"
            with self.during(phase), transaction(own):
                yield

        store.transaction = recorded

    def wrap_connect(self, database: Any) -> None:
        """Have SQLite call when it begins to commit."""
        connect: Callable[..., Any] = database.connect

        def committing() -> bool:
            # SQLite also calls for tables in memory, which readers use.
            if self._phases.now in ("writing", "trigrams"):
                self._phases.begin("committing")
            return False

        def recorded(*arguments: Any, **named: Any) -> Any:
            connection = connect(*arguments, **named)
            connection.set_commit_hook(committing)
            return connection

        database.connect = recorded


def record(phases: "PhaseFile") -> None:
    """Wrap what an index run consists of."""
    from keyhole.core.index import database, pool, trigrams, update
    from keyhole.core.index.store import Store
    from keyhole.core.index.word_model import WordEmbedder
    from keyhole.core.search.engine import Engine

    recorder = Recorder(phases)
    run = update._Update  # noqa: SLF001  # the parts of a run
    recorder.wrap(update, "update_index", "walking", then="at rest")
    recorder.wrap(update, "scan", "walking")
    recorder.wrap(run, "_can_load", "loading the model")
    recorder.wrap(run, "_write_changes", "preparing")
    recorder.wrap(WordEmbedder, "encode", "embedding")
    recorder.wrap(update, "resolve_links", "linking")
    recorder.wrap(update, "refresh_files", "refreshing")
    recorder.wrap(trigrams, "fill_trigrams", "trigrams")
    recorder.wrap(Engine, "search", "searching")
    recorder.wrap(Store, "announce", "writing")
    recorder.wrap(Store, "merge_words", "merging words")
    recorder.wrap(Store, "close", "closing")
    recorder.wrap_transactions(Store)
    recorder.wrap_connect(database)
    update._BATCH_FILES = _BATCH_FILES  # noqa: SLF001
    if os.environ.get("KILL_TEST_POOL"):
        pool._POOL_BYTES = 0  # noqa: SLF001


def main() -> None:
    """Record, and run the command."""
    from phases import PhaseFile

    # Modules of this folder have the names of packages that keyhole uses, such as mcp.
    sys.path.remove(str(Path(__file__).parent))
    record(PhaseFile(Path(sys.argv.pop(1))))
    from keyhole.core.cli.main import main as keyhole

    keyhole()


if __name__ == "__main__":
    main()
