"""A copy of real files that are edited, deleted and moved while keyhole works on them."""

import random
import threading
from pathlib import Path

# Real files of this repository in several languages, small enough that a fresh index takes a fraction of a second.
SOURCES = (
    "core/files",
    "core/index",
    "core/links",
    "core/search",
    "core/workspace",
    "docs",
    "tests/fixtures/languages/go",
    "tests/fixtures/languages/rust",
    "tests/fixtures/languages/typescript",
    "tests/fixtures/languages/yaml",
)
_LARGEST = 5_000
_FEWEST, _MOST = 50, 90
# Seconds between two edits while keyhole runs.
_PAUSES = (0.002, 0.15)


class EditedFiles:
    """The files that the workspace should have, and a thread that changes them."""

    def __init__(self, root: Path, repository: Path, chance: random.Random) -> None:
        self.root = root
        self.edits = 0
        self._chance = chance
        self._files: dict[str, str] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        for folder in SOURCES:
            for file in sorted((repository / folder).rglob("*")):
                if file.is_file() and file.suffix != ".pyc" and file.stat().st_size < _LARGEST:
                    self._write(str(file.relative_to(repository)), file.read_text())
        self._originals = dict(self._files)

    def edit(self, count: int) -> None:
        """Make some random changes."""
        for _ in range(count):
            self._edit()

    def start(self) -> None:
        """Go on making changes in the background."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._go_on)
        self._thread.start()

    def stop(self) -> None:
        """Stop making changes."""
        self._stop.set()
        if self._thread:
            self._thread.join()

    def is_untouched(self) -> bool:
        """Return whether the workspace has exactly the files that this object wrote."""
        found = {str(file.relative_to(self.root)): file for file in self.root.rglob("*") if not file.is_dir()}
        return found.keys() == self._files.keys() and all(
            file.read_bytes() == self._files[path].encode() for path, file in found.items()
        )

    def _go_on(self) -> None:
        while not self._stop.wait(self._chance.uniform(*_PAUSES)):
            self._edit()

    def _edit(self) -> None:
        self.edits += 1
        path = self._chance.choice(sorted(self._files))
        what = self._chance.choice(["add", "add", "replace", "delete", "move", "restore"])
        if what == "delete" and len(self._files) > _FEWEST:
            del self._files[path]
            (self.root / path).unlink()
        elif what == "move":
            self._move(path)
        elif what == "replace":
            self._write(path, self._files[self._chance.choice(sorted(self._files))])
        elif what == "restore" and len(self._files) < _MOST:
            missing = sorted(self._originals.keys() - self._files.keys())
            restored = self._chance.choice(missing or sorted(self._originals))
            self._write(restored, self._originals[restored])
        else:
            comment = f"\n# edit {self.edits} of the writer of the store\n"
            self._write(path, f"{self._originals.get(path, '# moved')}{comment}")

    def _move(self, path: str) -> None:
        place = Path(path)
        target = str(place.with_name(f"moved_{self.edits}{place.suffix}"))
        self._files[target] = self._files.pop(path)
        (self.root / path).rename(self.root / target)

    def _write(self, path: str, text: str) -> None:
        self._files[path] = text
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode())
