"""Other tools that search the same projects, for bench/quality.py: semble, and ripgrep by words.

**semble** searches with our model, so that only its chunks and its ranking differ; `semble BM25 only` is its own option
alpha=0, with its ranking. Both get the query as typed, return their ten best chunks, and have indexed what semble
indexes by default: code. (With documents and configuration it scores less on the tune half.) Its chunks have about 19
lines, ours 41, which makes ours overlap an answer more easily; the file level does not depend on that.
semble is not one of our dependencies: `.venv/bin/pip install semble==0.7.0`.

**ripgrep by words** is what an agent without an index can do. Each word of a query that is not a stop word is one
search with `rg --ignore-case --fixed-strings`, over the files that are in our index; a query that is one quoted text is
searched for as a whole. Files with the most different words come first, then those with the most matching lines. The
result in a file is the window of 40 lines, as long as our chunks, with the most different words, then the most matches;
its matches are in the middle.
"""

import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from agents import RIPGREP
from corpus import fetch_project, load_projects
from quality_ours import Engines, root_of
from quality_scores import DEPTH, Place, Searcher

from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.search.query import is_quoted

if TYPE_CHECKING:
    from semble import SembleIndex

WINDOW = 40
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about all also an and any are as at be been before but by can do does each every for from get gets goes had
        has have how if in into is it its just made may more most next not of off on once one only or other our out over
        own same so some such than that the their them then there they this through to too under until up us used very
        was what when where which while who why will with would you""",
    )
)

# Of a file, the lines with each word.
WordLines = dict[str, list[int]]


def model_folder(model: str) -> str:
    """Return the folder of a model."""
    return str(files("keyhole.assets").joinpath("model")) if model == BUILTIN else model


@contextmanager
def semble_alone() -> Iterator[None]:
    """Let semble neither use its saved indexes nor save statistics about searches, which would cost it time."""
    if find_spec("semble") is None:
        raise SystemExit("semble is not installed; run .venv/bin/pip install semble==0.7.0")
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, {"SEMBLE_CACHE_LOCATION": folder}),
        patch("semble.index.index.save_search_stats"),
    ):
        yield


def build_semble(root: Path, model: str, *, everything: bool = False) -> "SembleIndex":
    """Index a project with semble: its code, or also its documents and configuration."""
    from semble import ContentType, SembleIndex

    content = tuple(ContentType) if everything else ContentType.CODE
    return SembleIndex.from_path(root, content, model_path=model_folder(model))


def semble_indexes(engines: Engines, model: str) -> "dict[str, SembleIndex]":
    """Index the projects of a split with semble."""
    roots = {project["name"]: fetch_project(project).resolve() for project in load_projects()}
    return {name: build_semble(roots[name], model) for name in engines}


def semble(indexes: "dict[str, SembleIndex]", alpha: float | None = None) -> Searcher:
    """Search with semble; `alpha` is the weight of meaning, which semble chooses itself if it is None."""

    def search(project: str, text: str) -> list[Place]:
        found = [result.chunk for result in indexes[project].search(text, top_k=DEPTH, alpha=alpha)]
        return [Place(chunk.file_path, chunk.start_line, chunk.end_line) for chunk in found]

    return search


def ripgrep(engines: Engines) -> Searcher:
    """Search with ripgrep, one word at a time."""
    program = fetch_project(RIPGREP) / "rg"

    @cache
    def matches(project: str, word: str) -> dict[str, list[int]]:
        engine = engines[project]
        return matching_lines(program, root_of(engine), engine.store.paths(), word)

    def search(project: str, text: str) -> list[Place]:
        found: dict[str, WordLines] = defaultdict(dict)
        for word in words_to_grep(text):
            for path, lines in matches(project, word).items():
                found[path][word] = lines
        best = sorted(found, key=lambda path: (-len(found[path]), -sum(map(len, found[path].values())), path))
        return [Place(path, *densest_window(found[path])) for path in best[:DEPTH]]

    return search


def words_to_grep(text: str) -> list[str]:
    """Return the words of a query as typed, without stop words; a query that is one quoted text is one word."""
    if is_quoted(text):
        return [text.strip().strip('"')]
    words = list(dict.fromkeys(word.lower() for word in re.findall(r"\w+", text)))
    return [word for word in words if word not in STOP_WORDS] or words


def matching_lines(program: Path, root: Path, paths: list[str], word: str) -> dict[str, list[int]]:
    """Return the lines with a word, by file."""
    options = ["--ignore-case", "--fixed-strings", "--line-number", "--with-filename", "--null", "--no-heading"]
    command = [str(program), *options, "--regexp", word, "--", *paths]
    # ripgrep exits with 1 if nothing matches.
    output = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    found: dict[str, list[int]] = defaultdict(list)
    for path, line in re.findall(r"^([^\0\n]+)\0(\d+):", output, re.MULTILINE):
        found[path].append(int(line))
    return found


def densest_window(lines: WordLines) -> tuple[int, int]:
    """Return the window of a file with the most different words, then the most matches."""
    matches = sorted((line, word) for word, numbers in lines.items() for line in numbers)
    best, first, last = (0, 0), 0, 0
    inside: Counter[str] = Counter()
    start = 0
    for line, word in matches:
        inside[word] += 1
        while matches[start][0] <= line - WINDOW:
            inside[matches[start][1]] -= 1
            start += 1
        density = (sum(count > 0 for count in inside.values()), inside.total())
        if density > best:
            best, first, last = density, matches[start][0], line
    top = max(1, (first + last) // 2 - WINDOW // 2)
    return top, top + WINDOW - 1
