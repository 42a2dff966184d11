"""Each front end's next step for an error names something that its reader has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from canaries import key_block
from discovery import put

from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.cli.main import cli
from keyhole.core.errors import ErrorKind, KeyholeError, NextSteps, PathError
from keyhole.core.service import Service
from keyhole.mcp_server.errors_for_agents import AGENT_STEPS
from keyhole.mcp_server.tool_texts import TOOLS
from keyhole.tui.errors_for_explorer import EXPLORER_STEPS

REPOSITORY = Path(__file__).parent.parent
ALL = {"shell": SHELL_STEPS, "agent": AGENT_STEPS, "explorer": EXPLORER_STEPS}


@pytest.mark.parametrize("reader", ALL)
def test_every_kind_of_error_has_a_next_step(reader: str) -> None:
    assert set(ALL[reader]) == set(ErrorKind) - {ErrorKind.PLAIN}
    assert all(ALL[reader].values())


@pytest.mark.parametrize("steps", [SHELL_STEPS, EXPLORER_STEPS])
def test_people_are_not_pointed_to_tools(steps: NextSteps) -> None:
    words = set(re.findall(r"\w+", " ".join(steps.values())))
    assert not words & set(TOOLS)


def test_agents_are_not_pointed_to_commands_they_cannot_run() -> None:
    for step in AGENT_STEPS.values():
        assert "--" not in step
        assert "keyhole " not in step or step.startswith("ask the user"), step


def test_commands_and_tools_that_are_named_exist() -> None:
    for command in re.findall(r"keyhole (\w+)", "\n".join(step for steps in ALL.values() for step in steps.values())):
        assert command in cli.commands
    for tool in re.findall(r"\b(?:get|search|map|read|find|index)_\w+", " ".join(AGENT_STEPS.values())):
        assert tool in TOOLS


def facts_given() -> Iterator[tuple[str, set[str]]]:
    """Return every raised error that has a kind, with the names of its facts."""
    for path in [
        path for folder in ("core", "tui", "mcp_server", "web_server") for path in (REPOSITORY / folder).rglob("*.py")
    ]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and len(node.args) == 2 and isinstance(node.args[1], ast.Attribute):
                kind = node.args[1]
                if isinstance(kind.value, ast.Name) and kind.value.id == "ErrorKind":
                    yield kind.attr, {keyword.arg or "" for keyword in node.keywords}


def test_every_error_brings_the_facts_that_its_steps_name() -> None:
    given = list(facts_given())
    assert {kind for kind, _ in given} == {kind.name for kind in ErrorKind} - {"PLAIN"}
    for kind, facts in given:
        for steps in ALL.values():
            assert set(re.findall(r"{(\w+)}", steps[ErrorKind[kind]])) <= facts, kind


def test_an_error_is_worded_with_its_step_and_its_facts() -> None:
    error = KeyholeError("no room", ErrorKind.FULL_DISK, path="a.db")
    assert error.worded({ErrorKind.FULL_DISK: "make room beside {path}"}) == "no room; make room beside a.db"
    assert error.worded({}) == str(error) == "no room"


@pytest.mark.parametrize("reader", ALL)
def test_the_error_for_a_secret_file_names_the_setting_and_who_can_change_it(reader: str, tmp_path: Path) -> None:
    put(tmp_path, "conf/.env", "text\n")
    put(tmp_path, "key.txt", key_block())
    service = Service.open(tmp_path)
    for path in ("conf/.env", "key.txt"):
        with pytest.raises(PathError) as raised:
            service.read(path)
        text = raised.value.worded(ALL[reader])
        assert text.startswith(f"{path} is not served: secret")
        assert "secrets.readmit" in text
        assert ("only the user can" in text) == (reader == "agent")
    service.close()


def test_people_in_the_explorer_are_not_pointed_to_commands() -> None:
    for step in EXPLORER_STEPS.values():
        assert not set(re.findall(r"keyhole (\w+)", step)) & set(cli.commands), step
