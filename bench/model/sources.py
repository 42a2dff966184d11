"""Which packages the model may be trained on, and the lists of those it was.

manifest.csv lists the training packages, evaluation.csv the evaluation packages; both are committed.
"""

import csv
import hashlib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent / ".data" / "model"
CANDIDATES = HERE / "candidates.toml"
MANIFEST = HERE / "manifest.csv"
EVALUATION = HERE / "evaluation.csv"
PROJECTS = HERE.parent / "quality" / "projects.toml"

# Projects that are excluded from all training and tuning, so that they remain a clean test.
RESERVED = frozenset(
    [
        "requests",
        "flask",
        "fastapi",
        "httpx",
        "pydantic",
        "starlette",
        "aiohttp",
        "click",
        "model2vec",
        "axios",
        "express",
        "redux",
        "gin",
        "gin-gonic",
        "cobra",
        "chi",
        "go-chi",
        "gson",
        "guzzle",
        "guzzlehttp",
        "monolog",
        "laravel",
        "illuminate",
        "sinatra",
        "rack",
        "rails",
        "railties",
        "activesupport",
        "activerecord",
        "activemodel",
        "activejob",
        "activestorage",
        "actionpack",
        "actionview",
        "actionmailer",
        "actioncable",
        "actiontext",
        "tokio",
        "serde",
        "axum",
        "trpc",
        "zod",
        "vitest",
        "curl",
        "libcurl",
        "redis",
        "libuv",
        "uv1x",
        "fmtlib",
        "fmt",
        "abseil",
        "absl",
        "nlohmann",
        "aeson",
        "pandoc",
        "xmonad",
        "phoenix",
        "plug",
        "ecto",
        "nvm",
        "bats",
        "bats-core",
        "bash-it",
        "messagepack-csharp",
        "messagepack",
        "newtonsoft",
        "dapper",
        "commons-lang",
        "jackson",
        "ktor",
        "kotlinx",
        "exposed",
        "telescope-nvim",
        "lazy-nvim",
        "mini-nvim",
        "cats",
        "circe",
        "http4s",
        "vapor",
        "alamofire",
        "snapkit",
        "rxswift",
        "zls",
        "zig-clap",
        "zig",
    ]
)

# Permissive licences, spelled as `simplify` returns them; "or" needs one of them, "and" all.
PERMISSIVE = re.compile(
    r"""(?:mit(?:-0|-cmu|-license|-style|-x11)?|the-mit-license(?:-mit)?|x11|expat|isc(?:l|-license)?|0bsd|zlib(?:-license)?
    |(?:new-|modified-|simplified-|revised-)?bsd(?:-license)?|bsd-?[0-4](?:-clause)?(?:-license)?|bsd-[234]c(?:lause)?
    |[234]-clause-bsd(?:-license)?|bsd-3-clause-\w+|(?:the-)?apache(?:-license)?-?v?(?:ersion-)?(?:2(?:-0)?)?(?:-license)?|apache-software-license(?:-2-0)?
    |apache-2(?:-0)?(?:-with)?-(?:library|llvm)-exceptions?|asl-?2(?:-0)?|mpl-?v?(?:2|1)(?:-[01])?|mozilla-public-license-2-0(?:-mpl-2-0)?|psf(?:-license|l)?(?:-2-0)?|python-2-0
    |python-software-foundation-license|unlicense|the-unlicense(?:-unlicense)?|cc0(?:-1-0)?(?:-universal)?|public-domain
    |blueoak-1-0-0|bsl-1(?:-0)?|boost(?:-software-license)?(?:-1-0)?|ruby|php-3(?:-01)?|hpnd|ncsa|ofl-1-1|curl|wtfpl)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a package in a registry."""

    ecosystem: str
    name: str
    version: str
    licence: str
    pairs: int = 0

    @property
    def folder(self) -> Path:
        """The folder of its archive."""
        return archive_folder(self.ecosystem, self.name)


def archive_folder(ecosystem: str, name: str) -> Path:
    """Return the folder for the archive of a package."""
    return DATA / "archives" / ecosystem / name.replace("/", "__")


def read_packages(path: Path) -> list[Package]:
    """Read a list of packages."""
    with path.open(newline="") as stream:
        return [Package(a, b, c, d, int(pairs)) for a, b, c, d, pairs in list(csv.reader(stream))[1:]]


def write_packages(path: Path, packages: Iterable[Package]) -> None:
    """Write a list of packages, in a fixed order."""
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Package)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(package) for package in sorted(packages, key=lambda p: (p.ecosystem, p.name)))


def simplify(text: str) -> str:
    """Return a name in lower-case letters and digits, joined by single hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def is_permissive(licence: str) -> bool:
    """Return whether a declared licence is on the allow-list; unknown licences are not."""
    # Splits at "and" before "or" and ignores brackets: this can only reject too much.
    parts = re.split(r"\s+and\s+|/|&", licence.lower())
    return all(
        any(PERMISSIVE.fullmatch(simplify(choice)) for choice in re.split(r"\s+or\s+|\|+", part)) for part in parts
    )


@cache
def labelled_projects() -> frozenset[str]:
    """Return the projects of the labelled search queries."""
    return frozenset(simplify(project["name"]) for project in tomllib.loads(PROJECTS.read_text())["project"])


def is_reserved(package: str) -> bool:
    """Return whether a package belongs to a project that is never trained on."""
    return _reserved_pattern().search(f"-{simplify(package)}-") is not None


def is_reserved_path(path: str) -> bool:
    """Return whether a file is a copy from such a project inside another package."""
    return any(is_reserved(part) for part in Path(path).parent.parts)


def is_held_out(package: str) -> bool:
    """Return whether a package is for evaluation: an eighth of all projects, by name, with all their versions."""
    project = re.sub(r"-(?:\d+|dev|java|es|core)\b|\d+$", "", simplify(package))
    return hashlib.blake2b(project.encode(), digest_size=4).digest()[0] < 32


@cache
def _reserved_pattern() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, RESERVED | labelled_projects())))
    return re.compile(rf"-(?:lib)?(?:{names})\d*(?:-|$)")
