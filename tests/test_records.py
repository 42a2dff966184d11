"""Benchmark records name their commit, so they require a clean tree."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RECORD = Path(__file__).parent.parent / "bench" / "record.py"
SAVE = "from record import save_record; save_record('speed', {'seconds': 1.0})"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "bench/records").mkdir(parents=True)
    shutil.copy(RECORD, tmp_path / "bench/record.py")
    (tmp_path / "code.py").write_text("one = 1\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "One"]):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def save(repository: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-c", SAVE]
    return subprocess.run(command, cwd=repository / "bench", capture_output=True, text=True, check=False)


def test_a_record_of_a_clean_tree_names_its_commit(repository: Path) -> None:
    assert save(repository).returncode == 0
    # The record that was just stored does not prevent the next one.
    assert save(repository).returncode == 0
    (path,) = (repository / "bench/records").iterdir()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True)
    assert head.stdout.startswith(json.loads(path.read_text())["commit"])


@pytest.mark.parametrize("path", ["code.py", "bench/new.py"])
def test_a_tree_with_changes_has_no_record(repository: Path, path: str) -> None:
    (repository / path).write_text("two = 2\n")
    done = save(repository)
    assert done.returncode == 1
    assert path in done.stderr
    assert not list((repository / "bench/records").iterdir())
