"""One table of a TOML file changes; everything else stays the same."""

import pytest

from keyhole.core.install import toml_text

ENTRY: dict[str, object] = {"command": "keyhole", "args": ["mcp"]}


@pytest.mark.parametrize(
    ("text", "changed", "removed"),
    [
        pytest.param(
            '[mcp_servers.keyhole]\ncommand = "old" # mine\n\n# about what follows\n[tui]\na = 1\n',
            '[mcp_servers.keyhole]\ncommand = "keyhole" # mine\nargs = ["mcp"]\n\n# about what follows\n[tui]\na = 1\n',
            "# about what follows\n[tui]\na = 1\n",
            id="a comment of what follows",
        ),
        pytest.param(
            '[mcp_servers.keyhole]\ncommand = "keyhole"\nargs = [\n  "old",\n  "older",\n]\n# end',
            '[mcp_servers.keyhole]\ncommand = "keyhole"\nargs = ["mcp"]\n# end',
            "# end",
            id="a list over several lines",
        ),
        pytest.param(
            '[mcp_servers.keyhole]\r\ncommand = "old"\r\n[mcp_servers.keyhole.env]\r\nA = "1"\r\n\r\n# b\r\n[tui]\r\n',
            '[mcp_servers.keyhole]\r\ncommand = "keyhole"\r\nargs = ["mcp"]\r\n\r\n'
            '[mcp_servers.keyhole.env]\r\nA = "1"\r\n\r\n# b\r\n[tui]\r\n',
            "# b\r\n[tui]\r\n",
            id="a table inside, and CRLF",
        ),
        pytest.param(
            '[mcp_servers]\na = {b = 1} # a\nkeyhole = {command = "old"}\n',
            '[mcp_servers]\na = {b = 1} # a\nkeyhole = {command = "keyhole",args = ["mcp"]}\n',
            "[mcp_servers]\na = {b = 1} # a\n",
            id="a table on one line",
        ),
        pytest.param(
            '[mcp_servers.keyhole]\ncommand = "old"\n[tui]\na = """\n[mcp_servers.keyhole]\n"""\n'
            '[mcp_servers.keyhole.env]\nA = "1"\n',
            '[mcp_servers.keyhole]\ncommand = "keyhole"\nargs = ["mcp"]\n[tui]\na = """\n[mcp_servers.keyhole]\n"""\n'
            '[mcp_servers.keyhole.env]\nA = "1"\n',
            '[tui]\na = """\n[mcp_servers.keyhole]\n"""\n',
            id="two parts, and a text that looks like one",
        ),
    ],
)
def test_toml_is_changed_in_place(text: str, changed: str, removed: str) -> None:
    assert toml_text.set_entry(text, "mcp_servers", "keyhole", ENTRY) == changed
    assert toml_text.set_entry(changed, "mcp_servers", "keyhole", ENTRY) == changed
    assert toml_text.remove_entry(text, "mcp_servers", "keyhole") == removed


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.keyhole]\nargs = [\n  "old", # mine\n]\n',
        '[mcp_servers.keyhole.env]\nA = "1"\n',
        '[[mcp_servers.keyhole]]\ncommand = "old"\n',
        '[mcp_servers]\nkeyhole.command = "old"\n',
        '[mcp_servers]\nkeyhole = "old"\n',
    ],
)
def test_toml_that_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"comments|its own header"):
        toml_text.set_entry(text, "mcp_servers", "keyhole", ENTRY)


def test_characters_outside_of_ascii_are_written_as_toml_has_them() -> None:
    entry: dict[str, object] = {"command": "/home/größe/\U0001f511/keyhole"}
    assert toml_text.parse(toml_text.set_entry("", "mcp_servers", "keyhole", entry)) == {
        "mcp_servers": {"keyhole": entry}
    }
