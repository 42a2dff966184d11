"""Keys of the user's settings file: `[keys]` with the keys of commands, by the names in docs/keys.md."""

import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

from keyhole.core.view.text import one_line
from keyhole.tui import keys as table
from keyhole.tui.alt_keys import recognise_alt_keys
from keyhole.tui.key_names import character_of

_MODIFIERS = ("ctrl", "alt", "shift")
# Terminals send the same for these as for Tab, Enter, Backspace and Escape.
_SAME_KEYS = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+h": "backspace"}
# These always quit, so that nobody is locked in.
_FIXED = ("quit-anywhere", "quit-now")


def read_keys(given: object, problems: list[str]) -> dict[str, str]:
    """Return the keys of commands that can be used, and add what is wrong with the others to the problems."""
    if not isinstance(given, Mapping):
        problems.append("keys must be a table: [keys]")
        return {}
    chosen: dict[str, str] = {}
    for command, value in given.items():
        found, problem = _read_row(str(command), value)
        if problem:
            problems.append(f"keys.{_shown(command)}: {problem}")
        else:
            chosen[str(command)] = found
    # Taking back one choice can make another one wrong, if both have exchanged their keys.
    while wrong := next(_conflicts(chosen), None):
        command, problem = wrong
        del chosen[command]
        problems.append(f"keys.{command}: {problem}")
    return chosen


def use_keys(chosen: Mapping[str, str]) -> None:
    """Put keys into the table. Screens read it when they are defined, so this comes before their import."""
    if "keyhole.tui.app" in sys.modules:
        raise RuntimeError("the keys must be known before the screens are imported")
    # A row of a line is recognised by its place, which changes as rows are replaced.
    changed = [(rows, [_with_keys(row, chosen) for row in rows]) for rows in _all_places()]
    for rows, new in changed:
        rows[:] = new
    recognise_alt_keys(key for keys in chosen.values() for key in keys.split(","))


def _with_keys(row: BindingType, chosen: Mapping[str, str]) -> BindingType:
    return row.with_key(_keys_of(row, chosen)) if isinstance(row, Binding) and row.id in chosen else row


def _keys_of(row: Binding, chosen: Mapping[str, str]) -> str:
    """Return the keys of a command in one place; where text is typed, a key that types a character is none."""
    wanted = chosen.get(row.id or "", row.key)
    if not any(row in line for line in table.LINES):
        return wanted
    return ",".join(key for key in wanted.split(",") if not character_of(key)) or row.key


def _read_row(command: str, value: object) -> tuple[str, str]:
    """Return the keys of one command, or else what is wrong."""
    names = {row.id for row in chain(*map(_rows, _all_places())) if row.id}
    if command in _FIXED:
        return "", f"this command can't have other keys. Remove {command}, and change 'quit'"
    if command not in names:
        return "", f"there is no such command. {_suggestion(command, sorted(names))}"
    given = value if isinstance(value, list) else [value]
    if not given or not all(isinstance(key, str) and key for key in given):
        return "", 'must be the name of a key, such as "f5", or a list of them'
    found = [_key_name(str(key)) for key in given]
    for key, name in zip(given, found, strict=True):
        if not name:
            return "", f"there is no key '{_shown(key)}'. Use names such as a, A, ?, f5, ctrl+s, alt+x, pagedown"
        if name in _SAME_KEYS:
            return "", f"terminals can't tell {name} from {_SAME_KEYS[name]}. Choose another key"
    return ",".join(found), ""


def _key_name(given: str) -> str:
    """Return a key as Textual names it; empty if there is no such key."""
    *modifiers, key = given.strip().split("+") if given.strip("+") else ["plus"]
    modifiers = sorted({name.lower() for name in modifiers}, key=lambda name: (*_MODIFIERS, name).index(name))
    if not set(modifiers) <= set(_MODIFIERS):
        return ""
    if len(key) == 1 and modifiers == ["shift"] and key.isalpha():
        return key.upper()
    if len(key) == 1:
        key = key.lower() if modifiers else key
        name = key if key.isalnum() else _name_of_character(key)
    else:
        name = key.lower() if key.lower() in _named_keys() or character_of(key.lower()) else ""
    return "+".join([*modifiers, name]) if name else ""


def _name_of_character(character: str) -> str:
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def _named_keys() -> set[str]:
    return {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}


def _conflicts(chosen: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each chosen command that can't have its keys, with the reason."""
    for rows in _contexts():
        owners: dict[str, str] = {}
        # Those with their default keys first: a chosen key gives way.
        for row in sorted(rows, key=lambda row: row.id in chosen):
            command = row.id or ""
            for key in _keys_of(row, chosen).split(","):
                other = owners.setdefault(key, command)
                if other != command and command in chosen:
                    yield command, f"{format_key(key)} is the key of {other} in the same place. Choose another key"
    for command, keys in chosen.items():
        places = [row for rows in _all_places() for row in _rows(rows) if row.id == command]
        if all(_keys_of(row, chosen) != keys for row in places):
            yield command, f"{format_key(keys)} types a character there. Choose a key such as f5 or ctrl+s"


def _contexts() -> Iterator[list[Binding]]:
    """Yield the commands whose keys work at the same time."""
    for screen, panes in table.PANES_OF.items():
        outer = [*_rows(table.SCREENS[screen]), *_rows(table.EVERYWHERE)]
        yield outer
        for pane in panes:
            yield [*_rows(table.PANES[pane]), *outer]
    always = [row for row in _rows(table.EVERYWHERE) if row.priority]
    for rows in table.DIALOGS.values():
        yield [*_rows(rows), *always]


def _all_places() -> Iterator[table.Keys]:
    """Yield every list of the table once; some places share one."""
    values = [value for name, value in vars(table).items() if name != "LINES"]
    found = [rows for value in values for rows in (value.values() if isinstance(value, dict) else [value])]
    lists = {id(rows): rows for rows in found if isinstance(rows, list)}
    yield from lists.values()


def _rows(place: table.Keys) -> Iterator[Binding]:
    yield from (row for row in place if isinstance(row, Binding))


def _suggestion(given: str, names: Sequence[str]) -> str:
    from keyhole.core.suggest import close_names, did_you_mean

    close = close_names(given, names)
    return did_you_mean(close) if close else "The names are in docs/keys.md"


def _shown(value: object) -> str:
    return one_line(str(value))[:40]
