"""How clients deliver an answer: the profiles, `deliver`, `--as`, budgets by client, and the cost of our tools."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastmcp import Client
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Implementation

from keyhole.core.answer_rules import AnswerRule, Overflow, Unit
from keyhole.core.cli.client_commands import clients
from keyhole.core.cli.main import cli
from keyhole.core.client_cuts import CUTS
from keyhole.core.clients import (
    Profile,
    profile_for,
    profile_named,
    profiles,
    room_for,
    truncate_description,
)
from keyhole.core.config import load_settings
from keyhole.core.delivery import ToolResult, deliver, deliver_result, is_over
from keyhole.core.errors import ConfigError, QueryError
from keyhole.core.links.requests import BacklinksRequest, ReferencesRequest, Relation, TreeRequest
from keyhole.core.service import Service
from keyhole.core.tool_definitions import ToolDefinition, definition_cost
from keyhole.core.types.choices import Detail, Format, MapLevel
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.core.view.budget.limits import CHARACTER_LIMIT, LARGEST, MAX_TOKENS
from keyhole.core.view.budget.room import within
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.maps.map_view import CAPS
from keyhole.core.view.writing import View
from keyhole.mcp_server.definitions import definitions
from keyhole.mcp_server.server import build_server

pytestmark = pytest.mark.anyio
SINCE = date(2026, 1, 1)


def test_every_limit_has_a_source_and_a_date() -> None:
    for profile in profiles().values():
        if profile.answer or profile.description or profile.instructions:
            assert date.fromisoformat(profile.date) >= SINCE
            assert profile.version if profile.source == "client lab" else profile.source.startswith("https://")
    assert {"claude", "codex", "cursor", "vscode", "copilot", "gemini", "opencode", "qwen", "raw"} <= profiles().keys()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-code", "claude"),
        ("Claude-Code/2.1", "claude"),
        ("codex-mcp-client", "codex"),
        ("copilot-cli", "copilot"),
        ("gemini-cli-mcp-client", "gemini"),
        ("opencode", "opencode"),
        ("qwen-cli-mcp-client-keyhole", "qwen"),
        ("cursor-vscode", "cursor"),
        ("Visual Studio Code - Insiders", "vscode"),
        ("my own agent", "raw"),
        ("", "raw"),
    ],
)
def test_a_client_is_known_by_its_name(name: str, expected: str) -> None:
    assert profile_for(name).id == expected


def test_a_profile_by_name() -> None:
    assert profile_named("claude") is profile_named("Claude Code")
    with pytest.raises(QueryError, match=r"unknown client 'clod'\. Did you mean codex"):
        profile_named("clod")


# Delivery

TEXTS = st.text(max_size=300) | st.text("a🙂\n{}", max_size=300) | st.lists(st.text(max_size=9)).map("\n".join)
RULES = st.builds(
    AnswerRule,
    overflow=st.sampled_from(Overflow),
    cut=st.sampled_from(sorted(CUTS)),
    limit=st.integers(20, 200),
    unit=st.sampled_from(Unit),
    message=st.sampled_from(["{head}{tail}", "saved to {file}:\n{preview}\n...", "({size})"]),
    kept=st.integers(10, 20),
    kept_first=st.integers(1, 9),
    lines=st.sampled_from([0, 3]),
    frame=st.sampled_from(["{answer}", "<x>{answer}</x>"]),
)


@given(TEXTS, RULES, st.booleans())
def test_a_delivery_is_the_answer_or_says_what_is_missing(text: str, rule: AnswerRule, is_error: bool) -> None:
    profile = Profile("x", "X", (), "claude", "", answer=rule)
    delivery = deliver(text, profile, is_error=is_error)
    framed = rule.frame.replace("{answer}", text)
    if not is_over([framed], rule, rule.limit):
        assert (delivery.text, delivery.overflow, delivery.note) == (framed, None, "")
        return
    assert delivery.overflow == rule.overflow
    told = re.search(r"sees ([\d,]+) of ([\d,]+) characters$", delivery.note)
    assert told is not None
    seen, of = (int(number.replace(",", "")) for number in told.groups())
    assert of == len(text)
    assert 0 <= seen <= of


@given(st.text(min_size=1, max_size=200), st.sampled_from(sorted(profiles())))
def test_what_fits_is_delivered_whole_by_every_client(text: str, name: str) -> None:
    rule = profiles()[name].answer
    assert text in deliver(text, profiles()[name]).text or (rule and rule.compacts_json)


def test_a_spill_leaves_a_preview_that_is_not_filled_in_again() -> None:
    answer = "{file} {size}\n" + "x" * 600_000
    delivery = deliver(answer, profiles()["claude"])
    assert delivery.text.startswith("<persisted-output>\nOutput too large (586KB). Full output saved to: FILE\n")
    assert '"text": "{file} {size}\\nxxx' in delivery.text


def test_our_tools_declare_enough_for_claude_code() -> None:
    claude = profiles()["claude"]
    answer = "line\n" * 16_000
    assert deliver(answer, claude).overflow is None
    assert deliver(answer, claude, declared_chars=50_000).overflow == Overflow.SPILL


def test_the_middle_is_removed_at_whole_characters() -> None:
    answer = "start\n" + "🙂" * 20_000 + "\nend"
    delivery = deliver(answer, profiles()["codex"])
    assert delivery.text.startswith("Wall time: TIME seconds\nOutput:\nstart\n🙂")
    assert delivery.text.endswith("🙂\nend")
    assert re.search(r"🙂…\d tokens truncated…🙂", delivery.text)
    assert "�" not in delivery.text


def test_descriptions_are_truncated() -> None:
    kept = profiles()["claude"].description
    assert 0 < kept < 20_000
    assert len(truncate_description("x" * 20_000, profiles()["claude"])) == kept
    assert len(truncate_description("x" * 20_000, profiles()["raw"])) == 20_000


def test_a_result_with_several_blocks_or_structured_content() -> None:
    """How clients join them was measured; tests/test_client_lab.py has many more cases."""
    facts = {"b": 1, "a": "ü"}
    result = ToolResult(("one", "two"), facts)
    shown = {name: deliver_result(result, profiles()[name]).text for name in ("claude", "qwen", "copilot", "opencode")}
    content = '{"b":1,"a":"ü"}'
    expected = {"claude": content, "qwen": f"{content}\none\ntwo", "copilot": f"onetwo\n\n{content}"}
    assert shown == {**expected, "opencode": "one\n\ntwo"}
    same = ToolResult((content,), facts)
    assert deliver_result(same, profiles()["copilot"]).text == deliver_result(same, profiles()["qwen"]).text == content


def test_an_error_names_the_call_if_it_is_known() -> None:
    failed = ToolResult(('no "x"',), is_error=True, tool="search_code", arguments='{"query":"x"}')
    known = deliver_result(failed, profiles()["gemini"]).text
    assert known.startswith("MCP tool 'search_code' reported tool error for function call: ")
    assert '{"name":"search_code","args":{"query":"x"}} with response: ' in known
    assert '"text":"no \\"x\\""' in known
    assert "MCP tool 'TOOL' " in deliver("x", profiles()["gemini"], is_error=True).text


# The command line


def test_as_shows_what_a_model_sees(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(acme.settings.cache_dir))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", acme.settings.index.model)
    ask = ["search", "steps event", "--detail", "rich", "--limit", "20", "--root", str(acme.root)]

    def run(*options: str) -> Any:
        return CliRunner().invoke(cli, [*ask, *options])

    whole = run("--as", "vscode", "--budget", "20000")
    # The answer is fitted into what the client delivers, whatever the budget, and says so.
    assert len(whole.stdout) <= 8_192
    assert "max_tokens=20000 is over what VS Code delivers (8,192 characters); using max_tokens=8192" in whole.stdout
    assert (whole.stderr, whole.exit_code) == ("", 0)
    assert run("--as", "raw").stdout == run().stdout
    assert run("--as", "nobody").exit_code != 0


LIMITED = [profile.id for profile in profiles().values() if profile.answer]
WIDE = "".join(f"def größe_{number}():  # 漢字 🙂\n    return {number}\n\n\n" for number in range(2_500))
LINES = "".join(f"x{number} = {number}\n" for number in range(3_000))


PARTS = "".join(f"def größe_FILE_{number}(first):  # 漢字 🙂\n    return shared(first)\n\n\n" for number in range(12))


@pytest.fixture(scope="module")
def long_answers(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A workspace whose answers reach the limit of every client: code, wide characters, and many short lines."""
    root = tmp_path_factory.mktemp("long")
    (root / "wide.py").write_text(WIDE)
    (root / "lines.py").write_text(LINES)
    (root / "code.py").write_text("\n".join(Path(__file__).read_text() for _ in range(8)))
    (root / "shared.py").write_text("def shared(value):\n    return value\n")
    for number in range(60):
        text = "from shared import shared\n\n\n" + PARTS.replace("FILE", str(number))
        (root / f"module_{number}.py").write_text(text)
    settings = {"cache_dir": tmp_path_factory.mktemp("cache"), "index.model": "none"}
    service = Service(root, load_settings(root, settings))
    service.index()
    return service


