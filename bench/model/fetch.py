"""Fetch the packages of the manifest, or check candidates and list those that may be trained on.

    python bench/model/fetch.py               # exactly the packages in manifest.csv and evaluation.csv
    python bench/model/fetch.py --candidates  # the newest versions of candidates.toml; rewrites both lists

Packages are fetched with the usual client of their registry, unless they are there already.
"""

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from archives import describe
from corpus import source_lists
from sources import (
    CANDIDATES,
    DATA,
    EVALUATION,
    MANIFEST,
    Package,
    archive_folder,
    is_held_out,
    is_permissive,
    is_reserved,
    read_packages,
    simplify,
    write_packages,
)

# Packages per call of a client: apt is slow to start, and with the others one bad package fails the whole call.
BATCH = {"pypi": 8, "npm": 8, "debian-package": 40, "debian-source": 8}
CLIENTS_AT_A_TIME = 5
LARGEST_SOURCE = 250_000_000
# Debian releases in addition to the machine's own: earlier ones have no Swift.
LATER_DEBIAN = ("trixie", "sid")
REFUSED = DATA / "refused.csv"
SPECS = {"pypi": "{}=={}", "npm": "{}@{}", "debian-package": "{}={}", "debian-source": "{}={}"}


def main() -> None:
    """Fetch, and with --candidates write the lists."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--candidates", action="store_true", help="select from candidates.toml again")
    options.add_argument("--only", choices=SPECS, help="only this registry")
    chosen = options.parse_args()
    wanted: dict[str, dict[str, str]]
    if chosen.candidates:
        listed = tomllib.loads(CANDIDATES.read_text())
        wanted = {
            registry: {name: name for name in names if not is_reserved(name)} for registry, names in listed.items()
        }
    else:
        wanted = {registry: {} for registry in SPECS}
        for package in read_packages(MANIFEST) + read_packages(EVALUATION):
            wanted[package.ecosystem][package.name] = SPECS[package.ecosystem].format(package.name, package.version)
    for registry, specs in wanted.items():
        if chosen.only in (None, registry):
            fetch_all(registry, specs)
    if chosen.candidates and not chosen.only:
        write_lists(wanted)


def fetch_all(registry: str, specs: dict[str, str]) -> None:
    """Fetch the missing packages of one registry, with several clients in parallel."""
    missing = [name for name in specs if not archive_folder(registry, name).exists()]
    if registry == "debian-source" and missing:
        _apt_options()  # done once, before several threads need it
    size = BATCH[registry]
    batches = [missing[i : i + size] for i in range(0, len(missing), size)]
    with ThreadPoolExecutor(CLIENTS_AT_A_TIME) as pool:
        for number, _ in enumerate(pool.map(lambda batch: fetch_batch(registry, batch, specs), batches), 1):
            print(f"\r{registry}: {min(number * size, len(missing))}/{len(missing)}", end="", flush=True)
    print(f"\r{registry}: {sum(archive_folder(registry, name).exists() for name in specs)} of {len(specs)} are here")


def fetch_batch(registry: str, names: Sequence[str], specs: dict[str, str]) -> None:
    """Fetch some packages with one call of the client; if it fails, find the package that failed."""
    scratch = DATA / "incoming" / f"{registry}-{simplify(names[0])}"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    command = CLIENTS[registry]([specs[name] for name in names])
    done = subprocess.run(command, cwd=scratch, check=False, capture_output=True, timeout=900)
    for name in names:
        start = re.compile(rf"{simplify(name)}-v?\d")
        found = [path for path in scratch.iterdir() if start.match(simplify(path.name))]
        if found and (registry != "debian-source" or is_whole(found)):
            partial = scratch / "package"
            partial.mkdir()
            for path in found:
                path.rename(partial / path.name)
            folder = archive_folder(registry, name)
            folder.parent.mkdir(parents=True, exist_ok=True)
            partial.rename(folder)
    shutil.rmtree(scratch)
    left = [name for name in names if not archive_folder(registry, name).exists()]
    if done.returncode and left and len(names) > 1:
        middle = (len(left) + 1) // 2
        for half in filter(None, (left[:middle], left[middle:])):
            fetch_batch(registry, half, specs)


def is_whole(found: list[Path]) -> bool:
    """Return whether a source package's description and all files that it lists are there."""
    described = next((path.read_text(errors="replace") for path in found if path.suffix == ".dsc"), "")
    names = set(re.findall(r"^ [0-9a-f]{32} \d+ (\S+)$", described, re.MULTILINE))
    return bool(names) and names <= {path.name for path in found}


def _pip(specs: list[str]) -> list[str]:
    options = ["download", "--quiet", "--no-deps", "--only-binary=:all:"]
    return [sys.executable, "-m", "pip", *options, *specs]


def _npm(specs: list[str]) -> list[str]:
    return ["npm", "pack", "--silent", "--ignore-scripts", *specs]


def _apt_package(specs: list[str]) -> list[str]:
    return ["apt-get", "download", "--quiet", "--quiet", *specs]


def _apt_source(specs: list[str]) -> list[str]:
    return ["apt-get", *_apt_options(), "--quiet", "--quiet", "--download-only", "source", *specs]


@cache
def _apt_options() -> tuple[str, ...]:
    folder = DATA / "apt"
    shutil.rmtree(folder, ignore_errors=True)
    options = source_lists(folder)
    own = platform.freedesktop_os_release()["VERSION_CODENAME"]
    for path in list((folder / "parts").iterdir()):
        for later in LATER_DEBIAN:
            path.with_stem(f"{path.stem}-{later}").write_text(path.read_text().replace(own, later))
    # No check: sid has no updates suite, and apt fails on that after it has fetched all the others.
    subprocess.run(["apt-get", *options, "--quiet", "--quiet", "update"], check=False)
    return tuple(options)


CLIENTS: dict[str, Callable[[list[str]], list[str]]] = {
    "pypi": _pip,
    "npm": _npm,
    "debian-package": _apt_package,
    "debian-source": _apt_source,
}


def write_lists(wanted: dict[str, dict[str, str]]) -> None:
    """Read the licence in every archive, and list the permissive packages for training or evaluation."""
    train, judge, refused = list[Package](), list[Package](), list[Package]()
    read_before = {
        (package.ecosystem, package.name): package
        for path in (MANIFEST, EVALUATION, REFUSED)
        if path.exists()
        for package in read_packages(path)
    }
    for registry, specs in wanted.items():
        for name in specs:
            folder = archive_folder(registry, name)
            if folder.exists():
                package = read_before.get((registry, name)) or _examine(registry, name, folder)
                listed = (judge if is_held_out(name) else train) if is_permissive(package.licence) else refused
                listed.append(package)
    write_packages(MANIFEST, train)
    write_packages(EVALUATION, judge)
    write_packages(REFUSED, refused)
    print(f"{len(train)} packages for training, {len(judge)} for evaluation, {len(refused)} rejected by licence")


def _examine(registry: str, name: str, folder: Path) -> Package:
    size = sum(path.stat().st_size for path in folder.iterdir())
    if registry == "debian-source" and size > LARGEST_SOURCE:
        return Package(registry, name, "", "too large")
    try:
        return Package(registry, name, *describe(registry, folder))
    except (ValueError, KeyError, OSError, StopIteration, tarfile.TarError, zipfile.BadZipFile) as error:
        return Package(registry, name, "", f"unreadable: {error}")


if __name__ == "__main__":
    main()
