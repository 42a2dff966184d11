"""Measure references against language servers: precision of each level, recall, and the share of certain and likely.

    .venv/bin/python bench/references_quality.py [--language python] [--project scrapy] [--record]
    .venv/bin/python bench/references_quality.py --misses certain|likely|recall [--language python] [--most 60]

Symbols are drawn from Keyhole's own index with the recorded seed, as many of each project, among those whose name
occurs again somewhere; those that the server does not know as a definition are skipped. Both sides
are compared by path, line and column. Left out on both sides: names of definitions, whatever is in strings and comments
(so also `__all__`), and files that the server does not read, or lines that the preprocessor leaves out.
Overloads are one symbol for Keyhole, so the server is asked about each of them, and its answers are put together.
Calls of a class count as references of its constructor, except for `module.Class()`, which basedpyright leaves out.
Answers of the servers are kept in bench/.data/references. Projects and pinned servers are in
bench/quality/references.toml.
"""

import argparse
import json
import random
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol

from corpus import fetch_project
from oracles.places import Asked, Place
from record import HERE, save_record
from reference_scores import (
    BY_NAME,
    CERTAIN,
    LIKELY,
    MISSED,
    TARGETS,
    Outcome,
    Shape,
    by_role,
    compare,
    disagreements,
    figures,
)

from keyhole.core.config import load_settings
from keyhole.core.index.protocols import IndexStore
from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.find import references_to
from keyhole.core.references.language_rules import family_of, rules_of
from keyhole.core.references.name_meaning import same_thing
from keyhole.core.references.name_resolver import NameResolver
from keyhole.core.references.names_in_file import NOT_A_NAME, NamesInFile
from keyhole.core.references.open_names import open_resolver
from keyhole.core.references.reference import ROLE_WORDS
from keyhole.core.service import Service
from keyhole.core.syntax.languages import detect_language
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.syntax.parse import parse

MANIFEST = HERE / "quality" / "references.toml"
DATA = HERE / ".data" / "references"
SEED = 20261117
DRAWN = 150
# Families of languages, and the module in oracles/ that asks their server.
ORACLES = {"python": "python", "javascript": "typescript", "c": "clangd"}
NAMES = {"python": "python", "typescript": "javascript", "c": "c"}
MOST_SHAPES = 40
NOT_RECORDED = Shape("not recorded")
DEFINITION = OccurrenceRole.DEFINITION.name.lower()
_TEXT = ("string", "comment", "char")
_WORDS = frozenset(["self", "cls", "super", "this"])


class Oracle(Protocol):
    """What a module in oracles/ offers."""

    def references(self, project: Path, asked: Sequence[Asked]) -> dict[Asked, frozenset[Place]]:
        """Return the places of each definition that the server knows."""

    def loaded_files(self, project: Path) -> list[str]:
        """Return the files that the server reads."""


class Drawn(NamedTuple):
    """A symbol that was drawn, and where its name stands; in C++ an overloaded function has several places."""

    definition: DefinitionRow
    asked: tuple[Asked, ...]


