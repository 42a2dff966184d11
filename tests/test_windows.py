"""What Keyhole does where Windows differs, as far as another system can tell: docs/windows.md lists the rest."""

import json
import os
import signal
import stat
import subprocess
import sys
from multiprocessing import resource_tracker
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from keyhole.core.cli.main import cli
from keyhole.core.errors import UnwritableStoreError
from keyhole.core.files import walk
from keyhole.core.index.update import set_aside
from keyhole.mcp_server import http_processes
from keyhole.tui import indexing
from keyhole.tui.editor import UnusableEditorError, editor_command

REPOSITORY = Path(__file__).parent.parent
# Gives Keyhole, and only Keyhole, what Python has on Windows: these modules, calls and signals are not there.
ON_WINDOWS = """
import builtins, enum, os, signal, sys, types

MODULES = "curses fcntl grp posix pty pwd readline resource syslog termios tty".split()
CALLS = (
    "chown fchmod fork forkpty geteuid getgid getloadavg getpgid getpgrp getsid getuid killpg mkfifo nice openpty"
    " pread sched_getaffinity setpgid setsid statvfs sysconf tcgetpgrp uname wait4 O_CLOEXEC O_NOFOLLOW O_NONBLOCK"
).split()
SIGNALS = (
    "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH SIGXCPU"
    " pthread_sigmask pause alarm"
).split()


def without(module, lacking):
    copy = types.ModuleType(module.__name__)
    vars(copy).update({name: value for name, value in vars(module).items() if name not in lacking})
    return copy


REPLACED = {"os": without(os, CALLS), "signal": without(signal, SIGNALS)}
REPLACED["os"].name = "nt"
REPLACED["signal"].Signals = enum.IntEnum(
    "Signals", {name: value for name, value in signal.Signals.__members__.items() if name not in SIGNALS}
)
real_import = builtins.__import__


def import_on_windows(name, globals=None, locals=None, fromlist=(), level=0):
    if (globals or {}).get("__name__", "").partition(".")[0] == "keyhole":
        if name in MODULES:
            raise ImportError(f"No module named {name!r}")
        if name in REPLACED:
            return REPLACED[name]
    return real_import(name, globals, locals, fromlist, level)


builtins.__import__ = import_on_windows
"""
IMPORT_ALL = """
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
print(len(sys.argv) - 1, "imported")
"""
RUN = """
from keyhole.core.cli.main import run
run(sys.argv[1:])
"""


