"""The terminal is restored however the explorer ends; tested with a real pseudo-terminal."""

import base64
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from rights import bound_by_modes
from served import HELLO

ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
# Modes that an application turns on and must turn off again: mouse, focus, paste; for the cursor it is the reverse.
MODES = (b"1000", b"1003", b"1006", b"1015", b"1004", b"2004")
_PATIENCE = 60.0


class Terminal:
    """A pseudo-terminal with the explorer in it."""

    def __init__(self, root: Path, *arguments: str, through: tuple[str, ...] = (), **environment: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.output = b""
        program = "from keyhole.core.cli.main import main; main()"
        folders = {"KEYHOLE_CACHE_DIR": str(root.parent / "cache"), "XDG_STATE_HOME": str(root.parent / "state")}
        self.process = subprocess.Popen(
            [*through, sys.executable, "-c", program, *arguments],
            cwd=root,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={
                "PATH": os.environ["PATH"],
                "TERM": "xterm-256color",
                "HOME": str(root.parent),
                **folders,
                **environment,
            },
        )
        self.slave = slave

    def read_until(self, wanted: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not wanted():
            assert time.monotonic() < deadline, self.output[-2_000:]
            if select.select([self.master], [], [], 0.05)[0]:
                self.output += os.read(self.master, 65_536)

    def shows(self, text: str) -> None:
        self.read_until(lambda: text in self.text)

    def send(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def send_and_see(self, keys: str, shown: bytes) -> None:
        begun = len(self.output)
        self.send(keys)
        self.read_until(lambda: shown in self.output[begun:])

    def end(self) -> int:
        self.read_until(lambda: self.process.poll() is not None)
        while select.select([self.master], [], [], 0.1)[0]:
            self.output += os.read(self.master, 65_536)
        return self.process.returncode

    @property
    def text(self) -> str:
        return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self.output).decode(errors="replace")

    def is_restored(self) -> bool:
        assert termios.tcgetattr(self.slave) == self.before
        assert self.output.rfind(LEAVE_SCREEN) > self.output.rfind(ENTER_SCREEN) >= 0
        assert self.output.rfind(b"\x1b[?25h") > self.output.rfind(b"\x1b[?25l")
        for mode in MODES:
            assert self.output.rfind(b"\x1b[?" + mode + b"l") >= self.output.rfind(b"\x1b[?" + mode + b"h"), mode
        return True


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    return root


@pytest.fixture
def start(root: Path) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(*arguments: str, through: tuple[str, ...] = (), **environment: str) -> Terminal:
        started.append(Terminal(root, *arguments, through=through, **environment))
        return started[-1]

    yield start
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)
        os.close(terminal.slave)


def end_by_key(key: str) -> Callable[[Terminal], None]:
    return lambda terminal: terminal.send(key)


def end_by_signal(number: int) -> Callable[[Terminal], None]:
    return lambda terminal: terminal.process.send_signal(number)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param(end_by_key("\x1bOP\x1b"), None, id="help and back, no end"),
        pytest.param(end_by_key("\x11"), 0, id="ctrl+q"),
        pytest.param(end_by_key("\x03"), 130, id="ctrl+c"),
        pytest.param(end_by_signal(signal.SIGTERM), 143, id="SIGTERM"),
        pytest.param(end_by_signal(signal.SIGHUP), 129, id="SIGHUP"),
        pytest.param(end_by_signal(signal.SIGINT), 130, id="SIGINT"),
    ],
)
def test_the_terminal_is_restored(
    start: Callable[..., Terminal], end: Callable[[Terminal], None], code: int | None
) -> None:
    terminal = start()
    terminal.shows("✓ current")
    assert termios.tcgetattr(terminal.slave) != terminal.before
    end(terminal)
    if code is None:
        terminal.send("\x03")
        code = 130
    assert terminal.end() == code
    assert terminal.is_restored()
    assert "Traceback" not in terminal.text


