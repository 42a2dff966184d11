"""The MCP server through a real in-memory client: the tool texts, the errors, and what is never served."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from mcp.shared.exceptions import MCPError
from served import HELLO, INJECTION, call, environment

from keyhole.core.errors import CorruptStoreError
from keyhole.core.service import Service
from keyhole.core.types.choices import ToolSet
from keyhole.core.types.view_requests import SearchRequest
from keyhole.mcp_server import tool_texts
from keyhole.mcp_server.server import build_server
from keyhole.mcp_server.tool_docs import tools_text, unexplained
from keyhole.mcp_server.tool_errors import ReadableErrors

pytestmark = pytest.mark.anyio


# Tool texts


async def test_tools_are_described_by_the_table(server: FastMCP) -> None:
    async with Client(server) as client:
        tools = await client.list_tools()
    assert [tool.name for tool in tools] == list(tool_texts.TOOLS)
    for tool in tools:
        text = tool_texts.TOOLS[tool.name]
        assert re.fullmatch(r"[a-z_]{1,40}", tool.name)
        assert tool.description == text.description
        assert len(text.description) <= tool_texts.LONGEST_DESCRIPTION
        assert tool.output_schema is None
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        properties = tool.input_schema["properties"]
        assert {name: facts.get("description", "") for name, facts in properties.items()} == text.parameters
        assert INJECTION not in json.dumps(tool.model_dump(mode="json"))


async def test_the_list_is_the_same_every_time(service: Service) -> None:
    async with Client(build_server(service)) as one, Client(build_server(service)) as other:
        assert await one.list_tools() == await other.list_tools()


def test_the_docs_are_the_table() -> None:
    docs = (Path(__file__).parent.parent / "docs/mcp.md").read_text()
    assert docs.endswith(tools_text()), "run python -m keyhole.mcp_server.tool_docs"
    assert not unexplained()


async def test_the_prompt_teaches_the_way_from_search_to_read(server: FastMCP) -> None:
    async with Client(server) as client:
        (prompt,) = await client.list_prompts()
        answer = await client.get_prompt(prompt.name, {"question": "where is the delay?"})
    text = answer.messages[0].content.text
    assert "where is the delay?" in text
    assert text.index("search_code") < text.index("map_file") < text.index("read_file")
    assert "below 200" in text or "fewer than 200" in text


# Errors


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search_code", {}, 'query is missing: name, words, "exact text" or /regex/'),
        ("search_code", {"query": "a", "limt": 3}, "unknown parameter 'limt'. Did you mean limit?"),
        ("search_code", {"query": "a", "limit": "many"}, "limit: Input should be a valid integer"),
        ("search_code", {"query": "a", "mode": "fast"}, "mode: unknown value 'fast'. Choose from: auto, hybrid"),
        ("search_cod", {"query": "a"}, "unknown tool 'search_cod'. Did you mean search_code?"),
        ("search_code", {"query": "weigh", "cursor": "x"}, "repeat the request with offset instead of cursor"),
        ("search_code", {"query": "/(/"}, "invalid regular expression"),
        ("read_file", {"path": "../proj2/secret.py"}, "outside the workspace"),
        ("read_file", {"path": "gone.py"}, "not a file in the workspace"),
        ("read_file", {}, "path"),
    ],
)
async def test_errors_say_what_to_do_next(
    server: FastMCP, service: Service, tool: str, arguments: dict[str, Any], message: str
) -> None:
    async with Client(server) as client:
        text, is_error = await call(client, tool, **arguments)
    assert is_error
    assert message in text
    assert not re.search(r"Traceback|pydantic|https?://|/tmp|/home", text)
    assert str(service.root) not in text


async def test_a_failure_inside_is_masked(server: FastMCP, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: SearchRequest) -> None:
        raise RuntimeError("/home/me/secret")

    monkeypatch.setattr(service, "search_view", fail)
    async with Client(server) as client:
        text, is_error = await call(client, "search_code", query="weigh")
    assert is_error
    assert text == "search_code failed because of a bug in keyhole; the server's log has the details"


def test_stderr_has_the_details_of_failures_inside_and_nothing_of_mistakes(base: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from keyhole.core.service import Service\n"
        "def fail(self, request): raise RuntimeError('out of ink')\n"
        "Service.map_view = fail\n"
    )
    variables = {**environment(base), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "keyhole", "mcp", str(base / "proj")]
    calls = [("read_file", {"path": "gone.py"}), ("map_file", {"path": "src/retry.py"})]
    messages = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}] + [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        for number, (tool, arguments) in enumerate(calls, 2)
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        process.stdin.flush()
        answers = b"".join(process.stdout.readline() for _ in range(3))
        log = process.communicate(timeout=20)[1].decode()
    assert b"map_file failed because of a bug in keyhole; the server's log has the details" in answers
    assert log.startswith("keyhole: map_file failed\nTraceback")
    assert log.count("RuntimeError: out of ink") == 1
    assert "gone.py" not in log


def test_errors_name_no_folder_of_the_machine(service: Service) -> None:
    error = CorruptStoreError(f"the index {service.folder}/index.db is damaged; {service.root} cannot be searched")
    assert ReadableErrors(service).readable(error) == "the index index.db is damaged; proj cannot be searched"


# Security

REFUSED = [
    "../proj2/secret.py",
    "..%2fproj2%2fsecret.py",
    "%2e%2e/proj2/secret.py",
    "src/../../proj2/secret.py",
    "{base}/proj2/secret.py",
    "{base}/proj/../proj2/secret.py",
    "/etc/passwd",
    "src/retry.py\0.md",
    "link.py",
    "chain.py",
    "folder/secret.py",
    "pipe.py",
    "/dev/zero",
    ".env",
    ".git/config",
    "id_rsa",
    "",
]


@pytest.mark.parametrize("path", REFUSED)
async def test_nothing_outside_and_no_secret_is_served(server: FastMCP, base: Path, path: str) -> None:
    path = path.replace("{base}", str(base))
    async with Client(server) as client:
        for tool in ("read_file", "map_file"):
            text, is_error = await call(client, tool, path=path)
            assert is_error, text
            assert "canary" not in text
        for kind in ("file", "map"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"keyhole://{kind}/{path}".replace("\0", "%00"))
            assert "canary" not in str(refused.value)


async def test_no_search_finds_a_secret(server: FastMCP) -> None:
    async with Client(server) as client:
        for mode in ("keyword", "regex", "symbol"):
            text, _ = await call(client, "search_code", query="canary", mode=mode)
            assert text.startswith("Nothing found: no match for ")


async def test_what_a_file_says_stays_data(server: FastMCP) -> None:
    async with Client(server) as client:
        text, _ = await call(client, "read_file", path="README.md")
        assert INJECTION in text
        told = [*await client.list_tools(), *await client.list_prompts(), *await client.list_resources()]
    assert INJECTION not in "".join(str(part) for part in told) + tool_texts.instructions(ToolSet.ALL)


async def test_a_link_swapped_in_between_is_not_followed(base: Path, server: FastMCP) -> None:
    target = base / "proj/src/swapped.py"
    target.write_text("harmless = 1\n")
    async with Client(server) as client:
        assert not (await call(client, "read_file", path="src/swapped.py"))[1]
        target.unlink()
        target.symlink_to(base / "proj2/secret.py")
        text, is_error = await call(client, "read_file", path="src/swapped.py")
    target.unlink()
    assert is_error
    assert "canary" not in text
