"""What a team of another size would need, computed from the figures of bench/team.py, as a table for docs/team.md.

.venv/bin/python bench/team_sizing.py bench/records/DATE-team.json [--repositories 10000]
"""

import argparse
import json
from pathlib import Path


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("record", type=Path)
    options.add_argument("--repositories", type=int, default=10_000)
    chosen = options.parse_args()
    print(sizing_table(json.loads(chosen.record.read_text())["figures"], chosen.repositories))


def sizing_table(figures: dict[str, float], repositories: int) -> str:
    """Return the measured sizes and one computed size, as Markdown."""
    sizes = sorted({int(name.split()[0].replace(",", "")) for name in figures if name.endswith("source, MB")})
    lines = [
        "| chunks | repositories | source | database | database for each MB of source | first index |",
        "|---|---|---|---|---|---|",
    ]
    measured = [_measured(figures, f"{size:,} chunks", size) for size in sizes]
    return "\n".join([*lines, *measured, _computed(figures, sizes[-1], repositories)]) + "\n"


def _measured(figures: dict[str, float], name: str, chunks: int) -> str:
    source, database = figures[f"{name}, source, MB"], figures[f"{name}, database, MB"]
    workers = next(words for words in ("1 worker", "2 workers") if f"{name}, ingest with {words}, MB/s" in figures)
    pace = f"{figures[f'{name}, ingest, chunks/s']:,.0f} chunks/s with {workers}"
    count = figures[f"{name}, repositories"]
    return (
        f"| {chunks:,} | {count:,.0f} | {source:,.0f} MB | {database:,.0f} MB | {database / source:.1f} MB | {pace} |"
    )


def _computed(figures: dict[str, float], largest: int, repositories: int) -> str:
    """Return the row for a number of repositories that are as large on average as the measured ones."""
    name = f"{largest:,} chunks"
    factor = repositories / figures[f"{name}, repositories"]
    source, database = figures[f"{name}, source, MB"] * factor, figures[f"{name}, database, MB"] * factor
    hours = largest * factor / figures[f"{name}, ingest, chunks/s"] / 3_600
    pace = f"{hours:,.1f} hours with 2 workers, {hours / 16:,.1f} with 32"
    each = f"{database / source:.1f} MB | {pace} |"
    bytes_of = f"{source / 1e3:,.0f} GB | {database / 1e3:,.0f} GB"
    return f"| {largest * factor:,.0f} (computed) | {repositories:,} | {bytes_of} | {each}"


if __name__ == "__main__":
    main()
