"""`keyhole check` as users run it: exit codes, reports, trust, and other revisions."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from checking import write_server
from git_samples import commit_all, git

from keyhole.core.cli.main import run_command

PASSES = '[[query]]\nquery = "backoff"\nfiles = ["src/retry.py"]\nworst_rank = 1\n'
FAILS = '[[query]]\nquery = "backoff"\nfiles = ["src/other.py"]\nworst_rank = 1\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/retry.py").write_text('def backoff(n: int = 1) -> float:\n    """Wait."""\n    return 1.0\n')
    (root / "src/other.py").write_text("def unrelated(): ...\n")
    (root / "README.md").write_text("# Title\n\n## Backoff and retries\n\nWaits.\n")
    return root


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


Keyhole = Callable[..., Done]


@pytest.fixture
def keyhole(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Keyhole:
    """Run the command in this process: it does the same as in its own, a second faster."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", "none")

    def run(*arguments: str, cwd: Path) -> Done:
        monkeypatch.chdir(cwd)
        code = run_command(["check", *arguments])
        return Done(code, *capsys.readouterr())

    return run


def write_checks(root: Path, text: str) -> None:
    (root / "keyhole.checks.toml").write_text(text)


def test_the_table(keyhole: Keyhole, workspace: Path, check_golden: Callable[[str, str], None]) -> None:
    write_checks(workspace, PASSES + "\n" + FAILS)
    done = keyhole(cwd=workspace)
    assert (done.returncode, done.stderr) == (1, "")
    check_golden("cli/check.txt", done.stdout)


