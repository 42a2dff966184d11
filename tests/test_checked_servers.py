"""Checks of other MCP servers: real processes over stdio."""

import sys
from pathlib import Path

import pytest
from checking import checked, found, write_server

from keyhole.core.config import load_settings
from keyhole.core.service import Service


@pytest.fixture
def workspace(tmp_path: Path) -> Service:
    root = tmp_path / "project"
    root.mkdir()
    (root / "README.md").write_text("# Title\n")
    service = Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))
    service.index()
    return service


def test_the_tool_list_and_answers_of_a_server(workspace: Service, tmp_path: Path) -> None:
    command = write_server(tmp_path)
    text = f"""
[[mcp]]
name = "small"
server = {command}
max_tokens = 200
max_description = 100
clients = ["claude"]

[[mcp.call]]
tool = "greet"
arguments = {{ name = "Ada" }}
max_tokens = 20
clients = ["claude", "codex"]
shows = ["Hello, Ada"]

[[mcp.call]]
tool = "missing"

[[mcp.call]]
tool = "broken"

[[mcp.call]]
tool = "greet"
max_tokens = 1
shows = ["Goodbye"]
"""
    results = checked(workspace, text)
    assert [result.name for result in results[:4]] == [
        "small → tool list",
        "small → descriptions",
        "small → descriptions as claude",
        'small → greet(name="Ada")',
    ]
    assert found(results)[1:] == [
        ("passed", "greet: 15 characters"),
        ("passed", "not truncated"),
        ("passed", "4 tokens"),
        ("error", "there is no tool missing. Choose from: greet"),
        ("error", "there is no tool broken. Choose from: greet"),
        ("failed", "3 tokens; does not show 'Goodbye'"),
    ]


def test_a_long_description_is_found(workspace: Service, tmp_path: Path) -> None:
    command = write_server(tmp_path, description="Greets someone. " * 1_100)
    text = f'[[mcp]]\nserver = {command}\nmax_tokens = 200\nmax_description = 1000\nclients = ["claude", "raw"]\n'
    results = checked(workspace, text)
    assert [str(result.status) for result in results] == ["failed", "failed", "failed", "passed"]
    assert results[1].finding.found == "greet: 17,600 characters"
    assert results[2].finding.found == "Claude Code truncates the description of greet"


def test_snapshots(workspace: Service, tmp_path: Path) -> None:
    text = (
        f'[[mcp]]\nname = "small"\nserver = {write_server(tmp_path)}\n[[mcp.call]]\ntool = "greet"\nsnapshot = true\n'
    )
    (_, call) = checked(workspace, text)
    assert (call.status, call.finding.found) == ("failed", "no snapshot yet: run keyhole check --update")
    assert checked(workspace, text, updates=True)[1].status == "passed"
    assert checked(workspace, text)[1].status == "passed"
    (snapshot,) = (workspace.root / ".keyhole/snapshots").iterdir()
    assert snapshot.read_text() == "Hello, "
    write_server(tmp_path, answer="Bye, ")
    assert "line 1 was 'Hello, ', is 'Bye, '" in checked(workspace, text)[1].finding.found


def test_a_snapshot_is_never_written_through_a_link(workspace: Service, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (workspace.root / ".keyhole").symlink_to(tmp_path / "outside")
    text = f'[[mcp]]\nserver = {write_server(tmp_path)}\n[[mcp.call]]\ntool = "greet"\nsnapshot = true\n'
    assert checked(workspace, text, updates=True)[1].finding.found.startswith(".keyhole is a symbolic link; ")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_forbidden_text_in_the_answer_of_a_server(workspace: Service, tmp_path: Path) -> None:
    text = f'[[forbidden]]\ntext = "Hello"\n[[mcp]]\nname = "small"\nserver = {write_server(tmp_path)}\n'
    assert found(checked(workspace, text))[0] == ("passed", "in no answer")
    text += '[[mcp.call]]\ntool = "greet"\n'
    assert found(checked(workspace, text))[0] == ("failed", "in the answer to small: greet()")


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (["no-such-program-here"], "cannot start: no such program"),
        ([sys.executable, "-c", "import sys; sys.exit('broken on purpose')"], "it printed: broken on purpose"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "no answer within 1 seconds"),
        ([sys.executable, "-c", "print('not JSON'); import time; time.sleep(60)"], "no answer within 1 seconds"),
    ],
)
def test_servers_that_do_not_answer(workspace: Service, program: list[str], problem: str) -> None:
    (result,) = checked(workspace, f"[[mcp]]\nserver = {program}\ntimeout = 1\n")
    assert result.status == "failed"
    assert problem in result.finding.found


def test_secrets_in_the_answers_of_servers_are_masked_in_reports(workspace: Service, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    text = f'[[mcp]]\nserver = {write_server(tmp_path)}\n[[mcp.call]]\ntool = "greet"\nsnapshot = true\n'
    checked(workspace, text, updates=True)
    write_server(tmp_path, answer=f"token {token}")
    found_text = checked(workspace, text)[1].finding.found
    assert "[secret: github-token]" in found_text
    assert token not in found_text
