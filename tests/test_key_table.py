"""The table of keys: one meaning for a key in each place, one key for a command, and docs that match."""

from pathlib import Path

import pytest
from textual.binding import Binding

from keyhole.tui import keys
from keyhole.tui.key_docs import key_docs

DOCUMENT = Path(__file__).parent.parent / "docs" / "keys.md"
CHAINS = [(screen, pane) for screen, panes in keys.PANES_OF.items() for pane in (*panes, None)]
PLACES = {"Everywhere": keys.EVERYWHERE, **keys.SCREENS, **keys.PANES, **keys.DIALOGS}


def rows(place: keys.Keys) -> list[Binding]:
    return [row for row in place if isinstance(row, Binding)]


def commands_of_keys(*places: keys.Keys) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in (row for place in places for row in rows(place)):
        for key in row.key.split(","):
            found.setdefault(key, set()).add(row.id or "")
    return found


@pytest.mark.parametrize(("screen", "pane"), CHAINS)
def test_a_key_has_one_meaning_in_each_place(screen: str, pane: str | None) -> None:
    chain = [keys.EVERYWHERE, keys.SCREENS[screen], *([keys.PANES[pane]] if pane else [])]
    assert {key: names for key, names in commands_of_keys(*chain).items() if len(names) > 1} == {}


@pytest.mark.parametrize("place", PLACES)
def test_every_command_has_a_name_a_label_and_says_what_it_does(place: str) -> None:
    for row in rows(PLACES[place]):
        assert row.id, row
        assert row.description, row
        assert row.tooltip, row


@pytest.mark.parametrize("place", PLACES)
def test_a_command_appears_once_in_a_place(place: str) -> None:
    names = [row.id for row in rows(PLACES[place])]
    assert len(names) == len(set(names))


def test_the_document_is_made_from_the_table() -> None:
    assert DOCUMENT.read_text() == key_docs()
