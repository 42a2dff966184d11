"""How clients deliver an answer: the profiles, `deliver`, `--as`, budgets by client, and the cost of our tools."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastmcp import Client
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Implementation

from keyhole.core.cli.client_commands import clients
from keyhole.core.cli.main import cli
from keyhole.core.clients import (
    AnswerRule,
    Overflow,
    Profile,
    SourcedFigure,
    deliver,
    profile_for,
    profile_named,
    profiles,
    truncate_description,
)
from keyhole.core.config import load_settings
from keyhole.core.errors import QueryError
from keyhole.core.links.requests import BacklinksRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.core.view.budget.limits import CHARACTER_LIMIT, MAX_TOKENS, MIN_TOKENS
from keyhole.core.view.budget.sizes import measure
from keyhole.mcp_server.definitions import ToolDefinition, definition_cost, definitions
from keyhole.mcp_server.server import build_server

pytestmark = pytest.mark.anyio
SINCE = date(2026, 1, 1)


def figures(profile: Profile) -> list[SourcedFigure]:
    rule = profile.answer
    found = [profile.max_tokens, profile.description, *((rule.limit, rule.preview, rule.declared) if rule else ())]
    return [figure for figure in found if figure]


def test_every_figure_has_a_source_and_a_date() -> None:
    counted = 0
    for profile in profiles().values():
        for figure in figures(profile):
            assert len(figure.source) > 20
            assert date.fromisoformat(figure.date) >= SINCE
            counted += 1
    assert counted >= 10
    assert {"claude", "codex", "cursor", "vscode", "raw"} <= profiles().keys()


def test_client_budgets_are_within_the_limits() -> None:
    for profile in profiles().values():
        if profile.max_tokens:
            assert MIN_TOKENS <= profile.max_tokens.value <= MAX_TOKENS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-code", "claude"),
        ("Claude-Code/2.1", "claude"),
        ("codex-mcp-client", "codex"),
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
    limit=st.integers(0, 200).map(lambda value: SourcedFigure(value, "", "")),
    unit=st.sampled_from(["characters", "bytes"]),
    message=st.sampled_from(["", "…{tokens} tokens truncated…", "saved to {file}:\n{preview}\n...", "({size})"]),
    preview=st.none() | st.integers(0, 50).map(lambda value: SourcedFigure(value, "", "")),
)


@given(TEXTS, RULES)
def test_a_delivery_is_the_answer_or_says_what_is_missing(text: str, rule: AnswerRule) -> None:
    profile = Profile("x", "X", (), "claude", "", answer=rule)
    delivery = deliver(text, profile)
    size = len(text.encode("utf-8", "surrogatepass")) if rule.unit == "bytes" else len(text)
    if size <= rule.limit.value:
        assert (delivery.text, delivery.overflow, delivery.note) == (text, None, "")
        return
    assert delivery.overflow == rule.overflow
    told = re.search(r"sees ([\d,]+) of ([\d,]+) characters$", delivery.note)
    assert told is not None
    seen, of = (int(number.replace(",", "")) for number in told.groups())
    assert of == len(text)
    assert 0 <= seen <= of
    if rule.overflow != Overflow.SPILL:
        prefix = next(n for n in range(seen, -1, -1) if delivery.text.startswith(text[:n]))
        assert delivery.text.endswith(text[len(text) - (seen - prefix) :] if seen > prefix else "")


@given(st.text(min_size=1, max_size=200), st.sampled_from(sorted(profiles())))
def test_what_fits_is_delivered_whole_by_every_client(text: str, name: str) -> None:
    assert deliver(text, profiles()[name]).text == text


@given(st.integers(0, 120_000), st.sampled_from(sorted(profiles())))
def test_what_is_seen_is_bounded(size: int, name: str) -> None:
    profile = profiles()[name]
    delivery = deliver("word " * (size // 5), profile)
    rule = profile.answer
    if rule:
        assert len(delivery.text) <= rule.limit_for(CHARACTER_LIMIT) + 200
        assert (delivery.overflow is None) == (len("word " * (size // 5)) <= rule.limit_for(CHARACTER_LIMIT))


def test_a_spill_leaves_a_preview_that_is_not_filled_in_again() -> None:
    answer = "{file} {size}\n" + "x" * 600_000
    delivery = deliver(answer, profiles()["claude"])
    assert delivery.text.startswith("<persisted-output>\nOutput too large (600 KB). Full output saved to: FILE\n")
    assert "\n{file} {size}\nxxx" in delivery.text
    assert delivery.note.endswith("its model sees 2,000 of 600,014 characters")


def test_our_tools_declare_enough_for_claude_code() -> None:
    claude = profiles()["claude"]
    answer = "line\n" * 16_000
    assert deliver(answer, claude).overflow is None
    assert deliver(answer, claude, declared_chars=50_000).overflow == Overflow.SPILL


def test_the_middle_is_removed_at_whole_characters() -> None:
    answer = "start\n" + "🙂" * 20_000 + "\nend"
    delivery = deliver(answer, profiles()["codex"])
    assert delivery.text.startswith("start\n🙂")
    assert delivery.text.endswith("🙂\nend")
    assert re.search(r"🙂…8\d\d\d tokens truncated…🙂", delivery.text)
    assert "�" not in delivery.text


def test_descriptions_are_truncated() -> None:
    assert len(truncate_description("x" * 5_000, profiles()["claude"])) == 2_048
    assert len(truncate_description("x" * 5_000, profiles()["raw"])) == 5_000


# The command line


def test_as_shows_what_a_model_sees(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(acme.settings.cache_dir))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", acme.settings.index.model)
    ask = ["search", "steps event", "--detail", "rich", "--limit", "20", "--root", str(acme.root)]

    def run(*options: str) -> Any:
        return CliRunner().invoke(cli, [*ask, *options])

    whole = run("--as", "vscode")
    # Without a budget, the client's own applies, so the answer arrives complete.
    expected = acme.search_view(SearchRequest("steps event", detail_level=Detail.RICH, limit=20, max_tokens=1_600))
    assert (whole.stdout, whole.stderr, whole.exit_code) == (expected.text, "", 0)
    assert expected.truncation.reason == "token_limit"
    spilled = run("--as", "VS Code", "--budget", "20000")
    assert re.fullmatch(r"Large tool result \(\d+KB\) written to file\. Use .* at: FILE\n", spilled.stdout)
    assert spilled.stderr.startswith("keyhole: VS Code saves answers over 8,192 characters to a file: its model")
    assert run("--as", "raw").stdout == run().stdout
    assert run("--as", "nobody").exit_code != 0


@pytest.mark.parametrize("name", sorted(profiles()))
def test_what_a_client_asks_for_by_default_arrives_whole(acme: Service, name: str) -> None:
    profile = profiles()[name]
    budget = profile.max_tokens.value if profile.max_tokens else None
    paths = tuple(path.relative_to(acme.root).as_posix() for path in sorted(acme.root.rglob("*.py")))
    read = acme.read_view(ReadRequest(paths, max_tokens=budget))
    found = acme.search_view(SearchRequest("the event", detail_level=Detail.RICH, limit=50, max_tokens=budget))
    for view in (read, found):
        assert deliver(view.text, profile).overflow is None


# The server


@pytest.mark.parametrize(("name", "budget"), [("codex-mcp-client", 10_000), ("claude-code", 20_000), ("x", 20_000)])
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
        ({"view.max_tokens": 9_000}, "Visual Studio Code", 9_000),
        ({"view.max_tokens": 9_000, "clients.claude.max_tokens": 7_000}, "claude-code", 7_000),
        ({"view.max_tokens": 9_000, "clients.claude.max_tokens": 7_000}, "codex-mcp-client", 9_000),
        ({"clients.claude.max_tokens": 7_000}, "codex-mcp-client", 10_000),
        ({"clients.claude.max_tokens": 7_000, "clients.claude-code.max_tokens": 6_000}, "claude-code", 6_000),
        ({"clients.VS Code.max_tokens": 2_500}, "Visual Studio Code", 2_500),
        ({"clients.zed.max_tokens": 5_000}, "Zed", 5_000),
        ({"clients.zed.max_tokens": 5_000}, "x", 20_000),
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


@pytest.mark.parametrize(("name", "budget"), [("Visual Studio Code", 1_600), ("codex-mcp-client", 10_000)])
async def test_resources_keep_the_budget_of_the_client(tmp_path: Path, name: str, budget: int) -> None:
    """A resource has no parameters, so only the client's name limits its size."""
    body = "".join(f"def function_{number}(first, second):\n    return first\n\n\n" for number in range(3_000))
    (tmp_path / "long.py").write_text(body)
    service = Service(tmp_path, load_settings(tmp_path, {"cache_dir": tmp_path.parent / "cache"}))
    async with Client(build_server(service), client_info=Implementation(name=name, version="1")) as client:
        read, mapped = [(await client.read_resource(f"keyhole://{what}/long.py"))[0].text for what in ("file", "map")]
    assert read == service.read_view(ReadRequest(("long.py",), max_tokens=budget)).text
    assert mapped == service.map_view(MapRequest("long.py", max_tokens=budget)).text
    assert max(measure(read).tokens, measure(mapped).tokens) <= budget
    assert read != service.read_view(ReadRequest(("long.py",))).text


