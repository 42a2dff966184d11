"""Checks files whose commands the user allowed: their paths and hashes, in the user's configuration folder.

A repository can't allow itself anything: the list is the user's, and a file that changed is not trusted any more.
"""

import json
from pathlib import Path

from keyhole.core.checks.checks_file import ChecksFile
from keyhole.core.errors import ConfigError
from keyhole.core.index.private_files import write_private_file
from keyhole.core.user_file import user_file

_NAME = "trusted-checks.json"


def trusted_list() -> Path:
    """Return the path of the list, which may not exist."""
    return user_file().with_name(_NAME)


def is_trusted(root: Path, file: ChecksFile) -> bool:
    """Return whether the user trusted this file with exactly this content."""
    return _read().get(str(root / file.path)) == file.digest


def why_not_run(root: Path, file: ChecksFile, *, is_allowed: bool) -> str:
    """Return why the commands of a file are not run; empty if they may be."""
    if is_allowed or is_trusted(root, file):
        return ""
    is_known = str(root / file.path) in _read()
    why = "changed since you trusted it; read what changed" if is_known else "comes with the workspace; read it"
    return f"its command is not run: {file.path} {why}, then use --trust or --allow-commands"


def trust(root: Path, files: list[ChecksFile]) -> None:
    """Remember the hashes of files."""
    known = _read() | {str(root / file.path): file.digest for file in files}
    try:
        write_private_file(trusted_list(), json.dumps(known, indent=2, sort_keys=True) + "\n")
    except OSError as error:
        raise ConfigError(f"cannot write {trusted_list()}: {error.strerror}") from error


def _read() -> dict[str, str]:
    try:
        known = json.loads(trusted_list().read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {trusted_list()}: {error}; correct or delete it") from None
    if not isinstance(known, dict):
        raise ConfigError(f"cannot read {trusted_list()}: not a table of paths; delete it")
    return {str(path): str(digest) for path, digest in known.items()}
