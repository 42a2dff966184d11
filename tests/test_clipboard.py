"""Copying: which program does it, what is said about it, and what is never run. The programs are real scripts."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import drive, explorer, make_app, press, traffic, wait_until, watch
from textual.pilot import Pilot
from textual.widgets import Static

from keyhole.core.service import Service
from keyhole.tui import clipboard as clipboard_module
from keyhole.tui.clipboard import NativeClipboard
from keyhole.tui.screens.text_screen import TextScreen
from keyhole.tui.server_state import ServerPhase, ServerState

TEXT = "Grüße: a `text` with $(commands)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def takes(folder: Path, name: str) -> Path:
    """Make a program that stores its arguments and its input, as one that copies."""
    program(folder, name, f'PATH=/usr/bin:/bin; echo "$@" > {folder}/{name}.arguments; cat > {folder}/{name}.input')
    return folder / f"{name}.input"


def copied(folder: Path, platform: str = "linux", text: str = TEXT, **environment: str) -> str:
    clipboard = NativeClipboard(folder.parent / "workspace", {"PATH": str(folder), **environment}, platform)
    return asyncio.run(clipboard.copy(text)).told("answer", text)


@pytest.mark.parametrize(
    ("name", "platform", "environment"),
    [
        ("wl-copy", "linux", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}),
        ("xclip", "linux", {"DISPLAY": ":0"}),
        ("xsel", "linux", {"DISPLAY": ":0"}),
        ("xclip", "linux", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}),
        ("pbcopy", "darwin", {}),
        ("pbcopy", "darwin", {"TMUX": "/tmp/tmux,1,0"}),
    ],
)
def test_the_program_of_the_desktop_copies(folder: Path, name: str, platform: str, environment: dict[str, str]) -> None:
    stored = takes(folder, name)
    assert copied(folder, platform, **environment) == f"Copied the answer (33 characters) with {name}."
    assert stored.read_text() == TEXT


def test_windows_gets_its_own_encoding(folder: Path) -> None:
    stored = takes(folder, "clip.exe")
    assert "with clip.exe" in copied(folder, WSL_DISTRO_NAME="Ubuntu")
    assert stored.read_bytes().decode("utf-16-le") == TEXT


def test_through_ssh_only_the_terminal_is_asked(folder: Path) -> None:
    stored = takes(folder, "xclip")
    told = copied(folder, DISPLAY="localhost:10.0", SSH_CONNECTION="1.2.3.4 5 6.7.8.9 22")
    assert told == (
        "Sent the answer (33 characters) to the terminal (OSC 52). "
        "If pasting gives nothing, allow clipboard access (OSC 52) in the settings of your terminal."
    )
    assert not stored.exists()


@pytest.mark.parametrize(
    ("environment", "step"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0"}, "install wl-clipboard."),
        ({"DISPLAY": ":0"}, "install xclip or xsel."),
        ({"TMUX": "/tmp/tmux,1,0"}, "tmux dropped it: run tmux set -g set-clipboard on."),
        ({}, "in the settings of your terminal."),
    ],
)
def test_without_a_program_the_next_step_is_said(folder: Path, environment: dict[str, str], step: str) -> None:
    told = copied(folder, **environment)
    assert told.startswith("Sent the answer (33 characters) to the terminal (OSC 52). If pasting gives nothing, ")
    assert told.endswith(step)


def test_a_long_text_that_only_the_terminal_gets_comes_with_a_warning(folder: Path) -> None:
    assert "Many terminals ignore texts this long." in copied(folder, text="x" * 80_000)


def test_after_a_program_that_fails_the_next_one_copies(folder: Path) -> None:
    program(folder, "wl-copy", "exit 1")
    told = copied(folder, WAYLAND_DISPLAY="wayland-0")
    assert told.startswith("wl-copy failed. Sent the answer")
    takes(folder, "xsel")
    assert "with xsel" in copied(folder, WAYLAND_DISPLAY="wayland-0", DISPLAY=":0")


def test_a_program_that_hangs_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard_module, "_DEADLINE_SECONDS", 0.2)
    program(folder, "xclip", f"echo $$ > {folder}/pid; exec /bin/sleep 60")
    assert copied(folder, DISPLAY=":0").startswith("xclip failed. Sent the answer")
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)


def test_a_program_that_stays_to_keep_the_clipboard_is_not_waited_for(folder: Path) -> None:
    program(folder, "xclip", f"/bin/cat > {folder}/input; (/bin/sleep 30; :) & echo $! > {folder}/pid")
    assert "with xclip" in copied(folder, DISPLAY=":0")
    # It survives, and has its own session.
    keeper = int((folder / "pid").read_text())
    assert os.getsid(keeper) != os.getsid(0)
    os.kill(keeper, 9)


def test_nothing_is_run_from_the_workspace_or_a_relative_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = folder.parent / "workspace"
    (workspace / "tools").mkdir(parents=True)
    stored = takes(workspace, "xclip"), takes(workspace / "tools", "xclip")
    monkeypatch.chdir(workspace)
    path = os.pathsep.join([".", "", "tools", str(workspace / "tools"), str(workspace)])
    clipboard = NativeClipboard(workspace, {"PATH": path, "DISPLAY": ":0"}, "linux")
    assert clipboard.find("xclip") is None
    assert "OSC 52" in asyncio.run(clipboard.copy(TEXT)).told("answer", TEXT)
    assert not any(path.exists() for path in stored)


# The explorer


def test_the_explorer_says_which_program_copied(acme: Service, folder: Path) -> None:
    stored = takes(folder, "xclip")
    app = make_app(acme)
    environment = {"PATH": str(folder), "DISPLAY": ":0"}
    app.__dict__["native_clipboard"] = NativeClipboard(acme.root, environment, "linux")

    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).copy(TEXT, "answer")
        await wait_until(pilot, lambda _: app._notifications)
        assert [note.message for note in app._notifications] == ["Copied the answer (33 characters) with xclip."]
        assert app.clipboard == TEXT

    drive(app, steps)
    assert stored.read_text() == TEXT


def test_the_setup_is_copied_and_shown(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        setup = '{\n  "mcpServers": {"keyhole": "[b]no markup[/b]"}\n}'
        explorer(pilot).server_state = ServerState(ServerPhase.ON, "http://127.0.0.1:1/mcp", setup)
        await press(pilot, "C")
        screen = pilot.app.screen
        assert isinstance(screen, TextScreen)
        assert str(screen.query_one(Static).render()) == setup
        assert pilot.app.clipboard == setup
        explorer(pilot).copy("other", "answer")
        await press(pilot, "y")
        assert pilot.app.clipboard == setup
        await press(pilot, "escape")
        assert pilot.app.screen is traffic(pilot)

    drive(make_app(agents_service), steps)


# A real tmux


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[list[str]]:
    """The command of a tmux server of its own, with one window; another tmux is its terminal."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("needs tmux")
    inner = [program, "-S", str(tmp_path / "inner"), "-f", os.devnull]
    outer = [program, "-S", str(tmp_path / "outer"), "-f", os.devnull]
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"} | {"TERM": "xterm-256color"}
    # Not the user's own shell, whose profile may take long.
    subprocess.run([*outer, "new-session", "-d", "-x", "80", "-y", "24", "sh"], check=True, env=environment)
    subprocess.run([*outer, "set", "-g", "set-clipboard", "on"], check=True)
    subprocess.run(
        [*outer, "send-keys", f"TERM=xterm-256color TMUX= {' '.join(inner)} new-session sh", "Enter"], check=True
    )
    for _ in range(500):
        if subprocess.run([*inner, "list-clients"], check=False, capture_output=True, text=True).stdout:
            break
        time.sleep(0.01)
    yield inner
    for command in (inner, outer):
        subprocess.run([*command, "kill-server"], check=False)


