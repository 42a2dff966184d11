"""Check `keyhole install` with real clients: each must read the file, start the server and offer its model our tools.

    .venv/bin/python bench/install_clients.py [--record] [--only CLIENT]...      # make install-test

The clients come from npm, into bench/.data. Each runs with an emptied environment, a home folder
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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from real_clients import CLIENTS
from record import HERE, refuse_changes, save_record
from web_browser import is_offline, raise_loopback

sys.path.append(str(HERE / "clients"))
from packages import PROGRAMS, install_packages, package_version

from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.tool_texts import tool_names

_INSIDE = "--inside-network-namespace"
_PATIENCE = 120.0
_TRIES = 3
_NAMES = tool_names(ToolSet.ALL)


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
            "PATH": os.pathsep.join([str(PROGRAMS), str(Path(sys.executable).parent), os.defpath])
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
            package = CLIENTS[name].package
            seen[f"{package}@{package_version(package)}, {scope}"] = facts
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
        install_packages()
        run_offline()
    seen = check_all(names)
    failed = [name for name, facts in seen.items() if False in facts.values()]
    if chosen.record and not failed:
        print("recorded as", save_record("install-clients", {"network off": is_offline(), **seen}))
    if failed:
        raise SystemExit(f"failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
