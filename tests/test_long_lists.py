"""Moving in a list looks only at the rows on its way, however many there are."""

import asyncio

from textual.app import App, ComposeResult
from textual.content import Content

from keyhole.tui.widgets.row_list import RowList


class CountedList(RowList):
    """A list with titles, which the cursor skips; it counts the rows that are looked at."""

    titles = frozenset([0, 3, 4])
    looked_at = 0

    def draw(self, number: int, width: int) -> list[Content]:
        return [Content(f"{number}".ljust(width))]

    def can_highlight(self, number: int) -> bool:
        self.looked_at += 1
        return number not in self.titles


class ListApp(App[None]):
    def compose(self) -> ComposeResult:
        yield CountedList()


def test_a_key_costs_the_same_in_a_list_of_100_000_rows() -> None:
    async def run() -> None:
        async with ListApp().run_test() as pilot:
            rows = pilot.app.query_one(CountedList)
            rows.show_rows(100_000, 1)
            rows.looked_at = 0
            visited = []
            for step in (1, 1, -1, -1, -1, 1):
                rows.action_move(step)
                visited.append(rows.highlighted)
            # Titles are skipped in both directions; after the last row comes the first, and the other way round.
            assert visited == [2, 5, 2, 1, 99_999, 1]
            assert rows.looked_at <= 12
            rows.show_rows(1, 0)
            rows.action_move(1)
            assert rows.highlighted == 0
            rows.show_rows(0, None)
            rows.action_move(1)
            assert rows.highlighted is None

    asyncio.run(run())
