"""Keys are handled in the order in which they are typed, however fast they come."""

import os
from itertools import count
from pathlib import Path

import pytest
from driving import answer_of, drive, explore, files, make_app, type_at_once
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets import Input
from typist import type_bursts

from keyhole.core.service import Service
from keyhole.tui.screens.finder import FinderScreen
from keyhole.tui.widgets.query_line import QueryLine

# `make test-long` sends ten times as many.
BURSTS = int(os.environ.get("TYPING_BURSTS", "20"))


def line_of(pilot: Pilot[None]) -> str:
    return explore(pilot).query_one(QueryLine).value


def test_bursts_in_a_terminal_under_load(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    assert type_bursts(root, tmp_path / "states", BURSTS) == []


def test_letters_do_not_overtake_editing_keys(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await type_at_once(pilot, *"abx", "backspace", *"cdyy", "backspace", "backspace", *"ef", "home", "delete", "q")
        assert line_of(pilot) == "qbcdef"

    drive(make_app(acme), steps)


def test_what_is_typed_is_searched_after_the_process_was_held_up(
    acme: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        with monkeypatch.context() as held_up:
            # Between any two looks at the clock, more time passes than a pause in typing takes.
            held_up.setattr("textual._time.get_time", count().__next__)
            await type_at_once(pilot, *"handle")
        assert answer_of(pilot).request.query == "handle"

    drive(make_app(acme), steps)


def test_keys_after_enter_go_to_the_results(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await type_at_once(pilot, *"backoff", "enter", "right_square_bracket", "d", "slash", "2", "backspace", "s")
        assert line_of(pilot) == "backoffs"
        assert (explore(pilot).tab, explore(pilot).search_state.detail) == ("Text", "rich")

    drive(make_app(acme), steps)


def test_pasted_text_waits_for_its_turn(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        pilot.app.post_message(Paste("retry"))
        await type_at_once(pilot, "backspace", "i", "home")
        pilot.app.post_message(Paste("no "))
        await type_at_once(pilot, "delete", "t")
        assert line_of(pilot) == "no tetri"

    drive(make_app(acme), steps)


def test_a_dialog_gets_what_is_typed_after_the_key_that_opens_it(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await type_at_once(pilot, "escape", "2", "f", *"retrx", "backspace", *"y.p")
        assert isinstance(pilot.app.screen, FinderScreen)
        assert pilot.app.screen.query_one(Input).value == "retry.p"
        await type_at_once(pilot, "enter", "right_square_bracket")
        opened = files(pilot).opened
        assert opened
        assert (opened.path, opened.tab) == ("src/acme/retry.py", "Map")

    drive(make_app(acme), steps)


def test_the_palette_gets_what_is_typed_after_its_key(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await type_at_once(pilot, *"rex", "backspace", "t", "ctrl+p", *"themex", "backspace")
        assert line_of(pilot) == "ret"
        assert pilot.app.screen.query_one(Input).value == "theme"

    drive(make_app(acme), steps)


def test_tab_completes_what_was_typed_just_before(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await type_at_once(pilot, *"la", "tab", *"py", "tab", " ", "x")
        assert line_of(pilot) == "lang:python x"

    drive(make_app(acme), steps)


def test_alt_with_a_letter_types_nothing(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        # A terminal sends Escape and the letter, which Textual turns into a key with the letter as its character.
        pilot.app.post_message(Key("alt+x", "x"))
        await type_at_once(pilot, "a", "b")
        assert line_of(pilot) == "ab"

    drive(make_app(acme), steps)
