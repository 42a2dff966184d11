"""Reading packages as registries hand them out: the files in them, and what they say of themselves."""

import io
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

from sources import is_permissive

_LARGEST_FILE = 250_000
_DEBIAN_EXTRA = re.compile(r"\.debian\.tar\.\w+$")
_SOURCE_ENDINGS = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz")


def read_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file of ordinary size in a package's archives."""
    for archive in sorted(folder.iterdir()):
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as packed:
                for entry in packed.infolist():
                    if 0 < entry.file_size < _LARGEST_FILE:
                        yield entry.filename, packed.read(entry)
        elif archive.suffix == ".deb":
            yield from _read_tar(io.BytesIO(_data_of(archive)))
        elif archive.name.endswith(_SOURCE_ENDINGS) and not _DEBIAN_EXTRA.search(archive.name):
            yield from _read_tar(archive.open("rb"))


def describe(ecosystem: str, folder: Path) -> tuple[str, str]:
    """Return a package's version and declared licence; an empty licence when it declares none."""
    return {"pypi": _wheel, "npm": _npm, "debian-package": _debian_package, "debian-source": _debian_source}[ecosystem](
        folder
    )


def _read_tar(stream: io.BufferedIOBase) -> Iterator[tuple[str, bytes]]:
    with stream, tarfile.open(fileobj=stream, mode="r|*") as packed:
        for entry in packed:
            if entry.isfile() and 0 < entry.size < _LARGEST_FILE and (content := packed.extractfile(entry)):
                yield entry.name, content.read()


def _data_of(package: Path) -> bytes:
    return subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True).stdout


def _wheel(folder: Path) -> tuple[str, str]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(packed.read(name).decode("utf-8", "replace"))
    classified = [
        re.sub(r"\s*\([^)]*\)$", "", value.rpartition("::")[2].strip())
        for value in fields.get_all("Classifier", [])
        if value.startswith("License :: OSI Approved ::")
    ]
    # A licence field may hold the whole text of it; then what the package is filed under counts.
    stated = next((value for value in fields.get_all("License-Expression", []) + fields.get_all("License", [])), "")
    licence = stated.strip() if len(stated) < 60 and "\n" not in stated.strip() else ""
    return fields["Version"], licence if is_permissive(licence) or not classified else " AND ".join(classified)


def _npm(folder: Path) -> tuple[str, str]:
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        for entry in packed:
            if entry.name.count("/") == 1 and entry.name.endswith("/package.json"):
                stated = json.load(packed.extractfile(entry) or io.BytesIO(b"{}"))
                licence = stated.get("license", "")
                return stated["version"], str(licence.get("type", "") if isinstance(licence, dict) else licence)
    raise ValueError(f"{archive.name} has no package.json")


def _debian_package(folder: Path) -> tuple[str, str]:
    (package,) = folder.glob("*.deb")
    command = ["dpkg-deb", "--field", str(package), "Version"]
    version = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return version, _stated_in(_data_of(package), re.compile(r"usr/share/doc/[^/]+/copyright$"))


def _debian_source(folder: Path) -> tuple[str, str]:
    (description,) = folder.glob("*.dsc")
    version = re.search(r"^Version: (\S+)", description.read_text(errors="replace"), re.MULTILINE)
    extra = next((path for path in folder.iterdir() if _DEBIAN_EXTRA.search(path.name)), None)
    licence = _stated_in(extra.read_bytes(), re.compile(r"^(?:\./)?debian/copyright$")) if extra else ""
    return version.group(1) if version else "", licence


def _stated_in(archive: bytes, wanted: re.Pattern[str]) -> str:
    for name, content in _read_tar(io.BytesIO(archive)):
        if wanted.search(name):
            return copyright_licence(content.decode("utf-8", "replace"))
    return ""


def copyright_licence(text: str) -> str:
    """Sum up a Debian copyright file: all licences of what upstream wrote, joined by "and"."""
    licences: dict[str, None] = {}
    for paragraph in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:\s*(.*(?:\n[ \t]+.*)*)", paragraph, re.MULTILINE)
        licence = re.search(r"^License:[ \t]*(.+)", paragraph, re.MULTILINE)
        if files and licence and not all(_is_unread(part) for part in files.group(1).split()):
            licences[licence.group(1).strip()] = None
    return " AND ".join(licences)


def _is_unread(path: str) -> bool:
    """Tell whether a path is one that is never mined: packaging, tests, docs and build files."""
    return bool(
        re.match(r"debian/|(?:.*/)?(?:tests?|docs?|examples?|m4|cmake)/|.*\.m4$|.*(?:install-sh|ltmain\.sh)$", path)
    )
