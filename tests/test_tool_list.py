"""The list of tools: what it costs, what its schemas say, and that their bounds reject nothing."""

import asyncio
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from served import call

from keyhole.core.references.certainty import Certainty
from keyhole.core.service import Service
from keyhole.core.tool_definitions import ToolDefinition, list_cost
from keyhole.core.types.choices import Detail, MapLevel, Mode, Output, ToolSet
from keyhole.core.view.budget.limits import LIMITS, MAX_CONTEXT_LINES, MAX_TOKENS
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.mcp_server.definitions import definitions
from keyhole.mcp_server.errors_for_agents import agent_steps
from keyhole.mcp_server.server import build_server
from keyhole.mcp_server.tool_texts import LIST_BUDGETS, TOOLS, instructions, prompt, tool_names

pytestmark = pytest.mark.anyio

TASKS = tomllib.loads((Path(__file__).parent / "fixtures/tool_tasks.toml").read_text())["task"]
LISTS: dict[str, dict[str, Any]] = {
    "search_code": {"query": "weigh"},
    "find_references": {"path": "src/retry.py", "line": 1},
    "get_tree": {},
    "get_links": {"path": "src/retry.py"},
    "get_backlinks": {"path": "src/retry.py"},
    "search_by_links": {"broken": True},
    "find_broken_links": {},
    "find_related": {"path": "src/retry.py"},
}


@pytest.mark.parametrize("tools", ToolSet)
async def test_the_list_keeps_its_budget(service: Service, tools: ToolSet) -> None:
    async with Client(build_server(service, tools=tools)) as client:
        result = await client.list_tools_mcp()
    sent = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in result.tools]
    measured = await asyncio.to_thread(definitions, tools)
    assert [tool.sent for tool in measured] == sent
    assert list_cost(measured) == estimate_tokens(f"[{','.join(sent)}]") <= LIST_BUDGETS[tools]


async def test_choices_maxima_and_defaults_are_in_the_schemas(server: FastMCP) -> None:
    async with Client(server) as client:
        schemas = {tool.name: tool.input_schema["properties"] for tool in await client.list_tools()}
    search = schemas["search_code"]
    assert search["mode"] == {"type": "string", "enum": [*Mode], "default": "auto"}
    assert search["output"] == {"type": "string", "enum": [*Output], "default": "lines"}
    assert search["include_tests"] == {"type": "boolean", "default": True}
    assert search["context_lines"] == {"type": "integer", "maximum": MAX_CONTEXT_LINES}
    assert search["limit"]["maximum"] == LIMITS["search_code by pattern"].maximum
    assert schemas["map_file"]["level"]["enum"] == [*MapLevel]
    assert schemas["get_links"]["category"]["enum"] == ["internal", "external", "incoming"]
    assert schemas["find_references"]["certainty"]["enum"] == [*Certainty]
    assert schemas["read_file"]["max_lines"] == {"type": "integer", "default": 500, "maximum": 2_000}
    assert schemas["get_tree"]["limit"]["maximum"] == LIMITS["get_tree descendants"].maximum
    for name, properties in schemas.items():
        assert all(
            set(facts) <= {"type", "enum", "items", "default", "maximum", "description"}
            for facts in properties.values()
        )
        assert "detail_level" not in properties or set(properties["detail_level"]["enum"]) == set(Detail)
        assert properties["format"] == {"type": "string", "enum": ["text", "json"]}
        assert "max_tokens" not in properties or properties["max_tokens"] == {"type": "integer", "maximum": MAX_TOKENS}
        if name in set(LISTS) - {"search_code", "get_tree"}:
            limit = LIMITS[name]
            assert properties["limit"] == {"type": "integer", "default": limit.default, "maximum": limit.maximum}


async def test_every_list_says_its_default_its_maximum_and_how_to_page(server: FastMCP) -> None:
    async with Client(server) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert set(LISTS) == {name for name, tool in tools.items() if "limit" in tool.input_schema["properties"]}
    for name in LISTS:
        limit = LIMITS[name]
        assert f"Default {limit.default}, max {limit.maximum}" in (tools[name].description or "")
        assert (tools[name].description or "").endswith("page with offset.")


