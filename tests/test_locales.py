"""Locales whose encoding is not UTF-8: the same files, the same answers, and a terminal without escapes."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from keyhole.core.terminal_encoding import CELLS, plain_sign, register_cells

PROGRAM = [sys.executable, "-c", "from keyhole.core.cli.main import main; main()"]
SOURCE = Path(__file__).parent.parent
_PATIENCE = 60.0
ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems name files in UTF-8")


@pytest.fixture(scope="module")
def latin(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a locale in Latin-1, which few systems have."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None:
        pytest.skip("needs localedef")
    command = ["localedef", "-i", "en_US", "-f", "ISO-8859-1", str(folder / "en_US.ISO-8859-1")]
    if subprocess.run(command, check=False, capture_output=True).returncode > 1:
        pytest.skip("needs the sources of locales")
    return {"LC_ALL": "en_US.ISO-8859-1", "LOCPATH": str(folder)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "plain.py").write_text("def first(): pass\n")
    (root / "grüße.py").write_text("def grüße(): return 'né → 日本'\n", encoding="utf-8")
    (root / "日本.md").write_text("# 日本\n", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(root) + b"/lat\xe9.txt")).write_text("text\n")
    return root


def environment(root: Path, locale: dict[str, str]) -> dict[str, str]:
    name = re.sub(r"\W", "", "".join(locale.values()))
    folders = {"KEYHOLE_CACHE_DIR": str(root.parent / f"cache{name}"), "XDG_STATE_HOME": str(root.parent / "state")}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(root.parent),
        "TERM": "xterm-256color",
        "KEYHOLE_INDEX_MODEL": "none",
        **folders,
        **locale,
    }


def output(root: Path, locale: dict[str, str], *arguments: str | bytes) -> tuple[int, bytes]:
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=root, env=environment(root, locale), check=False, capture_output=True
    )
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_every_locale_has_the_same_files(root: Path, latin: dict[str, str]) -> None:
    expected = output(root, {"LC_ALL": "C.UTF-8"}, "tree")
    assert expected[0] == 0
    assert "grüße.py".encode() in expected[1]
    assert output(root, latin, "tree") == expected
    assert output(root, ASCII, "tree") == expected


def test_an_argument_is_read_in_the_encoding_of_the_locale(root: Path, latin: dict[str, str]) -> None:
    code, text = output(root, latin, "search", "grüße".encode("latin-1"), "--mode", "keyword")
    assert code == 0
    assert "def grüße" in text.decode()


class Terminal:
    """A pseudo-terminal with the explorer in it."""

    def __init__(self, root: Path, locale: dict[str, str], *arguments: str) -> None:
        self.output = b""
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(root)
            os.execve(PROGRAM[0], [*PROGRAM, *arguments], environment(root, locale))
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))

    def see(self, text: bytes) -> None:
        deadline = time.monotonic() + _PATIENCE
        while text not in self.text:
            assert time.monotonic() < deadline, self.text[-3_000:]
            if select.select([self.master], [], [], 0.05)[0]:
                self.output += os.read(self.master, 65_536)

    @property
    def text(self) -> bytes:
        return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self.output)

    def close(self) -> None:
        os.write(self.master, b"\x11")
        os.waitpid(self.process, 0)
        os.close(self.master)


def test_the_explorer_draws_and_reads_latin_1(root: Path, latin: dict[str, str]) -> None:
    terminal = Terminal(root, latin, ".")
    terminal.see(b"+ current")
    os.write(terminal.master, "grüße".encode("latin-1"))
    terminal.see("def grüße".encode("latin-1"))
    terminal.see("'né > ????'".encode("latin-1"))
    drawn = terminal.text
    terminal.close()
    assert b"\\u25" not in drawn
    assert b"+- Results -" in drawn
    assert "│".encode() not in drawn


def test_the_explorer_draws_in_ascii(root: Path) -> None:
    terminal = Terminal(root, ASCII, ".")
    terminal.see(b"+ current")
    os.write(terminal.master, b"first")
    terminal.see(b"plain.py:1")
    drawn = terminal.text
    terminal.close()
    assert drawn.isascii()
    assert b"\\u25" not in drawn
    assert b"+- Results -" in drawn


# Signs


def drawn_characters() -> set[str]:
    """Every character outside ASCII that Keyhole or Textual's frames draw."""
    from textual._border import BORDER_CHARS

    code = "".join(path.read_text() for folder in ("tui", "core/view") for path in (SOURCE / folder).rglob("*.py"))
    frames = "".join(row for frame in BORDER_CHARS.values() for part in frame for row in part)
    return {character for character in code + frames if not character.isascii()}


def test_every_sign_that_is_drawn_has_a_plain_one() -> None:
    lacking = {character for character in drawn_characters() if len(plain_sign(character)) != 1}
    assert lacking == set()


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), max_size=20))
def test_a_drawn_text_keeps_its_width(text: str) -> None:
    register_cells()
    for encoding in ("ascii", "latin-1"):
        shown = text.encode(encoding, errors=CELLS).decode(encoding)
        assert cell_len(shown) == cell_len(text)
