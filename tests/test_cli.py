"""The command line as users run it: a real process, its output and its exit code."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keyhole.core.cli.main import cli
from keyhole.core.cli.reference_pages import commands_page, settings_page

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/retry.py").write_text(
        'import os\n\n\ndef backoff(n: int = 1) -> float:\n    """Wait."""\n    return 1.0\n'
    )
    (root / "README.md").write_text("# Title\n")
    (root / ".env").write_text("TOKEN=canary\n")
    (root / "yarn.lock").write_text("")
    return root


def keyhole(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "keyhole", *arguments]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd.parent),
        "KEYHOLE_CACHE_DIR": str(cwd.parent / "cache"),
        **variables,
    }
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=60)


def masked(text: str) -> str:
    """Replace what differs between two runs."""
    for pattern, mask in {
        r"rules:\d+": "rules:N",
        r"\d[\d.]* KB": "N KB",
        r"\d+\.\d s": "N s",
        r"20\d\d-\S+": "TIME",
        r"keyhole-[0-9a-f]{8}": "keyhole-HASH",
    }.items():
        text = re.sub(pattern, mask, text)
    return text


def test_index_then_status(workspace: Path, check_golden: Callable[[str, str], None]) -> None:
    before = keyhole("status", cwd=workspace)
    first = keyhole("index", cwd=workspace)
    (workspace / "src/retry.py").write_text("def edited(): pass\n")
    stale = keyhole("status", cwd=workspace)
    second = keyhole("index", cwd=workspace)
    third = keyhole("index", cwd=workspace)
    after = keyhole("status", "--skipped", cwd=workspace)
    runs = [before, first, stale, second, third, after]
    assert [(run.returncode, run.stderr) for run in runs] == [(0, "")] * 6
    assert third.stdout.startswith("0 changed, 2 unchanged\n")
    text = "".join(f"$ {' '.join(run.args[3:])}\n{run.stdout}\n" for run in runs)
    check_golden("cli/index-and-status.txt", masked(text).replace(str(workspace), "WORKSPACE"))


def test_index_and_status_as_json(workspace: Path) -> None:
    report = json.loads(keyhole("index", "--json", cwd=workspace).stdout)
    assert (report["added"], report["files"], report["skipped"]) == (2, 2, 2)
    facts = json.loads(keyhole("status", "--json", cwd=workspace).stdout)
    assert facts["project"] == str(workspace)
    assert facts["languages"] == [
        {"language": "markdown", "files": 1, "chunks": 1, "symbols": 1},
        {"language": "python", "files": 1, "chunks": 1, "symbols": 1},
    ]
    assert facts["skipped"] == {"lockfile": 1, "secret": 1}
    assert [skip["path"] for skip in facts["skips"]] == [".env", "yarn.lock"]


def test_clear(workspace: Path) -> None:
    keyhole("index", cwd=workspace)
    (folder,) = (workspace.parent / "cache").glob(f"{workspace.name}-*")
    assert keyhole("clear", cwd=workspace).stdout == f"Deleted {folder}\n"
    assert [path.name for path in folder.iterdir()] == ["writer.lock"]
    assert keyhole("clear", cwd=workspace).stdout == "Nothing to delete: no index and no journal.\n"


def test_a_cache_folder_that_cannot_be_made_is_an_error(workspace: Path) -> None:
    done = keyhole("index", cwd=workspace, KEYHOLE_CACHE_DIR=str(workspace / "README.md"))
    assert done.returncode == 2
    assert "set KEYHOLE_CACHE_DIR" in done.stderr
    assert "Traceback" not in done.stderr


def test_map(workspace: Path) -> None:
    done = keyhole("map", "src/retry.py", cwd=workspace)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "The only symbol.\n"
        "File Map: src/retry.py\n"
        "6 lines │ 77 B │ Python\n"
        "\n"
        "Imports\n"
        "  import os\n"
        "\n"
        "Symbols\n"
        "  def backoff(n: int = 1) -> float: [4-6]\n"
        "      Wait.\n"
        "\n"
        "Use read_file(path, start_line=LINE, max_lines=N) for targeted reads.\n"
    )
    facts = json.loads(keyhole("map", "src/retry.py", "--json", cwd=workspace).stdout)
    assert facts["total_symbols"] == 1
    assert facts["results"][0]["name"] == "backoff"


def test_without_a_command_there_is_an_overview_with_a_sample(workspace: Path) -> None:
    for done in [keyhole(cwd=workspace), keyhole("project", cwd=workspace.parent, HOME="/nowhere")]:
        assert done.returncode == 0
        assert done.stderr.startswith("keyhole: not a terminal: showing an overview instead of the explorer; ")
        assert done.stdout.startswith(f"Workspace  {workspace}\n")
        assert "Example: keyhole map src/retry.py" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["status", "missing"], "cannot open missing: No such file or directory"),
        (["status", "/"], "refusing to index /"),
        (["map", ".env"], ".env is not served: secret"),
        (["map", "../other.py"], "outside the workspace"),
        (["map", "src"], "src is a folder, not a file; run `keyhole tree`"),
        (["map", "/etc/passwd"], "outside the workspace"),
        (["map", "a\x1b[31m.py"], "a\\x1b[31m.py is not a file"),
        (["./mapp"], "cannot open mapp: No such file or directory; give an existing folder"),
        (["mapp", "a"], "No such command 'mapp'"),
        (["map", "--jsn", "a"], "No such option"),
    ],
)
def test_errors_are_short_and_exit_with_2(workspace: Path, arguments: list[str], message: str) -> None:
    done = keyhole(*arguments, cwd=workspace)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_control_characters_in_a_file_never_reach_the_terminal(workspace: Path) -> None:
    (workspace / "evil.py").write_text('def evil(a="\x1b]0;title\x07"):\n    """Ring \x07 the bell."""\n')
    done = keyhole("map", "evil.py", cwd=workspace)
    assert 'def evil(a="\\x1b]0;title\\x07"): [1-2]' in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_a_reader_that_stops_early_is_no_error(workspace: Path) -> None:
    for number in range(3_000):
        (workspace / f"{number}.pem").write_text("")
    command = f"{sys.executable} -m keyhole status --skipped | head -1"
    done = subprocess.run(command, shell=True, cwd=workspace, capture_output=True, text=True, check=False)
    assert done.stdout == f"Workspace  {workspace}\n"
    assert done.stderr == ""


def test_every_command_and_option_has_help() -> None:
    for command in cli.commands.values():
        assert command.help
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or getattr(parameter, "help", None), parameter.name


@pytest.mark.parametrize(("page", "text"), [("cli.md", commands_page), ("settings.md", settings_page)])
def test_the_reference_pages_are_up_to_date(page: str, text: Callable[[], str]) -> None:
    assert (REPOSITORY / "docs" / page).read_text() == text(), "run python -m keyhole.core.cli.reference_pages"


def test_control_characters_in_an_error_or_in_json_are_escaped(workspace: Path) -> None:
    (workspace / "evil.py").write_text('def evil(a="\x9b31m\u202e"): pass\n')
    shown = keyhole("map", "evil.py", "--json", cwd=workspace).stdout
    assert "\\u009b31m\\u202e" in shown
    assert json.loads(shown)["results"][0]["signature"] == 'def evil(a="\x9b31m\u202e")'
    (workspace / "keyhole.toml").write_text('"\\u001b]0;pwned\\u0007" = 1\n')
    done = keyhole("status", cwd=workspace)
    assert done.returncode == 2
    assert "\\x1b]0;pwned\\x07" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("arguments", [["map", "x" * 300], ["x" * 5_000], ["map", "a\0b"], ["explain", "q", "x" * 300]])
def test_impossible_paths_are_short_errors(workspace: Path, arguments: list[str]) -> None:
    done = keyhole(*[argument for argument in arguments if "\0" not in argument], cwd=workspace)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


def test_settings_of_the_wrong_shape(workspace: Path) -> None:
    (workspace / "keyhole.toml").write_text("index = 5\n")
    done = keyhole("index", "--workers", "2", cwd=workspace)
    assert done.returncode == 2
    assert "keyhole.toml: index = 5: must be a table, [index]" in done.stderr


def test_an_overview_without_a_file_to_show(workspace: Path) -> None:
    (workspace / "src/retry.py").write_text("# @generated\n")
    done = keyhole(cwd=workspace)
    assert done.returncode == 0
    assert "Example: keyhole map" not in done.stdout


def test_modules_of_the_explored_folder_are_never_imported(workspace: Path) -> None:
    (workspace / "click.py").write_text("raise SystemExit('imported from the workspace')\n")
    done = keyhole("--version", cwd=workspace)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("keyhole, version ")
