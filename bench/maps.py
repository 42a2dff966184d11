"""Compare the cost of a map with parsing its file, and of a read with reading the file, in the same run.

    .venv/bin/python bench/maps.py [--record]

Reading is what the service does before it shows anything: rules, bytes, text, digest. Parsing is the tree and its
symbols. A map needs both, and so does the first page of a large file, which comes with its map; every other read needs
only the first. The tree alone, without symbols, is measured for comparison. Grammars run in the parsing worker, so maps
of files of ordinary sizes are also compared with maps whose file is parsed in this process.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from record import save_record

from keyhole.core.service import Service
from keyhole.core.syntax.analyse import outline_of
from keyhole.core.syntax.languages import detect_language
from keyhole.core.syntax.parse import parse
from keyhole.core.types.choices import Format
from keyhole.core.types.view_requests import MapRequest, ReadRequest
from keyhole.core.view.maps.map_view import map_view, parse_map_request
from keyhole.core.view.writing import View

ROUNDS, ROUNDS_OF_MAPS = 60, 5
ROUNDS_OF_WORKER = 200
MOST = 2.0
MOST_OF_WORKER = 1.15


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, (path, text) in make_files().items():
            (Path(scratch) / path).write_text(text)
            figures |= measure_file(Service.open(Path(scratch)), name, path)
        for size, count in {"5 KB": 20, "50 KB": 200, "500 KB": 2_000}.items():
            (Path(scratch) / "part.py").write_text(longer_functions(count))
            figures |= measure_worker(Service.open(Path(scratch)), size, "part.py")
    for figure, value in figures.items():
        most = MOST_OF_WORKER if "in this process" in figure else MOST
        verdict = f"<= {most:g}  {'met' if value <= most else 'MISSED'}" if "against" in figure else ""
        print(f"{figure:<68}{value:>12,.2f}  {verdict}")
    if chosen.record:
        print("recorded as", save_record("maps", figures))


def make_files() -> dict[str, tuple[str, str]]:
    """Return files that are hard to show: many symbols, many lines, one very long line."""
    return {
        "5,000 functions": ("many.py", functions(5_000)),
        "100,000 lines of code": ("long.py", functions(25_000)),
        "100,000 lines of text": (
            "long.txt",
            "".join(f"{n} and what happened then, in words\n" for n in range(100_000)),
        ),
        "a line of 5 MB": ("line.json", '{"key": "' + "word and more; " * 330_000 + '"}\n'),
    }


def functions(count: int) -> str:
    """Return the source of functions of four lines."""
    return "".join(
        f'def step_{n}(first, second):\n    """Do step {n}."""\n    return first + second\n\n' for n in range(count)
    )


def longer_functions(count: int) -> str:
    """Return the source of functions of ordinary length, 250 bytes each."""
    return "".join(
        f'''def step_{n}(first: int, second: int) -> int:
    """Do step {n}."""
    total = first + second
    if total > LIMIT:
        raise ValueError(f"too many: {{total}}, the limit is {{LIMIT}}")
    for part in range(total):
        record(part, total)
    return total


'''
        for n in range(count)
    )


def measure_file(service: Service, name: str, path: str) -> dict[str, float]:
    """Time each view of a file, and the steps that it needs."""
    source = service.read(path)
    language, content = detect_language(path, source.text), source.text.encode()
    lines = source.text.count("\n")
    later = ReadRequest((path,), start_line=lines * 9 // 10) if lines > 1 else ReadRequest((path,), start_column=2)
    reads: dict[str, Callable[[], object]] = {
        "reading": lambda: service.read(path),
        "later page": lambda: service.read_view(later),
        "later page as JSON": lambda: service.read_view(replace(later, format=Format.JSON)),
    }
    maps: dict[str, Callable[[], object]] = {
        "the tree alone": lambda: parse(language, content),
        "parsing": lambda: outline_of(source),
        "map": lambda: service.map_view(MapRequest(path)),
        "map as JSON": lambda: service.map_view(MapRequest(path, format=Format.JSON)),
        "next page of the map": lambda: service.map_view(MapRequest(path, offset=50)),
    }
    first = {"first page": lambda: service.read_view(ReadRequest((path,)))}
    has_map = "File Map" in service.read_view(ReadRequest((path,))).text
    times = time_in_turns(reads | ({} if has_map else first), ROUNDS)
    if language.grammar:
        times |= time_in_turns(maps | (first if has_map else {}), ROUNDS_OF_MAPS)
    figures = {f"{name}: {step}, ms": took for step, took in times.items()}
    for step in (*reads, *first):
        if step != "reading" and not (step in first and has_map):
            figures[f"{name}: {step} against reading"] = times[step] / times["reading"]
    for step in ("map", "map as JSON", "next page of the map"):
        if step in times:
            figures[f"{name}: {step} against parsing"] = times[step] / times["parsing"]
    if has_map:
        both = times["reading"] + times["parsing"]
        figures[f"{name}: first page with its map against reading and parsing"] = times["first page"] / both
    return figures


def measure_worker(service: Service, size: str, path: str) -> dict[str, float]:
    """Compare the map of a file with one whose file is parsed in this process."""
    request = MapRequest(path)

    def map_here() -> View:
        source = service.read(path)
        return map_view(source, outline_of(source), parse_map_request(request), request.symbol)

    if map_here().text != service.map_view(request).text:
        raise SystemExit("the map through the parsing worker differs")
    rounds = max(ROUNDS_OF_MAPS, ROUNDS_OF_WORKER * 5_000 // service.read(path).size)
    times = time_in_turns({"here": map_here, "worker": lambda: service.map_view(request)}, rounds)
    return {
        f"{size}: map, ms": times["worker"],
        f"{size}: map against parsing in this process": times["worker"] / times["here"],
    }


def time_in_turns(steps: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the fastest of several rounds, in milliseconds; other load on the machine only adds time."""
    times: dict[str, list[float]] = {step: [] for step in steps}
    for _ in range(rounds):
        for step, do in steps.items():
            started = time.perf_counter()
            do()
            times[step].append((time.perf_counter() - started) * 1e3)
    return {step: min(took) for step, took in times.items()}


if __name__ == "__main__":
    main()
