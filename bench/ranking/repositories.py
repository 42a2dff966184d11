"""The repositories that the ranking learns from: their list, their clones and their folds."""

import csv
import shutil
import sys
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from subprocess import run

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.csv"
QUESTIONS = HERE / "questions.jsonl"
DATA = HERE.parent / ".data" / "ranking"
CLONES = DATA / "clones"
FOLDS = 10

sys.path.append(str(HERE.parent / "model"))

from sources import is_permissive, is_reserved  # noqa: E402


@dataclass(frozen=True, slots=True)
class Repository:
    """A public repository at one commit; its name is `owner/name` on GitHub."""

    repository: str
    language: str
    licence: str
    commit: str

    @property
    def folder(self) -> str:
        """The name of the folders with its clone and its tree."""
        return self.repository.replace("/", "+")


def read_repositories(path: Path) -> list[Repository]:
    """Read a list of repositories; each must be allowed."""
    with path.open(newline="") as stream:
        rows = [row for row in csv.reader(stream) if row]
    header = [field.name for field in fields(Repository)]
    listed = sorted((Repository(*row) for row in rows if row != header), key=lambda found: found.repository.lower())
    for found in listed:
        if problem := reject_reason(found):
            raise SystemExit(f"{path.name}: {found.repository} {problem}")
    return listed


def reject_reason(found: Repository) -> str:
    """Return why a repository may not be learnt from; empty if it may."""
    if is_reserved(found.repository):
        return "is reserved: search is measured on it"
    if not is_permissive(found.licence):
        return f"has no permissive licence: {found.licence!r}"
    return ""


def fold_of(repository: str, folds: int = FOLDS) -> int:
    """Return the fold of a repository: all its queries are in one, whatever else is in the list."""
    return int.from_bytes(blake2b(repository.lower().encode(), digest_size=8).digest()) % folds


def git_directory(found: Repository, clones: Path) -> Path:
    """Return the git directory of a clone, bare or not; clone the repository if it is missing."""
    folder = clones / found.folder
    if not folder.is_dir():
        clones.mkdir(parents=True, exist_ok=True)
        partial = clones / f"{found.folder}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        source = f"https://github.com/{found.repository}.git"
        run(["git", "clone", "--quiet", "--bare", source, str(partial)], check=True)
        partial.rename(folder)
    for candidate in (folder, *sorted(folder.iterdir())):
        if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
            return candidate
    raise SystemExit(f"{folder} is not a clone: it has no git directory")
