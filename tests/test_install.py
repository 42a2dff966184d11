"""`keyhole install` and `uninstall` on the files of each client: realistic and broken ones."""

import json
import os
import stat
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.cli.main import cli, run
from keyhole.core.errors import ConfigError
from keyhole.core.install import json_text, toml_text
from keyhole.core.install.config_file import ConfigFile

CLIENTS = ("claude", "codex", "cursor", "vscode")
FILES = {
    ("claude", "project"): ".mcp.json",
    ("claude", "user"): ".claude.json",
    ("codex", "project"): ".codex/config.toml",
    ("codex", "user"): ".codex/config.toml",
    ("cursor", "project"): ".cursor/mcp.json",
    ("cursor", "user"): ".cursor/mcp.json",
    ("vscode", "project"): ".vscode/mcp.json",
    ("vscode", "user"): ".config/Code/User/mcp.json",
}
SECTIONS = {"claude": "mcpServers", "codex": "mcp_servers", "cursor": "mcpServers", "vscode": "servers"}
COMMENTED = """\
// servers of this workspace
{
  /* inputs */ "inputs": [],
  "servers": {
    // fetches
    "fetch": {"command": "uvx"} // the last
    // nothing follows
  }
}
"""
# Realistic files: other servers, comments, trailing commas, tabs, CRLF, a byte order mark, one line, nothing.
SAMPLES = {
    "claude": [
        '{\n  "mcpServers": {\n    "github": {"command": "gh-mcp", "args": ["--x"]}\n  }\n}\n',
        '{\n\t"numStartups": 12,\n\t"projects": {"/a": {"mcpServers": {"keyhole": {"command": "old"}}}}\n}',
        '{"mcpServers":{}}',
        "",
        "\ufeff{}\n",
    ],
    "codex": [
        '# mine\nmodel = "gpt-5"\n\n[mcp_servers.github] # theirs\ncommand = "gh-mcp"\n\n[tui]\ntheme = "dark" # ok\n',
        'model = "x"',
        '[mcp_servers.github]\r\ncommand = "gh"\r\n',
        "",
        '[mcp_servers]\n[mcp_servers.a.env]\nK = "[mcp_servers.keyhole]"\n',
    ],
    "cursor": ['{\n    "mcpServers": {\n        "a": { "url": "http://x" },\n    },\n}\n', "{}", "  \n"],
    "vscode": [
        COMMENTED,
        '{\r\n\t"servers": {\r\n\t\t"a": {"command": "b"},\r\n\t}\r\n}\r\n',
        '{"inputs": [1, 2.5e3, true, null, "\\u00e9//not a comment"]}',
        "",
    ],
}
CASES = [(client, text) for client, texts in SAMPLES.items() for text in texts]
BROKEN = {
    "claude": [
        '{"mcpServers": {',
        '{"mcpServers": []}',
        "[]",
        "{'a': 1}",
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{} {}",
        "[" * 9_000,
    ],
    "codex": ["[mcp_servers", "a = ", 'mcp_servers = "x"', "mcp_servers = { github = { command = 'x' } }"],
    "cursor": ["[" * 9_000, "nonsense", '{"mcpServers": "x"}', '{"a": tru}'],
    "vscode": ["/* never ends", '{"servers": {"a": "b}', "\x00"],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


def path_of(home: Path, client: str, scope: str = "project") -> Path:
    path = (home if scope == "user" else home.parent / "work") / FILES[client, scope]
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def keyhole(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=True)
    return done.exit_code, done.output if done.exception is None else str(done.exception)


def facts(client: str, text: str) -> dict[str, Any]:
    text = text.removeprefix("\ufeff")
    found = tomllib.loads(text) if client == "codex" else json_text.parse(text)
    assert isinstance(found, dict)
    return found


def entry(client: str, path: Path) -> dict[str, Any]:
    found = facts(client, path.read_bytes().decode())[SECTIONS[client]]["keyhole"]
    assert isinstance(found, dict)
    return found


@pytest.mark.usefixtures("home")
def test_a_client_that_asks_first_is_said_to() -> None:
    assert "approve it when you next start Claude Code" in keyhole("install", "claude")[1]
    assert "approve" not in keyhole("install", "claude")[1]
    assert "approve" not in keyhole("install", "claude", "--scope", "user")[1]


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_new_file_is_made_and_taken_back(home: Path, client: str, scope: str) -> None:
    path = path_of(home, client, scope)
    assert keyhole("install", client, "--scope", scope)[0] == 0
    made = path.read_bytes()
    assert entry(client, path)["args"][0] == "mcp"
    assert (entry(client, path)["command"] == "keyhole") == (scope == "project")
    code, output = keyhole("install", client, "--scope", scope)
    assert (code, "already" in output) == (0, True)
    assert path.read_bytes() == made
    assert keyhole("uninstall", client, "--scope", scope)[0] == 0
    assert not path.exists()
    assert list(path.parent.iterdir()) == []
    assert "does not have keyhole" in keyhole("uninstall", client, "--scope", scope)[1]


@pytest.mark.parametrize(("client", "text"), CASES)
def test_everything_else_stays(home: Path, client: str, text: str) -> None:
    path = path_of(home, client)
    path.write_bytes(text.encode())
    before = facts(client, text)
    assert keyhole("install", client)[0] == 0
    after = path.read_bytes().decode()
    changed = facts(client, after)
    assert changed[SECTIONS[client]].pop("keyhole")["args"][0] == "mcp"
    assert {**changed, SECTIONS[client]: changed[SECTIONS[client]]} == {SECTIONS[client]: {}, **before}
    # Every line is still there, in order, except for a comma.
    remaining = iter(after.replace("\r\n", "\n").split("\n"))
    for line in text.replace("\r\n", "\n").rstrip().split("\n"):
        if len(text.split("\n")) > 2:
            assert any(line.replace(",", "").rstrip() == found.replace(",", "").rstrip() for found in remaining), line
    assert ("\r\n" in after) == ("\r\n" in text)
    assert path.with_name(path.name + ".keyhole-backup").read_bytes() == text.encode()
    assert keyhole("install", client)[1].count("already") == 1
    assert path.read_bytes().decode() == after
    assert keyhole("uninstall", client)[0] == 0
    assert path.read_bytes() == text.encode()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("client", "text"), CASES)