def asked_for_much(service: Service, written: Format) -> Iterator[tuple[str, View]]:
    """Ask for more than any client delivers, in every way that lists something."""
    for path in ("wide.py", "lines.py", "code.py"):
        read = ReadRequest((path,), max_lines=2_000, max_tokens=MAX_TOKENS, format=written)
        yield f"read {path}", service.read_view(read)
    search = SearchRequest("größe", detail_level=Detail.RICH, limit=50, max_tokens=MAX_TOKENS, format=written)
    yield "search", service.search_view(search)
    yield "search by pattern", service.search_view(replace(search, query="/return shared/", limit=500))
    mapped = MapRequest("wide.py", level=MapLevel.OUTLINE, max_tokens=MAX_TOKENS, format=written)
    yield "map", service.map_view(mapped)
    tree = TreeRequest(relation=Relation.DESCENDANTS, symbols=True)
    for request in (tree, ReferencesRequest(symbol="shared")):
        name = type(request).__name__
        yield name, service.relation_view(replace(request, limit=500, max_tokens=MAX_TOKENS, format=written))


@pytest.mark.parametrize("written", list(Format))
@pytest.mark.parametrize("name", LIMITED)
def test_an_answer_that_reaches_the_limit_is_not_cut_and_uses_the_room(
    long_answers: Service, name: str, written: Format
) -> None:
    profile = profiles()[name]
    room = room_for(profile)
    assert room
    reached = set()
    with within(room):
        for asked, view in asked_for_much(long_answers, written):
            assert deliver(view.text, profile).overflow is None, asked
            size = measure(view.text)
            # Maps have a limit of their own.
            bytes_left = min(room.bytes or LARGEST, CAPS[MapLevel.OUTLINE] if asked == "map" else LARGEST)
            if view.truncation.reason == "character_limit":
                used = [size.bytes / bytes_left]
                used += [size.chars / room.chars] if room.chars else []
                used += [size.line_ends / room.lines] if room.lines else []
                assert max(used) > 0.8, (asked, used)
                reached.add(asked)
    # Where a client delivers much, the token budget is reached first.
    if min(room.chars or LARGEST, room.bytes or LARGEST) < 30_000:
        assert len(reached) >= 5, reached


