"""The server's token: from a file, stdin or the environment, so that it does not show in the process list."""

import io
import os
import socket
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
import pytest
from served import http_client

from keyhole.core.cli.main import run
from keyhole.core.cli.open_explorer import ExploreRequest, explore_request, start_server
from keyhole.core.cli.token_source import given_token
from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.http_processes import default_processes
from keyhole.mcp_server.tool_texts import tool_names
from keyhole.tui.run_explorer import _open_service


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("from-file\n")
    path.chmod(0o600)
    return path


def test_where_it_comes_from(token_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_token(None, None) is None
    assert given_token("plain", None) == "plain"
    monkeypatch.setenv("KEYHOLE_TOKEN", "from-environment")
    # It is not a setting, so it is no unknown one either.
    load_settings(token_file.parent)
    assert given_token(None, None) == "from-environment"
    assert "KEYHOLE_TOKEN" not in os.environ
    monkeypatch.setenv("KEYHOLE_TOKEN", "from-environment")
    assert given_token(None, token_file) == "from-file"
    monkeypatch.setattr("sys.stdin", io.StringIO("from-stdin\nrest\n"))
    assert given_token("-", None) == "from-stdin"


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        ("x", 0o644, "other users can read"),
        ("x", 0o640, "(mode 0640); run `chmod 600 "),
        (" \n", 0o600, "the token is empty"),
        ("two words", 0o600, "a token must be one line"),
        ("é", 0o600, "a token must be one line"),
        ("x" * 2_000, 0o600, "at most 1,000 characters"),
    ],
)
def test_a_file_that_cannot_be_used(token_file: Path, content: str, mode: int, words: str) -> None:
    token_file.write_text(content)
    token_file.chmod(mode)
    with pytest.raises(click.UsageError) as raised:
        given_token(None, token_file)
    assert words in raised.value.message
    assert content.strip() not in raised.value.message or mode != 0o600 or not content.strip()


def test_other_mistakes(token_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(click.UsageError, match=r"cannot read .*: No such file"):
        given_token(None, token_file.parent / "missing")
    with pytest.raises(click.UsageError, match="cannot be used together"):
        given_token("x", token_file)
    with pytest.raises(click.UsageError, match="--token: the token is empty"):
        given_token("", None)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(click.UsageError, match="stdin: the token is empty"):
        given_token("-", None)


def test_the_server_uses_it_and_does_not_print_it(
    acme: Service, token_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    used: list[object] = []

    def note(count: int, listener: socket.socket, serve: partial[None]) -> None:
        listener.close()
        used.append((count, serve.args[2], serve.args[1].mcp.tools))

    monkeypatch.setattr("keyhole.mcp_server.run_server.serve_from_processes", note)
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(token_file.parent / "cache"))
    server = ["mcp", str(acme.root), "--http", "--port", "0", "--tools", "core"]
    assert run([*server, "--token-file", str(token_file)]) == 0
    assert used == [(default_processes(), "from-file", ToolSet.CORE)]
    shown = capsys.readouterr()
    assert "from-file" not in shown.out + shown.err
    assert "Bearer YOUR_TOKEN" in shown.out
    assert run([*server, "--token-file", str(token_file), "--no-token"]) == 2
    assert "--no-token and --token-file cannot be used together" in capsys.readouterr().err
    token_file.chmod(0o604)
    assert run([*server, "--token-file", str(token_file)]) == 2
    assert "other users can read" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["index"], ["status"], ["mcp"], ["mcp", "--http", "--port", "0"]])
def test_every_command_removes_it_from_the_environment(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def note(*_: object, **__: object) -> NoReturn:
        seen.append(os.environ.get("KEYHOLE_TOKEN"))
        raise click.UsageError("enough")

    monkeypatch.setattr("keyhole.core.service.Service.open", note)
    monkeypatch.setenv("KEYHOLE_TOKEN", "from-environment")
    assert run([command[0], str(tmp_path), *command[1:]]) == 2
    assert seen == [None]


def test_the_explorer_can_be_given_one(tmp_path: Path) -> None:
    request = explore_request([str(tmp_path), "--serve", "--token-file", "t"], ())
    assert isinstance(request, ExploreRequest)
    assert request.token_file == Path("t")
    assert explore_request([str(tmp_path), "--token", "t"], ()) == "--token needs --serve"
    assert explore_request([str(tmp_path), "--tools", "core"], ()) == "--tools needs --serve"
    with_tools = explore_request([str(tmp_path), "--serve", "--tools", "core"], ())
    assert isinstance(with_tools, ExploreRequest)
    assert with_tools.tools == "core"
    assert explore_request([str(tmp_path), "--token-file", "t"], ()) == "--token-file needs --serve"


@pytest.mark.anyio
async def test_the_explorers_server_takes_it_and_the_set_of_tools(
    acme: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(acme.settings.cache_dir))
    service = _open_service(acme.root, {"mcp.tools": "core", "index.model": "none"}, force=False)
    server = await start_server(service, 0, lambda _: None, token="known")  # made up
    try:
        assert server.token == "known"
        async with http_client(server.address, "Bearer known") as client:
            assert [tool.name for tool in await client.list_tools()] == tool_names(ToolSet.CORE)
    finally:
        await server.stop()
