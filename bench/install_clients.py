"""Check `keyhole install` with real clients: each must read the file, start the server and offer its model our tools.

    .venv/bin/python bench/install_clients.py [--record] [--only CLIENT]...      # make install-test

The clients come from npm in the versions below, into bench/.data. Each runs with an emptied environment, a home folder
of its own and, if the system allows it (Linux, unshare), where only the loopback network exists. A server there takes
the place of the model: it records what it is asked, and refuses. Both scopes are checked, and that
the client does not list our server after uninstall.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from record import HERE, refuse_changes, save_record
from web_browser import is_offline, raise_loopback

from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.tool_texts import tool_names

_INSIDE = "--inside-network-namespace"
_FOLDER = HERE / ".data" / "install-clients"
_PATIENCE = 120.0
_TRIES = 3
_NAMES = tool_names(ToolSet.ALL)


@dataclass(frozen=True, slots=True)
class RealClient:
    """A client from npm; PORT, HOME and WORK in its texts are filled in.

    `lists` shows its servers, and `shown` is what that prints: their state, if it waits for them to start. `asks` sends
    a prompt to its model. `files` exist before the installation, so that other entries are there to be kept.
    """

    package: str
    lists: tuple[str, ...] = ()
    shown: str = "keyhole"
    asks: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    scopes: tuple[str, ...] = ("user", "project")


CLIENTS = {
    "claude": RealClient(
        package="@anthropic-ai/claude-code@2.1.326",
        lists=("claude", "mcp", "list"),
        shown="Connected",
        asks=("claude", "-p", "hello"),
        environment={
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:PORT",
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            # Otherwise its first request does not wait for a server that is still starting.
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "60000",
        },
        # Without this, servers of a workspace wait for the user's approval.
        files={".claude/settings.json": '{"enableAllProjectMcpServers": true}\n'},
    ),
    "codex": RealClient(
        package="@openai/codex@0.169.0",
        lists=("codex", "mcp", "list"),
        # Without `required`, the first request does not wait for a server that is still starting.
        asks=("codex", "exec", "--skip-git-repo-check", "-c", "mcp_servers.keyhole.required=true", "hello"),
        environment={"FAKE_KEY": "x"},
        files={
            ".codex/config.toml": """\
# A model on this machine
model = "unknown-model"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:PORT/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects."WORK"]
trust_level = "trusted" # so that its configuration counts
"""
        },
    ),
    "copilot": RealClient(
        package="@github/copilot@1.0.102",
        lists=("copilot", "mcp", "list"),
        asks=("copilot", "-p", "hello", "--allow-all-tools"),
        environment={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:PORT/v1",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_MODEL": "gpt-5",
        },
        # Without this, servers of a workspace do not start.
        files={".copilot/config.json": '{"trusted_folders": ["WORK"]}\n'},
    ),
    "gemini": RealClient(
        package="@google/gemini-cli@0.61.0",
        lists=("gemini", "mcp", "list"),
        asks=("gemini", "--yolo", "-p", "hello"),
        environment={
            "GEMINI_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:PORT",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_BROWSER": "1",
        },
        files={
            ".gemini/settings.json": """\
{
  // a key is enough
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
"""
        },
    ),
    "opencode": RealClient(
        package="opencode-ai@1.18.33",
        lists=("opencode", "mcp", "list"),
        shown="connected",
        asks=("opencode", "run", "hello"),
        environment={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        files={
            ".config/opencode/opencode.jsonc": """\
{
  "$schema": "https://opencode.ai/config.json",
  // a model on this machine
  "model": "local/any",
  "provider": {
    "local": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:PORT/v1", "apiKey": "x" },
      "models": { "any": {} },
    },
  },
}
"""
        },
    ),
    "qwen": RealClient(
        package="@qwen-code/qwen-code@0.24.4",
        lists=("qwen", "mcp", "list"),
        asks=("qwen", "--auth-type", "openai", "--yolo", "hello"),
        environment={
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": "http://127.0.0.1:PORT/v1",
            "OPENAI_MODEL": "any",
        },
    ),
    "amp": RealClient(
        # Its model is only in its own cloud, so nothing can be asked.
        package="@sourcegraph/amp@0.0.1790142911-g7618fb",
        lists=("amp", "mcp", "list"),
        environment={"AMP_API_KEY": "x"},
        files={".config/amp/settings.json": '{\n  "amp.showCosts": true\n}\n'},
    ),
    "cline": RealClient(
        package="cline@3.0.65",
        asks=("cline", "say hello"),
        files={
            ".cline/data/settings/providers.json": """\
{
  "version": 1,
  "lastUsedProvider": "openai-compatible",
  "modes": {},
  "providers": {
    "openai-compatible": {
      "settings": {
        "provider": "openai-compatible",
        "apiKey": "x",
        "model": "any",
        "baseUrl": "http://127.0.0.1:PORT/v1"
      },
      "updatedAt": "2026-11-18T00:00:00.000Z",
      "tokenSource": "manual"
    }
  }
}
"""
        },
        scopes=("user",),
    ),
    "goose": RealClient(
        package="@aaif/goose-binary-linux-x64@1.52.0",
        asks=("goose-binary-linux-x64", "run", "--no-session", "-t", "hello"),
        environment={"OPENAI_API_KEY": "x", "OPENAI_HOST": "http://127.0.0.1:PORT", "GOOSE_DISABLE_KEYRING": "1"},
        files={
            ".config/goose/config.yaml": """\
# A model on this machine
GOOSE_PROVIDER: openai
GOOSE_MODEL: any
extensions:
  # from the start
  developer:
    enabled: true
    type: builtin
    name: developer
    timeout: 300
    bundled: true
