"""A token sees only the repositories of its groups: nothing else is in any answer, total, suggestion or error."""

import asyncio
import json
import logging
import re
import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import Context, copy_context
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.auth import AccessToken
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.shared.exceptions import MCPError
from mcp.types import Tool
from postgres_server import prepared_database
from team_repositories_made import index_team, team_settings_for
from test_same_index import write

from keyhole.core.config import Settings
from keyhole.core.errors import ErrorKind, StoreError
from keyhole.core.journal.reader import JournalReader
from keyhole.core.journal.writer import Journal
from keyhole.core.postgres.server_connection import connect
from keyhole.core.postgres.shared_connections import MOST_CONNECTIONS
from keyhole.core.team import access_book
from keyhole.core.team.access_book import AccessBook, served_repositories
from keyhole.core.team.access_tokens import TeamAccess, create_token, revoke_token
from keyhole.core.team.team_database import NamedRepository
from keyhole.core.team.team_service import TeamService
from keyhole.core.team.team_services import MOST_OPEN, TeamServices
from keyhole.core.types.choices import ToolSet
from keyhole.core.types.view_requests import SearchRequest
from keyhole.mcp_server.definitions import definitions
from keyhole.mcp_server.run_server import ENDPOINT
from keyhole.mcp_server.team_server import build_team_server, team_http_options
from keyhole.mcp_server.tool_texts import REPO_TOOLS, TOOLS, instructions

# An example takes a fifth of a second, so there are fewer than of other properties.
EXAMPLES = settings.default.max_examples // 2 if settings.default else 50
CANARIES = ("zirconium", "secretrepo", "ZirconiumVault", "melt_zirconium")
MINE = {
    "apples/tree.py": "from apples.seeds import grow\n\n\nclass Tree:\n    def shake(self, by):\n        grow(by)\n",
    "apples/seeds.py": "def grow(water):\n    return water * 2\n",
    "apples/readme.md": "# Apples\n\nSee [seeds](seeds.py), [gone](gone.md) and [pears](https://example.org/pears).\n",
    "pears/basket.py": "def fill(basket, fruit):\n    return [*basket, fruit]\n",
    "pears/notes.md": "# Pears\n\nShake the tree, fill the basket. [[readme]]\n",
}
THEIRS = {
    "secretrepo/zirconium_vault.py": "class ZirconiumVault:\n    def melt_zirconium(self):\n        return grow\n",
    "secretrepo/tree.py": "def shake(zirconium):\n    return zirconium\n",
    "secretrepo/readme.md": "# Zirconium\n\nShake the tree, grow and fill zirconium. [gone](gone.md)\n",
}


class Served:
    """The server of a team, with the client of each token in this process."""

    def __init__(self, settings: Settings, runner: asyncio.Runner, journal: Journal | None = None) -> None:
        self.url = settings.store.url.get_secret_value()
        self.book = AccessBook(self.url)
        self._services = TeamServices(settings)
        self.server = build_team_server(settings, self.book, self._services, journal)
        self._runner = runner
        self._clients: dict[str, tuple[Client[Any], Context]] = {}

    def client(self, token: str) -> tuple[Client[Any], Context]:
        """Return the client that sends a token, as the check of tokens would pass it on."""
        if token not in self._clients:
            access = self.book.access(token)
            assert access
            known = AccessToken(token="…", client_id=access.token, scopes=[], claims={"access": access})
            context = copy_context()
            context.run(auth_context_var.set, AuthenticatedUser(known))
            client = Client(self.server)
            self._runner.run(client.__aenter__(), context=context)  # type: ignore[no-untyped-call]
            self._clients[token] = client, context
        return self._clients[token]

    def call(self, token: str, tool: str, arguments: Mapping[str, object]) -> str:
        client, context = self.client(token)
        try:
            found = self._runner.run(client.call_tool_mcp(tool, dict(arguments)), context=context)
        except (ToolError, MCPError) as error:
            return str(error)
        return "".join(getattr(block, "text", "") for block in found.content)

    def resource(self, token: str, address: str) -> str:
        client, context = self.client(token)
        try:
            found = self._runner.run(client.read_resource(address), context=context)
        except (ToolError, MCPError) as error:
            return str(error)
        return "".join(getattr(part, "text", "") for part in found)

    def tools(self, token: str) -> list[Tool]:
        client, context = self.client(token)
        return self._runner.run(client.list_tools(), context=context)

    def close(self) -> None:
        for client, context in self._clients.values():
            self._runner.run(client.__aexit__(None, None, None), context=context)  # type: ignore[no-untyped-call]
        self._services.close()
        self.book.close()


