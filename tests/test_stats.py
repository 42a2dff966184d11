"""Statistics of the calls of agents, and `keyhole stats`."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.cli.main import cli
from keyhole.core.journal.statistics import percentile, statistics
from keyhole.core.journal.writer import Ended, Started
from keyhole.core.service import Service
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.stats_text import bars, stats_facts, stats_text
from keyhole.core.view.text import json_text

NOON = 1_786_104_000.0
CALLS = st.builds(
    Call,
    id=st.integers(1, 10**6),
    change=st.integers(1, 10**6),
    started=st.floats(NOON, NOON + 10**6),
    process=st.just(1),
    transport=st.just("stdio"),
    client=st.text(max_size=90),
    client_version=st.just("1"),
    tool=st.sampled_from(["search_code", "read_file", "x" * 80]),
    arguments=st.dictionaries(st.text(max_size=5), st.text(max_size=90), max_size=3).map(json.dumps),
    status=st.sampled_from(CallStatus),
    ms=st.floats(0, 10**5),
    tokens=st.integers(0, 25_000),
    budget=st.sampled_from([0, 1_000, 20_000]),
    utilisation=st.floats(0, 1),
)


@pytest.fixture(autouse=True)
def _noon_in_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def sample() -> list[Call]:
    """The calls of two agents: one reads a lot, one makes mistakes."""
    calls = []
    for number in range(40):
        tool = ("search_code", "read_file", "map_file", "search_code")[number % 4]
        status = (
            CallStatus.LEFT_OUT if number % 5 == 1 else CallStatus.ERROR if number % 13 == 3 else CallStatus.COMPLETE
        )
        budget = 0 if status == CallStatus.ERROR else 20_000
        used = 1 - number % 3 / 50 if status == CallStatus.LEFT_OUT else number % 10 / 20
        calls.append(
            Call(
                id=number + 1,
                change=2 * number + 2,
                started=NOON + number * 61,
                process=100 + number % 2,
                transport=("stdio", "http")[number % 2],
                client=("claude-code", "a-client-with-a-name-that-is-far-too-long")[number % 2],
                client_version="2.1",
                tool=tool,
                arguments=json.dumps({"query": f"größe {number}\x1b" * (1 + number % 4 * 3), "limit": number}),
                status=status,
                ms=1.5 * (number % 7) ** 3 + 0.25,
                tokens=int(used * budget) if budget else 20,
                budget=budget,
                utilisation=used if budget else 0.0,
                response_bytes=100,
            )
        )
    return [*calls, Call(41, 81, NOON + 9_000, 1, "http", "codex", "1", "search_code", "{}")]


def test_goldens(check_golden: Callable[[str, str], None]) -> None:
    found = statistics(sample())
    check_golden("stats.txt", stats_text(found, "acme"))
    check_golden("stats.json", json_text(stats_facts(found, "acme")) + "\n")


def test_what_is_counted() -> None:
    found = statistics(sample())
    assert (found.total.calls, found.total.lost, found.total.truncated, found.total.errors) == (41, 1, 8, 2)
    assert (found.total.answers, found.total.complete, found.total.left_out) == (38, 30, 8)
    assert found.total.truncation_rate == 8 / 38
    assert [group.calls for group in found.tools] == [21, 10, 10]
    assert [(group.name[:6], group.calls) for group in found.clients] == [("a-clie", 20), ("claude", 20), ("codex", 1)]
    assert found.clients[2].p95_ms == 0
    # Errors and pending calls have no budget.
    assert sum(found.histogram) == 38
    assert found.histogram[9] == 8
    assert [call.ms for call in found.slowest] == [324.25] * 5
    assert (found.first, found.last) == (NOON, NOON + 9_000)
    assert [(group.name, group.calls) for group in found.days] == [("2026-08-07", 41)]
    assert [(group.name[11:], group.calls) for group in found.hours] == [("12:00", 40), ("14:00", 1)]
    assert [(told.client[:6], len(told.steps)) for told in found.conversations] == [
        ("claude", 20),
        ("a-clie", 20),
        ("codex", 1),
    ]


@given(st.lists(CALLS, max_size=15))
def test_parts_add_up(calls: list[Call]) -> None:
    found = statistics(calls)
    for groups in (found.tools, found.clients, found.days, found.hours):
        counted = ("calls", "answers", "truncated", "partial", "errors", "cancelled", "lost", "pending", "tokens")
        for name in counted:
            assert sum(getattr(group, name) for group in groups) == getattr(found.total, name)
    assert found.total.calls == len(calls)
    assert 0 <= found.total.truncation_rate <= 1
    assert found.total.p50_ms <= found.total.p95_ms
    assert sum(len(told.steps) for told in found.conversations) == len(calls)
    assert statistics(reversed(calls)).total.p95_ms == found.total.p95_ms
    text = stats_text(found, "acme")
    assert not set(text) & {"\x1b", "\0", "\r"}
    assert all(len(line) <= 130 for line in text.splitlines())


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_covers_its_share_and_no_more(values: list[float], share: float) -> None:
    found = percentile(sorted(values), share)
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert sum(value < found for value in values) < share * len(values) + 1e-9


@given(st.lists(st.integers(0, 10**6), min_size=1), st.integers(1, 80))
def test_bars_are_in_proportion(counts: list[int], width: int) -> None:
    lengths = [line.count("█") for line in bars([""] * len(counts), counts, width)]
    assert max(lengths) == (width if any(counts) else 0)
    assert all((length > 0) == (count > 0) for length, count in zip(lengths, counts, strict=True))
    by_count = sorted(zip(counts, lengths, strict=True))
    assert [length for _, length in by_count] == sorted(lengths)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    nothing = CliRunner().invoke(cli, ["stats", str(tmp_path / "work")])
    assert (nothing.exit_code, nothing.output.startswith("No calls recorded for work yet.")) == (1, True)
    journal = Service.open(tmp_path / "work").journal()
    assert journal is not None
    call = Started("stdio", "claude-code", "2", "map_file", {"path": "a.py"})
    journal.started(call)
    journal.ended(call, Ended(CallStatus.LEFT_OUT, "x\n", 12.5, tokens=900, budget=1_000, utilisation=0.9))
    assert journal.flush()
    shown = CliRunner().invoke(cli, ["stats", str(tmp_path / "work")])
    assert shown.exit_code == 0
    assert "work: 1 call, " in shown.output
    assert "1 answer: 0 shortened, 0 clipped, 1 left out" in shown.output
    facts = json.loads(CliRunner().invoke(cli, ["stats", str(tmp_path / "work"), "--json"]).output)
    assert facts["total"]["tokens"] == 900
    assert facts["slowest"][0]["arguments"] == {"path": "a.py"}
