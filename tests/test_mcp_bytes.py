"""Agents get the same bytes in memory, over stdio and on the command line."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastmcp import Client, FastMCP
from served import call, environment, over_stdio

from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.errors import KeyholeError, ParameterError
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    Category,
    LinkSearchRequest,
    LinksRequest,
    RelatedRequest,
    Relation,
    TreeRequest,
)
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, MapLevel, Mode
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.mcp_server.errors_for_agents import AGENT_STEPS

pytestmark = pytest.mark.anyio


async def test_tools_return_the_views(server: FastMCP, service: Service) -> None:
    async with Client(server) as client:
        found, _ = await call(client, "search_code", query="RetryPolicy", detail_level="rich")
        mapped, _ = await call(client, "map_file", path="src/retry.py")
        read, _ = await call(client, "read_file", path="src/retry.py", max_lines=2)
        status, _ = await call(client, "index_status")
        facts, _ = await call(client, "index_status", format="json")
    assert found == service.search_view(SearchRequest("RetryPolicy", detail_level=Detail.RICH)).text
    assert mapped == service.map_view(MapRequest("src/retry.py")).text
    assert read == service.read_view(ReadRequest(("src/retry.py",), max_lines=2)).text
    assert status.startswith("Workspace  proj\n")
    assert json.loads(facts)["project"] == "proj"
    assert str(service.folder) not in status + facts


async def test_resources_are_the_views(server: FastMCP, service: Service) -> None:
    async with Client(server) as client:
        templates = await client.list_resource_templates()
        addresses = [template.uri_template for template in templates]
        assert addresses[:2] == ["keyhole://file/{path*}", "keyhole://map/{path*}"]
        (read,) = await client.read_resource("keyhole://file/src/retry.py")
        (mapped,) = await client.read_resource("keyhole://map/src/retry.py")
        (status,) = await client.read_resource("keyhole://status")
    assert read.text == service.read_view(ReadRequest(("src/retry.py",))).text
    assert mapped.text == service.map_view(MapRequest("src/retry.py")).text
    assert "Workspace  proj" in status.text


SEARCHES: list[dict[str, Any]] = [
    {"query": "RetryPolicy"},
    {"query": "RetryPolicy", "format": "json"},
    *({"query": "weigh total", "detail_level": level} for level in ("minimal", "compact", "rich", "auto")),
    *({"query": "weigh total", "detail_level": level, "format": "json"} for level in ("minimal", "rich")),
    {"query": "weigh total", "detail_level": "rich", "max_tokens": 1_000, "limit": 50, "line_numbers": False},
    {"query": "weigh total", "detail_level": "rich", "max_tokens": 1_000, "limit": 50, "format": "json"},
    {"query": "weigh total", "limit": 500},
    {"query": "weigh total", "offset": 7, "limit": 3},
    {"query": "weigh total", "offset": 999},
    {"query": "検索する"},
    {"query": "検索", "format": "json"},
    {"query": "/def weigh_[12]\\b/"},
    {"query": "weigh_1", "mode": "symbol"},
    {"query": "zzzzqqq"},
    {"query": "weigh", "path": "src/part_1*"},
    {"query": "title", "language": "markdown"},
]
SEARCH_ERRORS: list[dict[str, Any]] = [
    {"query": ""},
    {"query": "/(unclosed/"},
    {"query": "weigh", "limit": 0},
    {"query": "weigh", "max_tokens": 5},
    {"query": "weigh", "offset": -1},
    {"query": "weigh", "cursor": "made-up"},
    {"query": "weigh", "language": "klingon"},
    {"query": "weigh", "kind": "clas"},
    {"query": "weigh", "path": "scr"},
    {"query": "weigh", "mode": "semantic"},
]
FILES: list[tuple[str, dict[str, Any]]] = [
    ("map_file", {"path": "src/retry.py"}),
    ("map_file", {"path": "src/part_29.py", "format": "json"}),
    ("map_file", {"path": "src/retry.py", "level": "outline"}),
    ("map_file", {"path": "missing.py"}),
    ("read_file", {"path": "src/文字.py"}),
    ("read_file", {"path": "src/part_29.py", "start_line": 5, "max_lines": 3, "line_numbers": False}),
    ("read_file", {"path": "src/part_29.py", "start_line": 900}),
    ("read_file", {"path": "README.md", "format": "json"}),
    ("read_file", {"path": "../proj2/secret.py"}),
]
RELATIONS: list[tuple[str, dict[str, Any]]] = [
    ("get_links", {"path": "src/use.py"}),
    ("get_links", {"path": "docs/notes.md", "format": "json"}),
    ("get_links", {"path": "docs/notes.md", "category": "internal", "limit": 1}),
    ("get_links", {"path": "docs/notes.md", "offset": 1}),
    ("get_links", {"path": "link.py"}),
    ("get_backlinks", {"path": "src/retry.py"}),
    ("get_backlinks", {"path": "src/part_2.py"}),
    ("get_backlinks", {"path": "README.md", "format": "json"}),
    ("get_backlinks", {"path": "missing.py"}),
    ("get_backlinks", {"path": "../proj2/secret.py"}),
    ("search_by_links", {"has_links_to": "README.md"}),
    ("search_by_links", {"linked_from": "src/use.py", "format": "json"}),
    ("search_by_links", {"external_domains": ["example.org"]}),
    ("search_by_links", {"broken": True}),
    ("search_by_links", {}),
    ("find_broken_links", {}),
    ("find_broken_links", {"path": "docs", "reason": "missing file", "format": "json"}),
    ("find_broken_links", {"path": "nowhere"}),
    ("get_tree", {}),
    ("get_tree", {"path": "src", "limit": 3, "offset": 2, "format": "json"}),
    ("get_tree", {"relation": "descendants", "max_depth": 1}),
    ("get_tree", {"path": "src/retry.py", "symbol": "RetryPolicy.delay", "relation": "parents"}),
    ("get_tree", {"path": "nowhere"}),
    ("find_related", {"path": "src/part_7.py", "line": 3, "limit": 5, "detail_level": "rich", "line_numbers": False}),
    ("find_related", {"symbol": "weigh_9", "detail_level": "rich", "limit": 2, "format": "json"}),
    ("find_related", {"path": "src/part_7.py", "line": 900}),
    ("find_related", {}),
]
RELATION_REQUESTS: dict[str, Any] = {
    "get_links": LinksRequest,
    "get_backlinks": BacklinksRequest,
    "search_by_links": LinkSearchRequest,
    "find_broken_links": BrokenLinksRequest,
    "get_tree": TreeRequest,
    "find_related": RelatedRequest,
}
CHOICES: dict[str, Any] = {
    "category": Category,
    "relation": Relation,
    "external_domains": tuple,
    "mode": Mode,
    "detail_level": Detail,
    "format": Format,
    "level": MapLevel,
}
VERBS = {
    "search_code": "search",
    "map_file": "map",
    "read_file": "read",
    "get_links": "links",
    "get_backlinks": "backlinks",
    "search_by_links": "search-links",
    "find_broken_links": "broken",
    "get_tree": "tree",
    "find_related": "related",
}
# Tools where a path is a filter.
FILTERED = ("search_code", "find_broken_links")
REQUESTS = [*(("search_code", arguments) for arguments in SEARCHES + SEARCH_ERRORS), *FILES, *RELATIONS]


def test_there_are_enough_requests() -> None:
    assert len(REQUESTS) >= 30


def masked(text: str) -> str:
    return re.sub(r'"latency_ms": [\d.e+-]+', '"latency_ms": 0', text)


class Printed(NamedTuple):
    """What a command returned and printed."""

    code: int
    stdout: str
    stderr: str


# Runs command lines in one separate process: starting one for each of them would take most of the test's time.
COMMAND_LINES = """
import contextlib, io, json, sys
from keyhole.core.cli.main import run

