"""Copying to the clipboard, and saying what happened.

The terminal is asked to copy (OSC 52), but it never answers, and some terminals and tmux drop the request. So a program
of the desktop copies too, if there is one; only that is certain.
"""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.view.text import count_of
from keyhole.tui.program_search import find_program

# A program that takes longer waits for a display that does not answer.
_DEADLINE_SECONDS = 2.0
# Several terminals ignore longer requests; the limit is 100,000 characters in base64.
_LONGEST_REQUEST = 74_000
_SSH = ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")
_WSL = ("WSL_DISTRO_NAME", "WSL_INTEROP")


@dataclass(frozen=True, slots=True)
class ClipboardTool:
    """A program that reads a text and puts it on the clipboard."""

    name: str
    arguments: tuple[str, ...] = ()
    encoding: str = "utf-8"


WL_COPY = ClipboardTool("wl-copy", ("--type", "text/plain"))
XCLIP = ClipboardTool("xclip", ("-selection", "clipboard", "-in"))
XSEL = ClipboardTool("xsel", ("--clipboard", "--input"))
PBCOPY = ClipboardTool("pbcopy")
# It takes text in UTF-16; other text would be read in the code page of the console.
CLIP = ClipboardTool("clip.exe", encoding="utf-16-le")
# With -w, tmux also sends the text to the terminal, even if programs in tmux may not.
TMUX = ClipboardTool("tmux", ("load-buffer", "-w", "-"))


@dataclass(frozen=True, slots=True)
class Copied:
    """How a text was copied; `is_certain` means that a program of the desktop did it."""

    how: str
    is_certain: bool = False

    def told(self, what: str, text: str) -> str:
        """Return what happened to a text, and what to do if it can't be pasted."""
        size = f"{what} ({count_of(len(text), 'character')})"
        return self.how.format(the=f"the {size}" if what else size)


# The page passes the request on to the browser, which never answers either.
TO_BROWSER = Copied(
    "Sent {the} to the browser. If pasting gives nothing, allow the clipboard for this page; "
    "browsers do so only on localhost or over HTTPS."
)


class NativeClipboard:
    """Finds and runs the programs that can copy here."""

    def __init__(self, root: Path, environment: Mapping[str, str], platform: str = sys.platform) -> None:
        self._root = root
        self._environment = environment
        self._platform = platform

    async def copy(self, text: str) -> Copied:
        """Copy with the first program that succeeds; the terminal has been asked already."""
        failed = ""
        for tool in self.tools():
            program = self.find(tool.name)
            if program is None:
                continue
            payload = text.encode(tool.encoding, errors="replace")
            if await _run([program, *tool.arguments], payload, self._environment) is None:
                failed = f"{tool.name} failed. "
            elif tool is TMUX:
                return await self._with_tmux(program)
            else:
                return Copied(f"Copied {{the}} with {tool.name}.", is_certain=True)
        too_long = " Many terminals ignore texts this long." if len(text.encode()) > _LONGEST_REQUEST else ""
        step = self.next_step()
        return Copied(f"{failed}Sent {{the}} to the terminal (OSC 52).{too_long} If pasting gives nothing, {step}.")

    def tools(self) -> list[ClipboardTool]:
        """Return the programs that fit this system, best first; through SSH they would copy on the wrong machine."""
        has = self._environment.get
        in_tmux = [TMUX] if has("TMUX") else []
        if any(map(has, _SSH)):
            return in_tmux
        if self._platform == "darwin":
            return [PBCOPY]
        if self._platform == "win32" or any(map(has, _WSL)):
            return [CLIP]
        wayland = [WL_COPY] if has("WAYLAND_DISPLAY") else []
        return wayland + ([XCLIP, XSEL] if has("DISPLAY") else []) + in_tmux

    def find(self, name: str) -> str | None:
        """Return the path of a program, or None."""
        return find_program(name, self._root, self._environment)

    async def _with_tmux(self, program: str) -> Copied:
        """Return what tmux does with a text that it has: it sends it on if it knows that the terminal accepts it."""
        query = [program, "display-message", "-p", "#{client_termfeatures}"]
        features = (await _run(query, None, self._environment) or "").strip().split(",")
        step = "" if "clipboard" in features else ", or run tmux set -as terminal-features ',*:clipboard'"
        return Copied(
            "Copied {the} to tmux, which sends it on to the terminal. "
            f"If pasting gives nothing, paste with tmux's prefix and ]{step}."
        )

    def next_step(self) -> str:
        """Return what to do if a text that was sent to the terminal can't be pasted."""
        has = self._environment.get
        if has("TMUX"):
            return "tmux dropped it: run tmux set -g set-clipboard on"
        if not any(map(has, _SSH)):
            if has("WAYLAND_DISPLAY"):
                return "install wl-clipboard"
            if has("DISPLAY"):
                return "install xclip or xsel"
        return "allow clipboard access (OSC 52) in the settings of your terminal"


async def _run(command: list[str], payload: bytes | None, environment: Mapping[str, str]) -> str | None:
    """Run a program with an input, or read what it prints; return None if it fails or takes too long.

    It has its own session: programs that keep the clipboard must survive the explorer. Those keep their output open
    too, so the output of a program with an input is not read.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE if payload is None else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environment),
            cwd=Path(command[0]).anchor,
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(_DEADLINE_SECONDS):
            output, _ = await process.communicate(payload)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return None
    return (output or b"").decode(errors="replace") if process.returncode == 0 else None