def buffer_of(command: list[str]) -> str:
    return subprocess.run([*command, "show-buffer"], check=False, capture_output=True, text=True).stdout


# By default, tmux drops what a program sends to the terminal; a server may also be set to send nothing.
@pytest.mark.parametrize("setting", ["external", "on", "off"])
def test_tmux_sends_the_text_on_whatever_its_settings(tmux: list[str], tmp_path: Path, setting: str) -> None:
    subprocess.run([*tmux, "set", "-g", "set-clipboard", setting], check=True)
    environment = {"PATH": os.environ["PATH"], "TMUX": f"{tmp_path}/inner,1,0"}
    clipboard = NativeClipboard(tmp_path / "workspace", environment, "linux")
    assert asyncio.run(clipboard.copy(TEXT)).told("answer", TEXT) == (
        "Copied the answer (33 characters) to tmux, which sends it on to the terminal. "
        "If pasting gives nothing, paste with tmux's prefix and ]."
    )
    assert buffer_of(tmux) == TEXT
    outer = [tmux[0], "-S", str(tmp_path / "outer")]
    for _ in range(500):
        if buffer_of(outer):
            break
        time.sleep(0.01)
    assert buffer_of(outer) == TEXT


def test_tmux_on_a_terminal_without_a_clipboard_gets_a_next_step(tmux: list[str], tmp_path: Path) -> None:
    subprocess.run([*tmux, "set", "-g", "terminal-features", ""], check=True)
    subprocess.run([*tmux, "detach-client"], check=True)
    environment = {"PATH": os.environ["PATH"], "TMUX": f"{tmp_path}/inner,1,0"}
    clipboard = NativeClipboard(tmp_path / "workspace", environment, "linux")
    told = asyncio.run(clipboard.copy(TEXT)).told("answer", TEXT)
    assert told.endswith("prefix and ], or run tmux set -as terminal-features ',*:clipboard'.")