async def test_tools_declare_how_much_they_may_return(acme: Service) -> None:
    async with Client(build_server(acme)) as client:
        for tool in await client.list_tools():
            # The status is always short.
            declared = None if tool.name == "index_status" else {"anthropic/maxResultSizeChars": CHARACTER_LIMIT}
            assert tool.meta == declared


def test_what_our_tools_cost() -> None:
    tools = definitions()
    for profile in profiles().values():
        costs = definition_cost(tools, profile)
        assert len(costs) == len(tools)
        assert all(name.startswith(profile.prefix) and tokens > 50 for name, tokens in costs.items())
    long = [ToolDefinition("t", "word " * 5_000, "{}")]
    cut, whole = (definition_cost(long, profiles()[name]) for name in ("claude", "raw"))
    assert sum(cut.values()) < sum(whole.values()) / 5


def test_the_list_of_clients(check_golden: Callable[[str, str], None]) -> None:
    listed = CliRunner().invoke(clients, [])
    # The cost of our tools changes with every word of their descriptions.
    check_golden("clients.txt", re.sub(r"(?m)^(.{30}) *[\d,]+  ", r"\1     N  ", listed.output))
    facts = json.loads(CliRunner().invoke(clients, ["--json"]).output)
    assert [client["budget"] for client in facts] == [20_000, 10_000, 20_000, 1_600, 2_000, 20_000]
    core = {"KEYHOLE_CLIENTS_CODEX_MAX_TOKENS": "3000", "KEYHOLE_VIEW_MAX_TOKENS": "4000", "KEYHOLE_MCP_TOOLS": "core"}
    changed = json.loads(CliRunner().invoke(clients, ["--json"], env=core).output)
    assert [client["budget"] for client in changed] == [4_000, 3_000, 4_000, 4_000, 4_000, 4_000]
    assert len(changed[0]["tool_tokens"]) < len(facts[0]["tool_tokens"])
    assert facts[0]["answer"]["limit"]["date"] == "2026-10-05"
    assert sum(facts[0]["tool_tokens"].values()) > 500
