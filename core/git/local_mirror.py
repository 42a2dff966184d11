"""A local copy of a repository that a team shares: which commit its branch is at, and fetching newer ones.

Fetching is the only thing that Keyhole ever lets git do over a network. It runs only when someone asks for it, with no
hooks, no programs of the repository's configuration, no questions at a terminal, and only protocols that run no program
of the other side's choice.
"""

import os
import re
from pathlib import Path

from keyhole.core.errors import GitError
from keyhole.core.git.git_process import GitProcess, find_git
from keyhole.core.git.shadow_repository import is_bare, repository_flags

_FETCH_SECONDS = 600.0
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# Settings of the repository could name programs; here they name none, or a harmless one.
_FETCH_FLAGS = (
    *("-c", "credential.helper="),
    *("-c", "core.askPass="),
    *("-c", "core.gitProxy="),
    *("-c", "core.alternateRefsCommand=true"),
)
_FETCH_VARIABLES = {
    # Not `ext`, which runs any program.
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:file",
    # No question about a password or an unknown host.
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
}
_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--prune",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--no-write-fetch-head",
    "--upload-pack=git-upload-pack",
)


def is_repository(folder: Path) -> bool:
    """Return whether a folder is a git repository, with or without working files."""
    return is_bare(folder) or os.path.lexists(folder / ".git")


def branch_commit(folder: Path, branch: str) -> str:
    """Return the commit that a branch is at, or the default branch if none is named.

    In a clone, this is the branch of the origin: what was only committed locally is not the team's yet.
    """
    process = GitProcess(find_git(folder))
    for name in _references(folder, branch):
        asked = [*repository_flags(folder), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
        found = process.run(asked, folder, may_fail=True).decode(errors="replace").strip()
        if _COMMIT.fullmatch(found):
            return found
    if branch:
        raise GitError(f"{folder} has no branch {branch}")
    # Says why git can't use the repository, if that is the reason.
    process.run([*repository_flags(folder), "rev-parse", "--git-dir"], folder)
    raise GitError(f"{folder} has no commit on its default branch")


def fetch_branches(folder: Path) -> bool:
    """Fetch all branches from where the repository was cloned; return False if it was not cloned from anywhere."""
    process, flags = GitProcess(find_git(folder)), repository_flags(folder)
    asked = [*flags, "config", "--get", "remote.origin.url"]
    address = os.fsdecode(process.run(asked, folder, may_fail=True)).strip()
    if not address:
        return False
    if address.startswith("-"):
        raise GitError(f"{address} is not an address")
    target = "refs/heads" if flags else "refs/remotes/origin"
    arguments = [*_FETCH_FLAGS, *flags, *_FETCH, "--", address, f"+refs/heads/*:{target}/*"]
    process.run(arguments, folder, _FETCH_VARIABLES, seconds=_FETCH_SECONDS)
    return True


def _references(folder: Path, branch: str) -> list[str]:
    if is_bare(folder):
        return [f"refs/heads/{branch}" if branch else "HEAD"]
    if branch:
        return [f"refs/remotes/origin/{branch}", f"refs/heads/{branch}"]
    return ["refs/remotes/origin/HEAD", "HEAD"]