# A parent shell that runs the explorer in its own process group, as interactive shells do, and then reads a line. By
# opening the terminal, it makes it its controlling one.
PARENT = """
exec < "$(tty)"
set -m
"$@"
echo "ended with $?"
read -r line
echo "the shell read $line"
"""


def explorer_of(shell: int) -> int:
    """Return the number of the explorer that a shell has started."""
    (pid,) = (int(child) for child in Path(f"/proc/{shell}/task/{shell}/children").read_text().split())
    return pid


def kill_explorer(terminal: Terminal, number: int = signal.SIGKILL) -> None:
    os.kill(explorer_of(terminal.process.pid), number)


def kill_its_group(terminal: Terminal) -> None:
    os.killpg(explorer_of(terminal.process.pid), signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the explorer")
@pytest.mark.parametrize(
    ("kill", "code"),
    [
        pytest.param(kill_explorer, 137, id="SIGKILL"),
        pytest.param(lambda terminal: kill_explorer(terminal, signal.SIGSEGV), 139, id="SIGSEGV"),
        pytest.param(kill_its_group, 137, id="SIGKILL to its process group"),
    ],
)
def test_the_terminal_is_restored_after_a_hard_kill(
    start: Callable[..., Terminal], kill: Callable[[Terminal], None], code: int
) -> None:
    terminal = start(through=("sh", "-c", PARENT, "sh"))
    terminal.shows("✓ current")
    assert termios.tcgetattr(terminal.slave) != terminal.before
    kill(terminal)
    terminal.shows(f"ended with {code}")
    terminal.shows("the explorer was killed; the terminal is restored")
    assert terminal.is_restored()
    terminal.send("typed after it\r")
    terminal.shows("the shell read typed after it")
    assert terminal.end() == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the explorer")
def test_an_editor_keeps_the_terminal_when_the_explorer_is_killed(start: Callable[..., Terminal], root: Path) -> None:
    editor = root.parent / "editor.py"
    editor.write_text(f"#!{sys.executable}\n{WAITING_EDITOR}print('edited on', flush=True)\n")
    editor.chmod(0o755)
    terminal = start(VISUAL=str(editor))
    terminal.shows("✓ current")
    terminal.send("first\r")
    terminal.shows("a.py")
    terminal.send("e")
    terminal.shows("the editor has the terminal")
    begun = len(terminal.output)
    terminal.process.kill()
    terminal.process.wait()
    terminal.send("end\n")
    terminal.read_until(lambda: b"edited on" in terminal.output[begun:])
    assert b"\x1b" not in terminal.output[begun:]


def test_a_guard_that_is_killed_does_not_disturb_the_explorer(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.shows("✓ current")
    pid = terminal.process.pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"keyhole.core.cli.main" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)
    terminal.send("first\r")
    terminal.shows("a.py")
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.is_restored()


def test_it_ends_when_its_window_is_gone_and_no_signal_says_so(root: Path) -> None:
    terminal = Terminal(root)
    terminal.shows("✓ current")
    # It is not the controlling terminal of the process, so the system sends no signal.
    os.close(terminal.master)
    os.close(terminal.slave)
    # Its further output can't be written, which must not block it.
    for number in range(60):
        (root / f"new{number}.py").write_text("def another(): pass\n")
        time.sleep(0.05)
    try:
        terminal.process.wait(_PATIENCE)
    finally:
        terminal.process.kill()


def test_it_goes_to_another_workspace_and_back(start: Callable[..., Terminal], root: Path) -> None:
    other = root.parent / "second"
    other.mkdir()
    (other / "b.py").write_text("def other(): pass\n")
    terminal = start(str(root), str(other))
    terminal.shows("1 file")
    for name in (b"second", b"project", b"second"):
        # At first the search line has the focus, where letters are text.
        terminal.send("\x1b")
        time.sleep(0.3)
        terminal.send_and_see("W\r", LEAVE_SCREEN)
        terminal.send_and_see("", name)
        terminal.shows("1 file")
    terminal.send("\x03")
    assert terminal.end() == 130
    assert terminal.is_restored()


def test_q_ends_it_outside_of_the_search_line(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.shows("✓ current")
    terminal.send("first\r")
    terminal.shows("a.py")
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.is_restored()


EDITOR = """#!{python}
import json, sys, termios
modes = termios.tcgetattr(sys.stdin)
told = {{"arguments": sys.argv[1:], "echo": bool(modes[3] & termios.ECHO), "lines": bool(modes[3] & termios.ICANON)}}
print("the editor has the terminal", flush=True)
told["typed"] = sys.stdin.readline()
with open(sys.argv[-1], "a") as file:
    file.write("def second(): pass\\n")
with open({record!r}, "w") as file:
    json.dump(told, file)
"""


def test_the_editor_gets_the_terminal_as_it_was_and_gives_it_back(start: Callable[..., Terminal], root: Path) -> None:
    editor, record = root.parent / "editor.py", root.parent / "told.json"
    editor.write_text(EDITOR.format(python=sys.executable, record=str(record)))
    editor.chmod(0o755)
    (root / "a.py").write_text("import os\n\n\ndef first(): pass\n")
    terminal = start(VISUAL=f"{editor} -n")
    terminal.shows("✓ current")
    terminal.send("first\r")
    terminal.shows("a.py:4")
    terminal.send("e")
    terminal.shows("the editor has the terminal")
    # The explorer has suspended: it left its screen, and mouse reporting is off.
    assert terminal.is_restored()
    begun = len(terminal.output)
    terminal.send("typed in the editor\r")
    terminal.read_until(lambda: b"first" in terminal.output[begun:].rpartition(ENTER_SCREEN)[2])
    told = json.loads(record.read_text())
    assert told == {
        "arguments": ["-n", "+4", str(root / "a.py")],
        "echo": True,
        "lines": True,
        "typed": "typed in the editor\n",
    }
    assert termios.tcgetattr(terminal.slave) != terminal.before
    # The edited text is found immediately.
    for keys, shown in [("/", b"Complete"), ("\x15", b"a name, a few words"), ("second", b"a.py"), ("\r", b"Read")]:
        terminal.send_and_see(keys, shown)
    terminal.shows("a.py:5")
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.is_restored()


def serve_and_edit(start: Callable[..., Terminal], root: Path, code: str) -> tuple[Terminal, str, dict[str, str]]:
    """Open a file in an editor while the explorer serves; return the address of the server and its headers."""
    editor = root.parent / "editor.py"
    editor.write_text(f"#!{sys.executable}\n{code}")
    editor.chmod(0o755)
    terminal = start(".", "--serve", "--port", "0", VISUAL=str(editor))
    address = re.compile(r"http://127\.0\.0\.1:\d+/mcp")
    terminal.shows("✓ current")
    terminal.read_until(lambda: address.search(terminal.text) is not None)
    terminal.send("first\r")
    terminal.shows("a.py:1")
    found = address.search(terminal.text)
    assert found
    # The setup has the token; it is copied to the clipboard of the terminal.
    terminal.send_and_see("3", b"Traffic")
    terminal.send_and_see("C", b"\x1b]52;c;")
    terminal.read_until(lambda: re.search(rb"\x1b\]52;c;([^\a]+)\a", terminal.output) is not None)
    copied = re.search(rb"\x1b\]52;c;([^\a]+)\a", terminal.output)
    assert copied
    headers = json.loads(base64.b64decode(copied[1]))["mcpServers"]["keyhole"]["headers"]
    terminal.send("\r")  # closes the text of the setup
    terminal.send_and_see("1", b"first")
    terminal.send("e")
    terminal.shows("the editor has the terminal")
    return terminal, found[0], headers


WAITING_EDITOR = """import signal, sys
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
print("the editor has the terminal", flush=True)
while sys.stdin.readline() != "end\\n":
    pass
"""


def test_agents_are_served_while_an_editor_is_open(start: Callable[..., Terminal], root: Path) -> None:
    terminal, address, headers = serve_and_edit(start, root, WAITING_EDITOR)
    begun = len(terminal.output)
    accepted = {**headers, "Accept": "application/json, text/event-stream"}
    assert httpx2.post(address, json=HELLO, headers=accepted, timeout=_PATIENCE).status_code == 200
    search = {"name": "search_code", "arguments": {"query": "added", "mode": "keyword"}}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search}
    # A change is indexed meanwhile, and found.
    (root / "b.py").write_text("def added(): pass\n")
    deadline = time.monotonic() + _PATIENCE
    while "b.py:1" not in httpx2.post(address, json=request, headers=accepted, timeout=_PATIENCE).text:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    # ^C is for the editor. Nothing else was drawn: no call, no change of the index.
    os.killpg(terminal.process.pid, signal.SIGINT)
    terminal.read_until(lambda: b"interrupted" in terminal.output[begun:])
    assert terminal.output[begun:].strip() == b"interrupted"
    assert terminal.process.poll() is None
    terminal.send("end\n")
    terminal.read_until(lambda: b"first" in terminal.output[begun:].rpartition(ENTER_SCREEN)[2])
    terminal.send_and_see("3", b"search_code")
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.is_restored()


RAW_EDITOR = """import os, signal, sys, time, tty
signal.signal(signal.SIGTERM, {handler})
tty.setraw(0)
print("the editor has the terminal", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("handler", ["signal.SIG_DFL", "signal.SIG_IGN"], ids=["ends", "has to be killed"])
def test_a_signal_ends_the_explorer_and_its_editor(start: Callable[..., Terminal], root: Path, handler: str) -> None:
    terminal, address, _ = serve_and_edit(start, root, RAW_EDITOR.format(handler=handler))
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 143
    assert terminal.is_restored()
    assert not is_open(int(address.rpartition(":")[2].partition("/")[0]))
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize("variable", ["'unfinished", " "])
def test_an_editor_that_makes_no_sense_is_an_error(start: Callable[..., Terminal], variable: str) -> None:
    terminal = start(VISUAL=variable, PATH="/nowhere")
    terminal.shows("✓ current")
    terminal.send("first\r")
    terminal.shows("a.py")
    terminal.send("e")
    terminal.shows("Could not start ")
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.is_restored()


def test_an_editor_that_fails_leaves_the_explorer_as_it_was(start: Callable[..., Terminal]) -> None:
    terminal = start(VISUAL="/no/such/editor")
    terminal.shows("✓ current")
    terminal.send("first\r")
    terminal.shows("a.py")
    terminal.send("e")
    terminal.shows("Could not start /no/such/editor")
    terminal.send("q")
    assert terminal.end() == 0
    assert terminal.is_restored()


def test_an_exception_is_a_short_message_with_the_log(start: Callable[..., Terminal], root: Path) -> None:
    broken = root.parent / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import keyhole.tui.themes\n"
        "from keyhole.tui.app import KeyholeApp\n"
        "def action_toggle_theme(self): raise RuntimeError('out of paint')\n"
        "KeyholeApp.action_toggle_theme = action_toggle_theme\n"
    )
    terminal = start(PYTHONPATH=str(broken))
    terminal.shows("✓ current")
    terminal.send("first\r")
    terminal.shows("a.py")
    terminal.send("t")
    assert terminal.end() == 2
    assert terminal.is_restored()
    message = terminal.text[terminal.text.rindex("keyhole: ") :]
    assert "the explorer failed (out of paint); see " in message
    assert "Traceback" not in terminal.text
    log = Path("".join(message.partition("; see ")[2].split("\r\n")[0].split()))
    assert "RuntimeError: out of paint" in log.read_text()


def test_a_folder_that_is_refused_never_touches_the_terminal(start: Callable[..., Terminal]) -> None:
    terminal = start("/")
    assert terminal.end() == 2
    assert "refusing to index /" in terminal.text
    assert ENTER_SCREEN not in terminal.output


def test_settings_that_are_wrong_end_with_a_message(start: Callable[..., Terminal], root: Path) -> None:
    (root / "keyhole.toml").write_text("nonsense = 1\n")
    terminal = start()
    assert terminal.end() == 2
    assert terminal.is_restored()
    assert "keyhole.toml: unknown key nonsense" in terminal.text


def test_it_can_be_left_while_another_process_holds_the_index(start: Callable[..., Terminal], root: Path) -> None:
    from driving import make_service

    from keyhole.core.index.lock import writer_lock

    service = make_service(root)
    service.index()
    with writer_lock(service.folder, wait=False):
        terminal = start()
        terminal.shows("locked")
        terminal.send("\x11")
        assert terminal.end() == 0
    assert terminal.is_restored()


def test_the_cache_of_another_user_leaves_the_explorer_usable(start: Callable[..., Terminal], root: Path) -> None:
    from driving import make_service

    service = make_service(root)
    service.index()
    # Nobody may open it, so it does not matter who runs the tests.
    service.folder.chmod(0)
    try:
        terminal = start(through=tuple(bound_by_modes()))
        terminal.shows("✗ index: cannot ")
        terminal.send("first\r")
        terminal.shows("Permission denied")
        terminal.send_and_see("\x1b2", b"Files")
        terminal.send("\x11")
        assert terminal.end() == 0
    finally:
        service.folder.chmod(0o755)
    assert terminal.is_restored()
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize("elsewhere", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize("is_closed", [False, True], ids=["a file", "closed"])
def test_without_all_of_the_terminal_there_is_an_overview(
    start: Callable[..., Terminal], root: Path, elsewhere: str, is_closed: bool
) -> None:
    file = root.parent / "elsewhere"
    file.touch()
    place = {"stdin": "0<", "stdout": "1>", "stderr": "2>"}[elsewhere] + ("&-" if is_closed else f"'{file}'")
    terminal = start(through=("sh", "-c", f'exec "$@" {place}', "sh"))
    assert terminal.end() == 0
    assert ENTER_SCREEN not in terminal.output
    told = terminal.text + file.read_text()
    assert "Traceback" not in told
    assert ("Example: keyhole map a.py" in told) == ((elsewhere, is_closed) != ("stdout", True))
    assert ("not a terminal: showing an overview" in told) == ((elsewhere, is_closed) != ("stderr", True))


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param(end_by_key("\x11"), 0, id="ctrl+q"),
        pytest.param(end_by_signal(signal.SIGTERM), 143, id="SIGTERM"),
    ],
)
def test_agents_are_served_until_the_explorer_ends(
    start: Callable[..., Terminal], end: Callable[[Terminal], None], code: int
) -> None:
    terminal = start(".", "--serve", "--port", "0")
    address = re.compile(r"http://127\.0\.0\.1:(\d+)/mcp")
    terminal.read_until(lambda: address.search(terminal.text) is not None)
    found = address.search(terminal.text)
    assert found
    assert is_open(int(found[1]))
    end(terminal)
    assert terminal.end() == code
    assert terminal.is_restored()
    assert not is_open(int(found[1]))
    assert "Traceback" not in terminal.text


def test_a_port_that_is_taken_leaves_the_explorer_usable(start: Callable[..., Terminal]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        terminal = start("--serve", "--port", str(other.getsockname()[1]))
        terminal.shows("cannot listen on")
        terminal.shows("✓ current")
        terminal.send("\x11")
        assert terminal.end() == 0
    assert terminal.is_restored()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "1"], "keyhole: --port needs --serve\n"),
        (["--serve", "--port", "many"], "'many' is not a valid integer"),
        (["--serve", "--port", "70000"], "70000 is not in the range"),
        (["--serve"], "--serve needs a terminal; use keyhole mcp --http instead"),
    ],
)
def test_options_that_mean_nothing_are_refused(root: Path, arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "keyhole", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