def main() -> None:
    """Measure, print tables, and with --record store the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--language", choices=list(NAMES), help="only the projects of this language")
    options.add_argument("--project", help="only this project")
    options.add_argument("--misses", choices=[CERTAIN, LIKELY, "name", "recall"], help="print wrong or missed places")
    options.add_argument("--seed", type=int, default=SEED, help="draw other symbols, for a check")
    options.add_argument("--most", type=int, default=60, help="how many of these")
    options.add_argument("--record", action="store_true", help="store the figures under bench/records")
    chosen = options.parse_args()
    manifest = tomllib.loads(MANIFEST.read_text())
    recorded: dict[str, object] = {"seed": chosen.seed, "symbols of each project": DRAWN, "tools": manifest["tools"]}
    for language in [chosen.language] if chosen.language else NAMES:
        projects = [one for one in manifest["project"] if one["language"] == language]
        found = {one["name"]: measure(one, chosen.seed) for one in projects if chosen.project in (None, one["name"])}
        if not found:
            continue
        print_tables(language, found)
        # Nobody looks at single places of the other projects, so that they stay a clean check.
        shown = {one["name"] for one in projects if one["use"] == "develop" or one["name"] == chosen.project}
        seen = {name: outcomes for name, outcomes in found.items() if name in shown}
        print_shapes(seen)
        if chosen.misses:
            print_misses(seen, chosen.misses, chosen.most)
        recorded[language] = summary(found)
    if chosen.record:
        print("recorded as", save_record("references-quality", recorded))


# Measuring


def measure(project: dict[str, str], seed: int) -> list[Outcome]:
    """Draw symbols of a project, and compare their references with those of the server."""
    folder = unpack(project)
    oracle = load_oracle(project["language"])
    loaded = frozenset(oracle.loaded_files(folder))
    unread = unread_places(project, folder, oracle)
    with indexed(folder) as store:
        resolver = open_resolver(store)
        symbols = candidates(store, resolver, NAMES[project["language"]], loaded)
        random.Random(seed).shuffle(symbols)
        answers = Answers(project, folder, oracle)
        outcomes = []
        for one in answers.first_known(symbols, DRAWN):
            outcomes += judge(resolver, folder, one, answers.of(one), loaded, unread)
    return outcomes


def candidates(store: IndexStore, resolver: NameResolver, family: str, loaded: frozenset[str]) -> list[Drawn]:
    """Return the symbols of a family of languages whose name occurs at another place too, in order."""
    found: dict[tuple[str, str], Drawn] = {}
    counts = count_names(store)
    for row in store.definitions_in(sorted(loaded)):
        names = resolver.known.names(row.path)
        if names is None or family_of(row.language) != family or counts.get(row.name, 0) < 2:
            continue
        for place in names.places(row.name):
            if names.line_at(place) == row.name_line and names.role_at(place) is OccurrenceRole.DEFINITION:
                asked = Asked(row.path, row.name_line, names.column_at(place), row.name)
                known = found.setdefault(same_thing(row), Drawn(row, (asked,)))
                if rules_of(row.language).includes and asked not in known.asked:
                    found[same_thing(row)] = Drawn(known.definition, (*known.asked, asked))
                break
    return list(found.values())


def count_names(store: IndexStore) -> dict[str, int]:
    """Return how often each name occurs."""
    counts: dict[str, int] = {}
    for file in store.names_of_files(store.paths()):
        names = NamesInFile(file.names)
        for place in range(names.count):
            name = names.name_at(place)
            counts[name] = counts.get(name, 0) + 1
    return counts


def judge(  # noqa: PLR0913, PLR0917  # what both sides said, and where they can be compared
    resolver: NameResolver,
    folder: Path,
    drawn: Drawn,
    answer: frozenset[Place],
    loaded: frozenset[str],
    unread: frozenset[tuple[str, int]],
) -> list[Outcome]:
    """Compare the references of one symbol."""
    given = {}
    for one in references_to(resolver, drawn.definition):
        place = Place(one.path, one.line, one.column)
        is_read = one.path in loaded and (one.path, one.line) not in unread
        if is_read and one.role is not OccurrenceRole.STRING:
            given[place] = str(one.certainty), shapes(resolver, place.path)[place]
    wanted, own = {}, {Place(*asked[:3]) for asked in drawn.asked}
    for place in answer:
        shape = shapes(resolver, place.path).get(place, NOT_RECORDED)
        is_own = place in own or shape.role == DEFINITION
        if not is_own and place.path in loaded and not is_text(folder, place):
            wanted[place] = shape
    row = drawn.definition
    if row.language == "python" and row.name == rules_of("python").constructor:
        # basedpyright counts `Item()` as a reference of the constructor, but not `shop.Item()`.
        given = {place: found for place, found in given.items() if is_plain(folder, place, row.name, found[1])}
        wanted = {place: shape for place, shape in wanted.items() if is_plain(folder, place, row.name, shape)}
    return compare(f"{row.path}::{row.qualified_name}", row.kind, given, wanted)


def is_plain(folder: Path, place: Place, name: str, shape: Shape) -> bool:
    """Return whether a name is written at a place, or else something that is not taken from anything."""
    line = source(folder, place.path).split(b"\n")[place.line - 1]
    return not shape.receiver or line.startswith(name.encode(), place.column)


@cache
def shapes(resolver: NameResolver, path: str) -> dict[Place, Shape]:
    """Return role and receiver of everything that Keyhole has recorded of a file."""
    names = resolver.known.names(path)
    if names is None:
        return {}
    found = {}
    for place in range(names.count):
        role, receiver = names.role_at(place), names.receiver_at(place)
        kind = receiver if not receiver or receiver in _WORDS else "call" if receiver == NOT_A_NAME else "name"
        at = Place(path, names.line_at(place), names.column_at(place))
        words = role.name.lower() if role is OccurrenceRole.DEFINITION else ROLE_WORDS.get(role, role.name.lower())
        found[at] = Shape(words, kind)
    return found


@cache
def source(folder: Path, path: str) -> bytes:
    """Return a file of a project."""
    return (folder / path).read_bytes()


@cache
def text_spans(folder: Path, path: str) -> list[tuple[int, int]]:
    """Return where strings and comments are in a file; what is computed inside a string is not part of it."""
    content = source(folder, path)
    language = detect_language(path, content.decode("utf-8", "replace"))
    root = parse(language, content)
    pending, spans = [root] if root else [], []
    while pending:
        node = pending.pop()
        if not node.children and any(word in node.type for word in _TEXT):
            spans.append((node.start_byte, node.end_byte))
        pending += node.children
    return spans


def is_text(folder: Path, place: Place) -> bool:
    """Return whether a place is inside a string or a comment."""
    lines = source(folder, place.path).split(b"\n")
    start = sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column
    return any(first <= start < end for first, end in text_spans(folder, place.path))


# Projects and servers


def unpack(project: dict[str, str]) -> Path:
    """Return the folder of a project; fetch it the first time."""
    if project["source"] != "git":
        folder = fetch_project(project)
        check_archive(project)
        return folder
    repository, commit = project["repository"], project["version"]
    folder = DATA / f"{project['name']}-{commit[:12]}"
    if not folder.exists():
        clone = DATA / "clones" / repository.replace("/", "+")
        if not clone.exists():
            command = ["git", "clone", "--quiet", "--bare", f"https://github.com/{repository}.git", str(clone)]
            subprocess.run(command, check=True)
        git = next(path.parent for path in sorted(clone.rglob("HEAD")) if (path.parent / "objects").is_dir())
        partial = folder.with_name(f"{folder.name}.partial")
        partial.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "-C", str(git), "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(partial)], input=archive, check=True)
        partial.rename(folder)
    return folder / project["folder"]


def check_archive(project: dict[str, str]) -> None:
    """Exit if the archive of a project is not the one that is listed."""
    for archive in (HERE / ".data").glob(f"{project['name']}-{project['version']}.tar.gz"):
        digest = sha256(archive.read_bytes()).hexdigest()
        if digest != project["sha256"]:
            raise SystemExit(f"{archive.name} has the sha256 {digest}, not {project['sha256']}")


def load_oracle(language: str) -> Oracle:
    """Return the module that asks the server of a language."""
    module: Oracle = import_module(f"oracles.{ORACLES[NAMES[language]]}")
    return module


class Answers:
    """What the server of a project says; its answers are kept, because they take long and do not change."""

    def __init__(self, project: dict[str, str], folder: Path, oracle: Oracle) -> None:
        self._folder = folder
        self._oracle = oracle
        self._file = DATA / "answers" / f"{project['name']}-{project['version']}.json"
        kept = json.loads(self._file.read_text()) if self._file.exists() else []
        self._known = {
            Asked(*asked): None if found is None else frozenset(Place(*place) for place in found)
            for asked, found in kept
        }

    def first_known(self, symbols: list[Drawn], number: int) -> list[Drawn]:
        """Return the first symbols that the server knows."""
        # More than needed, since a server takes long to start.
        end = 2 * number
        while True:
            self._ask([asked for one in symbols[:end] for asked in one.asked])
            known = [one for one in symbols[:end] if any(self._known[asked] is not None for asked in one.asked)]
            if len(known) >= number or end >= len(symbols):
                return known[:number]
            end += number

    def of(self, drawn: Drawn) -> frozenset[Place]:
        """Return the places of a symbol."""
        return frozenset().union(*(self._known[asked] or () for asked in drawn.asked))

    def _ask(self, asked: list[Asked]) -> None:
        new = [one for one in asked if one not in self._known]
        if new:
            found = self._oracle.references(self._folder, new)
            self._known.update((one, found.get(one)) for one in new)
            self._file.parent.mkdir(parents=True, exist_ok=True)
            kept = [(one, None if places is None else sorted(places)) for one, places in self._known.items()]
            self._file.write_text(json.dumps(kept))


def unread_places(project: dict[str, str], folder: Path, oracle: Oracle) -> frozenset[tuple[str, int]]:
    """Return the lines that the server leaves out of the files it reads, such as those for another system."""
    find = getattr(oracle, "unread_lines", None)
    if find is None:
        return frozenset()
    file = DATA / "answers" / f"{project['name']}-{project['version']}-unread.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(find(folder)))
    return frozenset((path, line) for path, lines in json.loads(file.read_text()).items() for line in lines)


@contextmanager
def indexed(folder: Path) -> Iterator[IndexStore]:
    """Index a project, and lend the index."""
    with tempfile.TemporaryDirectory() as scratch:
        service = Service(folder, load_settings(folder, {"cache_dir": Path(scratch), "index.model": "none"}))
        service.index()
        with service.engines.lend() as engine:
            yield engine.store
        service.close()


# Printing


def summary(found: dict[str, list[Outcome]]) -> dict[str, object]:
    """Return the figures of a language: of each project, of both together, and by role."""
    together = [one for outcomes in found.values() for one in outcomes]
    return {
        **{name: figures(outcomes) for name, outcomes in found.items()},
        "together": figures(together),
        "by role": by_role(together),
    }


def print_tables(language: str, found: dict[str, list[Outcome]]) -> None:
    """Print the figures of a language with their targets."""
    together = [one for outcomes in found.values() for one in outcomes]
    header = ("rows", "certain", "likely", "by name", "missed")
    shares = ("p-certain", "p-likely", "p-by name", "recall", "share", "of all")
    print(f"\n{language:<22}" + "".join(f"{name:>10}" for name in header + shares))
    for name, outcomes in found.items():
        print_row(name, figures(outcomes))
    print_row("together", figures(together))
    for role, row in by_role(together).items():
        print_row(f"  {role}", row)
    for name, least in TARGETS.items():
        figure = figures(together)[name]
        print(f"{name:<22}{figure:>9.3f}  >= {least:g}  {'met' if figure >= least else 'MISSED'}")


def print_shapes(found: dict[str, list[Outcome]]) -> None:
    """Print the most frequent kinds of disagreement."""
    together = [one for outcomes in found.values() for one in outcomes]
    print("\nMost frequent disagreements: level, kind of symbol, role, receiver, number, an example")
    for (level, kind, shape), outcomes in disagreements(together)[:MOST_SHAPES]:
        one = outcomes[0]
        example = f"{one.symbol} at {one.place.path}:{one.place.line}"
        print(f"{level:<9}{kind:<10}{shape.role:<17}{shape.receiver:<6}{len(outcomes):>5}  {example}")


def print_row(name: str, row: dict[str, float]) -> None:
    """Print counts and shares."""
    counts = [row[key] for key in ("rows", "rows certain", "rows likely", "rows by name", "missed")]
    keys = ("precision certain", "precision likely", "precision by name", "recall", "share", "share of all rows")
    print(f"{name:<22}" + "".join(f"{count:>10,}" for count in counts) + "".join(f"{row[key]:>10.3f}" for key in keys))


def print_misses(found: dict[str, list[Outcome]], wanted: str, most: int) -> None:
    """Print single places that are wrong or missed, drawn evenly, with their lines."""
    level = {"recall": MISSED, "name": BY_NAME}.get(wanted, wanted)
    projects = {one["name"]: one for one in tomllib.loads(MANIFEST.read_text())["project"]}
    for name, outcomes in found.items():
        folder = unpack(projects[name])
        cases = [one for one in outcomes if one.level == level and (one.level == MISSED or not one.is_right)]
        if len(cases) > most:
            cases = sorted(random.Random(SEED).sample(cases, most))
        print(f"\n{name}")
        for one in cases:
            line = source(folder, one.place.path).split(b"\n")[one.place.line - 1].decode("utf-8", "replace")
            print(f"{one.kind} {one.symbol} [{one.shape.role} {one.shape.receiver}]")
            print(f"    {one.place.path}:{one.place.line}:{one.place.column + 1}: {line.strip()[:150]}")


if __name__ == "__main__":
    main()