class Teams:
    """The same repositories twice: in one database with a group that nobody here may see, in the other without."""

    def __init__(self, full: Served, without: Served, tokens: dict[str, str], reduced: str) -> None:
        self.full, self.without = full, without
        self.tokens, self.reduced = tokens, reduced


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory, postgres_server: str, model_folder: Path) -> Iterator[Teams]:
    base = tmp_path_factory.mktemp("access")
    # It draws each error of a tool with its source, which takes longer than the call.
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    for path, text in {**MINE, **THEIRS}.items():
        write(base, path, text)
    mine = {name: base / name for name in ("apples", "pears")}
    groups = {"fruit": ["apples", "pears"], "metal": ["secretrepo"], "all": ["apples", "pears", "secretrepo"]}
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        urls = [stack.enter_context(prepared_database(postgres_server)) for _ in range(2)]
        full, without = (team_settings_for(url, base, str(model_folder)) for url in urls)
        index_team(full, mine | {"secretrepo": base / "secretrepo"}, groups)
        index_team(without, mine, {"fruit": ["apples", "pears"]})
        many = 1_000_000
        tokens = {g: create_token(urls[0], f"{g}-bot", [g], calls_per_minute=many).secret for g in groups}
        reduced = create_token(urls[1], "fruit-bot", ["fruit"], calls_per_minute=many).secret
        found = Teams(Served(full, runner), Served(without, runner), tokens, reduced)
        yield found
        found.full.close()
        found.without.close()


