"""Traffic and Stats: their keys, and that calls arrive, stay readable and can be replayed."""

import json
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

import pytest
from driving import (
    answer_of,
    calls_of,
    drive,
    explore,
    explorer,
    files,
    make_app,
    press,
    settle,
    stats,
    text_of,
    traffic,
    wait_until,
    watch,
)
from recorded_calls import CLIENTS, FILE, call, open_journal, outcome, record
from test_tui_keys import Row, doing, keys_of, press_and_check, start_over
from textual.pilot import Pilot

from keyhole.core.journal.statistics import Group, statistics
from keyhole.core.journal.writer import Ended, Started
from keyhole.core.service import Service
from keyhole.core.types.completeness import CallStatus
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.call_filter import CallFilter
from keyhole.core.view.stats_text import stats_text
from keyhole.tui.call_log import ConversationRow
from keyhole.tui.messages import ServerStarted
from keyhole.tui.screens.references_screen import ReferencesScreen
from keyhole.tui.screens.replay import ReplayScreen
from keyhole.tui.screens.stats_screen import StatsScreen
from keyhole.tui.screens.traffic import SummaryLine, TrafficScreen
from keyhole.tui.screens.why import MissedScreen
from keyhole.tui.server_state import ServerPhase, ServerState
from keyhole.tui.widgets.call_list import CallList
from keyhole.tui.widgets.call_view import CallView
from keyhole.tui.widgets.charts import (
    Chart,
    answer_bars,
    bar_lines,
    client_bars,
    conversation_bars,
    day_bars,
    slowest_bars,
    tool_bars,
    utilisation_bars,
)
from keyhole.tui.widgets.query_line import QueryLine
from keyhole.tui.widgets.reference_list import ReferenceList

Steps = Callable[[Pilot[None]], Awaitable[None]]


TRAFFIC: dict[str, Row] = {
    "slash": lambda pilot: isinstance(pilot.app.focused, QueryLine),
    "f": lambda pilot: not traffic(pilot).follows,
    "space": lambda pilot: traffic(pilot).calls.is_paused,
    "m": lambda pilot: traffic(pilot).calls.marked == {40},
    "c": lambda pilot: traffic(pilot).calls.is_grouped and isinstance(calls_of(pilot)._rows[0], ConversationRow),
    "x": lambda pilot: isinstance(pilot.app.screen, MissedScreen),
    "o": doing("j", then=lambda pilot: files(pilot).tab == "Map" and files(pilot).opened),
    "R": lambda pilot: isinstance(pilot.app.screen, ReplayScreen),
    # Tested in test_tui_checks.py; here no read follows the search.
    "a": lambda pilot: len(pilot.app._notifications) > 0,
    "y": lambda pilot: json.loads(pilot.app.clipboard)["tool"] == "search_code",
    "Y": lambda pilot: json.loads(pilot.app.clipboard)["params"]["name"] == "search_code",
    "s": lambda pilot: explorer(pilot).server_state.phase in (ServerPhase.STARTING, ServerPhase.ON),
    "C": lambda pilot: len(pilot.app._notifications) > 0,
    "right_square_bracket": lambda pilot: text_of(pilot).startswith("Results 1-"),
    "left_square_bracket": lambda pilot: traffic(pilot).tab == "Lens" and "nothing is lost" in text_of(pilot),
    "v": lambda pilot: traffic(pilot).tab == "Lens" and "nothing is lost" in text_of(pilot),
    "V": doing("V", then=lambda pilot: traffic(pilot).tab == "Lens" and traffic(pilot).lens != ""),
    "z": lambda pilot: not traffic(pilot).query_one(CallView).display,
    "escape": doing("enter", then=lambda pilot: calls_of(pilot).has_focus),
    "enter": lambda pilot: traffic(pilot).query_one(CallView).has_focus,
    "j": lambda pilot: calls_of(pilot).highlighted == 1,
    "k": doing("j", "j", then=lambda pilot: calls_of(pilot).highlighted == 1),
    "down": lambda pilot: calls_of(pilot).highlighted == 1,
    "up": doing("j", then=lambda pilot: calls_of(pilot).highlighted == 0),
    "pagedown": lambda pilot: 20 < (calls_of(pilot).highlighted or 0) < 39,
    "pageup": doing("end", then=lambda pilot: 0 < (calls_of(pilot).highlighted or 0) < 20),
    "end": lambda pilot: calls_of(pilot).highlighted == 39,
    "home": doing("end", then=lambda pilot: calls_of(pilot).highlighted == 0),
    "G": lambda pilot: calls_of(pilot).highlighted == 39,
    "g": doing("end", then=lambda pilot: calls_of(pilot).highlighted == 0),
}
STATS: dict[str, Row] = {
    "r": lambda pilot: stats(pilot).statistics is not None,
    "y": lambda pilot: pilot.app.clipboard.startswith("acme: 40 calls, "),
    "enter": lambda pilot: pilot.app.current_mode == "traffic",
    "right": lambda pilot: stats(pilot).cursor == 6,
    "right_square_bracket": lambda pilot: stats(pilot).cursor == 6,
    "left": doing("right", "right", then=lambda pilot: stats(pilot).cursor == 6),
    "left_square_bracket": doing("right", "right", then=lambda pilot: stats(pilot).cursor == 6),
    "j": lambda pilot: stats(pilot).cursor == 1,
    "k": doing("j", "j", then=lambda pilot: stats(pilot).cursor == 1),
    "down": lambda pilot: stats(pilot).cursor == 1,
    "up": doing("j", "j", then=lambda pilot: stats(pilot).cursor == 1),
    "ctrl+d": lambda pilot: stats(pilot).cursor > 5,
    "ctrl+u": doing("G", then=lambda pilot: 1 < stats(pilot).cursor < len(stats(pilot)._places) - 5),
    "G": lambda pilot: stats(pilot).bar.filter.startswith("call:"),  # type: ignore[union-attr]
    "end": lambda pilot: stats(pilot).query_one("#charts").scroll_offset.y > 1,
    "g": doing("G", then=lambda pilot: stats(pilot).query_one("#charts").scroll_offset.y == stats(pilot).cursor == 0),
    "home": doing("G", then=lambda pilot: stats(pilot).cursor == 0),
}