# The server


@pytest.mark.parametrize(
    ("name", "budget"), [("codex-mcp-client", 20_000), ("Visual Studio Code", 8_192), ("x", 20_000)]
)
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_budget_follows_the_client(acme: Service, name: str, budget: int, era: str) -> None:
    me = Implementation(name=name, version="1")
    async with Client(build_server(acme), client_info=me, mode=era) as client:
        result = await client.call_tool_mcp("search_code", {"query": "retry", "format": "json"})
        asked = await client.call_tool_mcp("search_code", {"query": "retry", "format": "json", "max_tokens": 3_000})
    assert json.loads(result.content[0].text)["truncation_info"]["limit_tokens"] == budget
    assert json.loads(asked.content[0].text)["truncation_info"]["limit_tokens"] == 3_000


@pytest.mark.parametrize(
    ("settings", "name", "budget"),
    [
        ({"view.max_tokens": 9_000}, "claude-code", 9_000),
        ({"view.max_tokens": 9_000}, "Visual Studio Code", 8_192),
        ({"view.max_tokens": 9_000, "clients.claude.max_tokens": 7_000}, "claude-code", 7_000),
        ({"view.max_tokens": 9_000, "clients.claude.max_tokens": 7_000}, "codex-mcp-client", 9_000),
        ({"clients.claude.max_tokens": 7_000}, "codex-mcp-client", 20_000),
        ({"clients.claude.max_tokens": 7_000, "clients.claude-code.max_tokens": 6_000}, "claude-code", 6_000),
        ({"clients.VS Code.max_tokens": 2_500}, "Visual Studio Code", 2_500),
        ({"clients.zed.max_tokens": 5_000}, "Zed", 5_000),
        ({"clients.zed.max_tokens": 5_000}, "x", 20_000),
        ({"clients.codex.profile": "codex-unknown"}, "codex-mcp-client", 11_964),
        ({"clients.codex.profile": "codex-unknown"}, "claude-code", 20_000),
    ],
)
async def test_the_settings_go_before_what_is_known_of_the_client(
    acme: Service, settings: dict[str, object], name: str, budget: int
) -> None:
    service = _with_settings(acme, settings)
    async with Client(build_server(service), client_info=Implementation(name=name, version="1")) as client:
        arguments = {"query": "retry", "format": "json"}
        answers = [
            await client.call_tool_mcp("search_code", {**arguments, **more})
            for more in ({}, {"max_tokens": None}, {"max_tokens": 3_000})
        ]
    limits = [json.loads(answer.content[0].text)["truncation_info"]["limit_tokens"] for answer in answers]
    assert limits == [budget, budget, 3_000]


