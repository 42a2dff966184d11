"""The clients as npm installs them: package.json names the versions, and all of them share one folder."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

_WANTED = Path(__file__).with_name("package.json")
PACKAGES = _WANTED.parents[1] / ".data" / "clients"
PROGRAMS = PACKAGES / "node_modules" / ".bin"


def install_packages() -> None:
    """Install the versions in package.json, if they are not there."""
    stamp, digest = PACKAGES / "installed", hashlib.sha256(_WANTED.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    PACKAGES.mkdir(parents=True, exist_ok=True)
    shutil.copy(_WANTED, PACKAGES)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error"], cwd=PACKAGES, check=True)
    stamp.write_text(digest)


def package_version(package: str) -> str:
    """Return the version of a package that is installed."""
    return str(json.loads(_WANTED.read_text())["dependencies"][package])
