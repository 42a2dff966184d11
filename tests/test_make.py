"""`make run`, with a program in place of Keyhole that only exits."""

import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(("code", "expected"), [(0, 0), (130, 0), (1, 2), (2, 2)])
def test_ctrl_c_ends_make_run_quietly(tmp_path: Path, code: int, expected: int) -> None:
    """Ctrl+C quits the explorer, so it is no error; any other code is."""
    program = tmp_path / "bin/keyhole"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexit {code}\n")
    program.chmod(0o755)
    (tmp_path / ".ready").touch()
    done = subprocess.run(
        ["make", "run", f"VENV={tmp_path}"], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == expected
    assert (done.stderr == "") == (expected == 0)