def test_every_key_in_traffic(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for key, row in TRAFFIC.items():
            await start_over(pilot)
            await watch(pilot)
            screen = traffic(pilot)
            screen.follows, screen.tab, screen.calls.marked = True, "Arguments", set()
            screen.calls.pause(False)
            screen.remove_class("-zoomed")
            calls_of(pilot).focus()
            screen.action_show_tab("Arguments")
            screen.action_catch_up()
            await settle(pilot)
            await press_and_check(pilot, key, row)

    drive(make_app(agents_service), steps)


def test_every_key_in_stats(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        for key, row in STATS.items():
            await start_over(pilot)
            await press(pilot, "escape", "4")
            stats(pilot).action_move_to(0)
            await settle(pilot)
            await press_and_check(pilot, key, row)

    drive(make_app(agents_service), steps, size=(80, 24))


def test_no_binding_is_left_out() -> None:
    # Tested in test_tui_keys.py, test_tui_resizing.py and test_tui_views.py.
    elsewhere = {"r", "left_curly_bracket", "right_curly_bracket", "0", "ctrl+d", "ctrl+u"}
    assert (keys_of(TrafficScreen) | keys_of(CallList)) - elsewhere <= set(TRAFFIC)
    assert keys_of(StatsScreen) <= set(STATS)


# New calls


def test_calls_come_in_live_and_end(agents_service: Service) -> None:
    journal = open_journal(agents_service)
    started = call(0, at=time.time(), client="late-agent")

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        journal.started(started)
        await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == 41)
        newest = calls_of(pilot).call
        assert newest
        assert (newest.client, newest.status) == ("late-agent", CallStatus.PENDING)
        await press(pilot, "]")
        assert text_of(pilot) == "No answer yet.\n"
        journal.ended(started, outcome(6))
        await wait_until(pilot, lambda pilot: text_of(pilot) == outcome(6).response)
        assert len(calls_of(pilot).calls) == 41

    drive(make_app(agents_service), steps)


def test_who_reads_is_not_led_away_and_sees_how_many_are_new(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, *"jjjjj")
        before, top = calls_of(pilot).call, calls_of(pilot).scroll_offset.y
        record(agents_service, 30, first=40)
        await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == 70)
        assert calls_of(pilot).call == before
        # On the same line of the screen too.
        assert (calls_of(pilot).highlighted, calls_of(pilot).scroll_offset.y) == (35, top + 30)
        assert "30 new calls" in str(calls_of(pilot).border_subtitle)
        await press(pilot, "f")
        assert calls_of(pilot).highlighted == 0
        assert calls_of(pilot).border_subtitle == ""

    drive(make_app(agents_service), steps)


