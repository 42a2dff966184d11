"""Snapshots of marked files, of blame, and of resized panes."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from driving import LARGE, MIDDLE, ask, explorer, files, make_app, make_service, press, settle, wait_until
from git_samples import changed_acme
from test_tui_git import blame_of, screen_text, until_blamed, until_known
from test_tui_snapshots import Compare, State, check
from textual.pilot import Pilot

from keyhole.core.git import blame_line
from keyhole.core.service import Service
from keyhole.tui.screens import explore as explore_module

SMALLEST = (60, 16)
# 100 days after the commits of the repository.
_NOW = 1_776_000_000


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_module, "DEBOUNCE_SECONDS", 0.001)
    monkeypatch.setattr(blame_line, "time", SimpleNamespace(time=lambda: _NOW))
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed_acme(tmp_path_factory.mktemp("git") / "acme")


@pytest.fixture
def service(root: Path) -> Service:
    return make_service(root)


async def results(pilot: Pilot[None]) -> None:
    await until_known(pilot)
    await ask(pilot, "retry mode:keyword", "enter")


async def tree(pilot: Pilot[None]) -> None:
    await until_known(pilot)
    await press(pilot, "escape", "2")
    files(pilot)._tree.reveal("src/acme/store.py")
    await settle(pilot)


async def blame(pilot: Pilot[None]) -> None:
    await until_known(pilot)
    explorer(pilot).open_file("src/acme/store.py", 4)
    await settle(pilot)
    await press(pilot, "b")
    await until_blamed(pilot)


async def resized(pilot: Pilot[None]) -> None:
    await until_known(pilot)
    explorer(pilot).open_file("src/acme/retry.py", 7)
    await settle(pilot)
    await pilot.press(*["right_curly_bracket"] * 4)
    await press(pilot, "l", "left_curly_bracket", "left_curly_bracket")


async def nothing_changed(pilot: Pilot[None]) -> None:
    await until_known(pilot)
    await ask(pilot, "handle mode:keyword changed:yes")
    await wait_until(pilot, lambda pilot: "changed=yes" in screen_text(pilot))


STATES = {
    "results": State(results, lambda pilot: "store.py:19 M" in screen_text(pilot)),
    "results-narrow": State(results, lambda pilot: "store.py:19 M" in screen_text(pilot), MIDDLE),
    "tree": State(tree, lambda pilot: "store.py M" in screen_text(pilot)),
    "blame": State(blame, lambda pilot: "Ada Lovelace, 3 months ago: Start" in blame_of(pilot)),
    "blame-smallest": State(blame, lambda pilot: "Ada Lovelace, 3 months ago: Start" in blame_of(pilot), SMALLEST),
    "resized": State(resized, lambda pilot: set(explorer(pilot).pane_sizes) == {"files", "links"}, LARGE),
    "nothing-changed": State(nothing_changed, lambda pilot: "without changed" in screen_text(pilot)),
}


@pytest.mark.parametrize("name", STATES)
def test_state(service: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(service), snap_compare, STATES[name])
