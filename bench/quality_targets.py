"""The targets of bench/quality.py, and the figures they are compared with.

The baseline has the figures of an earlier commit on the same labels: bench/quality/baseline.toml, which
`bench/quality.py --save-baseline` writes, or a record given with --baseline. Targets that need a baseline are left out
without one, and so are those against semble in a run without it.
"""

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from quality_scores import ALL, LEVELS, Table
from record import HERE, commit

BASELINE = HERE / "quality" / "baseline.toml"
HYBRID, KEYWORD, RAW, SEMBLE = "hybrid", "keyword with ranking", "raw BM25", "semble with our model"
# The systems whose figures are compared with the baseline.
COMPARED = (HYBRID, KEYWORD)
# The least difference, in NDCG@10, or the least figure.
ABOVE_RAW = 0.12
ABOVE_KEYWORD = 0.03
ABOVE_SEMBLE = 0.03
ABOVE_BASELINE = {"file": 0.06, "line": 0.03}
SYMBOL = 0.97
DISTINCT_FILES = 8.0

# Figures of a split: by system, then as in a table.
Tables = dict[str, Table]
# What is judged: the figure, and the least that it should be.
Judged = tuple[str, float, float]


def judge(tables: Tables, baseline: Tables) -> dict[str, bool]:
    """Print the figures of a split with their targets, and return which targets are met."""
    met = {}
    for name, figure, least in _figures(tables, baseline):
        met[name] = round(figure, 4) >= least
        print(f"{name:<58}{figure:>9.3f}  >= {least:g}  {'met' if met[name] else 'MISSED'}")
    if not baseline:
        print("no baseline for these queries: targets against it are left out")
    return met


def _figures(tables: Tables, baseline: Tables) -> Iterator[Judged]:
    hybrid, keyword = tables[HYBRID], tables[KEYWORD]
    yield "keyword above raw BM25, line level", _gain(keyword, tables[RAW], "line"), ABOVE_RAW
    for level in ("file", "line"):
        yield f"hybrid above keyword, {level} level", _gain(hybrid, keyword, level), ABOVE_KEYWORD
    yield "symbol, line level", hybrid["symbol"]["line"], SYMBOL
    yield "different files among ten results", hybrid[ALL].get("distinct files", 0.0), DISTINCT_FILES
    if SEMBLE in tables:
        yield "hybrid above semble with our model, file level", _gain(hybrid, tables[SEMBLE], "file"), ABOVE_SEMBLE
    if baseline:
        yield from _against_baseline(tables, baseline)


def _against_baseline(tables: Tables, baseline: Tables) -> Iterator[Judged]:
    hybrid, keyword = tables[HYBRID], tables[KEYWORD]
    for level, least in ABOVE_BASELINE.items():
        yield f"hybrid above baseline, {level} level", _gain(hybrid, baseline[HYBRID], level), least
        yield f"keyword above baseline, {level} level", _gain(keyword, baseline[KEYWORD], level), 0.0
    for kind in hybrid:
        if kind != ALL:
            yield f"hybrid above baseline, line level, {kind}", _gain(hybrid, baseline[HYBRID], "line", kind), 0.0


def _gain(table: Table, other: Table, level: str, kind: str = ALL) -> float:
    return table[kind][level] - other[kind][level]


def read_baseline(split: str, tables: Tables, record: Path | None) -> Tables:
    """Return the baseline of a split; nothing if there is none, or if it was measured on other queries."""
    if record is not None:
        figures = json.loads(record.read_text())["figures"]
    elif BASELINE.is_file():
        figures = tomllib.loads(BASELINE.read_text())
    else:
        return {}
    baseline: Tables = figures.get(split, {})
    return baseline if _queries(baseline) == _queries(tables) else {}


def _queries(tables: Tables) -> dict[str, float]:
    """Return the number of queries by kind."""
    return {kind: row["queries"] for kind, row in tables.get(HYBRID, {}).items()}


def save_baseline(figures: dict[str, Tables]) -> None:
    """Store the figures of this run as the ones that later runs are compared with, and keep those of other splits."""
    kept = tomllib.loads(BASELINE.read_text()) if BASELINE.is_file() else {}
    splits = {name: table for name, table in kept.items() if isinstance(table, dict)} | figures
    lines = [
        "# The figures that later runs of bench/quality.py are compared with; --save-baseline writes this file.",
        f'commit = "{commit()}"',
        f'date = "{datetime.now(UTC):%Y-%m-%d}"',
    ]
    for split, tables in splits.items():
        for system in COMPARED:
            for kind, row in tables[system].items():
                lines += ["", f'["{split}"."{system}"."{kind}"]', f"queries = {row['queries']}"]
                lines += [f'"{level}" = {row[level]:.6f}' for level in LEVELS]
    BASELINE.write_text("\n".join(lines) + "\n")
