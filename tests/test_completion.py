"""Completion in real shells, the examples of the help, and the manual page."""

import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from keyhole.core.cli.examples import EXAMPLES
from keyhole.core.cli.main import cli
from keyhole.core.cli.man_page import man_page
from keyhole.core.install.client_table import installable_clients

SHOWN = [name for name, command in cli.commands.items() if not command.hidden]
# For each shell: how to make it load the script and print what completes the words of a line.
PROBES = {
    "bash": """
source ./script
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ echo "compopt-$2"; }}
_keyhole_completion keyhole
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "zsh": """
autoload -U compinit && compinit -u
source ./script
compadd() {{ print -l -- ${{(P)5}}; }}
_describe() {{ print -l -- ${{(P)3}}; }}
_path_files() {{ print "paths $*"; }}
_files() {{ print "files"; }}
words=({words}) CURRENT=${{#words}}
_keyhole_completion
""",
    "fish": """
source ./script
complete -C "{line}"
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "notes.md").write_text("")
    return tmp_path


def complete(shell: str, words: list[str], folder: Path) -> set[str]:
    """Return what a real shell offers after these words; the last one may be incomplete or empty."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    environment = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    keyhole = Path(sys.executable).with_name("keyhole")
    script = subprocess.run([keyhole, "completion", shell], env=environment, capture_output=True, text=True, check=True)
    (folder / "script").write_text(script.stdout)
    probe = PROBES[shell].format(words=" ".join(map(shlex.quote, words)), line=" ".join(words))
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *options, "-c", probe],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    # zsh and fish add the help of each word.
    return {re.split(r"[:\t]", line)[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("shell", PROBES)
def test_a_shell_completes_commands_options_and_values(shell: str, folder: Path) -> None:
    assert set(SHOWN) <= complete(shell, ["keyhole", ""], folder)
    assert complete(shell, ["keyhole", "doc"], folder) >= {"doctor"}
    options = complete(shell, ["keyhole", "doctor", "--"], folder)
    assert {"--json", "--bundle", "--help"} <= options
    assert complete(shell, ["keyhole", "search", "x", "--detail", "r"], folder) == {"rich"}


def test_bash_completes_folders_for_the_explorer_and_files_for_commands(folder: Path) -> None:
    assert "compopt-dirnames" in complete("bash", ["keyhole", "sr"], folder)
    assert "compopt-default" in complete("bash", ["keyhole", "map", "no"], folder)


def test_bash_in_a_terminal(folder: Path) -> None:
    """Press Tab in a real bash, with nothing of it replaced."""
    keyhole = Path(sys.executable).with_name("keyhole")
    script = subprocess.run([keyhole, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    (folder / "script").write_text(f"PATH={Path(sys.executable).parent}:$PATH\n{script}\nPS1='> '\n")
    child, line = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "--rcfile", "script", "-i"], {"TERM": "dumb", "PATH": os.environ["PATH"]})
    try:
        shown = read_until(line, b"> ")
        os.write(line, b"keyhole compl\t")
        shown += read_until(line, b"keyhole completion ")
        os.write(line, b"f\t")
        shown += read_until(line, b"fish ")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(line)


def read_until(line: int, wanted: bytes) -> bytes:
    shown = b""
    while wanted not in shown.replace(b"\x07", b""):
        assert select.select([line], [], [], 30)[0], shown
        shown += os.read(line, 4_096)
    return shown


def test_completion_knows_clients_and_languages() -> None:
    search = cli.commands["search"]
    context = click.Context(search, **cli.context_settings)
    by_name = {parameter.name: parameter for parameter in search.params}
    assert [item.value for item in by_name["client"].shell_complete(context, "cla")] == ["claude"]
    assert "python" in [item.value for item in by_name["language"].shell_complete(context, "py")]


def test_every_command_has_examples() -> None:
    assert set(EXAMPLES) == set(SHOWN)
    assert all(EXAMPLES.values())


@pytest.mark.parametrize("line", [line for examples in EXAMPLES.values() for line, _ in examples])
def test_an_example_parses(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse it as the command does, but don't run it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "review.toml").write_text("")
    program, name, *arguments = shlex.split(line.partition(" > ")[0])
    assert program == "keyhole"
    command = cli.commands[name]
    given = command.make_context(name, arguments, **cli.context_settings).params
    if name in ("install", "uninstall"):
        assert set(given["clients"]) <= set(installable_clients())


@pytest.mark.parametrize("name", SHOWN)
def test_help_shows_the_examples(name: str) -> None:
    text = cli.commands[name].get_help(click.Context(cli.commands[name], info_name=name, **cli.context_settings))
    for line, meaning in EXAMPLES[name]:
        assert f"\n    {line}\n        {meaning}\n" in f"{text}\n"


def test_the_manual_page_has_every_command_and_option() -> None:
    page = man_page(cli).replace("\\-", "-")
    for name in SHOWN:
        command = cli.commands[name]
        assert f'.SS "keyhole {name} ' in page
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert max(parameter.opts, key=len) in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_is_valid_roff() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8"], input=man_page(cli), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    # Bold letters are printed twice.
    assert "keyhole search [OPTIONS] QUERY" in re.sub(".\x08", "", done.stdout)
