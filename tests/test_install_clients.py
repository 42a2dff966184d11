"""`keyhole install` for every client: real paths on each platform, the shape of the entry, and round trips."""

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from keyhole.core.cli.install_commands import install
from keyhole.core.cli.main import cli, run
from keyhole.core.install import json_text
from keyhole.core.install.client_table import Scope, client_named, installable_clients
from keyhole.core.install.machine import Machine

_CODE = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
_MAC_APPS = "Library/Application Support"
# By hand, from the documentation of each client: workspace, and user on Linux, macOS and Windows (in the home folder).
PLACES = {
    "claude": (".mcp.json", ".claude.json", ".claude.json", ".claude.json"),
    "codex": (".codex/config.toml", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": (
        ".vscode/mcp.json",
        ".config/Code/User/mcp.json",
        f"{_MAC_APPS}/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "copilot": (".github/mcp.json", *[".copilot/mcp-config.json"] * 3),
    "gemini": (".gemini/settings.json", *[".gemini/settings.json"] * 3),
    "opencode": ("opencode.json", *[".config/opencode/opencode.json"] * 3),
    "qwen": (".qwen/settings.json", *[".qwen/settings.json"] * 3),
    "zed": (
        ".zed/settings.json",
        ".config/zed/settings.json",
        ".config/zed/settings.json",
        "AppData/Roaming/Zed/settings.json",
    ),
    "windsurf": ("", *[".codeium/windsurf/mcp_config.json"] * 3),
    "cline": ("", *[".cline/data/settings/cline_mcp_settings.json"] * 3),
    "roo": (".roo/mcp.json", f".config/{_CODE}", f"{_MAC_APPS}/{_CODE}", f"AppData/Roaming/{_CODE}"),
    "amp": (".amp/settings.json", *[".config/amp/settings.json"] * 3),
    "goose": (
        ".agents/plugins/keyhole/.mcp.json",
        ".config/goose/config.yaml",
        ".config/goose/config.yaml",
        "AppData/Roaming/Block/goose/config/config.yaml",
    ),
    "crush": ("crush.json", *[".config/crush/crush.json"] * 3),
    "jetbrains": (".ai/mcp/mcp.json", *[".ai/mcp/mcp.json"] * 3),
    "junie": (".junie/mcp/mcp.json", *[".junie/mcp/mcp.json"] * 3),
}
PLATFORMS = ("linux", "darwin", "win32")
SCOPES = [
    (client, scope)
    for client, places in PLACES.items()
    for scope in ("project", "user")
    if places[0] or scope == "user"
]
MOVED = [
    ("claude", "CLAUDE_CONFIG_DIR", ".claude.json"),
    ("codex", "CODEX_HOME", "config.toml"),
    ("copilot", "COPILOT_HOME", "mcp-config.json"),
    ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    ("qwen", "QWEN_HOME", "settings.json"),
    ("cline", "CLINE_DIR", "data/settings/cline_mcp_settings.json"),
    ("cline", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
    ("cline", "CLINE_MCP_SETTINGS_PATH", ""),
    ("goose", "GOOSE_PATH_ROOT", "config/config.yaml"),
    ("crush", "CRUSH_GLOBAL_CONFIG", "crush.json"),
    ("amp", "AMP_SETTINGS_FILE", ""),
]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace next to an empty home folder, on a machine without any client."""
    for name in ("home", "work", "programs"):
        (tmp_path / name).mkdir()
    (tmp_path / "programs/keyhole").touch(mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for _, variable, _ in MOVED:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def keyhole(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def outcomes(*arguments: str) -> dict[str, Any]:
    found = json.loads(keyhole(*arguments, "--json"))
    assert isinstance(found, dict)
    return found


def path_of(work: Path, client: str, scope: str) -> Path:
    project, user, *_ = PLACES[client]
    return work / project if scope == "project" else work.parent / "home" / user


def facts_in(path: Path) -> dict[str, Any]:
    text = path.read_text()
    found = {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(path.suffix, json_text.parse)(text)
    assert isinstance(found, dict)
    return found


def entry_in(path: Path) -> dict[str, Any]:
    (section,) = [value for value in facts_in(path).values() if isinstance(value, dict) and "keyhole" in value]
    entry = section["keyhole"]
    assert isinstance(entry, dict)
    return entry


def test_the_help_names_every_client() -> None:
    assert list(installable_clients()) == list(PLACES)
    assert f"Clients: {', '.join(PLACES)}." in str(install.epilog)


@pytest.mark.parametrize("client", PLACES)
def test_each_platform_has_its_path(client: str, tmp_path: Path) -> None:
    root, home = tmp_path / "work", tmp_path / "home"
    project, *users = PLACES[client]
    for platform, user in zip(PLATFORMS, users, strict=True):
        machine = Machine(home, {}, platform)
        assert machine.config_path(client_named(client), root, Scope.USER) == home / user
        if project:
            assert machine.config_path(client_named(client), root, Scope.PROJECT) == root / project


@pytest.mark.parametrize(("client", "variable", "rest"), MOVED)
def test_a_variable_moves_the_file(client: str, variable: str, rest: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", {variable: str(tmp_path / "moved")}, "linux")
    assert machine.config_path(client_named(client), tmp_path, Scope.USER) == tmp_path / "moved" / rest


def test_windows_keeps_settings_where_appdata_says(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", {"APPDATA": str(tmp_path / "roaming")}, "win32")
    path = machine.config_path(client_named("zed"), tmp_path, Scope.USER)
    assert path == tmp_path / "roaming/Zed/settings.json"


@pytest.mark.parametrize(("client", "scope"), SCOPES)
def test_a_new_file_goes_as_it_came(work: Path, client: str, scope: str) -> None:
    path = path_of(work, client, scope)
    (result,) = outcomes("install", client, "--scope", scope)["results"]
    assert (result["change"], result["path"]) == ("added", str(path))
    made = path.read_bytes()
    assert outcomes("install", client, "--scope", scope)["results"][0]["change"] == "unchanged"
    assert path.read_bytes() == made
    (result,) = outcomes("uninstall", client)["results"]
    assert (result["change"], result["scope"], path.exists()) == ("removed", scope, False)
    assert outcomes("uninstall", client)["results"][0]["change"] == "unchanged"


@pytest.mark.parametrize(("client", "scope"), SCOPES)
def test_an_entry_starts_our_server_in_the_workspace(work: Path, client: str, scope: str) -> None:
    keyhole("install", client, "--scope", scope, "--tools", "core")
    entry = entry_in(path_of(work, client, scope))
    command = entry.get("command", entry.get("cmd"))
    words = command if isinstance(command, list) else [command, *entry["args"]]
    folder = {
        "cursor": ["${workspaceFolder}"],
        "vscode": ["${workspaceFolder}"],
        **{name: [str(work)] for name in ("windsurf", "cline", "jetbrains", "junie")},
    }.get(client, [])
    assert words[1:] == ["mcp", *folder, "--tools", "core"]
    assert Path(words[0]).name == "keyhole"
    # A file that a team shares must not contain a path of one machine.
    assert Path(words[0]).is_absolute() == (scope == "user")


@pytest.mark.parametrize(
    ("client", "scope", "others"),
    [
        ("opencode", "project", {"type": "local", "enabled": True}),
        ("copilot", "user", {"type": "local", "tools": ["*"]}),
        ("crush", "project", {"type": "stdio"}),
        ("goose", "user", {"type": "stdio", "enabled": True, "name": "keyhole", "timeout": 300}),
        ("zed", "project", {}),
    ],
)
def test_an_entry_has_what_the_client_needs(work: Path, client: str, scope: str, others: dict[str, object]) -> None:
    keyhole("install", client, "--scope", scope)
    entry = entry_in(path_of(work, client, scope))
    assert {key: entry[key] for key in entry.keys() - {"command", "cmd", "args", "description"}} == others


def test_a_jsonc_file_is_used_instead(work: Path) -> None:
    text = '{\n  // mine\n  "mcp": {\n    "other": {"type": "local", "command": ["x"]}, // last\n  },\n}\n'
    (work / "opencode.jsonc").write_text(text)
    keyhole("install", "opencode")
    assert not (work / "opencode.json").exists()
    assert entry_in(work / "opencode.jsonc")["enabled"] is True
    keyhole("uninstall", "opencode")
    assert (work / "opencode.jsonc").read_text() == text


def test_a_client_without_workspace_files_says_so(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", "windsurf", "--scope", "project"]) == 2
    assert "Windsurf has no configuration for one workspace; use --scope user" in capsys.readouterr().err
    assert f"it serves only {work}" in keyhole("install", "windsurf")


def test_an_entry_never_names_the_home_folder(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = work.parent / "home"
    assert run(["install", "cline", "--scope", "user", "--root", str(home)]) == 2
    assert "run keyhole install in a workspace" in capsys.readouterr().err
    assert list(home.iterdir()) == []


def test_a_program_that_clients_cannot_find_is_told(work: Path) -> None:
    (work.parent / "programs/keyhole").unlink()
    assert "keyhole is not on your PATH, so Claude Code can't start it" in keyhole("install", "claude")
    # The user's own configuration has the full path.
    assert "not on your PATH" not in keyhole("install", "claude", "--scope", "user")
    assert f"deleted {work / '.mcp.json'}, which had nothing else" in keyhole("uninstall", "claude")


def test_all_finds_what_is_on_the_machine(work: Path) -> None:
    home = work.parent / "home"
    program = work.parent / "programs/codex"
    program.write_text("")
    program.chmod(0o755)
    (home / ".cursor").mkdir()
    (work / ".zed").mkdir()
    (work / ".zed/settings.json").write_text("{}")
    found = outcomes("install", "--all")
    assert {each["client"]: each["found"] for each in found["results"]} == {
        "codex": str(program),
        "cursor": str(home / ".cursor"),
        "zed": str(work / ".zed/settings.json"),
    }
    assert {*found["not_found"]} == PLACES.keys() - {"codex", "cursor", "zed"}
    for client in ("codex", "cursor", "zed"):
        assert entry_in(path_of(work, client, "project"))
    output = keyhole("install", "--all")
    assert f"Codex already has keyhole ({work / '.codex/config.toml'}); found {program}" in output
    assert "Not on this machine: Claude Code, VS Code, Copilot CLI" in output
    removed = outcomes("uninstall", "--all")["results"]
    assert [each["client"] for each in removed] == ["codex", "cursor", "zed"]
    assert "No client has keyhole" in keyhole("uninstall", "--all")


def test_a_failure_does_not_stop_the_others(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / ".mcp.json").write_text("{")
    assert run(["install", "claude", "zed", "gemini"]) == 2
    captured = capsys.readouterr()
    assert "cannot edit" in captured.err
    assert captured.out.count("Added keyhole to") == 2
    assert (work / ".mcp.json").read_text() == "{"
    shutil.rmtree(work / ".zed")
    assert run(["install", "claude", "zed", "--json"]) == 2
    results = json.loads(capsys.readouterr().out)["results"]
    assert [each["change"] for each in results] == ["failed", "added"]


def test_without_a_client_there_is_help(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["install"], ["uninstall"], ["install", "claude", "--all"]):
        assert run(arguments) == 2
        assert "Clients: claude, codex" in capsys.readouterr().err
    assert list(work.iterdir()) == []


@pytest.mark.usefixtures("work")
def test_uninstall_takes_both_scopes() -> None:
    for scope in ("project", "user"):
        keyhole("install", "gemini", "--scope", scope)
    results = outcomes("uninstall", "gemini")["results"]
    assert [(each["scope"], each["change"]) for each in results] == [("project", "removed"), ("user", "removed")]


def test_print_shows_yaml_too(work: Path) -> None:
    shown = keyhole("install", "goose", "--scope", "user", "--print")
    found = yaml.safe_load(shown.partition("\n")[2])
    assert found["extensions"]["keyhole"]["args"] == ["mcp"]
    assert not path_of(work, "goose", "user").exists()


def test_an_edit_that_would_change_something_else_is_refused(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = path_of(work, "goose", "user")
    path.parent.mkdir(parents=True)
    # Whatever follows this text of several lines gives it a line end.
    path.write_text("GOOSE_MODE: |\n  auto")
    assert run(["install", "goose", "--scope", "user"]) == 2
    assert "its layout is unusual" in capsys.readouterr().err
    assert path.read_text() == "GOOSE_MODE: |\n  auto"
    assert list(path.parent.iterdir()) == [path]