def test_a_pause_holds_new_calls_until_it_ends(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, "space")
        record(agents_service, 5, first=40)
        await wait_until(pilot, lambda pilot: traffic(pilot).calls.new == 5)
        assert len(calls_of(pilot).calls) == 40
        assert "⏸ paused" in str(traffic(pilot).query_one(SummaryLine).render())
        await press(pilot, "space")
        assert len(calls_of(pilot).calls) == 45

    drive(make_app(agents_service), steps)


def test_a_filter_is_typed_and_completed(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, "slash", *"status:err", "tab")
        assert traffic(pilot).query_one(QueryLine).value == "status:error"
        shown = [found.id for found in calls_of(pilot).calls]
        wanted = CallFilter(status=CallStatus.ERROR)
        assert shown == [found.id for found in agents_service.journal_reader().calls(wanted.admits)] != []
        await press(pilot, *"x")
        assert "unknown status 'errorx'. Did you mean error?" in str(traffic(pilot).query_one("#problem").render())
        await press(pilot, "ctrl+u", *"nobody_asked_this", "enter")
        assert calls_of(pilot).calls == ()
        assert calls_of(pilot).has_focus

    drive(make_app(agents_service), steps)


def test_a_journal_that_is_cleared_empties_the_list(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        agents_service.clear()
        await wait_until(pilot, lambda pilot: not calls_of(pilot).calls)

    drive(make_app(agents_service), steps)


# Open and replay


def test_a_search_is_opened_in_explore_as_it_was_asked(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, *"jjj", "o")
        assert pilot.app.current_mode == "explore"
        # With the budget that it had, although the agent set none.
        assert answer_of(pilot).request == SearchRequest("retry backoff", limit=1, max_tokens=6_516)
        assert explore(pilot).tab == "Text"

    drive(make_app(agents_service), steps)


@pytest.mark.parametrize(
    ("arguments", "name", "said"),
    [
        ({"symbol": "RetryPolicy.backoff", "relation": "callers"}, "RetryPolicy.backoff", ""),
        (
            {"path": FILE, "line": 23, "certainty": "certain"},
            "retry",
            "Some arguments can't be shown here; opened the closest references.",
        ),
        ({"symbol": "handle_none"}, "", ""),
    ],
)
def test_references_are_opened_as_they_were_asked(
    agents_service: Service, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, object], name: str, said: str
) -> None:
    journal = open_journal(agents_service)
    started = replace(call(1), tool="find_references", arguments=arguments)
    journal.started(started)
    journal.ended(started, outcome(0))
    journal.flush()
    notices: list[str] = []

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 41)
        monkeypatch.setattr(traffic(pilot), "notify", lambda text, **_: notices.append(text))
        await press(pilot, "o")
        screen = pilot.app.screen
        assert isinstance(screen, ReferencesScreen)
        assert screen.step.name == name
        assert str(screen.step.relation) == arguments.get("relation", "references")
        if not name:
            found = screen.query_one(ReferenceList)
            text = " ".join(" ".join(found.render_line(y).text for y in range(3)).split())
            problem = "✗ the index has no symbol 'handle_none'; search for handle_none mode:symbol to see similar names"
            assert text.startswith(f"{problem}. Did you mean")
        await press(pilot, "escape")
        assert pilot.app.screen is traffic(pilot)

    drive(make_app(agents_service), steps)
    assert notices == ([said] if said else [])


