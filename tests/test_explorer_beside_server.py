"""The explorer and the shared server on one workspace: each change is indexed once, and only the explorer watches."""

import asyncio
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from driving import wait_for
from sharing_home import Home, Session, sharing_home, status
from textual.message import Message

from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.core.types.index import IndexReport
from keyhole.tui.app import KeyholeApp
from keyhole.tui.messages import Indexed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at open files in /proc")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with sharing_home(tmp_path) as home:
        yield home


def test_a_change_is_indexed_once_and_only_the_explorer_watches(home: Home) -> None:
    service = Service(home.root, load_settings(home.root, {"cache_dir": home.folder / "cache", "index.model": "none"}))
    reports: list[IndexReport] = []

    def note_reports(message: Message) -> None:
        if isinstance(message, Indexed):
            reports.append(message.report)

    def has_run(runs_before: int, _: object) -> bool:
        return len(reports) > runs_before

    async def run(client: Session) -> None:
        app = KeyholeApp(home.root, lambda: service, watches=True)
        async with app.run_test(message_hook=note_reports) as pilot:
            await wait_for(pilot, lambda _: reports)
            # The server has indexed everything before.
            assert reports[0].added + reports[0].changed == 0
            await wait_for(pilot, lambda _: is_watching("self"))
            assert not is_watching(str(status(home.address).process))
            before = service.status().generation
            for number, (is_server_first, name) in enumerate([(False, "explorer"), (True, "server")], 1):
                runs = len(reports)
                (home.root / "src/retry.py").write_text(f"class RetryPolicy:\n    def for_the_{name}(self): ...\n")
                if not is_server_first:
                    await wait_for(pilot, partial(has_run, runs))
                # A file with a hit is indexed again if it has changed.
                found = await asyncio.to_thread(client.call, "search_code", query="RetryPolicy", detail_level="rich")
                assert f"for_the_{name}" in found
                await wait_for(pilot, partial(has_run, runs))
                assert service.status().generation == before + number

    with home.session() as client:
        client.call("search_code", query="RetryPolicy")
        asyncio.run(run(client))


def is_watching(process: str) -> bool:
    """Whether a process has asked the system to report changed files."""
    return any("inotify" in str(file.readlink()) for file in Path(f"/proc/{process}/fd").iterdir() if file.is_symlink())
