"""A misspelled path, tool, parameter, filter, value, client or setting gets a suggestion."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from served import call

from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.errors import KeyholeError, PathError, QueryError
from keyhole.core.links.requests import (
    BacklinksRequest,
    BrokenLinksRequest,
    LinkSearchRequest,
    LinksRequest,
    RelatedRequest,
    RelationRequest,
    TreeRequest,
)
from keyhole.core.search.regex import compile_pattern
from keyhole.core.service import Service
from keyhole.core.suggest import suggest_name, suggest_paths
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.tui.query_syntax import read_query

PATHS = [
    "src/auth.py",
    "lib/auth.py",
    "src/oauth.py",
    "src/main.py",
    "src/net/client.py",
    "src/mainly.py",
    "docs/auth.md",
    "README.md",
]


# Paths


@pytest.mark.parametrize(
    ("given", "suggested"),
    [
        ("auth.py", ["lib/auth.py", "src/auth.py", "docs/auth.md"]),
        ("src/Auth.py", ["src/auth.py", "lib/auth.py", "docs/auth.md"]),
        ("./lib/atuh.py", ["lib/auth.py", "src/auth.py", "docs/auth.md"]),
        ("src\\net\\client.py", ["src/net/client.py"]),
        ("readme", ["README.md"]),
        ("src/aut.py", ["src/auth.py", "lib/auth.py", "docs/auth.md"]),
        ("main.py", ["src/main.py"]),
        ("map.py", []),
        ("", []),
        ("x" * 5_000, []),
    ],
)
def test_paths_with_the_same_name_come_first_then_close_spellings(given: str, suggested: list[str]) -> None:
    assert suggest_paths(given, PATHS) == suggested


def test_folders_are_suggested_where_a_folder_may_be_meant() -> None:
    assert suggest_paths("src/nett", PATHS) == []
    assert suggest_paths("src/nett", PATHS, with_folders=True) == ["src/net"]


def test_a_suggestion_is_cheap_among_100_000_paths() -> None:
    chance = random.Random(1)
    words = ["auth", "user", "store", "client", "view", "index", "search", "token", "model", "base"]
    names = ["_".join(f"{chance.choice(words)}{chance.randrange(100)}" for _ in range(3)) for _ in range(100_000)]
    paths = [f"{chance.choice(words)}/{chance.choice(words)}/{name}.py" for name in names]
    started = time.process_time()
    assert suggest_paths("src/user7_token12_stroe9.py", [*paths, "src/user7_token12_store9.py"], with_folders=True)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("path", ["retry.py", "src/acme/rtery.py"])
def test_a_missing_file_is_answered_with_the_closest_ones(acme: Service, path: str) -> None:
    for ask in (
        acme.read,
        lambda path: acme.map_view(MapRequest(path)),
        lambda path: acme.read_view(ReadRequest((path,))),
    ):
        with pytest.raises(PathError) as raised:
            ask(path)
        said = raised.value.worded(SHELL_STEPS)
        assert said.startswith(
            f"{path} is not a file in the workspace; run `keyhole tree` to list the files. Did you mean src/"
        )
        assert "Did you mean src/acme/retry.py" in said
    assert (
        f"{path} is not a file in the workspace. Did you mean" in acme.read_view(ReadRequest((path, "README.md"))).text
    )
    assert "Did you mean src/acme/retry.py" in acme.explain(SearchRequest("backoff"), path).verdict


@pytest.mark.parametrize(
    ("request_", "suggested"),
    [
        (LinksRequest("retry.py"), "src/acme/retry.py"),
        (BacklinksRequest("src/acem"), "src/acme"),
        (TreeRequest("src/acem"), "src/acme"),
        (TreeRequest("client.py"), "src/acme/client.py"),
        (RelatedRequest("client.py"), "src/acme/client.py"),
        (LinkSearchRequest(has_links_to="client.py"), "src/acme/client.py"),
        (LinkSearchRequest(linked_from="client.py"), "src/acme/client.py"),
        (BrokenLinksRequest("src/acem/**"), "src/acme"),
    ],
)
def test_so_is_a_missing_path_of_every_list(acme: Service, request_: RelationRequest, suggested: str) -> None:
    with pytest.raises(KeyholeError, match=rf"Did you mean {suggested}\b"):
        acme.relation_view(request_)


@pytest.mark.parametrize("path", ["debug.lgo", "src/debug.log", ".evn", "package_lock.json"])
def test_what_is_not_indexed_is_never_suggested(acme: Service, path: str) -> None:
    with pytest.raises(PathError) as raised:
        acme.read(path)
    assert raised.value.suggestion == ""


def test_without_an_index_nothing_is_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "proj").mkdir()
    with pytest.raises(PathError, match=r"^auth\.py is not a file in the workspace$"):
        Service.open(tmp_path / "proj").read("auth.py")


def test_a_file_that_is_gone_by_now_is_not_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "proj/src").mkdir(parents=True)
    (tmp_path / "proj/src/auth.py").write_text("x = 1\n")
    service = Service.open(tmp_path / "proj")
    service.index()
    (tmp_path / "proj/src/auth.py").unlink()
    with pytest.raises(PathError, match=r"^auth\.py is not a file in the workspace$"):
        service.read("auth.py")


# Names and values


def test_a_name_is_suggested_or_all_are_listed() -> None:
    assert suggest_name("cluade", ["claude", "codex", "raw"]) == "Did you mean claude?"
    assert suggest_name("fetch", ["patch", "pitch", "raw"]) == "Did you mean patch or pitch?"
    assert suggest_name("zzz", ["claude", "codex"]) == "Choose from: claude, codex"
    assert suggest_name("zzz", []) == ""


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search_cod", {"query": "a"}, "unknown tool 'search_cod'. Did you mean search_code?"),
        ("zzz", {}, "unknown tool 'zzz'. Choose from: search_code, map_file,"),
        ("search_code", {"query": "a", "limt": 3}, "unknown parameter 'limt'. Did you mean limit?"),
        ("search_code", {"query": "a", "mode": "hybird"}, "mode: unknown value 'hybird'. Did you mean hybrid?"),
        ("search_code", {"query": "a", "detail_level": "minimla"}, "unknown value 'minimla'. Did you mean minimal?"),
        ("search_code", {"query": "a", "mode": "zzz"}, "unknown value 'zzz'. Choose from: auto, hybrid"),
        ("search_code", {"query": "a", "language": "pyhton"}, "unknown language 'pyhton'. Did you mean python?"),
        ("search_code", {"query": "a", "kind": "clas"}, "the index has no symbols of kind 'clas'. Did you mean class?"),
        ("find_broken_links", {"reason": "missing fiel"}, "unknown value 'missing fiel'. Did you mean missing file?"),
        ("read_file", {"path": "retry.py"}, "get_tree lists the files. Did you mean src/retry.py?"),
        ("get_links", {"path": "retry.py"}, "Did you mean src/retry.py?"),
    ],
)
async def test_agents_get_the_closest_name(server: FastMCP, tool: str, arguments: dict[str, Any], message: str) -> None:
    async with Client(server) as client:
        text, is_error = await call(client, tool, **arguments)
    assert is_error
    assert message in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("backoff lnag:py", "unknown filter 'lnag:'. Did you mean lang:?"),
        ("backoff language:python", "unknown filter 'language:'. Did you mean lang:?"),
        ("backoff mdoe:regex", "unknown filter 'mdoe:'. Did you mean mode:?"),
        ("backoff pth:src", "unknown filter 'pth:'. Did you mean path:?"),
        ("backoff test:no", "unknown filter 'test:'. Did you mean tests:?"),
        ("backoff mode:hybird", "unknown mode 'hybird'. Did you mean hybrid?"),
        ("backoff mode:zzz", "unknown mode 'zzz'. Choose from: auto, hybrid"),
    ],
)
def test_the_search_line_suggests_the_closest_filter(line: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        read_query(line)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "line", ["node:fs", "test:unit", "std::vector", "http://path", "find:x", "lnag:", "/lnag:py/", "Type:py", "TODO:x"]
)
def test_other_words_with_a_colon_are_searched_for(line: str) -> None:
    assert read_query(line).query == line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serach", "a"], "Did you mean 'search'?"),
        (["search", "a", "--lnaguage", "b"], "Did you mean '--language'?"),
        (["search", "a", "--mode", "hybird"], "Did you mean hybrid?"),
        (["search", "a", "--detail", "minimla"], "Did you mean minimal?"),
        (["search", "a", "--as", "cluade"], "unknown client 'cluade'. Did you mean claude?"),
        (["install", "cluade"], "unknown client 'cluade'. Did you mean claude?"),
        (["install", "zzz"], "unknown client 'zzz'. Choose from: claude, codex, cursor, vscode, copilot"),
        (["map", "retry.py"], "run `keyhole tree` to list the files. Did you mean src/retry.py?"),
    ],
)
def test_shell_users_get_the_closest_name(base: Path, arguments: list[str], message: str) -> None:
    variables = {"PATH": os.environ["PATH"], "HOME": str(base), "KEYHOLE_CACHE_DIR": str(base / "cache")}
    # Where the index of the fixture is, with --on-postgres.
    variables |= {name: value for name, value in os.environ.items() if name == "KEYHOLE_STORE_URL"}
    command = [sys.executable, "-m", "keyhole", *arguments]
    done = subprocess.run(
        command, cwd=base / "proj", env=variables, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert message in done.stderr


# No Python syntax in errors


@pytest.mark.parametrize("pattern", ["a{1001}", "[[:foo:]]", "(a{1000}){1000}"])
@pytest.mark.filterwarnings("ignore:Possible nested set")
def test_no_error_shows_bytes(pattern: str) -> None:
    with pytest.raises(QueryError, match="invalid") as raised:
        compile_pattern(pattern)
    assert "b'" not in str(raised.value)