def test_a_read_is_opened_in_files_at_its_line(agents_service: Service) -> None:
    journal = open_journal(agents_service)
    started = call(1)
    started.arguments["start_line"] = 14  # type: ignore[index]
    journal.started(started)
    journal.ended(started, outcome(0))
    journal.flush()

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 41)
        await press(pilot, "o")
        opened = files(pilot).opened
        assert opened
        assert (opened.path, opened.tab, opened.marked) == (FILE, "Source", range(14, 15))

    drive(make_app(agents_service), steps)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ((), SearchRequest("retry backoff", limit=4, max_tokens=20_000)),
        (("left", *', "detail_level": "minimal"'), SearchRequest("retry backoff", limit=4, detail_level="minimal")),  # type: ignore[arg-type]
    ],
    ids=["as it was", "with other parameters"],
)
def test_a_call_is_made_again_and_the_answers_compared(
    agents_service: Service, change: tuple[str, ...], expected: SearchRequest
) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, "R", *change, "enter")
        await wait_until(pilot, lambda pilot: traffic(pilot).replay is not None)
        replay = traffic(pilot).replay
        assert replay
        assert replay.text == agents_service.search_view(expected).text
        assert traffic(pilot).tab == "Diff"
        assert "--- then\n+++ now\n" in text_of(pilot)
        # A replay is not recorded.
        assert len(agents_service.journal_reader().calls()) == 40

    drive(make_app(agents_service), steps)


def test_parameters_that_are_none_are_refused(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, "R", "x", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, ReplayScreen)
        assert "Invalid JSON" in str(screen.query_one("#replay-problem").render())
        await press(pilot, "ctrl+u", *"[1]", "enter")
        assert "must be a JSON object" in str(screen.query_one("#replay-problem").render())

    drive(make_app(agents_service), steps)


def test_a_port_that_is_taken_is_said_and_another_one_is_a_key_away(agents_service: Service) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        async def steps(pilot: Pilot[None]) -> None:
            await watch(pilot)
            explorer(pilot)._start_server(port)
            await wait_until(pilot, lambda pilot: explorer(pilot).server_state.phase == ServerPhase.FAILED)
            assert f"127.0.0.1:{port}" in str(traffic(pilot).query_one("#problem").render())
            await press(pilot, "s")
            await wait_until(pilot, lambda pilot: explorer(pilot).server_state.phase == ServerPhase.ON)
            assert not traffic(pilot).query_one("#problem").display
            await press(pilot, "C")
            assert "mcpServers" in pilot.app.clipboard
            await press(pilot, "escape", "s")
            await wait_until(pilot, lambda pilot: explorer(pilot).server_state.phase == ServerPhase.OFF)

        drive(make_app(agents_service), steps)


# Layout


def rows_of(pilot: Pilot[None]) -> list[str]:
    calls = calls_of(pilot)
    return [calls.render_line(y).text for y in range(calls.size.height)]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_columns_stand_below_their_names_even_when_the_size_changed_elsewhere(
    agents_service: Service, width: int
) -> None:
    journal = open_journal(agents_service)
    slow = Started(
        "http", "an-agent-with-a-rather-long-name", "1", "find_broken_links", {"path": "docs/intro.md"}, time.time()
    )
    journal.started(slow)
    journal.ended(slow, Ended(CallStatus.CANCELLED, "", 20_004, tokens=20_003))
    assert journal.flush()

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 41)
        await press(pilot, "4")
        await pilot.resize_terminal(width, 24)
        await press(pilot, "3")
        # A title starts two cells before the rows.
        names = f"  {calls_of(pilot).border_title}"
        row = rows_of(pilot)[0]
        assert row[names.index("tool") :].startswith("broken ")
        assert row[names.index("client") :].startswith("an-")
        assert row[names.index("asked") :].split()[0].endswith("o.md")
        assert row[: names.index("tok") + 3].endswith(" 20,003")
        assert row[names.index("status") :].startswith("✗ cancelled")
        assert (" ms" in names) == (width == 160)
        assert " ms" not in names or row[: names.index(" ms") + 3].endswith(" 20,004")
        # Below the heading of its conversation, what was asked gets the room of the client.
        await press(pilot, "c")
        names, (heading, grouped, *_) = f"  {calls_of(pilot).border_title}", rows_of(pilot)
        assert heading.split(" · ")[1:3] == ["1 call", "20,003 tok"]
        assert "client" not in names
        assert grouped[names.index("asked") :].startswith("docs/intro.md")
        assert grouped[names.index("status") :].startswith("✗ cancelled")

    drive(make_app(agents_service), steps)


