"""Measure the tokens of views at each level of detail, what line numbers cost, and the time to fit a page.

    .venv/bin/python bench/views.py [--record | --numbers FOLDER]

Runs on the source distribution of Django 5.2, fetched once with pip, as are the tokenizers (see token_samples.py).
With --numbers it measures only what line numbers cost in reads of the source in a folder.
"""

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from record import fetch_sdist, save_record
from search import QUERIES
from token_samples import load_tokenizers

from keyhole.core.config import load_settings
from keyhole.core.files.read import read_source
from keyhole.core.files.walk import scan
from keyhole.core.search.passages import FileLines
from keyhole.core.service import Service
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.search_results import Hit, SearchResult, Stretch
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.view_requests import Query
from keyhole.core.view.budget.limits import LIMITS
from keyhole.core.view.budget.sizes import Budget
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.lists.hit_text import hit_facts
from keyhole.core.view.lists.listing import Shown
from keyhole.core.view.lists.search_view import search_view
from keyhole.core.view.text import numbered_source, source_text

ROUNDS = 9
# Large enough for everything, to measure the level and not the budget.
NO_LIMIT = Budget(10**9, 10**9)
# Figures with their lower or upper limits.
TARGETS = {
    "saved by compact text": (">=", 0.6),
    "saved by compact JSON": (">=", 0.6),
    "fitting 200 results at minimal, ms": ("<=", 10.0),
    "fitting 200 results at minimal as JSON, ms": ("<=", 10.0),
    "fitting 50 results at compact, ms": ("<=", 10.0),
    "fitting 50 results at rich, ms": ("<=", 10.0),
    **{f"line numbers, {name}": ("<=", 0.21) for name in ("estimate", "claude", "o200k", "cl100k")},
}
# Line numbers are measured in about this many files, of this size.
SAMPLED = 250
LEAST_BYTES, MOST_BYTES = 1_000, 100_000


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    options.add_argument("--numbers", type=Path, help="measure only line numbers, in this folder", metavar="FOLDER")
    chosen = options.parse_args()
    if chosen.numbers:
        print_figures(numbers(chosen.numbers.resolve()))
        return
    with tempfile.TemporaryDirectory() as scratch:
        tree = fetch_sdist("django", "5.2").resolve()
        service = Service(tree, load_settings(tree, {"cache_dir": Path(scratch)}))
        service.index()
        pages = [page(service, text, 50) for text in QUERIES]
        longest = [page(service, text, 200, Mode.KEYWORD) for text in QUERIES]
    figures = sizes([found for found in pages if len(found.hits) == 50])
    figures |= rich_before(tree, [found for found in pages if len(found.hits) == 50])
    figures |= times([found for found in longest if len(found.hits) == 200], pages)
    figures |= numbers(tree)
    print_figures(figures)
    if chosen.record:
        print("recorded as", save_record("views", figures))


def print_figures(figures: dict[str, float]) -> None:
    """Print a table of figures with their targets."""
    for name, figure in figures.items():
        print(f"{name:<52}{figure:>12,.3f}  {verdict(name, figure)}")


def verdict(name: str, figure: float) -> str:
    """Compare a figure with its target, if it has one."""
    if name not in TARGETS:
        return ""
    relation, target = TARGETS[name]
    is_met = figure >= target if relation == ">=" else figure <= target
    return f"{relation} {target:g}  {'met' if is_met else 'MISSED'}"


def page(service: Service, text: str, limit: int, mode: Mode = Mode.AUTO) -> SearchResult:
    """Search; only keyword mode has 200 results, because the others rank a pool of fewer files."""
    return service.search(Query(text, mode, limit=limit))


