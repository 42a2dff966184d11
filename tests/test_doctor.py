"""`keyhole doctor`: each check in a state that is really broken, and what it says to do."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from canaries import text_of
from discovery import put, settle
from rights import bound_by_modes

from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.cli.terminal_checks import TERMINAL_CHECKS, check_explorer_settings
from keyhole.core.config import load_settings
from keyhole.core.doctor import installation_checks, setup_checks, workspace_checks
from keyhole.core.doctor.diagnosis import CHECKS, examined_at, run_checks
from keyhole.core.doctor.doctor_report import bundle_text, doctor_facts, part_text
from keyhole.core.doctor.findings import Check, CheckedPart, DoctorFinding, Examined, Level
from keyhole.core.install.client_table import Scope, client_named, installable_clients
from keyhole.core.install.commands import config_target, install
from keyhole.core.install.machine import Machine
from keyhole.core.listening import listen
from keyhole.core.service import Service
from keyhole.core.syntax.languages import LANGUAGES
from keyhole.core.syntax.parser_process import ParserProcess
from keyhole.core.types.choices import DEFAULT_PORT


@pytest.fixture
def examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examined:
    """Return a workspace with an index, and a home folder with nothing in it."""
    home, root = tmp_path / "home", tmp_path / "home/project"
    root.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    put(root, "src/retry.py", "def backoff(): pass\n")
    put(root, ".gitignore", "# build\nbuild/\n*.tmp\n")
    put(root, "old.tmp", "")
    settle()
    settings = load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"})
    Service(root, settings).index()
    return Examined(root, home, settings, {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}, SHELL_STEPS)


def folder_of(examined: Examined) -> Path:
    return Service(examined.root, examined.settings).folder


def only(findings: Iterator[DoctorFinding] | list[DoctorFinding], level: Level) -> DoctorFinding:
    (one,) = [finding for finding in findings if finding.level == level]
    return one


def test_a_sound_installation_has_no_problems(examined: Examined) -> None:
    parts = list(run_checks(examined, CHECKS))
    assert [part.check for part in parts] == [check.name for check in CHECKS]
    assert [one for part in parts for one in part.findings if one.level == Level.PROBLEM] == []
    by_name = {part.check: " ".join(one.text for one in part.findings) for part in parts}
    grammars = sum(language.grammar is not None for language in LANGUAGES)
    assert by_name["grammars"] == f"{grammars} of {grammars} languages can be parsed"
    assert "sound and up to date; 2 files" in by_name["index"]
    assert ".gitignore: 2 rules" in by_name["ignore-rules"]
    assert "1 ignored" in by_name["ignore-rules"]


def test_a_check_that_fails_does_not_stop_the_others(examined: Examined) -> None:
    def fail(_: Examined) -> Iterator[DoctorFinding]:
        yield DoctorFinding(Level.OK, "First", "found before it failed")
        raise RuntimeError("broken")

    checks = (Check("failing", fail), Check("journal", workspace_checks.check_journal))
    failed, after = run_checks(examined, checks)
    assert [one.level for one in failed.findings] == [Level.OK, Level.PROBLEM]
    assert "RuntimeError: broken" in failed.findings[1].text
    assert after.findings[0].text == "no calls yet"


def test_packages_that_are_missing_or_have_another_version() -> None:
    needed = ["click<1", "no-such-package>=2", "aiohttp<1 ; extra == 'web'", "rich>=1"]
    old, missing = installation_checks.package_problems(needed)
    assert (old.subject, missing.subject) == ("Package click", "Package no-such-package")
    assert "keyhole needs click<1" in old.text
    assert "not installed" in missing.text


def test_a_grammar_that_crashes() -> None:
    """A worker that is killed by a signal while it parses Kotlin, as a grammar that crashes is."""
    worker = (
        "import os, signal, keyhole.core.syntax.analyse as a, keyhole.core.syntax.parser_worker as w\n"
        "real = a.outline_of\n"
        "a.outline_of = lambda s: os.kill(os.getpid(), signal.SIGSEGV) if s.path.endswith('.kt') else real(s)\n"
        "w.main()\n"
    )
    parser = ParserProcess((sys.executable, "-c", worker))
    try:
        crashed, rest = installation_checks.grammar_findings(parser)
    finally:
        parser.close()
    assert (crashed.level, crashed.subject, crashed.text) == (
        Level.PROBLEM,
        "Grammar Kotlin",
        "the Kotlin grammar crashed",
    )
    assert rest.text == "75 of 76 languages can be parsed"


def test_a_worker_that_cannot_start(examined: Examined) -> None:
    def check(_: Examined) -> Iterator[DoctorFinding]:
        return installation_checks.grammar_findings(ParserProcess((sys.executable, "-c", "raise SystemExit(3)")))

    (part,) = run_checks(examined, [Check("grammars", check)])
    assert "the parser process could not start (exit code 3)" in part.findings[0].text


def test_models(examined: Examined, tmp_path: Path) -> None:
    def with_model(model: str) -> Examined:
        return replace(examined, settings=load_settings(examined.root, {"index.model": model}))

    (builtin,) = installation_checks.check_model(with_model("builtin"))
    assert (builtin.level, builtin.text[:8]) == (Level.OK, "keyhole-")
    (missing,) = installation_checks.check_model(with_model(str(tmp_path / "nowhere")))
    assert missing.level == Level.PROBLEM
    assert "model.safetensors is missing" in missing.text
    assert missing.remedy == "repair its folder, or change index.model"
    (off,) = installation_checks.check_model(with_model("none"))
    assert off.level == Level.NOTE


def test_a_cache_folder_that_is_a_file(examined: Examined, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = load_settings(examined.root, {"cache_dir": tmp_path / "file"})
    (finding,) = workspace_checks.check_cache(replace(examined, settings=settings))
    assert finding.level == Level.PROBLEM
    assert finding.text == f"cannot write to {tmp_path / 'file'} (Not a directory)"


def doctor(
    examined: Examined, *arguments: str, command: tuple[str, ...] = (), **variables: str
) -> tuple[int, str, str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(examined.home),
        "KEYHOLE_CACHE_DIR": str(examined.settings.cache_dir),
        **variables,
    }
    full = [*command, sys.executable, "-m", "keyhole", "doctor", *arguments]
    done = subprocess.run(
        full, cwd=examined.root, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="modes as on Linux")
def test_a_cache_folder_without_rights(examined: Examined) -> None:
    folder = folder_of(examined)
    folder.chmod(0)
    try:
        code, out, err = doctor(examined, "--json", command=tuple(bound_by_modes()))
    finally:
        folder.chmod(0o700)
    assert (code, err) == (1, "")
    facts = json.loads(out)
    problems = {one["subject"]: one for one in facts["findings"] if one["level"] == "problem"}
    assert {"Cache folder", "Index"} <= problems.keys()
    assert "Permission denied" in problems["Cache folder"]["text"]
    assert "KEYHOLE_CACHE_DIR" in problems["Cache folder"]["remedy"]
    assert facts["problems"] == len(problems)


def test_an_index_that_others_can_read(examined: Examined) -> None:
    folder = folder_of(examined)
    (folder / "index.db").chmod(0o644)
    finding = only(workspace_checks.check_cache(examined), Level.PROBLEM)
    assert finding.text == f"other users can read 1 path in {folder}"
    subprocess.run(finding.remedy.removeprefix("run "), shell=True, check=True)
    assert {one.level for one in workspace_checks.check_cache(examined)} == {Level.OK}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files to another user")
def test_an_index_of_another_user(examined: Examined) -> None:
    os.chown(folder_of(examined) / "index.db", 65_534, 65_534)
    finding = only(workspace_checks.check_cache(examined), Level.PROBLEM)
    assert "belong to another user" in finding.text
    assert finding.remedy.startswith("run sudo chown -R")


def overwrite(path: Path, start: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(os.urandom(length))


def test_a_damaged_index(examined: Examined) -> None:
    path = folder_of(examined) / "index.db"
    size = path.stat().st_size
    overwrite(path, 4_096, size - 8_192)
    (finding,) = workspace_checks.check_index(examined)
    assert (finding.level, finding.remedy) == (Level.PROBLEM, "run `keyhole index` to rebuild it")
    assert "damaged" in finding.text
    overwrite(path, 0, 4_096)
    (finding,) = workspace_checks.check_index(examined)
    assert (finding.level, "file is not a database" in finding.text) == (Level.PROBLEM, True)


def test_one_damaged_page_deep_inside_an_index(examined: Examined) -> None:
    """The file opens and answers most questions; only SQLite's own check finds it."""
    path = folder_of(examined) / "index.db"
    content = bytearray(path.read_bytes())
    leaves = [start for start in range(4_096, len(content), 4_096) if content[start] == 0x0D and content[start + 4]]
    # Where the first row of a leaf is, which is then outside of the page.
    content[leaves[0] + 8 : leaves[0] + 10] = b"\xff\xff"
    path.write_bytes(content)
    (finding,) = workspace_checks.check_index(examined)
    assert finding.level == Level.PROBLEM
    assert f"{path} is damaged (*** in database main ***" in finding.text


