"""keyhole wrap --install: one entry of a client goes through the wrap, and comes back byte for byte."""

import json
import stat
import tomllib
from pathlib import Path

import pytest
import yaml

from keyhole.core.errors import ConfigError
from keyhole.core.install.client_table import Scope, client_named
from keyhole.core.install.machine import Machine
from keyhole.core.wrap.install_wrap import ClientWraps
from keyhole.core.wrap.original_texts import OriginalTexts, changed_part

CLAUDE = """{
  // servers of the team
  "mcpServers": {
    "files": {"command": "npx",   "args": ["-y","server-filesystem", "${HOME}/x"],
              "env": {"TOKEN": "a b"}},
    "remote": {
      "type": "http",
      "url": "https://api.example.com/mcp?x=1",
      "headers": {"Authorization": "Bearer t"}
    },
    "bare": { "command" : "my-server" },
    "keyhole": {"command": "keyhole", "args": ["mcp"]},
    "odd": {"type": "sse"}
  },
  "other": [1,2,
     3]
}
"""
CODEX = """# mine
model = "x"

[mcp_servers.git]
command = "uvx"   # the runner
args = ["mcp-server-git",
        "--repository", "."]
startup_timeout_sec = 20

[mcp_servers.git.env]
A = "1"

# the last line
"""
OPENCODE = '{"mcp": {"every": {"type": "local", "command": ["npx", "-y", "server-everything"], "enabled": true}}}'
GOOSE = """extensions:
  files:
    cmd: npx
    args:
    - -y
    - server-filesystem
    enabled: true
    type: stdio
GOOSE_MODEL: x
"""


