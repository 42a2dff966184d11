"""Measures what reading and mapping each file costs, and keeps the figures next to the index until a file changes.

Figures are those of the current files, not of the index: a file with another stamp is measured again.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from keyhole.core.errors import KeyholeError
from keyhole.core.index.private_files import write_private_file
from keyhole.core.syntax.analysis_version import ANALYSIS_VERSION
from keyhole.core.syntax.parser_process import shared_parser
from keyhole.core.types.costs import TokenCost
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.view_requests import MapRequest
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.budget.tokens import DEFAULT_TOKENIZER, TOKENIZERS
from keyhole.core.view.maps.map_view import map_view, parse_map_request
from keyhole.core.view.text import numbered_source

COSTS_FILE = "costs.json"
# A long run is written from time to time, so that the next one continues where it stopped.
_WRITE_SECONDS = 5.0

_Known = dict[str, tuple[list[int], TokenCost]]
Progress = Callable[[int, int], None]


class CostMeter:
    """Measures the files of one workspace; `policy` is what the user has decided about secrets."""

    def __init__(self, root: Path, folder: Path, read: Callable[[str], SourceFile], policy: str) -> None:
        self._root = root
        self._file = folder / COSTS_FILE
        self._read = read
        rules = f"{ANALYSIS_VERSION} {policy} {sorted(TOKENIZERS[DEFAULT_TOKENIZER].items())}"
        self._version = blake2b(rules.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()

    def measure(self, paths: Iterable[str], on_progress: Progress = lambda *_: None) -> dict[str, TokenCost]:
        """Return the cost of each file that can be read."""
        known, wanted = self._known(), list(paths)
        found: _Known = {}
        changed, written = 0, time.monotonic()
        for number, path in enumerate(wanted):
            with suppress(KeyholeError, OSError):
                stamp = self._stamp(path)
                if path not in known or known[path][0] != stamp:
                    known[path] = stamp, self._cost(path)
                    changed += 1
                found[path] = known[path]
            if changed and time.monotonic() - written > _WRITE_SECONDS:
                self._write(known)
                changed, written = 0, time.monotonic()
            on_progress(number + 1, len(wanted))
        if changed or len(found) < len(known):
            self._write(found)
        return {path: cost for path, (_, cost) in found.items()}

    def _cost(self, path: str) -> TokenCost:
        source = self._read(path)
        read = measure(numbered_source(source.text, 1)).tokens
        shown = parse_map_request(MapRequest(path))
        return TokenCost(read, map_view(source, shared_parser().outline_of(source), shown).truncation.estimated_tokens)

    def _stamp(self, path: str) -> list[int]:
        found = os.stat(self._root / path, follow_symlinks=False)  # noqa: PTH116  # never follows a link
        return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]

    def _known(self) -> _Known:
        """Return the figures of the last time; a file that is missing, damaged or of another version has none."""
        with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
            content = json.loads(self._file.read_bytes())
            if content["version"] == self._version:
                return dict(_entries(content["files"].items()))
        return {}

    def _write(self, known: _Known) -> None:
        files = {path: [*stamp, cost.read, cost.map] for path, (stamp, cost) in known.items()}
        # Without room on the disk, the next run measures again.
        with suppress(OSError, UnicodeEncodeError):
            write_private_file(self._file, json.dumps({"version": self._version, "files": files}, ensure_ascii=True))


def _entries(items: Iterable[tuple[str, list[int]]]) -> Iterator[tuple[str, tuple[list[int], TokenCost]]]:
    for path, (size, written, changed, inode, read, mapped) in items:
        yield path, ([size, written, changed, inode], TokenCost(int(read), int(mapped)))
