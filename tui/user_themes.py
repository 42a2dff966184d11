"""Themes of the user's settings file: `[themes.NAME]` with the colours of a Textual theme."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from keyhole.core.view.text import one_line
from keyhole.tui.themes import THEMES

_COLOURS = (
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "boost",
)
# Two more colours of our style sheets, by the names of their variables.
_OUR_COLOURS = {"muted": "text-muted", "frame": "border-quiet"}
_FIELDS = (*_COLOURS, *_OUR_COLOURS, "dark")


def read_themes(given: object, problems: list[str]) -> tuple[Theme, ...]:
    """Return the valid themes, and add what is wrong with the others to the problems."""
    if not isinstance(given, Mapping):
        problems.append("themes must be tables: [themes.NAME]")
        return ()
    themes = (_read_theme(str(name), table, problems) for name, table in given.items())
    return tuple(theme for theme in themes if theme)


def known_theme(given: object, own: Sequence[Theme], problems: list[str]) -> str:
    """Return the name of a theme that exists, or an empty one after adding a problem."""
    names = [theme.name for theme in (*THEMES, *own)] + list(BUILTIN_THEMES)
    if given in names:
        return str(given)
    problems.append(f"theme: there is no theme '{_shown(given)}'. {_suggestion(given, names)}")
    return ""


def _read_theme(name: str, table: object, problems: list[str]) -> Theme | None:
    place = f"themes.{_shown(name)}"
    if not isinstance(table, Mapping):
        problems.append(f"{place} must be a table: [{place}]")
        return None
    found = [_problem_of(field, value) for field, value in table.items()]
    if "primary" not in table:
        found.append("needs a primary colour, such as primary = '#e3b663'")
    if "," in name or not name.isprintable():
        found.append("needs a name without commas and control characters")
    if wrong := [problem for problem in found if problem]:
        problems.append(f"{place}: {wrong[0]}")
        return None
    colours: dict[str, Any] = {field: str(table[field]) for field in _COLOURS if field in table}
    ours = {variable: str(table[field]) for field, variable in _OUR_COLOURS.items() if field in table}
    return Theme(name, **colours, dark=bool(table.get("dark", True)), variables=ours)


def _problem_of(field: str, value: object) -> str:
    """Return what is wrong with a value of a theme; empty if nothing is."""
    if field not in _FIELDS:
        return f"unknown colour '{_shown(field)}'. {_suggestion(field, _FIELDS)}"
    if field == "dark":
        return "" if isinstance(value, bool) else "dark must be true or false"
    return "" if _is_colour(value) else f"{field} = '{_shown(value)}' is not a colour; write it as '#rrggbb'"


def _is_colour(value: object) -> bool:
    try:
        colour = Color.parse(str(value))
    except ColorParseError:
        return False
    # Colours that depend on the terminal or on what is behind them can't be mixed.
    return isinstance(value, str) and colour.ansi is None and not colour.auto and colour.a == 1


def _suggestion(given: object, names: Sequence[str]) -> str:
    # Only a mistake needs this import, which takes time.
    from keyhole.core.suggest import suggest_name

    return suggest_name(str(given), names)


def _shown(value: object) -> str:
    return one_line(str(value))[:40]
