"""The names of keys: those of commands, for texts that mention them, and the characters that keys type."""

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, format_key, key_to_character
from textual.markup import escape

from keyhole.tui import keys


def key_of(command: str) -> str:
    """Return the first key of a command as people read it, such as `s` or `^q`; the user may have chosen it."""
    places = (keys.EVERYWHERE, *keys.SCREENS.values(), *keys.PANES.values(), *keys.DIALOGS.values())
    rows = (row for place in places for row in place if isinstance(row, Binding) and row.id == command)
    return shown_key(next(rows).key.partition(",")[0])


def marked_up_key(command: str) -> str:
    """Return the first key of a command for a text with markup, in which a bracket has a meaning."""
    return escape(key_of(command))


def shown_key(key: str) -> str:
    """Return a key as the footer shows it."""
    modifiers, _, name = key.rpartition("+")
    if modifiers == "ctrl":
        return f"^{format_key(name)}"
    return f"{modifiers}+{format_key(name)}" if modifiers else format_key(name)


def character_of(key: str) -> str | None:
    """Return the character that a key types; None if it types none. Textual does not know all of its own names."""
    return key_to_character(REPLACED_KEYS.get(key, key))
