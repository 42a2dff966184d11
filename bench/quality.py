"""Measure search quality on labelled queries, side by side with other tools, by kind of query.

    .venv/bin/python bench/quality.py [--split tune|held-out|all] [--peers] [--speed] [--ablation] [--record]

Labels are in bench/quality/. Ranking is tuned on the `tune` projects only; a run that shows the others needs --why and
is counted (quality_looks.py). Figures are NDCG@10 at file level and at line level (quality_scores.py). Systems:

- ours: raw BM25, and Keyhole's answers in keyword, semantic, hybrid and auto mode (quality_ours.py)
- with --peers: semble with our model and with BM25 only, and ripgrep by words (quality_peers.py)
- with --ablation: hybrid mode without each feature in turn

With --speed, also our speed against semble's (quality_speed.py). Targets and their baseline are in quality_targets.py.
Also measures what the answers to these queries cost: the tokens of a compact answer with ten results.
"""

import argparse
import math
import statistics
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from corpus import Query as Label
from corpus import fetch_project, load_projects
from quality_looks import count_look
from quality_ours import Engines, answered, load, raw_bm25, without
from quality_peers import ripgrep, semble, semble_alone, semble_indexes
from quality_scores import ALL, DEPTH, Place, Searcher, average, is_right
from quality_speed import judge_speeds, measure_speed
from quality_targets import HYBRID, KEYWORD, RAW, SEMBLE, Tables, judge, read_baseline, save_baseline
from record import HERE, refuse_changes, save_record

from keyhole.core.config import load_settings
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.search.features import FEATURES
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.budget.tokens import estimate_tokens

SPLITS = ("tune", "held-out")
# The mean tokens of a compact answer with ten results, over all queries.
MAX_COMPACT_TOKENS = 450
# The last column of each table: its title, and the figure over all queries.
OTHER = {"file": ("files in ten", "distinct files"), "line": ("as listed", "as listed")}


def main() -> None:
    """Measure, print tables, and with --record store the result."""
    chosen = parse_options()
    if chosen.record:
        refuse_changes()
    splits = [split for split in SPLITS if chosen.split in (split, "all")]
    figures: dict[str, object] = {}
    if "held-out" in splits:
        figures["looks at the held-out half"] = count_look(chosen.why)
    measured: dict[str, Tables] = {}
    tokens: list[int] = []
    for split in splits:
        labels, engines = load(split, chosen.model)
        measured[split] = measure(split, labels, engines, chosen, figures)
        tokens += compact_tokens(split, labels, chosen.model)
        if chosen.misses and split == "tune":
            list_misses(labels, answered(engines, Mode.HYBRID))
    figures["tokens of a compact answer"] = mean = statistics.mean(tokens)
    verdict = "met" if mean <= MAX_COMPACT_TOKENS else "MISSED"
    print(f"\ntokens of a compact answer: {mean:.0f} <= {MAX_COMPACT_TOKENS}  {verdict}  ({len(tokens)} answers)")
    if chosen.record:
        print("recorded as", save_record("quality", measured | figures))
    if chosen.save_baseline:
        save_baseline(measured)


