"""Measure precision and recall of resolved links in real projects, against labels made by reading the source.

    .venv/bin/python bench/links_quality.py [--record]
    .venv/bin/python bench/links_quality.py --sample     # the labelled lines, drawn with the recorded seed

Samples are lines that a simple pattern takes for an import or a link, so that links that the index does not find count
as missed. Labels (bench/quality/links.toml) were committed before the resolver ran on these projects.
"""

import argparse
import json
import random
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from corpus import fetch_project, load_projects
from record import HERE, save_record

from keyhole.core.config import load_settings
from keyhole.core.links.requests import Category, LinksRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Format

LABELS = HERE / "quality" / "links.toml"
SEED, LATER_SEED = 20261116, 20261117
SAMPLED = 30
LEAST_PRECISION, LEAST_RECALL = 0.98, 0.9
NOWHERE = {"external", "unresolved", "own file"}
# A statement may span several lines; its links are reported at the first.
LONGEST_STATEMENT = 30
_SCRIPT = r"""^\s*(?:import|export)\b.*\bfrom\s+['"]|^\s*import\s+['"]|\brequire\(['"]"""
_RUST = r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+[\w:{]|mod\s+\w+;|extern\s+crate)"
_INCLUDE = r"^\s*#\s*include\b"


class Sample(NamedTuple):
    """A sample: its project, its name, the file extensions, and the pattern of a line with a link."""

    project: str
    name: str
    endings: tuple[str, ...]
    pattern: str
    seed: int = SEED


SAMPLES = (
    Sample("urllib3", "Python", (".py",), r"^\s*(?:from\s+\S+\s+import\b|import\s+\w)"),
    Sample("fastify", "JavaScript", (".js", ".cjs", ".mjs"), _SCRIPT),
    Sample("rxjs", "TypeScript", (".ts",), _SCRIPT),
    Sample("zap", "Go", (".go",), r"""^(?:import\s+|\t)(?:[\w.]+\s+)?"[\w./-]+"$"""),
    Sample("regex", "Rust", (".rs",), _RUST),
    Sample("jsoup", "Java", (".java",), r"^import\s"),
    Sample("jansson", "C", (".c", ".h"), _INCLUDE),
    Sample("fastify", "Markdown", (".md",), r"\]\(|^\[[^\]]+\]:\s|https?://"),
    # Drawn and labelled after the others, with their own seed; the Rust samples check that fixes made for other
    # projects work here too.
    Sample("yaml-cpp", "C++", (".cpp", ".h", ".cc", ".hpp", ".cxx", ".hh"), _INCLUDE, LATER_SEED),
    Sample("rayon", "Rust, rayon", (".rs",), _RUST, LATER_SEED),
    Sample("hyper", "Rust, hyper", (".rs",), _RUST, LATER_SEED),
)


class Label(TypedDict):
    """A line, and the targets of its links: paths in the project, or a word for a target outside it."""

    sample: str
    path: str
    line: int
    text: str
    to: list[str]


def main() -> None:
    """Evaluate, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    options.add_argument("--sample", action="store_true", help="print the lines to label, and stop")
    chosen = options.parse_args()
    known = tomllib.loads(LABELS.read_text())
    folders = {project["name"]: fetch_project(project) for project in [*load_projects(), *known["project"]]}
    if chosen.sample:
        print_samples(folders)
        return
    labels: list[Label] = known["label"]
    figures = {}
    for sample in SAMPLES:
        its = [label for label in labels if label["sample"] == sample.name]
        figures[sample.name] = judge(folders[sample.project], its)
    figures["all"] = {key: sum(one[key] for one in figures.values()) for key in figures[SAMPLES[0].name]}
    print(f"{'sample':<12}{'lines':>7}{'internal':>10}{'given':>7}{'right':>7}{'precision':>11}{'recall':>8}")
    for name, counts in figures.items():
        print_row(name, counts)
    if chosen.record:
        print("recorded as", save_record("links-quality", figures))


def print_samples(folders: dict[str, Path]) -> None:
    """Print the sampled lines as labels without targets."""
    for sample in SAMPLES:
        for path, line, text in draw(folders[sample.project], sample):
            print(f"[[label]]\nsample = {json.dumps(sample.name)}\npath = {json.dumps(path)}\nline = {line}")
            print(f"text = {json.dumps(text)}\nto = []\n")


def draw(folder: Path, sample: Sample) -> list[tuple[str, int, str]]:
    """Draw lines that look like links, with the recorded seed, and return them in order."""
    found = list(candidates(folder, sample.endings, re.compile(sample.pattern)))
    return sorted(random.Random(sample.seed).sample(found, SAMPLED))


def candidates(folder: Path, endings: tuple[str, ...], pattern: re.Pattern[str]) -> Iterator[tuple[str, int, str]]:
    """Yield every line that looks like a link."""
    for path in sorted(folder.rglob("*")):
        if path.name.endswith(endings) and path.is_file() and not path.is_symlink():
            for number, line in enumerate(path.read_text("utf-8", "replace").split("\n"), 1):
                if pattern.search(line):
                    yield path.relative_to(folder).as_posix(), number, line.strip()[:200]


def judge(folder: Path, labels: list[Label]) -> dict[str, float]:
    """Compare resolved targets with the labels; external and unresolved links must have no target."""
    counts: dict[str, float] = {"lines": len(labels), "labelled": 0, "given": 0, "right": 0}
    with tempfile.TemporaryDirectory() as scratch:
        service = Service(folder, load_settings(folder, {"cache_dir": Path(scratch), "index.model": "none"}))
        service.index()
        for label in labels:
            given = leads_to(service, label)
            labelled = set(label["to"]) - NOWHERE
            counts["labelled"] += len(labelled)
            counts["given"] += len(given)
            counts["right"] += len(given & labelled)
            if given != labelled:
                print(f"{label['path']}:{label['line']}: {label['text']}\n  given {given}, labelled {labelled}")
        service.close()
    return counts


def leads_to(service: Service, label: Label) -> set[str]:
    """Return the targets in the project of the links on a line, or in the statement that ends on it."""
    found, offset = set[str](), 0
    while True:
        request = LinksRequest(
            label["path"], Category.INTERNAL, limit=500, offset=offset, max_tokens=25_000, format=Format.JSON
        )
        answer = json.loads(service.relation_view(request).text)
        found |= {result["to"] for result in answer["results"] if "to" in result and is_meant(result, label)}
        offset += answer["returned_count"]
        if not answer["pagination"]["has_more"]:
            return found


def is_meant(result: dict[str, Any], label: Label) -> bool:
    """Return whether a link is on a line, or in a statement that ends on it."""
    before = label["line"] - result["line"]
    return before == 0 or (0 < before < LONGEST_STATEMENT and f"'{result['target']}'" in label["text"])


def print_row(name: str, counts: dict[str, float]) -> None:
    """Print precision and recall with their targets."""
    precision = counts["right"] / counts["given"] if counts["given"] else 1.0
    recall = counts["right"] / counts["labelled"] if counts["labelled"] else 1.0
    is_met = precision >= LEAST_PRECISION and recall >= LEAST_RECALL
    print(
        f"{name:<12}{counts['lines']:>7}{counts['labelled']:>10}{counts['given']:>7}{counts['right']:>7}"
        f"{precision:>11.3f}{recall:>8.3f}  {'met' if is_met else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