def sizes(pages: list[SearchResult]) -> dict[str, float]:
    """Compare 50 results at each level with the same results as indented JSON with all fields."""
    figures: dict[str, float] = {"pages of 50 results": len(pages)}
    baseline = statistics.median(estimate_tokens(indented(found)) for found in pages)
    figures["tokens of 50 results, indented JSON with content"] = baseline
    for detail in Detail:
        for form in Format:
            texts = [search_view(found, Shown(detail, form, NO_LIMIT)).text for found in pages]
            tokens = statistics.median(map(estimate_tokens, texts))
            figures[f"tokens of 50 results, {detail} {form}"] = tokens
            first = [
                search_view(replace(found, hits=found.hits[:10]), Shown(detail, form, NO_LIMIT)) for found in pages
            ]
            figures[f"tokens of 10 results, {detail} {form}"] = statistics.median(
                estimate_tokens(v.text) for v in first
            )
            figures[f"saved by {detail} {'JSON' if form == Format.JSON else form}"] = 1 - tokens / baseline
    return figures


def rich_before(root: Path, pages: list[SearchResult]) -> dict[str, float]:
    """Return what rich answers would cost with the source of whole chunks, as before milestone 2."""
    figures = {}
    for count in (50, 10):
        shown = [replace(found, hits=tuple(whole_chunk(root, hit) for hit in found.hits[:count])) for found in pages]
        texts = [search_view(found, Shown(Detail.RICH, budget=NO_LIMIT)).text for found in shown]
        name = f"tokens of {count} results, rich text with whole chunks"
        figures[name] = statistics.median(map(estimate_tokens, texts))
    return figures


def whole_chunk(root: Path, hit: Hit) -> Hit:
    """Return a hit that shows its whole chunk, and the lines around that, instead of what the row names."""
    if hit.passage is None:
        return hit
    file = FileLines((root / hit.path).read_text())
    before, after = file.before(hit.start_line), file.after(hit.end_line)
    content = (Stretch(hit.start_line, hit.passage.text),)
    return replace(hit, passage=replace(hit.passage, before=before, after=after, content=content))


def indented(found: SearchResult) -> str:
    """Return results as tools commonly write them."""
    facts = [hit_facts(hit, Detail.RICH) for hit in found.hits]
    return json.dumps(facts, indent=2, ensure_ascii=False)


def numbers(root: Path) -> dict[str, float]:
    """Return by which share line numbers make reads larger, estimated and counted: first pages of a sample of files."""
    counters = {"estimate": estimate_tokens, **load_tokenizers()}
    paths = [found.path for found in scan(root, max_bytes=MOST_BYTES).candidates if found.size >= LEAST_BYTES]
    source = [path for path in sorted(paths) if detect_language(path, "").has_definitions]
    texts = [read_source(root, path, max_bytes=MOST_BYTES) for path in source[:: max(1, len(source) // SAMPLED)]]
    lines = LIMITS["read_file"].default
    pages = ["".join(text.text.splitlines(keepends=True)[:lines]) for text in texts if isinstance(text, SourceFile)]
    figures: dict[str, float] = {"files read": len(pages)}
    for name, count in counters.items():
        plain = sum(count(source_text(page)) for page in pages)
        figures[f"line numbers, {name}"] = sum(count(numbered_source(page, 1)) for page in pages) / plain - 1
    return figures


def times(longest: list[SearchResult], pages: list[SearchResult]) -> dict[str, float]:
    """Time fitting into budgets that are too small for the page."""
    return {
        "fitting 200 results at minimal, ms": slowest(longest, Shown(Detail.MINIMAL, budget=Budget(4_000))),
        "fitting 200 results at minimal as JSON, ms": slowest(
            longest, Shown(Detail.MINIMAL, Format.JSON, Budget(4_000))
        ),
        "fitting 50 results at compact, ms": slowest(pages, Shown(budget=Budget(2_000))),
        "fitting 50 results at rich, ms": slowest(pages, Shown(Detail.RICH)),
    }


def slowest(pages: list[SearchResult], shown: Shown) -> float:
    """Return the time of the slowest page in ms, where each page is the median of several rounds."""
    worst = 0.0
    for found in pages:
        fresh = [replace(found) for _ in range(ROUNDS)]
        spent = []
        for one in fresh:
            started = time.perf_counter()
            search_view(one, shown)
            spent.append((time.perf_counter() - started) * 1e3)
        worst = max(worst, statistics.median(spent))
    return worst


if __name__ == "__main__":
    main()
