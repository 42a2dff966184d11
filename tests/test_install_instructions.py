"""`install --instructions`: the section in AGENTS.md, CLAUDE.md or GEMINI.md comes and goes without a trace."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.cli.main import cli, run
from keyhole.core.install import instructions
from keyhole.core.install.instructions import SECTION, add_instructions, remove_instructions
from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.tool_texts import tool_names

TEXTS = [
    "",
    "\n",
    "# Rules",
    "# Rules\n",
    "# Rules\n\n\n",
    "# Rules\r\n\r\nBe brief.\r\n",
    "# Rules\r\nBe brief.",
    "\ufeff# a\n",
    "# a\r",
]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def keyhole(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_section_names_only_tools_that_every_server_has() -> None:
    named = set(re.findall(r"`(\w+_\w+)`", SECTION))
    assert named == set(tool_names(ToolSet.CORE))
    assert len(SECTION.splitlines()) < 15


@pytest.mark.parametrize("text", TEXTS)
def test_a_file_is_restored_exactly(tmp_path: Path, text: str) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(text.encode())
    assert add_instructions(path, tmp_path)
    changed = path.read_bytes()
    assert changed.startswith(text.encode())
    assert (b"\r\n" in changed[len(text) + 3 :]) == ("\r\n" in text)
    assert not add_instructions(path, tmp_path)
    assert remove_instructions(path, tmp_path)
    assert path.read_bytes() == text.encode()
    assert list(tmp_path.iterdir()) == [path]
    assert not remove_instructions(path, tmp_path)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_around_the_section_stays(text: str, later: str) -> None:
    if "keyhole:" in text + later:
        return
    changed = instructions._with_section(text, is_new=False)
    found = instructions._ANY_SECTION.search(changed)
    assert found is not None
    assert instructions._without_section(changed, found) == text
    more = changed + later
    found = instructions._ANY_SECTION.search(more)
    assert found is not None
    assert instructions._without_section(more, found).endswith(later.removeprefix("\r\n").removeprefix("\n"))


def test_it_is_only_added_when_asked_for(work: Path) -> None:
    keyhole("install", "claude", "codex", "gemini")
    assert not {"AGENTS.md", "CLAUDE.md", "GEMINI.md"} & {path.name for path in work.iterdir()}
    output = keyhole("install", "claude", "codex", "gemini", "--instructions")
    assert "added instructions to CLAUDE.md" in output
    for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md"):
        assert (work / name).read_text() == SECTION + "\n"
    keyhole("uninstall", "--all")
    assert not {"AGENTS.md", "CLAUDE.md", "GEMINI.md"} & {path.name for path in work.iterdir()}


def test_it_goes_with_the_last_client_that_reads_it(work: Path) -> None:
    (work / "AGENTS.md").write_text("# Rules")
    keyhole("install", "codex", "zed", "--instructions")
    assert "instructions" not in keyhole("uninstall", "codex")
    assert SECTION in (work / "AGENTS.md").read_text()
    assert "removed instructions from AGENTS.md" in keyhole("uninstall", "zed")
    assert (work / "AGENTS.md").read_text() == "# Rules"


def test_an_older_section_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(f"# Rules\n\n{SECTION.replace('map_file', 'old_name')}\nLater\n")
    assert add_instructions(path, tmp_path)
    assert path.read_text() == f"# Rules\n\n{SECTION}\nLater\n"


def test_the_workspace_cannot_lead_out_of_itself(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    victim = work.parent / "home/AGENTS.md"
    victim.write_text("mine\n")
    (work / "AGENTS.md").symlink_to(victim)
    assert run(["install", "codex", "--instructions"]) == 2
    assert "points outside the workspace" in capsys.readouterr().err
    assert victim.read_text() == "mine\n"


def test_a_link_inside_the_workspace_stays_one(work: Path) -> None:
    (work / "AGENTS.md").write_text("# Rules\n")
    (work / "CLAUDE.md").symlink_to("AGENTS.md")
    keyhole("install", "claude", "--instructions")
    assert (work / "CLAUDE.md").is_symlink()
    assert SECTION in (work / "AGENTS.md").read_text()
    keyhole("uninstall", "claude")
    assert ((work / "CLAUDE.md").is_symlink(), (work / "AGENTS.md").read_text()) == (True, "# Rules\n")