def command_on_windows(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-c", ON_WINDOWS + code, *arguments]


def variables(cwd: Path) -> dict[str, str]:
    return os.environ | {"KEYHOLE_CACHE_DIR": str(cwd.parent / "cache")}


def run_on_windows(code: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = command_on_windows(code, *arguments)
    return subprocess.run(command, cwd=cwd, env=variables(cwd), capture_output=True, text=True, check=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "a.py").write_text("def found():\n    return 1\n")
    return root


def test_every_module_imports_on_windows(tmp_path: Path) -> None:
    names = [
        "keyhole." + ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        for folder in ("core", "tui", "mcp_server")
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
    ]
    done = run_on_windows(IMPORT_ALL, *names, cwd=tmp_path)
    assert done.stdout.strip() == f"{len(names)} imported", done.stderr


def test_search_and_map_work_on_windows(workspace: Path) -> None:
    assert "def found()" in run_on_windows(RUN, "search", "found", cwd=workspace).stdout
    mapped = run_on_windows(RUN, "map", "a.py", cwd=workspace)
    assert "def found(): [1-2]" in mapped.stdout, mapped.stderr


def test_the_server_answers_on_windows(workspace: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "search_code", "arguments": {"query": "found"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    command, pipe = command_on_windows(RUN, "mcp"), subprocess.PIPE
    with subprocess.Popen(
        command, cwd=workspace, env=variables(workspace), stdin=pipe, stdout=pipe, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(lines)
        server.stdin.flush()
        answers = [server.stdout.readline() for message in messages if "id" in message]
        server.stdin.close()
    assert "def found()" in answers[-1]
    assert server.returncode == 0


EXPLORE = """
from pathlib import Path

sys.path.append(sys.argv[1])
from driving import answer_of, ask, drive, make_app, make_service, press


async def steps(pilot):
    await ask(pilot, "found")
    print(answer_of(pilot).view.text)
    await press(pilot, "escape", "2", "3", "4", "1", "ctrl+z")
    print(*(notice.message for notice in pilot.app._notifications))


drive(make_app(make_service(Path.cwd())), steps)
"""


def test_the_explorer_works_on_windows(workspace: Path) -> None:
    done = run_on_windows(EXPLORE, str(REPOSITORY / "tests"), cwd=workspace)
    assert "def found()" in done.stdout, done.stderr
    assert "This terminal can't suspend programs." in done.stdout, done.stderr


TERMINAL = """
import asyncio
from types import SimpleNamespace

from keyhole.core.processes import ENDING_SIGNALS, end_session, give_way
from keyhole.tui.editing import _quit_ignored, _terminal_kept
from keyhole.tui.suspending import suspend_job
from keyhole.tui.terminal_guard import TerminalGuard

print(TerminalGuard.start())
with _terminal_kept(), _quit_ignored():
    print("edited")
print(suspend_job(SimpleNamespace(is_headless=False)))
give_way()
print(*(number.name for number in ENDING_SIGNALS))


async def end() -> None:
    for by_force in (False, True):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
        end_session(process, by_force=by_force)
        print(await process.wait())


asyncio.run(end())
"""


def test_the_terminal_and_processes_are_left_alone_where_nothing_can_be_done(tmp_path: Path) -> None:
    done = run_on_windows(TERMINAL, cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "None",
        "edited",
        "This terminal can't suspend programs.",
        "SIGTERM SIGINT",
        str(-signal.SIGTERM),
        str(-signal.SIGKILL),
    ], done.stderr


ENDLESS = """
from keyhole.core.syntax import parser_worker

parser_worker.CLOCK_PER_CPU = 0.1
with parser_worker.limited_cpu(0):
    print("one file", flush=True)
if sys.argv[1] == "waits":
    import time

    time.sleep(1)
    print("idle", flush=True)
    sys.exit()
with parser_worker.limited_cpu(0):
    # As in a grammar: nothing else gets a turn.
    import re

    re.match("(a+)+b", "a" * 60)
print("never")
"""


def test_a_grammar_without_an_end_is_stopped_by_the_clock(tmp_path: Path) -> None:
    endless = run_on_windows(ENDLESS, "endless", cwd=tmp_path)
    assert (endless.stdout, endless.returncode, endless.stderr) == ("one file\n", 1, "")
    assert run_on_windows(ENDLESS, "waits", cwd=tmp_path).stdout == "one file\nidle\n"


def test_a_junction_is_a_link_and_not_a_folder(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A junction to a folder above it would never end."""
    (workspace / "loop").mkdir()
    (workspace / "loop/b.py").write_text("")
    marked = (workspace / "loop").stat().st_ino
    assert walk._is_junction(SimpleNamespace(st_reparse_tag=0xA0000003))  # type: ignore[arg-type]
    assert not walk._is_junction(SimpleNamespace(st_reparse_tag=0))  # type: ignore[arg-type]
    monkeypatch.setattr(walk, "_HAS_JUNCTIONS", True)
    monkeypatch.setattr(walk, "_is_junction", lambda status: status.st_ino == marked)
    found = walk.scan(workspace, max_bytes=1_000)
    assert [candidate.path for candidate in found.candidates] == ["a.py"]
    assert [(skip.path, skip.reason.value, skip.is_dir) for skip in found.skips] == [("loop", "symlink", False)]


def test_a_damaged_index_that_is_open_elsewhere_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.db").write_text("damaged")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UnwritableStoreError, match=r"could not be moved .* another keyhole may have it open"):
        set_aside(tmp_path)


def test_the_resource_tracker_of_unix_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise ImportError("No module named '_posixsubprocess'")

    monkeypatch.setattr(resource_tracker, "ensure_running", refuse)
    with pytest.raises(ImportError):
        indexing._start_resource_tracker()
    monkeypatch.setattr(sys, "platform", "win32")
    indexing._start_resource_tracker()


def test_one_process_serves_http(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_processes, "CAN_SHARE_SOCKETS", False)
    assert http_processes.default_processes() == 1
    refused = CliRunner().invoke(cli, ["mcp", str(workspace), "--http", "--processes", "2"])
    assert refused.exit_code == 2
    assert "only one process can serve" in refused.output


# The editor


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("notepad.exe", "hx.exe", "code.cmd"):
        (folder / name).write_text("")
        (folder / name).chmod(stat.S_IRWXU)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("editor", "program", "arguments"),
    [
        ("", "notepad.exe", ["a.py"]),
        ("hx", "hx.exe", ["a.py:7"]),
        ("HX.EXE", "HX.EXE", ["a.py:7"]),
        (
            r'"C:\Program Files\Code\Code.exe" -n',
            r"C:\Program Files\Code\Code.exe",
            ["-n", "--wait", "--goto", "a.py:7"],
        ),
        (r"C:\vim\gvim.exe", r"C:\vim\gvim.exe", ["+7", "a.py"]),
    ],
)
def test_the_editor_of_windows(editor: str, program: str, arguments: list[str], programs: dict[str, str]) -> None:
    folder = Path(programs["PATH"])
    if editor == "HX.EXE":
        (folder / "hx.exe").rename(folder / "HX.EXE")
    command = editor_command(Path("a.py"), 7, folder.parent / "workspace", programs | {"EDITOR": editor}, "win32")
    assert PureWindowsPath(command[0]).name == PureWindowsPath(program).name
    assert command == [program if "\\" in program else str(folder / program), *arguments]


@pytest.mark.parametrize(
    ("editor", "reason"),
    [
        ("code", "code.exe is not in PATH"),
        ("code.cmd", "is a batch file"),
        (r"C:\Code\bin\code.CMD", "is a batch file"),
    ],
)
def test_an_editor_that_would_run_the_names_of_files_is_refused(
    editor: str, reason: str, programs: dict[str, str]
) -> None:
    with pytest.raises(UnusableEditorError, match=reason):
        editor_command(Path("a&calc.py"), 7, Path("/workspace"), programs | {"EDITOR": editor}, "win32")


def test_the_editor_is_never_taken_from_the_workspace(programs: dict[str, str]) -> None:
    with pytest.raises(UnusableEditorError, match=r"notepad\.exe is not in PATH"):
        editor_command(Path("a.py"), 7, Path(programs["PATH"]), programs, "win32")
