"""Keys with Alt, as most terminals send them: Escape, then the character.

Textual takes Escape and a digit for the character that a Mac types with the Option key, so that Alt+3 would be `£`; and
after Escape and a letter it waits for more. A terminal that sends `£` itself is not affected.
"""

from collections.abc import Iterable
from typing import Any, cast

from textual import _ansi_sequences


class _AltKey:
    """The name of a key, as Textual's table of sequences has it."""

    def __init__(self, name: str) -> None:
        self.value = name


def recognise_alt_keys(names: Iterable[str]) -> None:
    """Let Textual recognise keys such as `alt+1`; other names are ignored."""
    sequences = cast("dict[str, Any]", _ansi_sequences.ANSI_SEQUENCES_KEYS)
    for name in names:
        modifier, _, character = name.partition("+")
        if modifier == "alt" and len(character) == 1:
            sequences[f"\x1b{character}"] = (_AltKey(name),)
