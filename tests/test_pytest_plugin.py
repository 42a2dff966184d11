"""The pytest plugin: what its fixture does, and that it costs nothing when it is not used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from acme import write_acme

from keyhole.core.cli.context_checker import ContextChecker
from keyhole.core.service import Service

TESTS = """
def test_files(keyhole_check):
    keyhole_check()

def test_fails(keyhole_check):
    keyhole_check(query={"query": "backoff", "files": ["src/acme/store.py"], "worst_rank": 1})

def test_server(keyhole_check):
    keyhole_check(mcp={"server": ["touch", "ran.txt"]})
"""


def run_pytest(root: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root.parent),
        "KEYHOLE_CACHE_DIR": str(root.parent / "cache"),
        "KEYHOLE_INDEX_MODEL": "none",
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout


def test_the_fixture_in_another_project(tmp_path: Path) -> None:
    root = write_acme(tmp_path / "acme")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (root / "test_context.py").write_text(TESTS)
    (root / "keyhole.checks.toml").write_text('[[query]]\nquery = "backoff"\nfiles = ["src/acme/retry.py"]\n')
    shown = run_pytest(root, "-rs", "test_context.py")
    assert "1 failed, 1 passed, 1 skipped" in shown
    assert "✗  query  backoff → src/acme/store.py" in shown
    assert "its command is not run: keyhole_check comes with the workspace" in shown
    assert not (root / "ran.txt").exists()


def test_it_costs_nothing_when_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "test_modules.py").write_text(
        "import sys\n"
        "def test_modules():\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith('keyhole'))\n"
        "    assert loaded == ['keyhole', 'keyhole.core', 'keyhole.core.cli', 'keyhole.core.cli.pytest_plugin']\n"
        "    assert not {'click', 'numpy', 'pydantic', 'fastmcp', 'apsw'} & sys.modules.keys()\n"
    )
    assert "1 passed" in run_pytest(tmp_path, "test_modules.py")


def test_checks_of_a_test(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = ContextChecker(acme.root)
    monkeypatch.setattr(checker, "_services", {acme.root: acme})
    (result,) = checker(query={"query": "backoff", "files": ["src/acme/retry.py"]})
    assert result.finding.found == "rank 1"
    with pytest.raises(pytest.fail.Exception, match="rank 1 or better"):
        checker(query={"query": "backoff", "files": ["src/acme/client.py"], "worst_rank": 1})
