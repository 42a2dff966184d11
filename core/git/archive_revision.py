"""The files of a revision, unpacked into a folder. The checkout and the repository stay as they are."""

import re
import tarfile
from collections.abc import Sequence
from pathlib import Path

from keyhole.core.errors import GitError
from keyhole.core.git.git_process import GitProcess, find_git
from keyhole.core.git.shadow_repository import ShadowRepository

_SECONDS = 300.0
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# More than the index takes; a repository of such a size is hostile, or not for this.
_MOST_FILES = 500_000
_MOST_BYTES = 10_000_000_000


def archive_revision(root: Path, revision: str, folder: Path, *, flags: Sequence[str] = ()) -> Path:
    """Unpack the files of a revision of the workspace's repository into a folder, and return the workspace in it.

    `flags` name the repository if it has no working files.
    """
    process = GitProcess(find_git(root))
    try:
        repository = ShadowRepository(root, process, flags=flags)
        try:
            commit = _commit_of(process, root, revision, flags)
            packed = folder / "revision.tar"
            # Attributes in the repository must not leave out files or change their text.
            repository.ignore_attributes()
            arguments = ["archive", "--format=tar", f"--output={packed}", commit]
            repository.run(*arguments, *([repository.prefix] if repository.prefix else []), seconds=_SECONDS)
            unpacked = folder / "files"
            unpacked.mkdir()
            _unpack(packed, unpacked)
            packed.unlink()
            return unpacked / repository.prefix
        finally:
            repository.close()
    except (OSError, tarfile.TarError) as error:
        raise GitError(f"cannot unpack {revision}: {error}") from error


def _commit_of(process: GitProcess, root: Path, revision: str, flags: Sequence[str]) -> str:
    """Return the commit of a revision; a text that looks like an option is no revision."""
    if revision.startswith("-"):
        raise GitError(f"{revision} is not a revision")
    asked = [*flags, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    found = process.run(asked, root, may_fail=True).decode(errors="replace").strip()
    if not _COMMIT.fullmatch(found):
        shallow = process.run([*flags, "rev-parse", "--is-shallow-repository"], root, may_fail=True).strip() == b"true"
        hint = "; this clone has only part of the history: run git fetch --unshallow, or use fetch-depth: 0 in CI"
        raise GitError(f"{revision} is not a revision of this repository{hint if shallow else ''}")
    return found


def _unpack(packed: Path, folder: Path) -> None:
    """Write plain files only: links and other kinds of files would not be indexed anyway."""
    files, size = 0, 0
    with tarfile.open(packed) as archive:
        for member in archive:
            if not member.isreg():
                continue
            files, size = files + 1, size + member.size
            if files > _MOST_FILES or size > _MOST_BYTES:
                raise GitError("the revision is too large to unpack")
            archive.extract(member, folder, filter="data")
