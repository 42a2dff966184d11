"""Git repositories for tests: made with plain git, without any setting of the person who runs the tests."""

import os
import subprocess
from pathlib import Path

from acme import write_acme

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Lovelace",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Lovelace",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *arguments: str, fails: bool = False) -> bytes:
    """Run plain git, as a person would at a shell."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | IDENTITY
    options = ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert fails or done.returncode == 0, done.stderr.decode()
    return done.stdout


def write(folder: Path, **texts: str) -> None:
    """Write files; two underscores in a name stand for a slash, and the ending is .py."""
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit_all(folder: Path, subject: str = "Start") -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message", subject)


def new_repository(folder: Path, *options: str) -> Path:
    """Return a repository with three committed files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", *options)
    write(folder, one="first = 1\nsecond = 2\n", src__two="two = 2\n", src__deep__three="three = 3\n")
    commit_all(folder)
    return folder


def changed_acme(root: Path) -> Path:
    """Return a repository in which files were edited, renamed, added and made since the last commit."""
    write_acme(root)
    git(root, "init", "--quiet")
    commit_all(root, "Start")
    store = root / "src/acme/store.py"
    store.write_text(store.read_text() + "\n\ndef retry_store():\n    return None\n")
    git(root, "mv", "src/acme/client.py", "src/acme/connection.py")
    (root / "fresh").mkdir()
    (root / "fresh/retry_new.py").write_text("def retry_new():\n    return 1\n")
    (root / "src/acme/added.py").write_text("def retry_added():\n    return 1\n")
    git(root, "add", "src/acme/added.py")
    return root