@pytest.mark.parametrize("tool", LISTS)
async def test_numbers_over_their_maximum_are_lowered_with_a_note(server: FastMCP, tool: str) -> None:
    async with Client(server) as client:
        text, is_error = await call(client, tool, **LISTS[tool], limit=10_000, max_tokens=10**6)
    assert not is_error, text
    assert re.search(r"Note: limit=10000 is over the maximum; using limit=\d+", text)
    assert f"max_tokens=1000000 is over the maximum; using max_tokens={MAX_TOKENS}" in text


async def test_other_numbers_over_their_maximum_too(server: FastMCP) -> None:
    async with Client(server) as client:
        read = await call(client, "read_file", path="src/retry.py", max_lines=10_000)
        found = await call(client, "search_code", query="/def/", context_lines=99)
    assert not read[1]
    assert "max_lines=10000 is over the maximum; using max_lines=2000" in read[0]
    assert not found[1]
    assert "context_lines=99 is over the maximum; using context_lines=10" in found[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            "get_links",
            {"path": "src/retry.py", "category": "inner"},
            "category: unknown value 'inner'. Did you mean internal?",
        ),
        ("find_related", {"path": "a", "detail_level": "long"}, "unknown value 'long'. Choose from: minimal, compact"),
        ("get_tree", {"format": "xml"}, "format: unknown value 'xml'. Choose from: text, json"),
        ("get_tree", {"max_tokens": 10}, "max_tokens must be from 1,000 to 25,000, not 10"),
        ("get_backlinks", {}, "path is missing"),
    ],
)
async def test_values_that_cannot_be_lowered_are_named(
    server: FastMCP, tool: str, arguments: dict[str, Any], message: str
) -> None:
    async with Client(server) as client:
        text, is_error = await call(client, tool, **arguments)
    assert is_error
    assert message in text


# The sets of tools


async def test_the_core_is_smaller_and_names_only_what_it_has(service: Service) -> None:
    core = build_server(service, tools=ToolSet.CORE)
    async with Client(core) as client:
        assert [tool.name for tool in await client.list_tools()] == tool_names(ToolSet.CORE)
        text, is_error = await call(client, "get_backlinks", path="src/retry.py")
        assert is_error
        assert text == "get_backlinks is not served here; the user can start keyhole with all tools (mcp.tools)"
        text, _ = await call(client, "get_backlink", path="src/retry.py")
        assert text == "unknown tool 'get_backlink'. Did you mean get_links?"
        (told,) = (await client.get_prompt("explore", {"question": "why?"})).messages
    everything = " ".join([told.content.text, instructions(ToolSet.CORE), *agent_steps(ToolSet.CORE).values()])
    assert not _tools_named(everything) - set(tool_names(ToolSet.CORE))


def test_the_instructions_name_what_the_list_can_do() -> None:
    text = instructions(ToolSet.ALL)
    assert all(word in text for word in ("regex", "backlinks", "get_backlinks", "find_related", "masked", "data"))
    assert "who uses or calls a symbol" in text
    assert _tools_named(text + prompt("", ToolSet.ALL)) <= set(TOOLS)


def _tools_named(text: str) -> set[str]:
    return set(re.findall(r"\b(?:get|search|map|read|find|index)_\w+", text))


# Which tool for which task


def test_there_are_thirty_tasks_with_every_tool() -> None:
    assert len(TASKS) >= 30
    assert {task["tool"] for task in TASKS} == set(TOOLS)


def test_the_words_that_lead_to_a_tool_are_in_its_definition_and_in_no_other() -> None:
    words = {tool.name: _words_of(tool) for tool in definitions()}
    for task in TASKS:
        assert [name for name, own in words.items() if own.issuperset(task["words"])] == [task["tool"]], task


def _words_of(tool: ToolDefinition) -> set[str]:
    """Return the words that a reader sees: the description, and the names, choices and texts of the parameters."""
    properties = json.loads(tool.schema)["properties"]
    choices = [facts[key] for facts in properties.values() for key in ("enum", "description") if key in facts]
    return set(re.findall(r"\w+", f"{tool.description} {[*properties]} {choices}".casefold()))
