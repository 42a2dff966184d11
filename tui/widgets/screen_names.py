"""The names of the screens at the end of the top line, each with the key that opens it from where you are."""

from textual.binding import Binding
from textual.content import Content
from textual.keys import format_key
from textual.screen import Screen
from textual.style import Style

from keyhole.tui import keys
from keyhole.tui.key_names import character_of

_ALT = "alt+"
_WIDEST_GAP = 3
# With less room, the state of the index needs it more.
_WITH_EVERY_ALT = 80


def screen_names(screen: Screen[object], room: int) -> Content:
    """Return the names, closer together if there is little room."""
    rows = _rows_that_work(screen)
    names = [format_key(row.key.partition(",")[0]) for row in rows]
    if room < _WITH_EVERY_ALT and all(name.startswith(_ALT) for name in names):
        # Only the first key is complete: `alt+1 Explore 2 Files`.
        names = [names[0], *(name.removeprefix(_ALT) for name in names[1:])]
    parts = []
    for row, name in zip(rows, names, strict=True):
        is_here = row.action.endswith(f"'{screen.app.current_mode}')")
        style = "bold $primary underline" if is_here else "$text-muted"
        part = Content.styled(f"{name} {row.description}", style)
        parts.append(part.stylize(Style.from_meta({"@click": row.action})))
    lines = [Content(" " * gap).join(parts) + Content(" ") for gap in range(_WIDEST_GAP, 0, -1)]
    return next((line for line in lines if line.cell_length <= room), lines[-1])


def _rows_that_work(screen: Screen[object]) -> list[Binding]:
    """Return the row of each screen whose key works here: not a digit while text is typed."""
    by_name = {row.id: row for row in keys.EVERYWHERE if isinstance(row, Binding)}
    return [by_name[f"{mode}{keys.ANYWHERE}" if _is_typed(by_name[mode], screen) else mode] for mode in keys.MODES]


def _is_typed(row: Binding, screen: Screen[object]) -> bool:
    key = row.key.partition(",")[0]
    return screen.focused is not None and screen.focused.check_consume_key(key, character_of(key))