def test_the_message_of_an_error_is_in_its_row(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, "slash", *"status:error served", "enter")
        assert all("src/acme/" in row and "✗ error" in row for row in rows_of(pilot)[:3])
        await pilot.resize_terminal(220, 40)
        await press(pilot, "c")
        assert "src/acme/retry.py ✗ src/acme/retry.py is not served" in rows_of(pilot)[1]

    drive(make_app(agents_service), steps)


def test_calls_are_grouped_by_conversation_and_the_cursor_skips_headings(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, is_grouped=True)
        calls = calls_of(pilot)
        assert [row.conversation.client for row in calls._rows if isinstance(row, ConversationRow)] == [
            CLIENTS[number] for number in (0, 2, 1)
        ]
        assert (calls.highlighted, calls.position) == (1, 0)
        await press(pilot, "G", "g")
        assert (calls.highlighted, calls.scroll_offset.y) == (1, 0)
        await press(pilot, *"j" * 14)
        assert calls.call
        # Row 15 is the heading of the next conversation.
        assert (calls.highlighted, calls.position, calls.call.client) == (16, 14, CLIENTS[2])
        # A call of this conversation puts it first, and the cursor stays where it is.
        height = (calls.highlighted or 0) - calls.scroll_offset.y
        journal, later = open_journal(agents_service), call(41)
        journal.started(later)
        journal.ended(later, outcome(41))
        await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == 41)
        assert calls._rows[0].conversation.client == CLIENTS[2]  # type: ignore[union-attr]
        assert (calls.highlighted, calls.position) == (2, 1)
        assert calls.scroll_offset.y == max(0, (calls.highlighted or 0) - height)

    drive(make_app(agents_service), steps)


def test_the_story_tells_the_conversation_of_the_call(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, is_grouped=True)
        await press(pilot, "j", "]", "]", "]")
        assert traffic(pilot).tab == "Story"
        lines = text_of(pilot).splitlines()
        assert lines[0].startswith("claude-code 2.1, stdio: 2026-08-07 ")
        assert [line[:8] for line in lines[3:]] == [
            f"{'▸' if number == 37 else ' '} #{number:<5}" for number in range(1, 41, 3)
        ]
        record(agents_service, 3, first=42)
        await wait_until(pilot, lambda pilot: len(calls_of(pilot).calls) == 43)
        assert len(text_of(pilot).splitlines()) == len(lines) + 1

    drive(make_app(agents_service), steps)


def test_a_cancelled_call_has_no_answer(agents_service: Service) -> None:
    journal = open_journal(agents_service)
    started = call(40)
    journal.started(started)
    journal.ended(started, Ended(CallStatus.CANCELLED, "", 30.0))
    assert journal.flush()

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 41)
        assert "✗ cancelled" in rows_of(pilot)[0]
        await press(pilot, "]")
        assert text_of(pilot).startswith("No answer: the client cancelled the call")
        assert "exactly what was sent" not in str(traffic(pilot).query_one(CallView).border_subtitle)
        await press(pilot, "slash", *"status:cancelled", "enter")
        assert "✗ cancelled" in rows_of(pilot)[0]

    drive(make_app(agents_service), steps)


def test_before_any_call_keys_are_named_for_what_they_do_now(unasked_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "3")
        assert any("Press s to serve this workspace" in row for row in rows_of(pilot))
        pilot.app.post_message(ServerStarted("http://127.0.0.1:7777/mcp", "{}"))
        await wait_until(pilot, lambda pilot: explorer(pilot).server_state.phase == ServerPhase.ON)
        assert any("Press s to stop the server" in row for row in rows_of(pilot))
        assert not any("serve this workspace" in row for row in rows_of(pilot))

    drive(make_app(unasked_service), steps)