def test_what_was_changed_since_stays_when_it_is_taken_out(home: Path, client: str, text: str) -> None:
    path = path_of(home, client)
    path.write_bytes(text.encode())
    keyhole("install", client)
    comment = "# since\n" if client == "codex" else "// since\n"
    path.write_bytes(path.read_bytes() + b"\n" + comment.encode())
    code, output = keyhole("uninstall", client)
    assert (code, "backup:" in output) == (0, True)
    left = path.read_bytes().decode()
    assert comment in left
    found = facts(client, left)
    assert "keyhole" not in found.get(SECTIONS[client], {})
    assert {SECTIONS[client]: {}, **found} == {SECTIONS[client]: {}, **facts(client, text)}


@pytest.mark.parametrize(("client", "text"), [(client, text) for client, texts in BROKEN.items() for text in texts])
def test_a_broken_file_is_left_alone(home: Path, client: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of(home, client)
    path.write_text(text)
    for command in ("install", "uninstall"):
        code = run([command, client])
        captured = capsys.readouterr()
        if code == 0:
            assert command == "uninstall"
            continue
        assert code == 2
        assert path.name in captured.err
        assert "was not changed" in captured.err
        assert captured.err.count("\n") == 1
    assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


def test_an_entry_of_that_name_is_brought_up_to_date(home: Path) -> None:
    path = path_of(home, "cursor")
    path.write_text('{"mcpServers": {"keyhole": {"command": "old", "env": {"KEYHOLE_CACHE_DIR": "/c"}}, "b": {}}}')
    assert keyhole("install", "cursor")[0] == 0
    assert entry("cursor", path) == {
        "command": "keyhole",
        "args": ["mcp", "${workspaceFolder}"],
        "env": {"KEYHOLE_CACHE_DIR": "/c"},
    }
    path = path_of(home, "codex")
    path.write_text('[mcp_servers.keyhole] # mine\ncommand = "old"\nstartup_timeout_sec = 3 # slow\n\n[tui]\na = 1\n')
    assert keyhole("install", "codex")[0] == 0
    assert entry("codex", path) == {"command": "keyhole", "args": ["mcp"], "startup_timeout_sec": 3}
    assert "# slow" in path.read_text()
    # The entry existed before, so removing it does not restore the file.
    assert "backup:" in keyhole("uninstall", "codex")[1]
    assert path.read_text() == "[tui]\na = 1\n"


def test_comments_inside_the_entry_are_never_lost_silently(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of(home, "vscode")
    text = '{"servers": {"keyhole": {"command": "old" /* mine */}}}'
    path.write_text(text)
    assert run(["install", "vscode"]) == 2
    assert "has comments, which would be lost" in capsys.readouterr().err
    assert path.read_text() == text


@pytest.mark.parametrize("client", CLIENTS)
def test_the_set_of_tools_is_written_and_taken_back(home: Path, client: str) -> None:
    path = path_of(home, client)
    assert keyhole("install", client, "--tools", "core")[0] == 0
    assert entry(client, path)["args"][-2:] == ["--tools", "core"]
    assert keyhole("uninstall", client)[0] == 0
    assert list(path.parent.iterdir()) == []
    assert keyhole("install", client, "--tools", "core")[0] == 0
    assert keyhole("install", client)[0] == 0
    assert "--tools" not in entry(client, path)["args"]


def test_print_changes_nothing(home: Path) -> None:
    for client in CLIENTS:
        code, output = keyhole("install", client, "--print")
        assert code == 0
        first, _, shown = output.partition("\n")
        assert first.endswith(f"{FILES[client, 'project']}:")
        assert facts(client, shown)[SECTIONS[client]]["keyhole"]["command"] == "keyhole"
        assert not path_of(home, client).exists()


@pytest.mark.parametrize(
    ("client", "variable", "name"),
    [("codex", "CODEX_HOME", "config.toml"), ("claude", "CLAUDE_CONFIG_DIR", ".claude.json")],
)
def test_a_client_that_was_moved_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch, client: str, variable: str, name: str
) -> None:
    monkeypatch.setenv(variable, str(home / "moved"))
    assert keyhole("install", client, "--scope", "user")[0] == 0
    assert entry(client, home / "moved" / name)["args"] == ["mcp"]
    assert not path_of(home, client, "user").exists()


def test_an_unknown_client(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", "emacs"]) == 2
    assert "Choose from: claude, codex, cursor, vscode, copilot, gemini" in capsys.readouterr().err


# Links, folders and other special files


def test_a_link_is_followed_and_stays_one(home: Path) -> None:
    real = home / "dotfiles/cursor.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o600)
    path = path_of(home, "cursor", "user")
    path.symlink_to(real)
    assert keyhole("install", "cursor", "--scope", "user")[0] == 0
    assert path.is_symlink()
    assert entry("cursor", real)["args"] == ["mcp", "${workspaceFolder}"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert stat.S_IMODE(real.with_name("cursor.json.keyhole-backup").stat().st_mode) == 0o600
    assert keyhole("uninstall", "cursor", "--scope", "user")[0] == 0
    assert (real.read_text(), path.is_symlink()) == ("{}", True)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_workspace_cannot_lead_out_of_itself(
    home: Path, capsys: pytest.CaptureFixture[str], *, is_folder: bool
) -> None:
    victim = home / "victim"
    path = path_of(home, "cursor")
    if is_folder:
        path.parent.rmdir()
        victim.mkdir()
        path.parent.symlink_to(victim)
    else:
        victim.write_text("{}")
        path.symlink_to(victim)
    assert run(["install", "cursor"]) == 2
    assert "points outside the workspace" in capsys.readouterr().err
    assert (list(victim.iterdir()) == []) if is_folder else victim.read_text() == "{}"


def test_a_read_only_file_stays_as_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of(home, "claude")
    path.write_text("{}")
    path.chmod(0o444)
    assert run(["install", "claude"]) == 2
    assert "is read-only" in capsys.readouterr().err
    assert path.read_text() == "{}"


def test_what_is_not_a_file_stays_as_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path_of(home, "claude").mkdir()
    os.mkfifo(path_of(home, "cursor"))
    path_of(home, "vscode").write_bytes(b'{"a": "\xff"}')
    (home.parent / "work/.codex").write_text("a file where a folder should be")
    for client, message in {
        "claude": "not a regular file",
        "cursor": "not a regular file",
        "vscode": "is not valid UTF-8",
        "codex": "cannot write",
    }.items():
        assert run(["install", client]) == 2
        assert message in capsys.readouterr().err


def test_a_file_that_changes_during_the_run_is_not_overwritten(home: Path) -> None:
    path = path_of(home, "claude")
    path.write_text("{}")
    file = ConfigFile(path)
    path.write_text('{"numStartups": 13}')
    with pytest.raises(ConfigError, match="another program has just changed"):
        file.replace("{}")
    assert path.read_text() == '{"numStartups": 13}'


# Properties

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=12,
)
SERVERS = st.dictionaries(
    st.sampled_from(["a", "b//", 'c"d', "keyhole"]), st.dictionaries(st.text(max_size=4), VALUES, max_size=2)
)
ENTRY: dict[str, object] = {"command": "keyhole", "args": ["mcp"]}


@given(
    st.dictionaries(st.text(max_size=9).filter(lambda name: name != "mcpServers"), VALUES, max_size=3),
    st.none() | SERVERS,
    st.sampled_from([None, 0, 2, "\t"]),
)
def test_json_is_changed_nowhere_else(rest: dict[str, Any], servers: dict[str, Any] | None, indent: Any) -> None:
    document = rest if servers is None else {**rest, "mcpServers": servers}
    text = json.dumps(document, indent=indent)
    assert json_text.parse(text) == document
    changed = json_text.set_entry(text, "mcpServers", "keyhole", ENTRY)
    old = (servers or {}).get("keyhole", {})
    assert json_text.parse(changed) == {**rest, "mcpServers": {**(servers or {}), "keyhole": {**old, **ENTRY}}}
    assert json.loads(changed) == json_text.parse(changed)
    assert json_text.set_entry(changed, "mcpServers", "keyhole", ENTRY) == changed
    removed = json_text.remove_entry(changed, "mcpServers", "keyhole")
    others = {name: value for name, value in (servers or {}).items() if name != "keyhole"}
    assert json.loads(removed) == {**rest, "mcpServers": others}


@given(st.text('{}[]":,/*\n ab1', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(json_text.parse(text), dict)


@given(st.text("[]=\"'\nabmcp_servers.keyhole# ", max_size=60))
def test_any_toml_is_changed_nowhere_else_or_refused(text: str) -> None:
    try:
        before = toml_text.parse(text)
        changed = toml_text.set_entry(text, "mcp_servers", "keyhole", ENTRY)
        after = toml_text.parse(changed)
    except ValueError:
        return
    after["mcp_servers"].pop("keyhole")  # type: ignore[attr-defined]
    assert {"mcp_servers": {}, **after} == {"mcp_servers": {}, **before}