def test_the_state_of_an_index(examined: Examined, tmp_path: Path) -> None:
    put(examined.root, "src/new.py", "x = 1\n")
    (finding,) = workspace_checks.check_index(examined)
    assert (finding.level, finding.remedy) == (Level.NOTE, "run keyhole index to update it")
    assert "1 file changed since" in finding.text
    settings = load_settings(examined.root, {"cache_dir": tmp_path / "empty"})
    (finding,) = workspace_checks.check_index(replace(examined, settings=settings))
    assert (finding.level, finding.text) == (Level.NOTE, "none yet")
    assert not (tmp_path / "empty").exists()


def test_a_damaged_journal(examined: Examined) -> None:
    (folder_of(examined) / "journal.db").write_bytes(b"no database" * 1_000)
    (finding,) = workspace_checks.check_journal(examined)
    assert (finding.level, "keyhole clear" in finding.remedy) == (Level.PROBLEM, True)


def test_ignore_rules_that_are_not_applied_or_skip_everything(examined: Examined) -> None:
    (examined.root / "src/.gitignore").symlink_to("/etc/hostname")
    finding = only(workspace_checks.check_ignore_rules(examined), Level.PROBLEM)
    assert finding.text.startswith("src/.gitignore is not applied")
    (examined.root / "src/.gitignore").unlink()
    put(examined.root, ".gitignore", "*\n")
    finding = only(workspace_checks.check_ignore_rules(examined), Level.PROBLEM)
    assert finding.text.startswith("every file here is skipped")


def test_settings_name_what_set_them(examined: Examined, monkeypatch: pytest.MonkeyPatch) -> None:
    put(examined.root, "keyhole.toml", "[search]\ntop_k = 7\n")
    put(examined.home, ".config/keyhole/config.toml", "[search]\nmode = 'keyword'\n")
    monkeypatch.setenv("KEYHOLE_INDEX_WORKERS", "2")
    monkeypatch.delenv("KEYHOLE_SHARE")
    assert [one.text for one in setup_checks.check_settings(examined)] == [
        'index.workers = "2", set by the variable KEYHOLE_INDEX_WORKERS',
        f'search.mode = "keyword", set by {examined.home}/.config/keyhole/config.toml',
        f"search.top_k = 7, set by {examined.root}/keyhole.toml",
    ]


def test_a_wrong_setting_leaves_the_other_checks_alone(examined: Examined) -> None:
    put(examined.root, "keyhole.toml", "[search]\ntop_k = 'many'\n")
    again = examined_at(examined.root, SHELL_STEPS)
    (finding,) = setup_checks.check_settings(again)
    assert finding.level == Level.PROBLEM
    assert finding.text.startswith('keyhole.toml: search.top_k = "many"')
    assert workspace_checks.check_workspace(again)


@pytest.mark.parametrize("client", installable_clients())
def test_each_client_is_found_and_starts_this_installation(examined: Examined, client: str) -> None:
    (nothing,) = setup_checks.check_clients(examined)
    assert (nothing.level, nothing.remedy) == (Level.NOTE, "run keyhole install CLIENT")
    added = config_target(client_named(client), examined.root, Machine(examined.home, examined.environment), Scope.USER)
    install(added)
    (finding,) = setup_checks.check_clients(examined)
    assert finding == DoctorFinding(Level.OK, f"Client {client}", f"{added.path} (user) starts this installation")


def write_claude(home: Path, command: str) -> None:
    put(home, ".claude.json", json.dumps({"mcpServers": {"keyhole": {"command": command, "args": ["mcp"]}}}))


def test_a_client_that_starts_another_installation(examined: Examined, tmp_path: Path) -> None:
    other = tmp_path / "other/keyhole"
    put(other.parent, "keyhole", "#!/bin/sh\n")
    other.chmod(0o755)
    write_claude(examined.home, str(other))
    (finding,) = setup_checks.check_clients(examined)
    assert finding.level == Level.PROBLEM
    assert f"starts {other}, which is not this installation" in finding.text
    assert finding.remedy == "run keyhole install claude --scope user"


def test_a_client_that_starts_nothing_or_cannot_be_read(examined: Examined) -> None:
    write_claude(examined.home, "/nowhere/keyhole")
    (finding,) = setup_checks.check_clients(examined)
    assert (finding.level, "can't be found" in finding.text) == (Level.PROBLEM, True)
    put(examined.home, ".claude.json", "{")
    (finding,) = setup_checks.check_clients(examined)
    assert (finding.level, str(examined.home / ".claude.json") in finding.text) == (Level.PROBLEM, True)


def test_a_port_in_use() -> None:
    listener, _ = listen("127.0.0.1", DEFAULT_PORT)
    with listener:
        finding, _ = setup_checks.check_ports(None)  # type: ignore[arg-type]  # it looks at nothing of the workspace
    assert finding.level == Level.NOTE
    assert f"cannot listen on 127.0.0.1:{DEFAULT_PORT}" in finding.text
    assert "--port" in finding.remedy


def test_wrong_choices_for_the_explorer(examined: Examined) -> None:
    put(examined.home, ".config/keyhole/config.toml", "theme = 'no-such-theme'\n")
    (finding,) = check_explorer_settings(examined)
    assert (finding.level, "no-such-theme" in finding.text) == (Level.PROBLEM, True)


def in_terminal(examined: Examined, answer: bytes, variables: Mapping[str, str], size: str) -> dict[str, DoctorFinding]:
    """Run the checks of the terminal in one that we play: it answers what it is asked."""
    code = (
        "import json, sys; from pathlib import Path\n"
        "from keyhole.core.cli.terminal_checks import check_terminal\n"
        "from keyhole.core.doctor.diagnosis import examined_at\n"
        "found = check_terminal(examined_at(Path('.'), {}))\n"
        "print('FOUND' + json.dumps([[one.level, one.subject, one.text, one.remedy] for one in found]))"
    )
    child, line = pty.fork()
    if child == 0:
        columns, lines = size.split("x")
        environment = {"HOME": str(examined.home), "COLUMNS": columns, "LINES": lines, **variables}
        os.chdir(examined.root)
        os.execve(sys.executable, [sys.executable, "-c", code], environment)
    shown, is_answered = b"", False
    try:
        while b"]]" not in shown:
            shown += os.read(line, 4_096)
            if b"\x1b[c" in shown and not is_answered:
                is_answered = True
                os.write(line, answer)
    except OSError:
        pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(line)
    assert is_answered, shown
    rows = json.loads(shown.decode().rpartition("FOUND")[2].strip())
    return {subject: DoctorFinding(Level(level), subject, text, remedy) for level, subject, text, remedy in rows}


def test_a_terminal_that_can_do_everything(examined: Examined) -> None:
    variables = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    answers = in_terminal(examined, b"\x1b[?1006;2$y\x1b[?62;52;22c", variables, "100x40")
    assert {one.level for one in answers.values()} == {Level.OK}
    assert list(answers) == ["Size", "Colours", "Unicode", "Mouse", "Clipboard"]


def test_a_terminal_that_can_do_little(examined: Examined) -> None:
    variables = {"TERM": "dumb", "PYTHONIOENCODING": "latin-1"}
    answers = in_terminal(examined, b"\x1b[?1006;0$y\x1b[?1;2c", variables, "40x10")
    levels = {subject: one.level.value for subject, one in answers.items()}
    assert levels == {
        "Size": "problem",
        "Colours": "problem",
        "Unicode": "note",
        "Mouse": "note",
        "Clipboard": "note",
    }
    assert "does not report it" in answers["Mouse"].text


def test_secrets_are_masked_everywhere(examined: Examined) -> None:
    secret = "gh" + "p_" + text_of(36)
    leaky = [CheckedPart("x", (DoctorFinding(Level.PROBLEM, "X", f"set to {secret}", f"change {secret}"),))]
    environment = {"KEYHOLE_TOKEN": "plain-words-as-a-token", "EDITOR": secret, "OTHER": "private"}
    texts = [part_text(leaky[0]), json.dumps(doctor_facts(leaky)), bundle_text(leaky, environment, examined.home)]
    for text in texts:
        assert secret not in text
        assert "[secret: " in text
    assert "plain-words" not in texts[2]
    assert "private" not in texts[2]


def test_a_bundle_is_private_and_new(examined: Examined) -> None:
    path = examined.root.parent / "report.md"
    code, out, err = doctor(examined, "--bundle", str(path))
    assert (code, "read it before you share it" in err) == (0, True)
    assert out.endswith("\nNo problems found.\n")
    assert "Terminal: keyhole doctor was not started in a terminal" in out
    text = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "ok       Python: " in text
    assert "apsw 3." in text
    assert str(examined.home) not in text
    assert "~/project" in text
    code, _, err = doctor(examined, "--bundle", str(path))
    assert (code, "give the path of a new file" in err) == (2, True)


def test_a_name_in_each_table_is_unique() -> None:
    names = [check.name for check in (*CHECKS, *TERMINAL_CHECKS)]
    assert len(set(names)) == len(names)
