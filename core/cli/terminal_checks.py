"""Checks of the terminal and of the settings for the explorer; they need the explorer's own modules."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from keyhole.core.cli.terminal_answers import TerminalAnswers, ask_terminal, has_terminal
from keyhole.core.doctor.findings import Check, DoctorFinding, Examined, note, ok, problem

_SMALLEST = (60, 16)


def check_terminal(examined: Examined) -> Iterator[DoctorFinding]:
    """Check what the terminal can show and do."""
    if not has_terminal():
        yield note("Terminal", "keyhole doctor was not started in a terminal", "run it in the terminal that you use")
        return
    answers = ask_terminal()
    yield _size_finding()
    yield _colour_finding(examined)
    yield _unicode_finding()
    yield _mouse_finding(answers)
    yield _clipboard_finding(examined, answers)


def _size_finding() -> DoctorFinding:
    width, height = shutil.get_terminal_size()
    if width < _SMALLEST[0] or height < _SMALLEST[1]:
        text = f"{width}x{height}, but the explorer needs {_SMALLEST[0]}x{_SMALLEST[1]}"
        return problem("Size", text, "enlarge the terminal, or use a smaller font")
    return ok("Size", f"{width}x{height}")


def _colour_finding(examined: Examined) -> DoctorFinding:
    variables = examined.environment
    terminal = variables.get("TERM", "")
    if sys.platform != "win32" and terminal in ("", "dumb"):
        text = f"TERM is {terminal or 'not set'}: the terminal can't place text or show colours"
        return problem("Colours", text, "run keyhole in a terminal emulator, or set TERM, such as xterm-256color")
    if variables.get("NO_COLOR"):
        return note("Colours", "off, because NO_COLOR is set; signs and words say the same", "unset NO_COLOR")
    if variables.get("COLORTERM", "") in ("truecolor", "24bit"):
        return ok("Colours", f"16 million (TERM={terminal})")
    depth = "256" if "256" in terminal else "16"
    remedy = "set COLORTERM=truecolor if your terminal shows more"
    return note("Colours", f"{depth} (TERM={terminal}); themes are less exact", remedy)


def _unicode_finding() -> DoctorFinding:
    from keyhole.core.terminal_encoding import is_utf8, terminal_encoding

    encoding = terminal_encoding()
    if is_utf8(encoding):
        return ok("Unicode", encoding)
    remedy = "use a locale with UTF-8, such as LC_ALL=C.UTF-8"
    return note("Unicode", f"the terminal's encoding is {encoding}; the explorer draws with ASCII signs", remedy)


def _mouse_finding(answers: TerminalAnswers) -> DoctorFinding:
    if answers.has_mouse:
        return ok("Mouse", "the terminal reports clicks and the wheel")
    reason = "the terminal does not say" if answers.has_mouse is None else "the terminal does not report it"
    return note("Mouse", f"{reason}; every command also has a key", "press ? in the explorer for the keys")


def _clipboard_finding(examined: Examined, answers: TerminalAnswers) -> DoctorFinding:
    from keyhole.tui.clipboard import NativeClipboard

    native = NativeClipboard(examined.root, examined.environment)
    programs = [tool.name for tool in native.tools() if native.find(tool.name)]
    if programs:
        return ok("Clipboard", f"{programs[0]} copies")
    if answers.has_clipboard:
        return ok("Clipboard", "the terminal copies (OSC 52)")
    return note("Clipboard", "only the terminal can copy here, and it does not say whether it does", native.next_step())


def check_explorer_settings(_: Examined) -> Iterator[DoctorFinding]:
    """Check the theme and the keys in the user's settings file."""
    from keyhole.tui.user_choices import read_user_choices

    choices = read_user_choices()
    for text in choices.problems:
        yield problem("Explorer", text, f"correct it in {_user_file()}; the default is used until then")
    if not choices.problems:
        chosen = [f"theme {choices.theme}"] if choices.theme else []
        chosen += [f"{len(choices.keys)} keys of your own"] if choices.keys else []
        yield ok("Explorer", ", ".join(chosen) or "default theme and keys")


def _user_file() -> Path:
    from keyhole.core.user_file import user_file

    return user_file()


TERMINAL_CHECKS = (Check("explorer", check_explorer_settings), Check("terminal", check_terminal))
