"""Real packages as a team's repositories: the folders in some folders, each name once, none too small or too large."""

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Most of a package's files with these endings are indexed.
_ENDINGS = (
    *(".py", ".pyi", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".c", ".h", ".cc", ".cpp"),
    *(".hpp", ".rb", ".php", ".cs", ".md", ".rst", ".txt", ".json"),
)
_LEAST_BYTES, _MOST_BYTES = 150_000, 40_000_000
_LARGEST_FILE = 1_000_000
# Chunks per byte of source, about; only used to decide how many repositories are added next.
_BYTES_PER_CHUNK = 1_100
_OTHER_SIGNS = re.compile(r"[^\w.-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Package:
    """A folder to add, with the bytes of its source."""

    name: str
    folder: Path
    bytes: int

    @property
    def chunks(self) -> int:
        """About how many chunks it has."""
        return self.bytes // _BYTES_PER_CHUNK


def packages_in(folders: list[Path], seed: int = 1) -> list[Package]:
    """Return the packages in some folders in a random order, which is the same each time."""
    found: dict[str, Package] = {}
    for folder in folders:
        for package in _children(folder):
            name = _name_of(package, folder)
            if name not in found and _LEAST_BYTES <= (size := _source_bytes(package)) <= _MOST_BYTES:
                found[name] = Package(name, package.resolve(), size)
    ordered = sorted(found.values(), key=lambda package: package.name)
    random.Random(seed).shuffle(ordered)
    return ordered


def _children(folder: Path) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if child.is_symlink() or not child.is_dir() or child.name.startswith(("_", ".")):
            continue
        # npm puts the packages of an organisation into a folder of their own.
        yield from _children(child) if child.name.startswith("@") else [child]


def _name_of(package: Path, folder: Path) -> str:
    # Only letters, digits and a few signs may be in the name of a repository.
    return _OTHER_SIGNS.sub("-", "-".join(package.relative_to(folder).parts).replace("@", ""))[:60]


def _source_bytes(package: Path) -> int:
    total = 0
    for where, folders, files in os.walk(package):
        folders[:] = [name for name in folders if name not in ("node_modules", "__pycache__", ".git", "dist", "build")]
        sizes = [(Path(where) / name).lstat().st_size for name in files if name.endswith(_ENDINGS)]
        total += sum(size for size in sizes if size <= _LARGEST_FILE)
    return total
