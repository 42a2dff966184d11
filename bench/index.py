"""Measure how fast the index is built and updated, compared with lower bounds measured in the same run.

    .venv/bin/python bench/index.py [--tree FOLDER] [--record]

The default tree is the source distribution of Django 5.2, fetched once with pip.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from record import fetch_sdist, save_record

from keyhole.core.files.walk import scan
from keyhole.core.index import file_parts
from keyhole.core.index import prepare as preparing
from keyhole.core.index import update as updating
from keyhole.core.index.model import NONE
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.pool import WorkerPool
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.syntax import analyse as analysing
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.syntax.parse import parse
from keyhole.core.types.source_files import Candidate, SourceFile

MAX_BYTES = 1_000_000
ROUNDS = 40
# For each figure: whether it must be at least or at most so much.
Targets = dict[str, tuple[str, float]]
COLD_TURNS = 5
# The first is the required speed, on a machine where the parser runs at 7.3 MB/s; the second holds for any machine.
TARGETS = {
    "cold index, one worker, MB/s": (">=", 2.5),
    "cold index, share of the parser's speed, per core": (">=", 2.5 / 7.3),
    "two workers against one": (">=", 1.5),
    "no-change run against the walk-and-stat floor": ("<=", 3.0),
    "one-file change against no-change run plus that file": ("<=", 1.0),
    "peak memory, MB": ("<=", 500.0),
    "with vectors against without, one worker": ("<=", 1.6),
}


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", type=Path, help="the folder to index")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    tree = (chosen.tree or fetch_sdist("django", "5.2")).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "tree"
        shutil.copytree(tree, copy, symlinks=True)
        figures = measure(copy, Path(scratch))
    verdicts = judge_by(TARGETS, figures)
    print_figures(figures, TARGETS, verdicts)
    if chosen.record:
        print("recorded as", save_record("index", figures | {"targets met": verdicts}))


def measure(tree: Path, scratch: Path) -> dict[str, float]:
    """Run all measurements, one at a time."""
    candidates = scan(tree, max_bytes=MAX_BYTES).candidates
    megabytes = sum(candidate.size for candidate in candidates) / 1e6
    figures = {"files": float(len(candidates)), "source, MB": megabytes}
    # Other load on the machine only adds time, so each measurement is repeated and the fastest counts.
    speeds, turns = [], list[dict[str, tuple[float, float]]]()
    for turn in range(COLD_TURNS):
        speeds.append(parser_speed(tree))
        turns.append(
            {
                "one": cold(tree, scratch / f"one{turn}", workers=1),
                "two": cold(tree, scratch / f"two{turn}", workers=2),
                "vectors": cold(tree, scratch / f"vectors{turn}", workers=1, model=BUILTIN),
                "vectors two": cold(tree, scratch / f"vectors-two{turn}", workers=2, model=BUILTIN),
            }
        )
    parser = max(speeds)
    one, two, vectors, vectors_two = (min(turn[kind][0] for turn in turns) for kind in turns[0])
    figures |= {
        "tree-sitter alone on Python, MB/s": parser,
        "cold index, one worker, s": one,
        "cold index, one worker, MB/s": megabytes / one,
        "cold index, two workers, s": two,
        "cold index, two workers, MB/s": megabytes / two,
        "two workers against one": one / two,
        "with vectors, one worker, s": vectors,
        "with vectors, two workers, s": vectors_two,
        "with vectors against without, one worker": vectors / one,
        "with vectors against without, two workers": vectors_two / two,
        "index with vectors on disk, MB": sum(path.stat().st_size for path in (scratch / "vectors0").iterdir()) / 1e6,
        "peak memory, MB": max(memory for turn in turns for _, memory in turn.values()),
        "index on disk, MB": sum(path.stat().st_size for path in (scratch / "one0").iterdir()) / 1e6,
        "cold index, share of the parser's speed, per core": megabytes / one / parser,
        "cold index, one worker, s, middle of the turns": statistics.median(turn["one"][0] for turn in turns),
    }
    figures["symbols and chunks of 5,000 functions, s"] = large_file()
    return figures | stages(tree, scratch) | keeping_current(tree, scratch)


def large_file() -> float:
    """Analyse one file of 5,000 functions."""
    text = "\n".join(
        f'def function_{i}(a, b=1, *args):\n    """Doc of {i}."""\n    return a + b\n' for i in range(5_000)
    )
    source = SourceFile("large.py", len(text), 0, "", "utf-8", text)
    return statistics.median(clock(lambda: analysing.analyse(source)) for _ in range(3))


def parser_speed(tree: Path) -> float:
    """Only parse every Python file; return MB per CPU second."""
    sources = [path.read_bytes() for path in tree.rglob("*.py")]
    started = time.process_time()
    for source in sources:
        parse(BY_ID["python"], source)
    return sum(map(len, sources)) / 1e6 / (time.process_time() - started)


def cold(tree: Path, folder: Path, *, workers: int, model: str = NONE) -> tuple[float, float]:
    """Build an index from scratch in a separate process; return seconds, and peak MB of all its processes.

    Grammars never run in the process that writes, so one worker makes two processes: they share one core.
    """
    started = time.perf_counter()
    code = (
        f"import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{workers}])\n"
        "from pathlib import Path; from keyhole.core.index.model import open_embedder\n"
        "from keyhole.core.index.update import Request, update_index\n"
        f"places = Path({str(tree)!r}), Path({str(folder)!r})\n"
        f"update_index(Request(*places, {MAX_BYTES}, {workers}, open_embedder({model!r})))"
    )
    pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", code])
    peak, stop = [0.0], threading.Event()
    watcher = threading.Thread(target=watch_memory, args=(pid, peak, stop))
    watcher.start()
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - started
    stop.set()
    watcher.join()
    if status:
        raise SystemExit("the index run failed")
    return seconds, peak[0]


def watch_memory(pid: int, peak: list[float], stop: threading.Event) -> None:
    """Record the peak resident memory of a process and its children."""
    while not stop.wait(0.05):
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            pages = sum(int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in [str(pid), *children])
        except OSError:
            continue
        peak[0] = max(peak[0], pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def stages(tree: Path, scratch: Path) -> dict[str, float]:
    """Split the time of a cold run by step, with everything in this process."""
    spent: dict[str, float] = {}
    replaced = [
        replace(updating, "prepare_all", prepare_here),
        replace(WorkerPool, "expect", start_no_workers),
        timed(spent, "read", preparing, "read_source"),
        timed(spent, "parse", analysing, "parse"),
        timed(spent, "symbols", analysing, "extract_outline"),
        timed(spent, "chunks", analysing, "cut_chunks"),
        timed(spent, "words", file_parts, "split_words"),
        timed(spent, "write", Store, "replace_file"),
    ]
    started = time.perf_counter()
    update_index(Request(tree, scratch / "stages", MAX_BYTES))
    total = time.perf_counter() - started
    for restore in replaced:
        restore()
    spent["other (walk, commit, bookkeeping)"] = total - sum(spent.values())
    return {f"share of {name}": seconds / total for name, seconds in spent.items()}


def prepare_here(
    preparation: preparing.Preparation, candidates: list[Candidate], digests: dict[str, str], **_: object
) -> Iterator[preparing.Prepared]:
    """Prepare files as the workers of a run do."""
    for candidate in candidates:
        yield preparing.prepare(preparation, candidate, digests.get(candidate.path, ""), analysing.analyse)


def start_no_workers(_pool: WorkerPool, _candidate: Candidate) -> None:
    """Do nothing where the workers of a run would start."""


def timed(spent: dict[str, float], name: str, owner: object, attribute: str) -> Callable[[], None]:
    """Add up the time spent in a function."""
    original = getattr(owner, attribute)

    def wrapper(*args: object, **kwargs: object) -> object:
        started = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - started

    return replace(owner, attribute, wrapper)


def replace(owner: object, attribute: str, new: object) -> Callable[[], None]:
    """Replace an attribute; return a function that restores it."""
    original = getattr(owner, attribute)
    setattr(owner, attribute, new)
    return lambda: setattr(owner, attribute, original)


def keeping_current(tree: Path, scratch: Path) -> dict[str, float]:
    """Measure the no-change run and the one-file change, alternating with their lower bounds."""
    request = Request(tree, scratch / "one0", MAX_BYTES)
    target = max((path for path in tree.rglob("*.py") if path.stat().st_size < 40_000), key=lambda p: p.stat().st_size)
    alone = scratch / "alone"
    alone.mkdir()
    times: dict[str, list[float]] = {"floor": [], "no change": [], "that file": [], "one change": []}
    update_index(request)
    for turn in range(ROUNDS):
        times["floor"].append(clock(lambda: walk_and_stat(tree)))
        times["no change"].append(clock(lambda: update_index(request)))
        target.write_text(target.read_text() + f"# turn {turn}\n")
        shutil.copy(target, alone / target.name)
        times["that file"].append(clock(lambda: update_index(Request(alone, scratch / "alone-index", MAX_BYTES))))
        times["one change"].append(clock(lambda: update_index(request)))
    best = {name: min(seconds) for name, seconds in times.items()}
    return {
        "walk-and-stat floor, ms": best["floor"] * 1e3,
        "no-change run, ms": best["no change"] * 1e3,
        "one-file change, ms": best["one change"] * 1e3,
        "that file alone, ms": best["that file"] * 1e3,
        "no-change run against the walk-and-stat floor": best["no change"] / best["floor"],
        "one-file change against no-change run plus that file": statistics.median(
            one / (none + alone)
            for none, alone, one in zip(times["no change"], times["that file"], times["one change"], strict=True)
        ),
    }


def clock(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def walk_and_stat(tree: Path) -> int:
    """List every folder and stat every file: the least that any incremental run must do."""
    pending, count = [str(tree)], 0
    while pending:
        with os.scandir(pending.pop()) as listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def judge_by(targets: Targets, figures: dict[str, float]) -> dict[str, bool]:
    """Compare the figures with the targets."""
    return {
        name: figures[name] >= limit if sign == ">=" else figures[name] <= limit
        for name, (sign, limit) in targets.items()
    }


def print_figures(figures: dict[str, float], targets: Targets, verdicts: dict[str, bool]) -> None:
    """Print figures, with the target where there is one."""
    for name, figure in figures.items():
        target = ""
        if name in targets:
            sign, limit = targets[name]
            target = f"{sign} {limit:.2f}  {'met' if verdicts[name] else 'MISSED'}"
        print(f"{name:<60}{figure:>12,.2f}  {target}")


if __name__ == "__main__":
    main()