def parse_options() -> argparse.Namespace:
    """Return the options; a run that shows the held-out half has a reason."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--split", choices=[*SPLITS, "all"], default="all")
    options.add_argument("--why", default="", help="reason for a look at the held-out half; required if it is measured")
    options.add_argument("--model", default=BUILTIN, help="folder of another model")
    options.add_argument(
        "--peers", action="store_true", help="also measure semble, which has to be installed, and ripgrep"
    )
    options.add_argument("--speed", action="store_true", help="also compare speed with semble's")
    options.add_argument("--ablation", action="store_true", help="measure without each feature in turn")
    options.add_argument("--misses", action="store_true", help="list tune queries whose first result is not an answer")
    options.add_argument("--baseline", type=Path, help="record to compare with, instead of bench/quality/baseline.toml")
    options.add_argument(
        "--save-baseline", action="store_true", help="store the figures in bench/quality/baseline.toml"
    )
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    if chosen.split != "tune" and not chosen.why:
        options.error("a look at the held-out half needs a reason: --why TEXT; or use --split tune")
    return chosen


def measure(
    split: str, labels: list[Label], engines: Engines, chosen: argparse.Namespace, figures: dict[str, object]
) -> Tables:
    """Measure every system on a split, print the figures and judge them; add verdicts and speed to the figures."""
    searchers = our_searchers(engines)
    with ExitStack() as peers:
        if chosen.peers or chosen.speed:
            peers.enter_context(semble_alone())
            figures["semble"] = version("semble")
        if chosen.peers:
            indexes = semble_indexes(engines, chosen.model)
            searchers |= {SEMBLE: semble(indexes), "semble BM25 only": semble(indexes, alpha=0.0)}
            searchers["ripgrep by words"] = ripgrep(engines)
        if chosen.ablation:
            searchers |= {f"  without {name}": without(engines, name) for name in FEATURES}
        tables = {name: average(searcher, labels) for name, searcher in searchers.items()}
        print_tables(split, tables)
        verdicts = judge(tables, read_baseline(split, tables, chosen.baseline))
        if chosen.speed:
            speeds = measure_speed(labels, engines, chosen.model)
            figures[f"speed, {split}"] = speeds
            verdicts |= judge_speeds(speeds)
    # Targets are set for the held-out half; on the other one they only show where we are.
    if split == "held-out":
        figures["targets met"] = verdicts
    return tables


def our_searchers(engines: Engines) -> dict[str, Searcher]:
    """Return our own ways to search, by name."""
    modes = {KEYWORD: Mode.KEYWORD, "semantic": Mode.SEMANTIC, HYBRID: Mode.HYBRID, "auto": Mode.AUTO}
    return {RAW: raw_bm25(engines)} | {name: answered(engines, mode) for name, mode in modes.items()}


def compact_tokens(split: str, labels: list[Label], model: str) -> list[int]:
    """Return the tokens of each answer with ten results; a default answer has fewer if the others are weak."""
    tokens: list[int] = []
    for project in load_projects():
        if project["split"] == split:
            root = fetch_project(project).resolve()
            settings = load_settings(root, {"cache_dir": HERE / ".data" / "quality-cache", "index.model": model})
            service = Service(root, settings)
            service.index()
            queries = [label["query"] for label in labels if label["project"] == project["name"]]
            pages = [service.search_page(SearchRequest(query, limit=DEPTH)) for query in queries]
            full = [view.text for found, view in pages if len(found.hits) == DEPTH and not found.matches]
            tokens += map(estimate_tokens, full)
    return tokens


def print_tables(split: str, tables: Tables) -> None:
    """Print NDCG@10 by kind at each level, the lines also as listed, and the different files among ten results."""
    kinds = list(tables[HYBRID])
    for level in ("file", "line"):
        print(f"\n{f'{split}, {level} level':<40}" + "".join(f"{kind:>14}" for kind in [*kinds, OTHER[level][0]]))
        for name, table in tables.items():
            cells = "".join(f"{table[kind][level]:>14.3f}" for kind in kinds)
            print(f"{name:<40}{cells}{table[ALL].get(OTHER[level][1], math.nan):>14.3f}")
    counts = "".join(f"{tables[HYBRID][kind]['queries']:>14}" for kind in kinds)
    print(f"{'queries':<40}{counts}\n")


def list_misses(labels: list[Label], searcher: Searcher) -> None:
    """Print the first results of each query whose first result is not an answer."""
    for label in labels:
        found = searcher(label["project"], label["query"])
        right = [number for number, place in enumerate(found, 1) if is_right(place, label)]
        if right[:1] != [1]:
            answer = label["answers"][0]
            wanted = _shown(Place(answer["path"], answer["start_line"], answer["end_line"]))
            rank = right[0] if right else "-"
            print(f"\n[{label['kind']}] {label['project']}: {label['query']!r}  rank {rank}, wants {wanted}")
            for place in found[:4]:
                print(f"    {_shown(place)}")


def _shown(place: Place) -> str:
    return f"{place.path}:{place.start_line}-{place.end_line}"


if __name__ == "__main__":
    main()
