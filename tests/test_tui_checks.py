"""Searches of agents become checks: with a key in Traffic, and in the first checks file."""

import tomllib
from pathlib import Path

import pytest
from acme import write_acme
from driving import calls_of, drive, explorer, make_app, make_service, press, traffic, wait_until, watch
from recorded_calls import FILE, record_talk
from test_tui_snapshots import Compare, State, check
from textual.pilot import Pilot

from keyhole.core.checks.checks_file import CHECKS_FILE
from keyhole.core.checks.propose_checks import proposal_text
from keyhole.core.checks.written_checks import add_check
from keyhole.core.service import Service

ADDED = {"query": "retry backoff", "files": [FILE], "worst_rank": 3}


@pytest.fixture
def talked(tmp_path: Path) -> Service:
    service = make_service(write_acme(tmp_path / "acme"))
    service.index()
    record_talk(service)
    return service


def checks_in(service: Service) -> list[dict[str, object]]:
    text = (service.root / CHECKS_FILE).read_text()
    queries: list[dict[str, object]] = tomllib.loads(text)["query"]
    return queries


async def select(pilot: Pilot[None], call_id: int) -> None:
    """Go to a call by its number; the newest is the first."""
    await watch(pilot, 9)
    await press(pilot, "f", *["j"] * (9 - call_id))
    assert traffic(pilot).call
    assert traffic(pilot).call.id == call_id  # type: ignore[union-attr]


def notices(pilot: Pilot[None]) -> list[str]:
    return [notice.message for notice in pilot.app._notifications]


def test_a_search_and_the_read_after_it_become_one_check(talked: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await select(pilot, 2)
        await press(pilot, "a")
        assert checks_in(talked) == [ADDED]
        assert notices(pilot) == [f"Added to {CHECKS_FILE}: retry backoff → {FILE}"]
        # The read that followed the search stands for the same check.
        await press(pilot, "k", "k", "k", "a")
        assert traffic(pilot).call.tool == "read_file"  # type: ignore[union-attr]
        assert checks_in(talked) == [ADDED]
        assert notices(pilot)[-1].startswith(f"Already in {CHECKS_FILE}")

    drive(make_app(talked), steps)


def test_what_is_no_check(talked: Service) -> None:
    """A search without a read, a browser, and a file that is broken: each is said, and nothing is written."""

    async def steps(pilot: Pilot[None]) -> None:
        await select(pilot, 1)
        await press(pilot, "a")
        assert notices(pilot)[-1] == "Only a search that ended in a read can become a check."
        explorer(pilot).is_remote = True
        await press(pilot, "k", "a")
        assert traffic(pilot).call.id == 2  # type: ignore[union-attr]
        assert "The browser can't write files" in notices(pilot)[-1]
        assert not (talked.root / CHECKS_FILE).exists()
        explorer(pilot).is_remote = False
        (talked.root / CHECKS_FILE).write_text("[[query]\n")
        await press(pilot, "a")
        assert f"{CHECKS_FILE} is not valid TOML" in notices(pilot)[-1]
        assert (talked.root / CHECKS_FILE).read_text() == "[[query]\n"

    drive(make_app(talked), steps)


def test_other_checks_and_comments_stay(tmp_path: Path) -> None:
    before = "# Ours.\n[[links]]\nmax_broken = 0"
    (tmp_path / CHECKS_FILE).write_text(before)
    assert add_check(tmp_path, "query", ADDED)
    assert (tmp_path / CHECKS_FILE).read_text().startswith(before + "\n\n[[query]]\n")
    assert not add_check(tmp_path, "query", ADDED)


def test_an_added_check(talked: Service, snap_compare: Compare, in_greenwich: None) -> None:  # noqa: ARG001
    async def steps(pilot: Pilot[None]) -> None:
        await select(pilot, 2)
        await press(pilot, "a")
        await wait_until(pilot, lambda pilot: len(notices(pilot)) == 1)

    check(make_app(talked), snap_compare, State(steps, lambda pilot: calls_of(pilot).highlighted == 7))


def test_the_first_checks_file_has_searches_that_ended_in_a_read(talked: Service) -> None:
    text = proposal_text(talked)
    assert ADDED in tomllib.loads(text)["query"]
    assert "# Searches of agents that ended in a read." in text
    assert "how are events handled" not in text
