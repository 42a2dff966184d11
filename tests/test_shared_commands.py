"""Commands in the runner of the shared server, and commands about shared servers."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from sharing_home import Home, sharing_home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in folders")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with sharing_home(tmp_path_factory.mktemp("sharing")) as home:
        yield home


def test_commands_print_the_same_bytes(home: Home) -> None:
    with home.session():
        # The first command starts the runner.
        home.run("search", "RetryPolicy")
        for command in (
            ["search", "RetryPolicy", "--json"],
            ["search", "nothing-like-it", "--mode", "symbol"],
            ["read", "src/retry.py", "src/part_1.py"],
            ["refs", "RetryPolicy"],
            ["map", "gone.py"],
            ["search", "--limit", "x"],
            ["map", "retry.py", "--root", "src"],
        ):
            shared, alone = home.run(*command), home.run(*command, KEYHOLE_SHARE="0")
            assert _without_times(shared) == _without_times(alone), command


def _without_times(result: tuple[int, bytes, bytes]) -> tuple[int, bytes, bytes]:
    return result[0], re.sub(rb'"latency_\w+": [\d.e+-]+', b"", result[1]), result[2]


def test_a_command_runs_where_it_was_called(home: Home) -> None:
    code = (
        "import sys; from keyhole.core.sharing import remote_command as r, share_address as a\n"
        "r._PATIENCE = 60; sys.exit(r.run_remotely(a.find_address(), sys.argv[1:]))"
    )
    with home.session():
        for folder, text in (("src", b"class RetryPolicy"), (".", b"")):
            done = subprocess.run(
                [sys.executable, "-P", "-c", code, "map", "retry.py"],
                cwd=home.root / folder,
                env=home.variables(COLUMNS="50"),
                capture_output=True,
                check=False,
            )
            assert text in done.stdout
            assert done.returncode == (0 if text else 2), done.stderr
        piped = subprocess.run(
            f"{sys.executable} -P -c '{code}' tree | head -1",
            shell=True,
            cwd=home.root,
            env=home.variables(),
            capture_output=True,
            check=False,
        )
        assert piped.stderr == b""
        assert piped.stdout.count(b"\n") == 1


def test_servers_with_other_settings_are_shown_and_stopped_too(home: Home) -> None:
    with home.session(), home.session(KEYHOLE_VIEW_MAX_TOKENS="3000"):
        facts = json.loads(home.run("status", "--json")[1])["shared_servers"]
        assert [(server["clients"], server["workspaces"]) for server in facts] == [(1, [str(home.root)])] * 2
        text = home.run("status")[1].decode()
        for server in facts:
            assert f"Shared server  process {server['process']} │ 1 client\n  {home.root}\n" in text
        # Those of another cache folder are not ours.
        stopped = home.run("mcp", "--stop", KEYHOLE_CACHE_DIR=str(home.folder / "cache-elsewhere"))[2]
        assert stopped == b"keyhole: no shared server is running\n"
    stopped = home.run("mcp", "--stop")[2]
    for server in facts:
        assert b"stopped the shared server (process %d)" % server["process"] in stopped
    assert b"\nShared server  not running\n" in home.run("status")[1]