for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@contextmanager
def command_lines(base: Path) -> Iterator[Callable[[str, dict[str, Any]], Printed]]:
    """Run requests on the command line, in a separate process."""
    command = [sys.executable, "-c", COMMAND_LINES]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(base), text=True, stdin=pipe, stdout=pipe) as process:
        requests, answers = process.stdin, process.stdout
        assert requests
        assert answers

        def run(tool: str, arguments: dict[str, Any]) -> Printed:
            requests.write(json.dumps(command_of(base, tool, arguments)) + "\n")
            requests.flush()
            return Printed(*json.loads(answers.readline()))

        yield run
        requests.close()


def command_of(base: Path, tool: str, arguments: dict[str, Any]) -> list[str]:
    """Return a request as arguments of the command line."""
    subject = [value for name, value in arguments.items() if name == "query" or is_subject(name, tool)]
    flags = [
        part
        for name, value in arguments.items()
        if name != "query" and not is_subject(name, tool)
        for one in (value if isinstance(value, list) else [value])
        for part in (
            f"--{'no-' if one is False else ''}{name.replace('_', '-')}",
            *([] if isinstance(one, bool) else [str(one)]),
        )
    ]
    return [VERBS[tool], *flags, "--root", str(base / "proj"), "--", *subject]


def is_subject(name: str, tool: str) -> bool:
    return name == "path" and tool not in FILTERED


def from_service(service: Service, tool: str, arguments: dict[str, Any]) -> str:
    """Run the same request on the service."""
    chosen = {name: CHOICES[name](value) if name in CHOICES else value for name, value in arguments.items()}
    if tool == "search_code":
        return service.search_view(SearchRequest(**chosen)).text
    if tool == "map_file":
        return service.map_view(MapRequest(**chosen)).text
    if tool in RELATION_REQUESTS:
        return service.relation_view(RELATION_REQUESTS[tool](**chosen)).text
    return service.read_view(ReadRequest((chosen.pop("path"),), **chosen)).text


_FLAGS = {"max_tokens": "--budget"}


def in_shell(error: KeyholeError) -> str:
    """Return an error as the command line prints it: a wrong parameter is named by its flag."""
    if isinstance(error, ParameterError):
        return f"{_FLAGS.get(error.parameter, f'--{error.parameter}')} {error.rule}"
    return error.worded(SHELL_STEPS)


async def test_every_front_end_gives_the_same_bytes(base: Path, service: Service) -> None:
    """An error starts with the same text everywhere; then each front end adds its own next step."""
    with command_lines(base) as command_line:
        async with over_stdio(base) as client:
            answers = [await call(client, tool, **arguments) for tool, arguments in REQUESTS]
        for (tool, arguments), (text, is_error) in zip(REQUESTS, answers, strict=True):
            done = command_line(tool, arguments)
            if is_error:
                with pytest.raises(KeyholeError) as raised:
                    from_service(service, tool, arguments)
                assert raised.value.worded(AGENT_STEPS) == text, arguments
                assert (done.stdout, done.code) == ("", 2), arguments
                assert done.stderr == f"keyhole: {in_shell(raised.value)}\n", arguments
            else:
                assert masked(from_service(service, tool, arguments)) == masked(text), arguments
                assert masked(done.stdout) == masked(text), arguments