"""
        },
    ),
}


class RecordingModel(ThreadingHTTPServer):
    """Takes the place of a model: keeps the bodies of requests, and answers each with an error."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _RefusingHandler)
        self.bodies: list[str] = []

    def offered(self) -> set[str]:
        """Return the names of our tools in the requests so far."""
        return {name for name in _NAMES if any("keyhole" in body and name in body for body in self.bodies)}


class _RefusingHandler(BaseHTTPRequestHandler):
    server: RecordingModel
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.server.bodies.append(self._body(length))
        self._refuse()

    def do_GET(self) -> None:
        self._refuse()

    def _body(self, length: int) -> str:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(length).decode("utf-8", "replace")
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts).decode("utf-8", "replace")

    def _refuse(self) -> None:
        answer = json.dumps(
            {"error": {"type": "invalid_request_error", "message": "no model here", "code": 400}}
        ).encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def recording_model() -> Iterator[RecordingModel]:
    """Run the server that takes the place of a model."""
    with RecordingModel() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Trial:
    """One client with a home folder and a workspace of its own."""

    def __init__(self, client: str, folder: Path, model: RecordingModel) -> None:
        self.name = client
        self.client = CLIENTS[client]
        self._model = model
        self._home, self._work = folder / "home", folder / "work"
        for path in (self._home, self._work):
            path.mkdir()
        (self._work / "hello.py").write_text('def hello() -> str:\n    """Say hello."""\n    return "hello"\n')
        for name, text in self.client.files.items():
            file = self._home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._filled(text))
        self._environment = {
            "HOME": str(self._home),
            "PATH": os.pathsep.join([str(_FOLDER / "node_modules/.bin"), str(Path(sys.executable).parent), os.defpath])
            + f"{os.pathsep}{Path(shutil.which('node') or '/usr/bin/node').parent}",
            "TERM": "dumb",
            **{key: self._filled(value) for key, value in self.client.environment.items()},
        }

    def check(self, scope: str) -> dict[str, object]:
        """Install, let the client list servers and offer tools, uninstall; return what was seen."""
        facts: dict[str, object] = {"installed": self._keyhole("install", scope)}
        if self.client.lists:
            facts["listed"] = any(self.client.shown in self._run(self.client.lists) for _ in range(_TRIES))
        if self.client.asks:
            offered = self._offered_tools()
            facts["tools offered to its model"] = f"{len(offered)} of {len(_NAMES)}"
            facts["offered"] = len(offered) == len(_NAMES)
        facts["uninstalled"] = self._keyhole("uninstall", scope)
        if self.client.lists:
            facts["not listed any more"] = "keyhole" not in self._run(self.client.lists)
        return facts

    def _offered_tools(self) -> set[str]:
        """Let the client ask its model; again if it did so before our server had started, as on a busy machine."""
        self._model.bodies.clear()
        for _ in range(_TRIES):
            self._run(self.client.asks, until_offered=True)
            if len(self._model.offered()) == len(_NAMES):
                break
        return self._model.offered()

    def _keyhole(self, command: str, scope: str) -> bool:
        program = str(Path(sys.executable).with_name("keyhole"))
        done = subprocess.run(
            [program, command, self.name, "--scope", scope], cwd=self._work, env=self._environment, check=False
        )
        return done.returncode == 0

    def _run(self, command: tuple[str, ...], *, until_offered: bool = False) -> str:
        """Run the client until it ends, or until it has offered every tool; return what it printed."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command,
                cwd=self._work,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            end = time.monotonic() + _PATIENCE
            while process.poll() is None and time.monotonic() < end:
                if until_offered and len(self._model.offered()) == len(_NAMES):
                    break
                time.sleep(0.2)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            output.seek(0)
            return output.read().decode("utf-8", "replace")

    def _filled(self, text: str) -> str:
        port = str(self._model.server_address[1])
        return text.replace("PORT", port).replace("HOME", str(self._home)).replace("WORK", str(self._work))


def install_clients() -> None:
    """Install all clients from npm, in fixed versions; fast if they are there."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_FOLDER)]
    subprocess.run([*command, *(client.package for client in CLIENTS.values())], check=True)


def run_offline() -> None:
    """Run this script again where only the loopback network exists, if the system allows it."""
    unshare = shutil.which("unshare")
    command = [str(unshare), "--net", "--map-root-user"]
    if unshare and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        os.execv(unshare, [*command, sys.executable, *sys.argv, _INSIDE])
    print("unshare is missing or not allowed, so the network stays on")


def check_all(names: list[str]) -> dict[str, dict[str, object]]:
    """Check each client in each scope, and print what was seen."""
    seen: dict[str, dict[str, object]] = {}
    for name in names:
        for scope in CLIENTS[name].scopes:
            with (
                tempfile.TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as folder,
                recording_model() as model,
            ):
                facts = Trial(name, Path(folder).resolve(), model).check(scope)
            seen[f"{CLIENTS[name].package}, {scope}"] = facts
            print("FAILED" if False in facts.values() else "passed", name, scope, facts, flush=True)
    return seen


def main() -> None:
    """Check every client, or those given."""
    options = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    options.add_argument("--record", action="store_true")
    options.add_argument("--only", action="append", choices=[*CLIENTS], help="check only this client")
    options.add_argument(_INSIDE, action="store_true", dest="is_inside", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    names = chosen.only or [*CLIENTS]
    if chosen.record:
        refuse_changes()
    if chosen.is_inside:
        raise_loopback()
        sys.argv.remove(_INSIDE)
    else:
        install_clients()
        run_offline()
    seen = check_all(names)
    failed = [name for name, facts in seen.items() if False in facts.values()]
    if chosen.record and not failed:
        print("recorded as", save_record("install-clients", {"network off": is_offline(), **seen}))
    if failed:
        raise SystemExit(f"failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