def test_a_profile_in_the_settings_must_be_known(acme: Service) -> None:
    service = _with_settings(acme, {"clients.codex.profile": "codex-unknwon"})
    with pytest.raises(ConfigError, match=r"clients.codex.profile: unknown client 'codex-unknwon'\. Did you mean"):
        build_server(service)


def _with_settings(service: Service, settings: dict[str, object]) -> Service:
    given = {"cache_dir": service.settings.cache_dir, "index.model": service.settings.index.model, **settings}
    return Service(service.root, load_settings(service.root, given))


def test_the_setting_is_the_budget_of_every_view_without_a_client(acme: Service) -> None:
    service = _with_settings(acme, {"view.max_tokens": 9_000, "clients.claude.max_tokens": 7_000})
    path = next(path.relative_to(acme.root).as_posix() for path in sorted(acme.root.rglob("*.py")))
    views = [
        service.search_view(SearchRequest("retry")),
        service.map_view(MapRequest(path)),
        service.read_view(ReadRequest((path,))),
        service.relation_view(BacklinksRequest(path)),
    ]
    assert {view.truncation.limit_tokens for view in views} == {9_000}
    assert service.search_view(SearchRequest("retry", max_tokens=2_000)).truncation.limit_tokens == 2_000
    with pytest.raises(QueryError, match="max_tokens must be from 1,000 to 25,000, not 0"):
        service.search_view(SearchRequest("retry", max_tokens=0))


