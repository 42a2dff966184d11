"""Dated records of benchmark runs, and the source trees they run on."""

import json
import os
import platform
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = ("apsw", "tree-sitter", "tree-sitter-language-pack", "google-re2", "numpy")
# A program that is started to be timed must find compiled modules, as an installed Keyhole does. With this variable
# set, each start would compile whatever was edited since the installation.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def fetch_sdist(name: str, release: str) -> Path:
    """Unpack a source distribution in bench/.data; pip fetches it the first time."""
    folder = HERE / ".data" / f"{name}-{release}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(folder.parent), f"{name}=={release}"], check=True)
        archive = next(folder.parent.glob(f"[{name[0]}{name[0].upper()}]{name[1:]}-{release}.tar.gz"))
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return folder


def _program() -> str:
    """Return the path of this benchmark in the project, wherever the project is on this machine."""
    path = Path(sys.argv[0]).resolve()
    return path.relative_to(HERE.parent).as_posix() if path.is_relative_to(HERE.parent) else path.name


def _without_folders(argument: str) -> str:
    """Return an argument; of a full path only its last part, because a record is not about the folders of a machine."""
    return Path(argument).name if Path(argument).is_absolute() else argument


def save_record(name: str, figures: Mapping[str, object], *, own_files: Sequence[Path] = ()) -> Path:
    """Store figures with command, commit, versions and machine; a run may change `own_files` itself."""
    refuse_changes(own_files)
    now = datetime.now(UTC)
    record = {
        "benchmark": name,
        "date": now.isoformat(timespec="seconds"),
        "command": " ".join(["python", _program(), *map(_without_folders, sys.argv[1:])]),
        "commit": commit(own_files),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {platform.system()}",
        "versions": {package: version(package) for package in PACKAGES},
        "figures": {key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()},
    }
    path = HERE / "records" / f"{now:%Y-%m-%d}-{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n")
    return path.relative_to(HERE.parent)


def refuse_changes(own_files: Sequence[Path] = ()) -> None:
    """Exit if files differ from the commit that a record would name; new records and `own_files` are allowed."""
    if changed := _changes(own_files):
        raise SystemExit(
            f"not recorded, because these files differ from the last commit; commit them first:\n{changed}"
        )


def commit(own_files: Sequence[Path] = ()) -> str:
    """Return the current commit, marked if other files than `own_files` differ from it."""
    return _git("rev-parse", "--short", "HEAD") + ("+changes" if _changes(own_files) else "")


def _changes(own_files: Sequence[Path] = ()) -> str:
    own = [f":(top,exclude){path.relative_to(HERE.parent).as_posix()}" for path in own_files]
    return _git("status", "--porcelain", "--", ":/", ":(top,exclude)bench/records", *own)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