class Machines:
    """A home folder and a workspace with a client's file."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root, self.state = folder / "home", folder / "work", folder / "state"
        self.home.mkdir()
        self.root.mkdir()
        self.machine = Machine(self.home, {"PATH": ""}, "linux")
        self.wraps = ClientWraps(self.root, self.machine, OriginalTexts(self.state))

    def write(self, client: str, text: str, scope: Scope = Scope.PROJECT) -> Path:
        path = self.machine.config_path(client_named(client), self.root, scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


def wrap_args(name: str, *command: str) -> list[str]:
    return ["wrap", "--name", name, "--", *command]


def test_an_entry_keeps_its_budget_until_it_is_put_back(machines: Machines) -> None:
    path, client = machines.write("claude", CLAUDE), client_named("claude")
    machines.wraps.install(client, "files", None, "claude")
    files = json.loads(path.read_text().replace("// servers of the team", ""))["mcpServers"]["files"]
    assert files["args"][:6] == ["wrap", "--name", "files", "--budget", "claude", "--"]
    assert machines.wraps.uninstall(client, "files", None)
    assert path.read_text() == CLAUDE


def test_claude_gets_one_entry_changed_and_back(machines: Machines) -> None:
    path, client = machines.write("claude", CLAUDE), client_named("claude")
    entry, is_changed = machines.wraps.install(client, "files", None)
    assert is_changed
    assert entry.command == ("npx", "-y", "server-filesystem", "${HOME}/x")
    text = path.read_text().replace("// servers of the team", "")
    files = json.loads(text)["mcpServers"]["files"]
    assert files["command"] == "keyhole"
    assert files["args"] == wrap_args("files", "npx", "-y", "server-filesystem", "${HOME}/x")
    assert files["env"] == {"TOKEN": "a b"}
    assert machines.wraps.install(client, "files", None) == (entry, False)
    assert [(each.server, each.scope) for each in machines.wraps.all()] == [("files", Scope.PROJECT)]
    assert machines.wraps.uninstall(client, "files", None)
    assert path.read_text() == CLAUDE
    assert machines.wraps.uninstall(client, "files", None) is None
    assert stat.S_IMODE((machines.state / "wrapped.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("client", "server", "text", "scope"),
    [
        ("claude", "bare", CLAUDE, Scope.PROJECT),
        ("codex", "git", CODEX, Scope.USER),
        ("opencode", "every", OPENCODE, Scope.PROJECT),
        ("goose", "files", GOOSE, Scope.USER),
        ("codex", "git", CODEX.replace("\n", "\r\n"), Scope.PROJECT),
    ],
)
def test_every_format_comes_back_exactly(machines: Machines, client: str, server: str, text: str, scope: Scope) -> None:
    path, known = machines.write(client, text, scope), client_named(client)
    path.write_bytes(text.encode())
    entry, _ = machines.wraps.install(known, server, None)
    assert path.read_bytes() != text.encode()
    assert [each.command for each in machines.wraps.all()] == [entry.command]
    # What someone else changes in the meantime stays.
    other = "# another hand\n" if path.suffix != ".json" else " "
    path.write_bytes(path.read_bytes() + other.encode())
    assert machines.wraps.uninstall(known, server, None)
    assert path.read_bytes() == text.encode() + other.encode()


def test_what_codex_and_goose_start(machines: Machines) -> None:
    codex, goose = machines.write("codex", CODEX), machines.write("goose", GOOSE, Scope.USER)
    machines.wraps.install(client_named("codex"), "git", None)
    machines.wraps.install(client_named("goose"), "files", None)
    git = tomllib.loads(codex.read_text())["mcp_servers"]["git"]
    assert (git["command"], git["args"]) == ("keyhole", wrap_args("git", "uvx", "mcp-server-git", "--repository", "."))
    assert (git["startup_timeout_sec"], git["env"]) == (20, {"A": "1"})
    files = yaml.safe_load(goose.read_text())["extensions"]["files"]
    # The user's own file names the program of this installation.
    assert Path(files["cmd"]).name == "keyhole"
    assert files["args"] == wrap_args("files", "npx", "-y", "server-filesystem")


def test_a_client_that_starts_servers_elsewhere_names_the_workspace(machines: Machines) -> None:
    path = machines.write("cursor", '{"mcpServers": {"a": {"command": "x"}}}')
    machines.wraps.install(client_named("cursor"), "a", None)
    args = json.loads(path.read_text())["mcpServers"]["a"]["args"]
    assert args == ["wrap", "--name", "a", "--root", "${workspaceFolder}", "--", "x"]


def test_an_address_is_replaced_by_one_on_this_machine(machines: Machines) -> None:
    path, client = machines.write("claude", CLAUDE), client_named("claude")
    entry, _ = machines.wraps.install(client, "remote", None)
    remote = json.loads(path.read_text().replace("// servers of the team", ""))["mcpServers"]["remote"]
    assert remote["url"] == f"http://127.0.0.1:{entry.port}/mcp?x=1"
    assert remote["headers"] == {"Authorization": "Bearer t"}
    assert entry.to_run == f"keyhole wrap --name remote --port {entry.port} https://api.example.com/mcp?x=1"
    assert [each.to_run for each in machines.wraps.all()] == [entry.to_run]
    assert machines.wraps.uninstall(client, "remote", None)
    assert path.read_text() == CLAUDE


def test_an_entry_that_was_edited_since_gets_its_values_back(machines: Machines) -> None:
    path, client = machines.write("claude", CLAUDE), client_named("claude")
    machines.wraps.install(client, "files", None)
    path.write_text(path.read_text().replace("a b", "c"))
    machines.wraps.uninstall(client, "files", None)
    files = json.loads(path.read_text().replace("// servers of the team", ""))["mcpServers"]["files"]
    args = ["-y", "server-filesystem", "${HOME}/x"]
    assert files == {"command": "npx", "args": args, "env": {"TOKEN": "c"}}


def test_what_cannot_be_wrapped_is_refused_with_the_reason(machines: Machines) -> None:
    path, client = machines.write("claude", CLAUDE), client_named("claude")
    for server, reason in (
        ("fils", "has no server 'fils'. Did you mean files?"),
        ("keyhole", "own server"),
        ("odd", "neither a command nor an address"),
    ):
        with pytest.raises(ConfigError, match=reason):
            machines.wraps.install(client, server, None)
    assert path.read_text() == CLAUDE


def test_the_changed_part_is_whole_lines() -> None:
    assert changed_part("a\nb\nc\n", "a\nB\nx\nc\n") == ("b\n", "B\nx\n")
    assert changed_part("a", "b") == ("a", "b")
    assert changed_part("a\na\n", "a\na\na\n") == ("", "a\n")