@pytest.mark.parametrize("name", ["Visual Studio Code", "codex-mcp-client"])
async def test_resources_keep_the_room_of_the_client(tmp_path: Path, name: str) -> None:
    """A resource has no parameters, so only the client's name limits its size."""
    body = "".join(f"def function_{number}(first, second):\n    return first\n\n\n" for number in range(3_000))
    (tmp_path / "long.py").write_text(body)
    service = Service(tmp_path, load_settings(tmp_path, {"cache_dir": tmp_path.parent / "cache"}))
    async with Client(build_server(service), client_info=Implementation(name=name, version="1")) as client:
        read, mapped = [(await client.read_resource(f"keyhole://{what}/long.py"))[0].text for what in ("file", "map")]
    profile = profile_for(name)
    with within(room_for(profile)):
        assert read == service.read_view(ReadRequest(("long.py",))).text
        assert mapped == service.map_view(MapRequest("long.py")).text
    assert not deliver(read, profile).overflow
    assert not deliver(mapped, profile).overflow
    if name == "Visual Studio Code":
        assert read != service.read_view(ReadRequest(("long.py",))).text


async def test_tools_declare_how_much_they_may_return(acme: Service) -> None:
    async with Client(build_server(acme)) as client:
        for tool in await client.list_tools():
            # The status is always short.
            declared = None if tool.name == "index_status" else {"anthropic/maxResultSizeChars": CHARACTER_LIMIT}
            # Claude Code loads other tools only when its model searches for them.
            always = {"anthropic/alwaysLoad": True} if tool.name == "search_code" else {}
            assert tool.meta == (declared | always if declared else None)


async def test_clients_may_keep_the_lists_but_not_what_resources_hold(acme: Service) -> None:
    path = next(path.relative_to(acme.root).as_posix() for path in sorted(acme.root.rglob("*.py")))
    async with Client(build_server(acme), mode="auto") as client:
        listed = await client.list_tools_mcp()
        again = await client.list_tools_mcp()
        read = await client.read_resource_mcp(f"keyhole://file/{path}")
    assert (listed.ttl_ms, listed.cache_scope) == (600_000, "private")
    assert [tool.name for tool in again.tools] == [tool.name for tool in listed.tools]
    assert not read.ttl_ms


def test_what_our_tools_cost() -> None:
    tools = definitions()
    for profile in profiles().values():
        costs = definition_cost(tools, profile)
        assert len(costs) == len(tools)
        assert all(name.startswith(profile.prefix) and tokens > 50 for name, tokens in costs.items())
    long = [ToolDefinition("t", "word " * 50_000, "{}")]
    cut, whole = (definition_cost(long, profiles()[name]) for name in ("claude", "raw"))
    assert sum(cut.values()) < sum(whole.values()) / 5


def test_the_list_of_clients(check_golden: Callable[[str, str], None]) -> None:
    listed = CliRunner().invoke(clients, [])
    # The cost of our tools changes with every word of their descriptions.
    check_golden("clients.txt", re.sub(r"(?m)^(.{79}) *[\d,]+  ", r"\1    N  ", listed.output))
    facts = json.loads(CliRunner().invoke(clients, ["--json"]).output)
    budgets = {client["id"]: client["budget"] for client in facts}
    assert (budgets["claude"], budgets["codex-unknown"], budgets["vscode"]) == (20_000, 20_000, 20_000)
    whole = {client["id"]: client["delivers_whole"] for client in facts}
    assert (whole["codex-unknown"], whole["vscode"]) == ({"bytes": 11_964}, {"characters": 8_192})
    assert (whole["opencode"], whole["raw"]) == ({"bytes": 51_200, "lines": 2_000}, None)
    core = {"KEYHOLE_CLIENTS_CODEX_MAX_TOKENS": "3000", "KEYHOLE_VIEW_MAX_TOKENS": "4000", "KEYHOLE_MCP_TOOLS": "core"}
    changed = json.loads(CliRunner().invoke(clients, ["--json"], env=core).output)
    assert {client["id"]: client["budget"] for client in changed}["codex"] == 3_000
    assert {client["id"]: client["budget"] for client in changed}["claude"] == 4_000
    assert len(changed[0]["tool_tokens"]) < len(facts[0]["tool_tokens"])
    assert facts[0]["version"]
    assert sum(facts[0]["tool_tokens"].values()) > 500
