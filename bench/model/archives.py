"""Reading packages in the formats of their registries: their files, versions and licences."""

import fnmatch
import io
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from email.parser import Parser
from pathlib import Path

from sources import is_permissive

_LARGEST_FILE = 250_000
_DEBIAN_EXTRA = re.compile(r"\.debian\.tar\.\w+$")
_SOURCE_ENDINGS = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz")


def read_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of a package's files with a permissive licence, except very large ones."""
    may_read = _files_to_read(folder)
    for archive in sorted(folder.iterdir()):
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as packed:
                for entry in packed.infolist():
                    if 0 < entry.file_size < _LARGEST_FILE:
                        yield entry.filename, packed.read(entry)
        elif archive.suffix == ".deb":
            yield from _read_tar(io.BytesIO(_data_of(archive)))
        elif archive.name.endswith(_SOURCE_ENDINGS) and not _DEBIAN_EXTRA.search(archive.name):
            # Paths in a copyright file omit an archive's top folder, but start with the name of a component archive.
            part = "".join(f"{name}/" for name in re.findall(r"\.orig-([\w-]+)\.tar", archive.name))
            for path, content in _read_tar(archive.open("rb")):
                if may_read(part + path.partition("/")[2]):
                    yield path, content


def describe(ecosystem: str, folder: Path) -> tuple[str, str]:
    """Return a package's version and declared licence; the licence is empty if it declares none."""
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
    # The licence field may hold the full text of the licence; then the classifiers count.
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
    stated = _text_in(io.BytesIO(_data_of(package)), re.compile(r"usr/share/doc/[^/]+/copyright$"))
    return version, " AND ".join(_counted_licences(stated))


def _debian_source(folder: Path) -> tuple[str, str]:
    (description,) = folder.glob("*.dsc")
    version = re.search(r"^Version: (\S+)", description.read_text(errors="replace"), re.MULTILINE)
    return version.group(1) if version else "", source_licence(_source_copyright(folder))


def _source_copyright(folder: Path) -> str:
    extra = next((path for path in folder.iterdir() if _DEBIAN_EXTRA.search(path.name)), None)
    return _text_in(extra.open("rb"), re.compile(r"^(?:\./)?debian/copyright$")) if extra else ""


def _text_in(archive: io.BufferedIOBase, wanted: re.Pattern[str]) -> str:
    found = (content for name, content in _read_tar(archive) if wanted.search(name))
    return next(found, b"").decode("utf-8", "replace")


def source_licence(text: str) -> str:
    """Summarise a Debian copyright file: all licences of the upstream files, joined by "and".

    The first is the licence of the project. If it is permissive, files under other licences are neither read nor
    counted.
    """
    licences = _counted_licences(text)
    if licences and is_permissive(licences[0]):
        licences = list(filter(is_permissive, licences))
    return " AND ".join(licences)


def _files_to_read(folder: Path) -> Callable[[str], bool]:
    """Return a test for the files to read: in a source package those under permissive licences, else all."""
    if not any(folder.glob("*.dsc")):
        return lambda _: True
    patterns: dict[bool, list[str]] = {True: [], False: []}
    for licence, files in _licences(_source_copyright(folder)):
        patterns[is_permissive(licence)] += map(fnmatch.translate, files)
    permitted, refused = (re.compile("|".join(patterns[kind]) or r"(?!)") for kind in (True, False))
    return lambda path: bool(permitted.fullmatch(path)) and not refused.fullmatch(path)


def _licences(copyright_file: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each licence with the files that it covers."""
    for paragraph in re.split(r"\n\s*\n", copyright_file):
        files = re.search(r"^Files:\s*(.*(?:\n[ \t]+.*)*)", paragraph, re.MULTILINE)
        licence = re.search(r"^License:[ \t]*(.+)", paragraph, re.MULTILINE)
        if files and licence:
            yield licence.group(1).strip(), files.group(1).split()


def _counted_licences(copyright_file: str) -> list[str]:
    """Return the licences of the files that may be mined, each once."""
    found = (licence for licence, files in _licences(copyright_file) if not all(map(_is_unread, files)))
    return list(dict.fromkeys(found))


def _is_unread(path: str) -> bool:
    """Return whether a path is never mined: packaging, tests, docs and build files."""
    return bool(
        re.match(r"debian/|(?:.*/)?(?:tests?|docs?|examples?|m4|cmake)/|.*\.m4$|.*(?:install-sh|ltmain\.sh)$", path)
    )