def test_json_and_junit(keyhole: Keyhole, workspace: Path, tmp_path: Path) -> None:
    write_checks(
        workspace, PASSES + '\n[[map]]\nname = "<small> & \\u001b[31m"\nfiles = ["src/retry.py"]\nmax_tokens = 1\n'
    )
    done = keyhole("--json", "--junit", str(tmp_path / "report.xml"), cwd=workspace)
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["passed"], facts["failed"], facts["skipped"]) == (1, 1, 1, 0)
    assert facts["checks"][0] | {"tokens": 0} == {
        "kind": "query",
        "name": "backoff → src/retry.py",
        "place": "keyhole.checks.toml:1",
        "status": "passed",
        "expected": "rank 1 or better",
        "found": "rank 1",
        "tokens": 0,
        "figure": 1,
    }
    suite = ET.parse(tmp_path / "report.xml").getroot()[0]
    assert suite.attrib == {"name": "keyhole check", "tests": "2", "failures": "1", "errors": "0", "skipped": "0"}
    assert (suite[0].attrib["file"], suite[0].attrib["line"]) == ("keyhole.checks.toml", "1")
    assert suite[1].attrib["name"] == r"<small> & \x1b[31m → src/retry.py"
    assert suite[1][0].tag == "failure"
    assert suite[1][0].attrib["message"].startswith("expected at most 1 tokens; found ")
    again = keyhole("--json", "--junit", str(tmp_path / "again.xml"), cwd=workspace)
    assert (again.stdout, (tmp_path / "again.xml").read_bytes()) == (
        done.stdout,
        (tmp_path / "report.xml").read_bytes(),
    )


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (None, [], "there is no keyhole.checks.toml"),
        ("[[query]\n", [], "keyhole.checks.toml is not valid TOML: "),
        ("", [], "the checks files have no checks"),
        (PASSES, ["--only", "nothing"], "no check has a kind or name with 'nothing'"),
        (PASSES, ["--compare", "HEAD"], "not a git repository"),
        (PASSES, ["--junit", "no/such/folder.xml"], "no/such/folder.xml"),
        (PASSES, ["--init"], "keyhole.checks.toml already exists; it was not changed"),
    ],
)
def test_errors(keyhole: Keyhole, workspace: Path, text: str | None, arguments: list[str], message: str) -> None:
    if text is not None:
        write_checks(workspace, text)
    done = keyhole(*arguments, cwd=workspace)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_is_cut_in_a_pipe_and_all_of_it_fits_a_terminal(
    keyhole: Keyhole, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "how long does a client wait before it tries the same request once more, and who decides that"
    write_checks(workspace, f'[[query]]\nquery = "{question}"\nfiles = ["src/retry.py"]\nworst_rank = 50\n')
    (_, whole, *_) = keyhole(cwd=workspace).stdout.splitlines()
    assert f"{question} → src/retry.py" in whole
    for width in (70, 100):
        monkeypatch.setattr("keyhole.core.cli.check_command._width", lambda width=width: width)
        heading, row, *_ = keyhole(cwd=workspace).stdout.splitlines()
        assert max(len(heading), len(row)) <= width
        assert "how long" in row
        assert "retry.py" in row


@pytest.mark.parametrize("text", ["[[query]\n", "[[qury]]\n"])
def test_a_broken_checks_file_is_in_the_junit_file_too(
    keyhole: Keyhole, workspace: Path, tmp_path: Path, text: str
) -> None:
    write_checks(workspace, text)
    done = keyhole("--junit", str(tmp_path / "report.xml"), cwd=workspace)
    assert done.returncode == 2
    suite = ET.parse(tmp_path / "report.xml").getroot()[0]
    assert (suite.attrib["tests"], suite.attrib["errors"], suite[0][0].tag) == ("1", "1", "error")
    assert suite[0][0].attrib["message"].startswith("keyhole.checks.toml")


def test_a_hostile_repository_runs_nothing_until_the_user_trusts_its_file(keyhole: Keyhole, workspace: Path) -> None:
    """The server would write a file as soon as it is started."""
    ran = workspace.parent / "ran.txt"
    evil = f"from pathlib import Path; Path({str(ran)!r}).write_text('ran')"
    write_checks(workspace, f"{PASSES}\n[[mcp]]\nserver = {[sys.executable, '-c', evil]}\n")
    # A repository can't allow itself anything.
    (workspace / "keyhole.toml").write_text("")
    (workspace / "trusted-checks.json").write_text("{}")
    done = keyhole(cwd=workspace)
    assert not ran.exists()
    assert done.returncode == 2
    assert (
        "skipped: its command is not run: keyhole.checks.toml comes with the workspace; read it, then use --trust"
        in (done.stdout)
    )
    assert "2 checks: 1 passed, 1 skipped" in done.stdout
    # A failure counts more than a skipped check.
    trusted = keyhole("--trust", cwd=workspace)
    assert (trusted.returncode, ran.read_text()) == (1, "ran")
    ran.unlink()
    assert keyhole(cwd=workspace).returncode == 1
    assert ran.exists()
    ran.unlink()
    # A changed file is not trusted any more.
    with (workspace / "keyhole.checks.toml").open("a") as file:
        file.write("\n# changed\n")
    changed = keyhole(cwd=workspace)
    assert changed.returncode == 2
    assert "keyhole.checks.toml changed since you trusted it; read what changed, then use --trust" in changed.stdout
    assert not ran.exists()
    keyhole("--allow-commands", cwd=workspace)
    assert ran.exists()


def test_the_same_file_in_another_workspace_is_not_trusted(keyhole: Keyhole, workspace: Path) -> None:
    ran = workspace.parent / "ran.txt"
    evil = f"from pathlib import Path; Path({str(ran)!r}).write_text('ran')"
    text = f"[[mcp]]\nserver = {[sys.executable, '-c', evil]}\n"
    write_checks(workspace, text)
    keyhole("--trust", cwd=workspace)
    ran.unlink()
    other = workspace.parent / "copy"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    write_checks(other, text)
    assert keyhole(cwd=other).returncode == 2
    assert not ran.exists()


def test_snapshots_are_written_with_update(keyhole: Keyhole, workspace: Path, tmp_path: Path) -> None:
    command = write_server(tmp_path)
    write_checks(workspace, f'[[mcp]]\nserver = {command}\n[[mcp.call]]\ntool = "greet"\nsnapshot = true\n')
    assert keyhole("--allow-commands", cwd=workspace).returncode == 1
    assert keyhole("--allow-commands", "--update", cwd=workspace).returncode == 0
    assert keyhole("--allow-commands", cwd=workspace).returncode == 0


def test_a_proposal_passes(keyhole: Keyhole, workspace: Path) -> None:
    (workspace / "src/retry.py").write_text(
        'MAX_RETRIES = 5\n\n\ndef backoff(n: int = 1) -> float:\n    """Wait for the next attempt."""\n    return 1.0\n'
    )
    done = keyhole("--init", cwd=workspace)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("keyhole: wrote keyhole.checks.toml with ")
    text = (workspace / "keyhole.checks.toml").read_text()
    assert '[[query]]\nquery = "Backoff and retries"\nfiles = ["src/retry.py"]\nworst_rank = 3\n' in text
    assert '[[query]]\nquery = "Wait for the next attempt"\nfiles = ["src/retry.py"]\nworst_rank = 3\n' in text
    assert '[[fact]]\nfact = "MAX_RETRIES = 5"\nquery = "max retries"\nmax_tokens = ' in text
    assert '[[map]]\nfiles = ["src/retry.py"]\nmax_tokens = ' in text
    assert 'pattern = "-----BEGIN [A-Z ]*PRIVATE KEY-----"' in text
    # With few queries in words, names are proposed too.
    assert '[[query]]\nquery = "unrelated"\nfiles = ["src/other.py"]\nworst_rank = 3\n' in text
    assert keyhole(cwd=workspace).returncode == 0


def test_two_revisions_side_by_side(keyhole: Keyhole, workspace: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran.txt"
    git(workspace, "init", "--quiet")
    # Attributes and settings of a repository can leave out files and run programs.
    (workspace / ".gitattributes").write_text("src/retry.py export-ignore\n*.py filter=evil\n")
    commit_all(workspace)
    first = git(workspace, "rev-parse", "HEAD").decode().strip()
    git(workspace, "config", "filter.evil.smudge", f"touch {ran}")
    git(workspace, "config", "tar.tar.command", f"touch {ran}")
    (workspace / "src/retry.py").rename(workspace / "src/other_place.py")
    (workspace / "src/other.py").write_text("def backoff_of_other(): ...\n")
    write_checks(workspace, f"{PASSES}\n{FAILS}\n[[links]]\nmax_broken = 0\n")
    before = sorted(
        (path, path.read_bytes()) for path in workspace.rglob("*") if path.is_file() and ".git/" not in str(path)
    )
    done = keyhole("--compare", first, cwd=workspace)
    lines = [line[:8].strip() for line in done.stdout.splitlines()]
    assert done.returncode == 1, done.stderr
    assert lines[1:4] == ["▼ worse", "▲ better", "same"]
    assert done.stdout.endswith(f"3 checks compared with {first}: 1 better, 1 worse, 1 same\n")
    assert not ran.exists()
    after = sorted(
        (path, path.read_bytes()) for path in workspace.rglob("*") if path.is_file() and ".git/" not in str(path)
    )
    assert before == after
    assert git(workspace, "rev-parse", "HEAD").decode().strip() == first
    facts = json.loads(keyhole("--compare", "HEAD", "--json", cwd=workspace).stdout)
    assert [pair["change"] for pair in facts["checks"]] == ["worse", "better", "same"]
    for wrong in ("nothing", "--output=x"):
        assert keyhole(f"--compare={wrong}", cwd=workspace).returncode == 2


def test_a_comparison_shows_what_answers_cost_and_why_a_revision_is_missing(
    keyhole: Keyhole, workspace: Path, tmp_path: Path
) -> None:
    git(workspace, "init", "--quiet")
    (workspace / "src/retry.py").write_text("LONGEST = 90\n" + "def other(): ...\n" * 200)
    commit_all(workspace)
    (workspace / "src/retry.py").write_text("LONGEST = 90\n")
    commit_all(workspace)
    write_checks(workspace, '[[map]]\nfiles = ["src/retry.py"]\nmax_tokens = 9000\n')
    shown = keyhole("--compare", "HEAD~1", cwd=workspace).stdout
    assert re.search(r"▲ better +map +src/retry.py .* [\d,]+ → \d+\n", shown)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{workspace}", "shallow")
    write_checks(tmp_path / "shallow", PASSES)
    done = keyhole("--compare", "HEAD~1", cwd=tmp_path / "shallow")
    assert done.returncode == 2
    assert "HEAD~1 is not a revision of this repository; this clone has only part of the history" in done.stderr
