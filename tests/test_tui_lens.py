"""The client lens: an answer as a client delivers it to its model."""

from pathlib import Path

import pytest
from driving import ask, drive, explore, explorer, make_app, press, settle
from textual.pilot import Pilot

from keyhole.core.clients import profiles
from keyhole.core.config import load_settings
from keyhole.core.delivery import deliver
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, ToolSet
from keyhole.mcp_server.local import LocalTools
from keyhole.tui.lens import lens, lens_text
from keyhole.tui.screens.files import FilesScreen
from keyhole.tui.search_state import SearchState
from keyhole.tui.widgets.answer_view import AnswerView
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.lens_line import LensLine

LONG = "return limit:50"


@pytest.mark.parametrize("client", list(profiles()))
def test_the_pane_shows_what_a_client_delivers(acme: Service, client: str) -> None:
    expected = LocalTools().costs(ToolSet.ALL)

    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        screen.search_state = SearchState(detail=Detail.RICH)
        await ask(pilot, LONG, "enter")
        for _ in profiles():
            await press(pilot, "a")
            if (screen.lens.profile.id if screen.lens else "raw") == client:
                break
        answer = screen.answer
        assert answer
        seen = deliver(answer.view.text, profiles()[client])
        assert screen.query_one(AnswerView).document.text == seen.text
        line = screen.query_one(LensLine)
        assert line.display == (client != "raw")
        if client != "raw":
            costs = explorer(pilot).tool_costs
            assert costs == expected
            assert str(line.render()) == lens_text(lens(client), seen, costs, lens(client).budget(acme.settings))
        # The copied text is the one that was sent.
        await press(pilot, "y")
        assert pilot.app.clipboard == answer.view.text

    drive(make_app(acme), steps)


def test_the_budgets_of_the_settings_are_used(acme: Service, tmp_path: Path) -> None:
    flags = {"cache_dir": tmp_path, "index.model": "none", "view.max_tokens": 1_500, "clients.claude.max_tokens": 1_200}
    service = Service(acme.root, load_settings(acme.root, flags))
    service.index()

    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        await ask(pilot, LONG, "enter", "a")
        assert screen.answer
        assert screen.answer.view.truncation.limit_tokens == screen.search_state.max_tokens == 1_500
        assert " 1,500 " in str(screen.query_one(Gauge).border_title)
        assert "· answers made for it fit 1,200 tokens" in str(screen.query_one(LensLine).render())
        await press(pilot, "2")
        assert isinstance(pilot.app.screen, FilesScreen)
        assert pilot.app.screen.max_tokens == 1_500

    drive(make_app(service), steps)


def test_json_is_seen_through_the_lens_too(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        screen = explore(pilot)
        screen.search_state = SearchState(detail=Detail.RICH)
        await ask(pilot, LONG, "enter", "]", "]", *["a"] * (1 + list(profiles()).index("vscode")))
        assert screen.tab == "JSON"
        assert screen.query_one(AnswerView).document.text.startswith("Large tool result")
        await press(pilot, "[", "[")
        await settle(pilot)
        assert not screen.query_one(LensLine).display

    drive(make_app(acme), steps)


def test_every_client_is_told_apart() -> None:
    said = {name: lens_text(lens(name), lens(name).see("x" * 60_000), {name: 7}, 9_000) for name in profiles()}
    assert "▲ VS Code saves answers over 8,192 characters to a file" in said["vscode"]
    assert "▲ Codex removes the middle of" in said["codex"]
    assert "● Claude Code delivers the full answer" in said["claude"]
    assert "No limit is known for Cursor" in said["cursor"]
    assert said["vscode"].endswith(
        " · answers made for it fit 9,000 tokens, 8,192 characters · tool definitions: 7 tokens"
    )
    assert said["cursor"].endswith(" · answers made for it fit 9,000 tokens · tool definitions: 7 tokens")