@pytest.mark.parametrize("phase", ServerPhase)
@pytest.mark.parametrize("width", [36, 54])
def test_the_server_is_described_in_the_room_there_is(phase: ServerPhase, width: int) -> None:
    shown = ServerState(phase, "http://127.0.0.1:65535/mcp").content(width).plain
    assert len(shown) <= width
    assert "…" not in shown


# Stats


def test_the_charts_say_what_keyhole_stats_says(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "4")
        counted = statistics(agents_service.journal_reader().each())
        assert stats(pilot).statistics == counted
        await press(pilot, "y")
        assert pilot.app.clipboard == stats_text(counted, "acme")
        shown = {chart.id: str(chart.render()) for chart in stats(pilot).query(Chart)}
        lines = shown["answers"].split("\n")
        for line, (word, count) in zip(lines, counted.total.by_completeness, strict=False):
            assert re.fullmatch(rf"[▸ ] {word} *█* +{count:,} +\d+% *", line), line
        assert [int(line.split()[-1]) for line in shown["utilisation"].split("\n")] == list(counted.histogram)
        for chart, groups in [("tools", counted.tools), ("clients", counted.clients), ("days", counted.days)]:
            assert all(f"{group.tokens:,} tok" in shown[chart] for group in groups)
        assert all(f"{told.tokens:,} tok" in shown["conversations"] for told in counted.conversations)

    drive(make_app(agents_service), steps)


@pytest.mark.parametrize("width", [30, 45, 58, 78, 118, 198])
def test_figures_are_aligned_at_every_width(agents_service: Service, width: int) -> None:
    counted = statistics(agents_service.journal_reader().each())
    for bars_of in (answer_bars, utilisation_bars, tool_bars, client_bars, conversation_bars, day_bars, slowest_bars):
        bars = bars_of(counted)
        lines = [line.plain for line in bar_lines(bars, width, cursor=0)]
        assert all(len(line) <= width for line in lines)
        # The first figure ends at the same place in each line.
        after = 3 + min(18, max(len(bar.name) for bar in bars))
        firsts = [(line, bar.figures[0]) for line, bar in zip(lines, bars, strict=True)]
        ends = {line.index(figure, after) + len(figure) for line, figure in firsts if width >= 45}
        assert len(ends) == (width >= 45)
        assert all(("█" in line) == (bar.amount > 0) for line, bar in zip(lines, bars, strict=True))


def most_tokens(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-group.tokens, group.name))


def test_enter_on_a_bar_shows_those_calls(agents_service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot)
        await press(pilot, "4")
        bars = [chart.bars[number] for chart, number in stats(pilot)._places]
        counted = stats(pilot).statistics
        assert counted
        shares = {chart.id: chart.bars for chart in stats(pilot).query(Chart)}
        expected = {bar.filter: bar.amount for bar in (*shares["answers"], *shares["utilisation"])}
        expected |= {f"call:{call.id}": 1 for call in counted.slowest}
        groups = [*zip(shares["tools"], most_tokens(counted.tools), strict=True)]
        groups += [*zip(shares["clients"], most_tokens(counted.clients), strict=True)]
        expected |= {bar.filter: group.calls for bar, group in groups}
        for number, bar in enumerate(bars):
            if bar.filter in expected and number in (0, 8, 16, 20, len(bars) - 1):
                await press(pilot, "4")
                stats(pilot)._move_to(number)
                await press(pilot, "enter")
                assert traffic(pilot).query_one(QueryLine).value == bar.filter
                assert len(calls_of(pilot).calls) == expected[bar.filter], bar.filter
                assert calls_of(pilot).has_focus

    drive(make_app(agents_service), steps)


def test_older_calls_are_read_from_the_journal(agents_service: Service) -> None:
    app = make_app(agents_service)
    app.calls._most = 10

    async def steps(pilot: Pilot[None]) -> None:
        await watch(pilot, 10)
        app.open_calls("conversation:38 tool:read")
        await settle(pilot)
        wanted = [number for number in range(38, 0, -3) if number % 4 == 2]
        assert [call.id for call in calls_of(pilot).calls] == wanted
        await press(pilot, "slash", "ctrl+u", "enter")
        assert len(calls_of(pilot).calls) == 10

    drive(app, steps)
