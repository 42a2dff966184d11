"""The columns of a report: whole in a pipe or a file, and as wide as the terminal otherwise."""

from collections.abc import Sequence

from keyhole.core.untrusted_text import middle_cut

_GAP = "  "
# A column that must be shortened keeps at least this much.
_NARROWEST = 8
# In a report that is not cut, a longer cell pushes the rest of its row to the right, not that of all rows.
_WIDEST_ALIGNED = 100


def table_lines(rows: Sequence[Sequence[str]], room: int | None, *, right: int | None = None) -> list[str]:
    """Return rows in columns that fit into `room`, or uncut if it is None; the column `right` is aligned right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if room is not None:
        widths = _fitted(widths, room)
        rows = [[middle_cut(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    aligned = [min(width, _WIDEST_ALIGNED) for width in widths]
    return [
        _GAP.join(
            cell.rjust(width) if column == right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, aligned, strict=True))
        ).rstrip()
        for row in rows
    ]


def _fitted(widths: list[int], room: int) -> list[int]:
    """Return widths that fit: the widest column is shortened first."""
    widths = list(widths)
    while sum(widths) + len(_GAP) * (len(widths) - 1) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths
