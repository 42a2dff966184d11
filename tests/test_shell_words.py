"""What answers and errors name works at a shell: parameters as flags, lines after a path."""

from collections.abc import Callable
from pathlib import Path

import pytest

from keyhole.core.cli.main import cli, run_command
from keyhole.core.cli.parameters import flag_of, flags_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shell")
    (root / "project").mkdir()
    for number in range(4):
        lines = "".join(f"retry_{line} = {line}\n" for line in range(30))
        (root / "project" / f"part_{number}.py").write_text(f'"""Retries."""\n{lines}')
    (root / "project/odd:7").write_text("the name has a colon\n")
    return root


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", "none")
    monkeypatch.chdir(folder / "project")

    def command(*arguments: str) -> tuple[int, str, str]:
        return run_command(list(arguments)), *capsys.readouterr()

    return command


@pytest.mark.parametrize(
    ("named", "flags"),
    [
        (["search", "retries", "limit=2", "offset=1"], ["search", "retries", "--limit", "2", "--offset", "1"]),
        (["search", "--limit", "1", "retries", "max_tokens=1000"], ["search", "retries", "--limit=1", "--budget=1000"]),
        (["search", "retries", "include_tests=false"], ["search", "retries", "--no-tests"]),
        (
            ["read", "part_1.py", "start_line=3", "max_lines=2"],
            ["read", "part_1.py", "--start-line=3", "--max-lines=2"],
        ),
        (["read", "part_1.py:3-4"], ["read", "part_1.py", "--start-line=3", "--max-lines=2"]),
        (["read", "part_1.py:3-4", "start_line=5"], ["read", "part_1.py", "--start-line=5", "--max-lines=2"]),
        (["read", "part_1.py:9"], ["read", "part_1.py", "--start-line=9"]),
        (["read", "part_1.py:9:4"], ["read", "part_1.py", "--start-line=9"]),
        (["tree", "limit=1"], ["tree", "--limit", "1"]),
    ],
)
def test_what_an_answer_names_can_be_added_as_it_is(run: Run, named: list[str], flags: list[str]) -> None:
    expected = run(*flags)
    assert expected[0] == 0
    assert run(*named) == expected


def test_what_is_asked_for_is_never_taken_for_a_parameter(run: Run) -> None:
    assert run("search", "limit=2")[1] != run("search", "retries", "limit=2")[1]
    assert "the name has a colon" in run("read", "odd:7")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "x", "--budget", "300"], "keyhole: --budget must be from 1,000 to 25,000, not 300\n"),
        (["search", "x", "max_tokens=300"], "keyhole: --budget must be from 1,000 to 25,000, not 300\n"),
        (["search", "x", "--offset=-1"], "keyhole: --offset must be 0 or more, not -1\n"),
        (["read", "part_1.py:0"], "keyhole: --start-line must be 1 or more, not 0\n"),
        (["read", "part_1.py:9-3"], "Error: the lines 9-3 end before they start\n"),
        (["read", "part_1.py:9", "part_2.py"], "Error: lines can follow the path of one file only; read the"),
        (["search", "x", "colour=red"], "Error: Got unexpected extra argument (colour=red)\n"),
    ],
)
def test_errors_name_flags(run: Run, arguments: list[str], message: str) -> None:
    code, _, said = run(*arguments)
    assert code == 2
    assert message in said


def test_at_a_terminal_the_next_page_is_said_in_flags(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer itself stays the same: it is, byte for byte, what agents get."""
    answer = run("search", "retries", "--limit=2")
    assert answer[2] == ""
    monkeypatch.setattr("keyhole.core.cli.output._is_read_by_a_person", lambda: True)
    assert run("search", "retries", "--limit=2") == (0, answer[1], "keyhole: next page: add --offset 2\n")
    assert run("read", "part_1.py:3-4")[2] == "keyhole: next page: add --start-line 5\n"
    assert run("read", "part_1.py")[2] == ""


def test_the_example_is_a_source_rather_than_a_test(run: Run, folder: Path) -> None:
    test = folder / "project/tests/test_parts.py"
    test.parent.mkdir()
    test.write_text("def test_one(): ...\n" * 100)
    assert "Example: keyhole map part_0.py" in run("overview")[1]


def test_steps_that_a_command_has_no_flags_for() -> None:
    links = cli.commands["links"]
    assert flags_of(links, "category=incoming offset=2") == ["--category", "incoming", "--offset", "2"]
    assert flags_of(links, "category=internal offset=2, or category=incoming offset=2") == []
    assert flags_of(links, "start_line=5") == []
    assert flag_of(links, "start_line") == "start_line"
