"""Locales whose encoding is not UTF-8: file names are read as UTF-8 all the same, and terminals get what they can show.

Python decodes file names by the locale, so that most names outside ASCII would be wrong. Only its UTF-8 mode changes
that, and only from the start, so `use_utf8` starts Python again. Then a terminal still gets the encoding of the locale,
with plain signs for all that the encoding lacks; pipes and files get UTF-8, as always.
"""

import codecs
import os
import sys
import unicodedata
from collections.abc import Callable
from io import TextIOWrapper

# Tells the second start what the terminal accepts.
_VARIABLE = "KEYHOLE_TERMINAL_ENCODING"
_LINES, _BARS = "─━┄┅┈┉╌╍═╴╶╸╺╼╾", "│┃┆┇┊┋╎╏║╵╷╹╻╽╿▏▎▍▌▋▊▉▕▐"
_SIGNS = {
    **dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+"),
    **dict.fromkeys(_LINES, "-"),
    **dict.fromkeys(map(chr, range(0x2580, 0x25A0)), "#"),
    **dict.fromkeys(_BARS, "|"),
    **dict.fromkeys("▁▂", "_"),
    **dict.fromkeys("▔", "-"),
    **dict.fromkeys("░▒▓", "."),
    **dict.fromkeys("·•‣", "."),
    **dict.fromkeys("\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("▸▶►→\u203a⏎", ">"),
    **dict.fromkeys("◂◀◄←\u2039", "<"),
    **dict.fromkeys("▲▴↑", "^"),
    **dict.fromkeys("▼▾↓", "v"),
    **dict.fromkeys("●◐◆★■", "*"),
    **dict.fromkeys("○◌", "o"),
    "✓": "+",
    "✗": "x",
    "…": "~",
    "↻": "@",
    "⏸": "=",
    "≡": "=",
    "⊘": "/",
    "«": "<",
    "»": ">",
    "↪": ">",
    "£": "L",
    "µ": "u",
}
_TEXT, CELLS = "keyhole-text", "keyhole-cells"


def use_utf8() -> None:
    """Make Python read file names as UTF-8, and write to terminals in their own encoding; call it before all else."""
    codecs.register_error(_TEXT, _handler(lambda character: plain_sign(character) or ascii(character)[1:-1]))
    if is_utf8(sys.getfilesystemencoding()):
        terminal = os.environ.pop(_VARIABLE, "")
        sys.argv = [_argument(argument, terminal) for argument in sys.argv] if terminal else sys.argv
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                _prepare(stream, terminal)
    elif os.name == "posix" and _VARIABLE not in os.environ:
        encoding = getattr(sys.stderr, "encoding", "") or "ascii"
        environment = os.environ | {"PYTHONUTF8": "1", _VARIABLE: encoding}
        os.execve(sys.executable, sys.orig_argv, environment)  # noqa: S606  # this program


def terminal_encoding() -> str:
    """Return the encoding of the terminal that the explorer draws on."""
    return getattr(sys.__stderr__, "encoding", "") or "utf-8"


def draw_in_cells() -> None:
    """Draw on a terminal that lacks characters so that each keeps its width."""
    if isinstance(sys.__stderr__, TextIOWrapper) and not is_utf8(sys.__stderr__.encoding):
        register_cells()
        sys.__stderr__.reconfigure(errors=CELLS)


def register_cells() -> None:
    """Register the error handler that keeps the width of characters, as the explorer's layout counts it."""
    from rich.cells import cell_len

    def as_wide(character: str) -> str:
        sign, width = plain_sign(character), cell_len(character)
        return sign if len(sign) == width else "?" * width

    codecs.register_error(CELLS, _handler(as_wide))


def plain_sign(character: str) -> str:
    """Return a sign in ASCII that looks like a character, or an empty text."""
    if sign := _SIGNS.get(character):
        return sign
    base = unicodedata.normalize("NFKD", character)[:1]
    return base if base.isascii() and base.isprintable() else ""


def _prepare(stream: TextIOWrapper, terminal: str) -> None:
    encoding = terminal or stream.encoding
    if is_utf8(encoding):
        return
    if stream.isatty():
        stream.reconfigure(encoding=encoding, errors=_TEXT)
    else:
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _argument(argument: str, terminal: str) -> str:
    """Return an argument as it was typed; the name of a file stays as it is on disk."""
    if argument.isascii() or os.path.lexists(argument):
        return argument
    typed = os.fsencode(argument)
    try:
        return typed.decode()
    except UnicodeDecodeError:
        return typed.decode(terminal, errors="replace")


def _handler(plain: Callable[[str], str]) -> Callable[[UnicodeError], tuple[str, int]]:
    """Return an error handler that writes other texts for characters that an encoding lacks."""

    def replaced(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        lacking = error.object[error.start : error.end]
        return "".join(map(plain, lacking)), error.end

    return replaced


def is_utf8(encoding: str | None) -> bool:
    """Return whether an encoding is UTF-8, whatever it is called."""
    try:
        return codecs.lookup(encoding or "ascii").name == "utf-8"
    except LookupError:
        return False
