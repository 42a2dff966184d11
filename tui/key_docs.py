"""Print the table of keys for docs/keys.md: `python -m keyhole.tui.key_docs > docs/keys.md`."""

from textual.binding import Binding
from textual.keys import format_key

from keyhole.tui import keys

_INTRODUCTION = """\
# Keys of the explorer

Made from the table in `tui/keys.py`, which the explorer itself uses: `python -m keyhole.tui.key_docs > docs/keys.md`.
`?` shows the keys that work where you are, and `ctrl+p` runs any command by its name.

A key has one meaning in each place: the pane with the focus, the screen around it, and everywhere.
"""


def key_docs() -> str:
    """Return the document: one table for each place."""
    places = {"Everywhere": keys.EVERYWHERE, **keys.SCREENS, **keys.PANES, **keys.DIALOGS}
    return "\n".join([_INTRODUCTION, *(_section(title, rows) for title, rows in places.items())])


def _section(title: str, rows: keys.Keys) -> str:
    lines = [f"## {title}", "", "| keys | what they do | command |", "|---|---|---|"]
    lines += [f"| {_key_names(row.key)} | {row.tooltip} | `{row.id}` |" for row in rows if isinstance(row, Binding)]
    return "\n".join(lines) + "\n"


def _key_names(names: str) -> str:
    return " ".join(f"`{format_key(name)}`" for name in names.split(","))


if __name__ == "__main__":
    print(key_docs(), end="")
