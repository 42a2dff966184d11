"""The part of Explore that remembers: the last search, the history of queries, and saved ones."""

from asyncio import TimerHandle
from dataclasses import replace
from typing import ClassVar

from textual.widgets import Input
from textual.widgets.input import Selection

from keyhole.core.types.choices import Detail
from keyhole.core.view.budget.limits import DEFAULT_TOKENS
from keyhole.tui.background import run_later
from keyhole.tui.key_names import key_of
from keyhole.tui.query_history import HistoryWalk
from keyhole.tui.screens.panes import QueryScreen
from keyhole.tui.search_state import SearchState
from keyhole.tui.state_file import LastState
from keyhole.tui.widgets.query_line import QueryLine


class RememberedQueriesScreen(QueryScreen):
    """A screen whose queries are remembered once the user has acted on them."""

    # A query that stays for this long was meant; what is typed on the way to it is not remembered.
    KEEP_SECONDS: ClassVar[float] = 5.0

    def __init__(self) -> None:
        super().__init__()
        self.search_state = SearchState()
        self._walk = HistoryWalk()
        self._keeping: TimerHandle | None = None

    def restore_search(self) -> None:
        """Start with the search that was on the screen last; the line is selected, so that typing replaces it."""
        self.search_state = restored_search(self.explorer.state.last)
        if self.search_state.line:
            line = self.query_one(QueryLine)
            line.value = self.search_state.line
            line.selection = Selection(0, len(line.value))

    def note_search(self) -> None:
        """Note the search for the next start, and let it stand for a while before it goes into the history."""
        last, state = self.explorer.state.last, self.search_state
        is_other = last.line != state.line
        last.line, last.detail = state.line, str(state.detail)
        last.max_tokens = 0 if state.max_tokens == self.explorer.usual_budget else state.max_tokens
        # The same query is searched again whenever files change.
        if is_other:
            if self._keeping:
                self._keeping.cancel()
            self._keeping = run_later(self, self.KEEP_SECONDS, self.keep_query)

    def keep_query(self) -> None:
        """Put the query into the history, because the user has acted on it."""
        state, known = self.explorer.state, self.explorer.state.history
        state.add_query(self.search_state.line)
        if state.history != known:
            self.explorer.write_state()

    def with_usual_budget(self, budget: int) -> None:
        """Use the budget of the workspace's settings, unless the user has chosen another one."""
        if not self.explorer.state.last.max_tokens:
            self.search_state = replace(self.search_state, max_tokens=budget)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        """Remember the query; Textual calls the handler of the base class too."""
        self.keep_query()

    # Actions

    def action_history(self, step: int) -> None:
        """Go to an older or a newer query."""
        line, history = self.query_one(QueryLine), self.explorer.state.history
        found = self._walk.older(history, line.value) if step < 0 else self._walk.newer(history, line.value)
        if found is not None:
            line.value = found
            line.cursor_position = len(found)
        elif step < 0:
            self.notify("No older queries." if history else "No queries in the history yet.", timeout=3)

    def action_queries(self) -> None:
        """Choose a saved query or one from the history."""
        from keyhole.tui.screens.queries import QueriesScreen

        def use(query: str | int | None) -> None:
            if isinstance(query, str):
                line = self.query_one(QueryLine)
                line.value = query
                line.cursor_position = len(query)
                line.focus()
            self.explorer.write_state()

        self.app.push_screen(QueriesScreen(self.explorer.state), use)

    def action_save_query(self) -> None:
        """Save the query under a name."""
        from keyhole.tui.screens.queries import SaveQueryScreen

        query, state = self.query_one(QueryLine).value.strip(), self.explorer.state
        if not query:
            self.notify("Nothing to save: type a query first.", timeout=3)
            return

        def save(name: str | None) -> None:
            if name:
                is_saved = state.save_query(name, query)
                text = (
                    f"Saved as “{name}”: press {key_of('queries')} to use it."
                    if is_saved
                    else "Too many saved queries."
                )
                self.notify(text, timeout=3, markup=False, severity="information" if is_saved else "warning")
                self.explorer.write_state()

        self.app.push_screen(SaveQueryScreen(query, state.saved), save)


def restored_search(last: LastState) -> SearchState:
    """Return the search as it was left; values that are not known any more are ignored."""
    detail = Detail(last.detail) if last.detail in list(Detail) else Detail.COMPACT
    return SearchState(last.line, detail, last.max_tokens or DEFAULT_TOKENS)
