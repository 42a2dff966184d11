"""Measure what links add to indexing, and the speed of link queries, on generated notes like an Obsidian vault.

    .venv/bin/python bench/links.py [--record]

The vault has 5,000 notes with 50,000 links, 3,000 of them to one note. Indexing is timed with and without links,
alternately, each time with a new index; the cost is the median ratio. Queries are timed for the whole view, from the
request to the text.
"""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import truediv
from pathlib import Path
from unittest.mock import patch

from record import HERE, save_record

from keyhole.core.config import load_settings
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    LinkSearchRequest,
    LinksRequest,
    RelatedRequest,
    Relation,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.service import Service

sys.path.append(str(HERE.parent / "tests"))
from vault import write_vault  # found by the line above

NOTES, LINKS, TO_HUB = 5_000, 50_000, 3_000
INDEX_ROUNDS = 5
QUERIES = 60
MOST_COST, MOST_MILLISECONDS = 1.25, 20.0
QUESTIONS: dict[str, Callable[[str], RelationRequest]] = {
    "get_links": LinksRequest,
    "get_backlinks": BacklinksRequest,
    "get_backlinks of the hub, page 20": lambda _: BacklinksRequest("Hub.md", offset=1_900),
    "find_broken_links": lambda _: BrokenLinksRequest(),
    "search_by_links has_links_to": lambda path: LinkSearchRequest(has_links_to=path),
    "search_by_links linked_from": lambda path: LinkSearchRequest(linked_from=path),
    "search_by_links external_domains": lambda _: LinkSearchRequest(external_domains=("river.example.org",)),
    "search_by_links broken": lambda _: LinkSearchRequest(broken=True),
    "get_tree children": lambda _: TreeRequest(),
    "get_tree descendants": lambda _: TreeRequest(relation=Relation.DESCENDANTS),
    "get_tree descendants with symbols": lambda _: TreeRequest(
        relation=Relation.DESCENDANTS, max_depth=6, symbols=True
    ),
    "get_tree parents": lambda path: TreeRequest(path, relation=Relation.PARENTS),
    "find_related by words": RelatedRequest,
}


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    options.add_argument("--rounds", type=int, default=INDEX_ROUNDS, help="rounds of indexing with and without links")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        root = write_vault(base / "vault", notes=NOTES, links=LINKS, hub_links=TO_HUB)
        figures = index_cost(root, base, chosen.rounds)
        service = open_service(root, base / "queries")
        service.index()
        figures |= incremental(service, root)
        figures |= query_times(service, QUESTIONS)
        service.close()
        service = open_service(root, base / "vectors", model="builtin")
        service.index()
        figures |= query_times(service, {"find_related by meaning": RelatedRequest})
        service.close()
    for name, figure in figures.items():
        print(f"{name:<52}{figure:>12,.2f}  {verdict(name, figure)}")
    if chosen.record:
        print("recorded as", save_record("links", figures))


def verdict(name: str, figure: float) -> str:
    """Compare a figure with its target, if it has one."""
    target = MOST_COST if name.startswith("index cost") else MOST_MILLISECONDS if name.endswith("p95, ms") else None
    if target is None:
        return ""
    return f"<= {target:g}  {'met' if figure <= target else 'MISSED'}"


def open_service(root: Path, cache: Path, *, model: str = "none") -> Service:
    """Open the notes with one worker, to measure work and not cores, and without vectors, which would hide the cost."""
    return Service(root, load_settings(root, {"cache_dir": cache, "index.workers": 1, "index.model": model}))


def index_cost(root: Path, base: Path, rounds: int) -> dict[str, float]:
    """Index with links, twice without, and with links again, so that a machine that slows down affects both equally."""
    spent: dict[str, list[float]] = {"with links": [], "without links": []}
    for number, name in enumerate(["with links", "without links", "without links", "with links"] * rounds):
        with nothing_linked() if name == "without links" else nothing_changed():
            spent[name].append(timed(open_service(root, base / f"{number}").index, time.process_time))
        shutil.rmtree(base / f"{number}")
    sums = {name: [sum(pair) / 2 for pair in zip(*[iter(seconds)] * 2, strict=True)] for name, seconds in spent.items()}
    return {
        **{f"index {name}, CPU s": min(seconds) for name, seconds in spent.items()},
        "index cost of links, ratio": statistics.median(map(truediv, *sums.values())),
    }


@contextmanager
def nothing_linked() -> Iterator[None]:
    """Index as if there were no links."""
    prepare, update = "keyhole.core.index.prepare", "keyhole.core.index.update"
    with (
        patch(f"{prepare}.links_of", lambda *_: ()),
        patch(f"{prepare}.declarations", lambda *_: ()),
        patch(f"{update}.resolve_links", lambda _: None),
    ):
        yield


@contextmanager
def nothing_changed() -> Iterator[None]:
    """Index as usual."""
    yield


def incremental(service: Service, root: Path) -> dict[str, float]:
    """Time a run after one edit, and one after a new file, which resolves every link again."""
    nothing = statistics.median(timed(service.index) for _ in range(3))
    (root / "Hub.md").write_text((root / "Hub.md").read_text() + "\nMore.\n")
    edit = timed(service.index)
    (root / "New.md").write_text("# New\n\n[[Hub]]\n")
    return {
        "index run without news, ms": nothing * 1e3,
        "index run after one edit, ms": edit * 1e3,
        "index run after one new file, ms": timed(service.index) * 1e3,
    }


def query_times(service: Service, questions: dict[str, Callable[[str], RelationRequest]]) -> dict[str, float]:
    """Time each kind of query on random notes and the hub; the first answer is a warm-up."""
    service.relation_view(next(iter(questions.values()))("Hub.md"))
    chance = random.Random(5)
    inventory = [file.path for file in service.inventory().files]
    paths = ["Hub.md", *chance.sample(inventory, QUERIES - 1)]
    figures = {}
    for name, request_of in questions.items():
        spent = [timed(partial(service.relation_view, request_of(path))) * 1e3 for path in paths]
        figures[f"{name} p50, ms"] = statistics.median(spent)
        figures[f"{name} p95, ms"] = sorted(spent)[int(len(spent) * 0.95) - 1]
    return figures


def timed(function: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long a call takes, in seconds."""
    started = clock()
    function()
    return clock() - started


if __name__ == "__main__":
    main()