def comparable(text: str) -> object:
    """Return an answer without the time it took, and without the time of the last index run."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", "TIME", text)
    if not text.startswith("{"):
        return text
    facts = json.loads(text)
    facts.pop("latency_ms", None)
    return facts


WORDS = (
    *("tree", "grow", "shake", "Tree.shake", "grow water", "fill basket", "/zirc\\w+/", "/gro./", '"fill"', "zirconum"),
    *("zirconium", "melt zirconium", "ZirconiumVault", "secretrepo", "secretrep", "apples", "pears", "example.org"),
    *(
        "apples,secretrepo",
        "pears, apples",
        "python",
        "class",
        "function",
        "*.py",
        "**/zirc*",
        "-test",
        "docs",
        "",
        ".",
        "..",
    ),
    *(
        "certain",
        "import",
        "secretrepo/",
        "apples/../secretrepo/tree.py",
        "/secretrepo/tree.py",
        "/team/apples/tree.py",
    ),
    *MINE,
    *THEIRS,
)


def values_of(facts: Mapping[str, Any]) -> st.SearchStrategy[object]:
    if "enum" in facts:
        return st.sampled_from(facts["enum"])
    kinds: dict[str, st.SearchStrategy[object]] = {
        "string": st.sampled_from(WORDS),
        "integer": st.integers(-1, 12),
        "boolean": st.booleans(),
        "array": st.lists(st.sampled_from(WORDS), max_size=3),
    }
    return kinds[facts["type"]]


@st.composite
def calls(draw: st.DrawFn, tools: list[Tool]) -> tuple[str, dict[str, object]]:
    tool = draw(st.sampled_from(tools))
    schema = tool.input_schema
    asked = set(schema.get("required", ())) | draw(st.sets(st.sampled_from(sorted(schema["properties"])), max_size=5))
    # A budget of a few tokens is an error about the budget, and nothing else.
    return tool.name, {
        name: draw(values_of(schema["properties"][name])) for name in sorted(asked - {"max_tokens", "cursor"})
    }


def test_no_call_shows_anything_of_other_groups(teams: Teams) -> None:
    tools = teams.full.tools(teams.tokens["fruit"])
    assert len(tools) == len(TOOLS)
    cursors = others_cursors(teams)

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[*HealthCheck],
        deadline=None,
    )
    @given(st.lists(calls(tools), min_size=1, max_size=4), st.sampled_from(cursors))
    def check(several: list[tuple[str, dict[str, object]]], cursor: str) -> None:
        for number, (tool, arguments) in enumerate(several):
            given_cursor = {"cursor": cursor} if not number and cursor and "cursor" in properties[tool] else {}
            own = teams.full.call(teams.tokens["fruit"], tool, arguments | given_cursor)
            other = teams.without.call(teams.reduced, tool, arguments | given_cursor)
            assert comparable(own) == comparable(other), (tool, arguments)
            if not any(canary in json.dumps(arguments) for canary in (*CANARIES, "zirc", "rep")):
                assert not any(canary in own for canary in CANARIES), own

    properties = {tool.name: tool.input_schema["properties"] for tool in tools}
    check()


def others_cursors(teams: Teams) -> list[str]:
    """Return cursors of callers who see more, and of one who sees the same."""
    found = [""]
    for group in ("all", "fruit"):
        for tool, arguments in (("search_code", {"query": "tree", "limit": 1}), ("get_tree", {"limit": 1})):
            answer = teams.full.call(teams.tokens[group], tool, arguments | {"format": "json"})
            found.append(json.loads(answer)["pagination"]["cursor"])
    assert all(found[1:])
    return found


def test_others_do_see_it(teams: Teams) -> None:
    """Otherwise the test above would find nothing to compare."""
    for group in ("all", "metal"):
        assert "secretrepo/zirconium_vault.py" in teams.full.call(
            teams.tokens[group], "search_code", {"query": "melt zirconium"}
        )
    assert "apples/tree.py" in teams.full.call(teams.tokens["fruit"], "search_code", {"query": "shake"})


@pytest.mark.parametrize("address", ["file/{}", "map/{}", "bundle/{}", "status", "bundle", "{}"])
def test_resources_show_nothing_of_other_groups(teams: Teams, address: str) -> None:
    for path in ("apples/tree.py", "secretrepo/tree.py", "../secretrepo/tree.py", "%2e%2e/secretrepo/tree.py"):
        uri = f"keyhole://{address.format(path)}"
        own, other = teams.full.resource(teams.tokens["fruit"], uri), teams.without.resource(teams.reduced, uri)
        assert comparable(own) == comparable(other)
        assert "return zirconium" not in own


def test_repo_narrows_the_repositories(teams: Teams) -> None:
    fruit = teams.tokens["fruit"]
    assert "apples/" not in teams.full.call(fruit, "search_code", {"query": "shake the tree", "repo": "pears"})
    assert "pears/" not in teams.full.call(fruit, "get_tree", {"repo": "apples"})
    both = teams.full.call(fruit, "search_code", {"query": "shake the tree", "repo": "pears, apples"})
    assert "apples/" in both
    assert "pears/" in both
    wrong = teams.full.call(fruit, "search_code", {"query": "shake", "repo": "secretrepo"})
    assert "there is no repository 'secretrepo'. Choose from: apples, pears" in wrong
    assert "unknown parameter 'repo'" in teams.full.call(
        fruit, "read_file", {"path": "apples/tree.py", "repo": "apples"}
    )


def test_only_the_list_of_a_team_has_the_filter(teams: Teams) -> None:
    assert {
        tool.name for tool in teams.full.tools(teams.tokens["fruit"]) if "repo" in tool.input_schema["properties"]
    } == set(REPO_TOOLS)
    assert not [tool.name for tool in definitions() if "repo" in json.loads(tool.schema)["properties"]]
    assert instructions(ToolSet.ALL) in instructions(ToolSet.ALL, is_team=True)
    assert "repo=" not in instructions(ToolSet.ALL)


# Tokens, limits and the journal


class Posted:
    """Calls over HTTP, with the real check of tokens."""

    def __init__(self, server: FastMCP) -> None:
        app = server.http_app(**team_http_options(server))
        listener = socket.create_server(("127.0.0.1", 0))
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listener]})
        self._thread.start()
        self._client = httpx2.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=30)

    def call(self, token: str, tool: str, **arguments: object) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        headers = {"Accept": "application/json, text/event-stream", **sent}
        return self._client.post(ENDPOINT, json=body, headers=headers)

    def close(self) -> None:
        self._client.close()
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def posted(teams: Teams, tmp_path: Path) -> Iterator[tuple[Posted, str, Path]]:
    url = teams.full.url
    settings = team_settings_for(url, tmp_path)
    journal = Journal(tmp_path / "journal", max_bytes=10**7, max_seconds=10**6)
    book, services = AccessBook(url), TeamServices(settings)
    found = Posted(build_team_server(settings, book, services, journal))
    yield found, url, tmp_path / "journal"
    found.close()
    services.close()
    book.close()
    journal.close()


def test_a_token_works_until_it_is_revoked_or_expires(
    posted: tuple[Posted, str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, url, _ = posted
    monkeypatch.setattr(access_book, "_SECONDS", 0.0)
    tokens = {name: create_token(url, name, ["fruit"]).secret for name in ("kept", "revoked", "expired")}
    for token in tokens.values():
        assert "apples/seeds.py" in server.call(token, "search_code", query="grow").text
    revoke_token(url, "revoked")
    with connect(url) as db:
        db.execute("UPDATE access_token SET expires = now() - interval '1 second' WHERE name = 'expired'")
    assert "apples/seeds.py" in server.call(tokens["kept"], "search_code", query="grow").text
    for token in (tokens["revoked"], tokens["expired"], "keyhole_" + "x" * 40, ""):
        refused = server.call(token, "search_code", query="grow")
        assert refused.status_code == 401
        assert "keyhole admin token" in refused.json()["error_description"]
        assert "apples" not in refused.text
    # A token without groups that have repositories sees an empty workspace.
    with connect(url) as db:
        db.execute("DELETE FROM token_group WHERE token_id = (SELECT id FROM access_token WHERE name = 'kept')")
    assert "apples" not in server.call(tokens["kept"], "get_tree").text


def test_a_token_has_a_limit_for_all_servers_together(posted: tuple[Posted, str, Path], teams: Teams) -> None:
    server, url, _ = posted
    token = create_token(url, "slow", ["fruit"], calls_per_minute=1).secret
    answers = [server.call(token, "search_code", query="grow").text]
    answers += [teams.full.call(token, "search_code", {"query": "grow"}) for _ in range(2)]
    answers += [server.call(token, "search_code", query="grow").text]
    # A new minute may begin between them, but not more than one.
    refused = [answer for answer in answers if "this token may make 1 call per minute; try again in" in answer]
    assert "apples/seeds.py" in answers[0]
    assert len(refused) >= 2
    assert not any("apples" in answer for answer in refused)
    assert "apples/" in teams.full.call(teams.tokens["fruit"], "search_code", {"query": "grow"})


def test_the_journal_says_who_asked_what(posted: tuple[Posted, str, Path]) -> None:
    server, url, folder = posted
    tokens = {name: create_token(url, name, ["fruit"], calls_per_minute=1).secret for name in ("ann", "bob")}
    server.call(tokens["ann"], "search_code", query="grow", repo="apples")
    server.call(tokens["bob"], "read_file", path="secretrepo/tree.py")
    server.call(tokens["bob"], "read_file", path="apples/tree.py")
    server.call(tokens["bob"], "read_file", path="apples/tree.py")
    assert server.call("keyhole_" + "x" * 40, "search_code", query="never").status_code == 401
    for _ in range(100):
        found = list(JournalReader(folder).each())
        if len(found) == 4 and all(call.status != "pending" for call in found):
            break
        time.sleep(0.02)
    assert [(call.caller, call.tool) for call in found] == [("ann", "search_code"), *[("bob", "read_file")] * 3]
    assert '"repo": "apples"' in found[0].arguments
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert not any(token.encode() in content for token in tokens.values())


def test_a_client_is_told_that_the_database_is_away(teams: Teams, tmp_path: Path) -> None:
    settings = team_settings_for(teams.full.url, tmp_path)
    book, services = AccessBook("postgresql://ann:Tr0ub4dor@127.0.0.1:1/keyhole"), TeamServices(settings)
    server = Posted(build_team_server(settings, book, services))
    away = server.call(teams.tokens["fruit"], "search_code", query="grow")
    server.close()
    services.close()
    assert away.status_code == 503
    assert away.text == "The database of this server can't be reached. Try again in a few seconds.\n"
    assert int(away.headers["retry-after"]) > 0
    assert away.headers["content-type"].startswith("text/plain")


class LosesDatabase(AccessBook):
    """Reaches the database only once."""

    looks = 0

    def access(self, token: str) -> TeamAccess | None:
        self.looks += 1
        if self.looks > 1:
            raise StoreError("cannot use the database", ErrorKind.NO_SERVER)
        return super().access(token)


def test_a_token_that_is_looked_up_twice_may_find_the_database_away(teams: Teams, tmp_path: Path) -> None:
    settings = team_settings_for(teams.full.url, tmp_path)
    book, services = LosesDatabase(teams.full.url), TeamServices(settings)
    server = Posted(build_team_server(settings, book, services))
    away = server.call(teams.tokens["fruit"], "search_code", query="grow")
    server.close()
    services.close()
    book.close()
    assert book.looks == 2
    assert away.status_code == 503


def test_all_services_share_few_connections(teams: Teams, tmp_path: Path) -> None:
    services = TeamServices(team_settings_for(teams.full.url, tmp_path))
    every = served_repositories(teams.full.url)
    sets = [*([one] for one in every), every]
    with connect(teams.full.url) as db, ThreadPoolExecutor(2 * MOST_CONNECTIONS) as threads:
        opened = """SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'keyhole'"""
        before = db.execute(opened).fetchone() or (0,)
        asked = [services.of(one) for one in sets] * 8
        views = list(threads.map(lambda one: one.search_view(SearchRequest("tree")), asked))
        during = db.execute(opened).fetchone() or (0,)
        services.close()
    assert len({view.text for view in views}) == len(sets)
    assert 0 < during[0] - before[0] <= MOST_CONNECTIONS


def test_services_are_bounded(teams: Teams, tmp_path: Path) -> None:
    services = TeamServices(team_settings_for(teams.full.url, tmp_path))
    sets = [(NamedRepository(number, f"r{number}"),) for number in range(1, MOST_OPEN + 3)]
    opened: list[TeamService] = [services.of(one) for one in sets]
    assert services.of(sets[-1]) is opened[-1]
    assert services.of(sets[0]) is not opened[0]
    services.close()
