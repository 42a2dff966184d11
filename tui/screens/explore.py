"""The Explore screen: search as an agent does, and see exactly what it gets, what that costs and what is missing."""

from asyncio import TimerHandle
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from keyhole.core.errors import KeyholeError, StoreError
from keyhole.core.types.bundle import BundleItem
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread, run_later
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.index_state import IndexState, Phase
from keyhole.tui.notices import nothing_found_lines, waiting_lines
from keyhole.tui.query_syntax import Words, with_path
from keyhole.tui.screens.remembered_queries import RememberedQueriesScreen
from keyhole.tui.search_progress import SearchProgress
from keyhole.tui.search_state import SearchState, Variant
from keyhole.tui.widgets.answer_banner import Banner
from keyhole.tui.widgets.answer_view import DIFF, JSON, PREVIEW, TABS, TEXT, AnswerView, ViewKey
from keyhole.tui.widgets.bars import chooser, set_subtitle, set_title
from keyhole.tui.widgets.budget_bar import BudgetBar
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.lens_line import LensLine
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.query_line import QueryLine, SearchLine
from keyhole.tui.widgets.results import (
    NOTHING_SHORTENED,
    SEARCHING,
    ResultList,
    nothing_left_out_text,
    paging,
    too_large_text,
)
from keyhole.tui.widgets.search_note import SearchNote, search_note

if TYPE_CHECKING:
    from keyhole.core.types.inventory import Inventory
    from keyhole.core.types.search_results import SearchResult
    from keyhole.core.types.view_requests import SearchRequest
    from keyhole.tui.answer import Answer, Row
    from keyhole.tui.history import Place
    from keyhole.tui.lens import Lens
    from keyhole.tui.messages import Answered, SearchFailed

DEBOUNCE_SECONDS = 0.12
# Results grow while the index is being built. Searching more often would make the list flicker and keys wait for it.
_SEARCH_AGAIN_SECONDS = 3.0


class ExploreScreen(RememberedQueriesScreen):
    """Shows the search line, the results, and a view of one result or of the answer."""

    HELP_TITLE = "Explore"
    TABS = TABS
    BINDINGS: ClassVar[list[BindingType]] = keys.EXPLORE

    def __init__(self) -> None:
        super().__init__()
        self.answer: Answer | None = None
        self.shows_left_out = False
        self.versus = 0
        # The client the answer is viewed as; None shows it as sent.
        self.lens: Lens | None = None
        self._number = 0
        self._is_searching = False
        self._typing: TimerHandle | None = None
        self._next_search: TimerHandle | None = None
        self._progress = SearchProgress(self, self._show_controls)

    def compose_body(self) -> ComposeResult:
        """Yield the panes."""
        with Horizontal(id="head"):
            yield SearchLine("A name, a few words, /a regex/, lang:py path:src")
            yield Gauge(id="gauge")
        yield Static(id="problem", markup=False)
        yield SearchNote()
        yield Banner(id="banner")
        yield LensLine()
        yield BudgetBar()
        with Horizontal(id="panes"):
            yield ResultList(id="results")
            yield AnswerView(id="view")

    def on_mount(self) -> None:
        """Watch the index, and focus the search line."""
        self.query_one("#query").border_title = "Search"
        self.query_one("#results").border_title = "Results"
        self.restore_search()
        self.watch(self.app, "index_state", self._on_index_state)
        self.watch(self.app, "inventory", self._on_inventory, init=False)
        self.watch(self.app, "git_changes", self._on_git_changes, init=False)
        self.watch(self.app, "usual_budget", self._on_usual_budget, init=False)
        self.watch(self.app, "tool_costs", self.query_one(LensLine).show_costs, init=False)
        self._show_controls()
        self.query_one(QueryLine).focus()

    def show_wanted(self) -> None:
        """Run the search that another screen has requested."""
        if wanted := self.explorer.wanted_search:
            self.explorer.wanted_search = None
            self.search_state = wanted
            self.query_one(QueryLine).value = wanted.line
            self.action_show_tab(TEXT)
            self.query_one(ResultList).focus()
            self._search()

    def _on_usual_budget(self, budget: int) -> None:
        self.with_usual_budget(budget)
        self._show_controls()

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._typing is None and not self._is_searching and self._pane.is_settled

    @property
    def current_place(self) -> "Place | None":
        """The current line of the file in the preview."""
        from keyhole.tui.history import Place

        if self.row is None or self.tab != PREVIEW:
            return None
        # On a narrow terminal the preview is hidden while the focus is in the results.
        return Place(self.row.hit.path, self.view.current_line if self.view.display else self.row.hit.line)

    @property
    def row(self) -> "Row | None":
        """The result under the cursor."""
        return self.query_one(ResultList).row

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when the typing pauses."""
        if event.value == self.search_state.line:
            return
        self.search_state = self.search_state.with_line(event.value)
        self._progress.pages = 0
        if self._typing:
            self._typing.cancel()
        self._typing = run_later(self, DEBOUNCE_SECONDS, self._typed)

    def _typed(self) -> None:
        self._typing = None
        self._search()

    def _search(self) -> None:
        """Start a search; while another one runs, only the newest one waits."""
        self._number += 1
        self.note_search()
        if not self._is_searching:
            self._start_search()

    def _start_search(self) -> None:
        try:
            request = self.search_state.request if self.search_state.line else None
        except KeyholeError as error:
            self._show_search_problem(error)
            return
        if not (request and request.query):
            self.show_problem("")
            self._show_nothing_asked()
        elif self.explorer.service is not None:
            self._is_searching = True
            if self.answer is None or self.answer.request != request:
                self._progress.begin()
            # When only the detail or the budget changed, the results on the screen can be reused.
            known = self.answer.result if self.answer else None
            run_in_thread(self, partial(self._answer, self._number, request, known), "search")

    def _answer(self, number: int, request: "SearchRequest", known: "SearchResult | None") -> None:
        from keyhole.tui.answer import find_answer
        from keyhole.tui.messages import Answered, SearchFailed

        service = self.explorer.service
        if service is None:
            return
        try:
            found = find_answer(service, number, request, known=known, with_source=self.tab == PREVIEW)
            self.post_message(Answered(found))
        except KeyholeError as error:
            self.post_message(SearchFailed(number, error))

    def on_answered(self, message: "Answered") -> None:
        """Show the answer, unless there is a newer search."""
        self._is_searching = False
        if message.answer.number != self._number:
            self._start_search()
            return
        self.show_problem("")
        # While more is typed, this answer is old already.
        if self._typing is None:
            self._progress.end()
        self._show_answer(message.answer)
        self._turn_waiting_page()

    def on_search_failed(self, message: "SearchFailed") -> None:
        """Show the problem; the results on the screen stay."""
        self._is_searching = False
        if message.number != self._number:
            self._start_search()
        elif isinstance(message.error, StoreError) and self.explorer.is_busy:
            self._show_nothing_asked()
        else:
            self._show_search_problem(message.error)

    def _show_search_problem(self, error: KeyholeError) -> None:
        """Show why there is no new answer; the results on the screen stay."""
        self._progress.pages = 0
        self._progress.end()
        self.show_problem(problem_text(error))
        self._show_controls()

    # Showing

    def _show_answer(self, found: "Answer") -> None:
        # If only files have changed since, the cursor stays where it is.
        is_same = self.answer is not None and self.answer.request == found.request
        place = self.row.place if is_same and self.row else None
        self.answer = found
        results = self.query_one(ResultList)
        if found.rows:
            results.show(found, with_left_out=self.shows_left_out, place=place)
        else:
            results.say(nothing_found_lines(found.result))
        self.query_one(SearchNote).show(search_note(self.search_state.line, found))
        self.query_one(Banner).show(found.view)
        self.query_one(Gauge).view = found.view
        self._show_controls()
        self._show_view()

    def _show_nothing_asked(self) -> None:
        app = self.explorer
        self.answer = None
        self._progress.end()
        self.query_one(SearchNote).show("")
        self.query_one(ResultList).say(waiting_lines(app.index_state))
        self.query_one(Banner).show(None)
        self.query_one(Gauge).view = None
        self.query_one(LensLine).show(None, None)
        self.query_one(BudgetBar).show(None, None)
        self._pane.show_overview(app.status)
        self._show_controls()

    def _show_controls(self) -> None:
        """Show detail, budget, page and client in the frames of the panes."""
        detail = chooser("Detail", self.search_state.detail, "detail")
        budget = chooser("Budget", f"{self.search_state.max_tokens:,}", "budget")
        set_title(self.query_one(Gauge), detail + Content("  ") + budget)
        pages = paging(self.answer, self.search_state.page)
        set_subtitle(self.query_one(ResultList), SEARCHING if self._progress.is_marked else pages)
        name = self.lens.profile.title if self.lens else "raw"
        set_title(self._pane, self.tabs() + Content("   ") + chooser("View as", name, "lens"))

    def _show_view(self) -> None:
        """Show the content of the current tab in the right pane."""
        service = self.explorer.service
        if self.answer is None or service is None:
            return
        row = self.row if self.tab == PREVIEW else None
        if self.tab == PREVIEW and row is None:
            self._pane.show_overview(self.explorer.status)
            return
        versus = self._variant() if self.tab == DIFF else None
        lens = self.lens if self.tab in (TEXT, JSON) else None
        if self.tab not in (TEXT, JSON):
            self.query_one(LensLine).show(None, None)
        self._select_in_text()
        self._pane.show_answer(service, self.answer, ViewKey(self.tab, self.answer.number, row, versus, lens))

    def on_answer_view_seen(self, message: AnswerView.Seen) -> None:
        """Show what the client delivers of the shown text, and the note on JSON."""
        service = self.explorer.service
        budget = self.lens.budget(service.settings) if self.lens and service else 0
        self.query_one(LensLine).show(self.lens, message.delivery, message.note, budget)

    def _variant(self) -> Variant:
        variants = self.search_state.variants()
        return variants[self.versus % len(variants)]

    @property
    def _pane(self) -> AnswerView:
        return self.query_one(AnswerView)

    # Events

    def on_row_list_highlighted(self) -> None:
        """Preview the result under the cursor."""
        if self.tab == PREVIEW:
            self._show_view()
        self._select_in_text()

    def _select_in_text(self) -> None:
        """Mark the result under the cursor in the text of the answer, and in the bar of its cost."""
        rows = self.answer.rows if self.answer else ()
        number = next((number for number, row in enumerate(rows) if row is self.row), None)
        view = self.answer.view if self.answer and self.tab == TEXT else None
        self.query_one(BudgetBar).show(view, number)
        self._pane.select_result(number)

    def on_line_view_clicked(self, message: LineView.Clicked) -> None:
        """Select the result that was clicked in the text of the answer."""
        layout = self._pane.document.layout
        number = layout.result_at(message.line - 1) if layout else None
        if number is not None:
            self.action_select_result(number)

    def action_select_result(self, number: int) -> None:
        """Move the cursor to a result of the page."""
        self.query_one(ResultList).highlighted = number

    def on_row_list_selected(self) -> None:
        """Move the focus to the view."""
        self.keep_query()
        self._pane.focus()

    def _on_index_state(self, state: IndexState) -> None:
        if self.answer is None and not self._is_searching:
            self._search()
        elif state.phase == Phase.INDEXING and self._next_search is None:
            self._next_search = run_later(self, _SEARCH_AGAIN_SECONDS, self._search_again)

    def _search_again(self) -> None:
        self._next_search = None
        if self.answer is not None and self.explorer.index_state.phase == Phase.INDEXING:
            self._search()

    def _on_inventory(self, inventory: "Inventory") -> None:
        """Search again after files have changed; without a workspace there are none."""
        if self.explorer.service is None:
            return
        self.query_one(QueryLine).completion.words = Words.of(inventory)
        index = self.answer.result.index if self.answer else None
        # An answer given while the index was being built says how many files are missing.
        if index is None or index.generation != inventory.generation or index.pending:
            self._search()

    def _on_git_changes(self) -> None:
        """Search again if the search depends on what changed."""
        if self.answer and self.answer.request.changed is not None:
            self._search()

    # Actions

    def action_detail(self, step: int) -> None:
        """Switch to the next or the previous detail."""
        self._search_with(self.search_state.with_detail(step))

    def action_budget(self, step: int) -> None:
        """Raise or lower the budget."""
        self._search_with(self.search_state.with_budget(step))

    def action_next_page(self) -> None:
        """Go to the next page, once the answer to the search is there."""
        self._progress.pages += 1
        self._turn_waiting_page()

    def action_previous_page(self) -> None:
        """Go to the previous page, once the answer to the search is there."""
        self._progress.pages -= 1
        self._turn_waiting_page()

    def _turn_waiting_page(self) -> None:
        """Go one page on or back; the start of a page is known from the answer before it."""
        if self._typing or self._is_searching or self.answer is None or self.answer.number != self._number:
            return
        step = self._progress.next_step()
        if step > 0 and self.answer.next_offset is not None:
            self._search_with(self.search_state.with_next_page(self.answer.next_offset))
        elif step < 0 and self.search_state.page > 1:
            self._search_with(self.search_state.with_previous_page())
        else:
            self._progress.pages = 0

    def _search_with(self, state: SearchState) -> None:
        if state != self.search_state:
            self.search_state = state
            self._show_controls()
            self._search()

    def action_toggle_left_out(self) -> None:
        """Show or hide the results that were left out because of the budget."""
        self.shows_left_out = not self.shows_left_out
        if self.answer and self.answer.rows:
            place = self.row.place if self.row else None
            self.query_one(ResultList).show(self.answer, with_left_out=self.shows_left_out, place=place)
        if self.answer and not self.answer.left_out:
            self.notify(nothing_left_out_text(self.answer), timeout=3)

    def action_in_full(self) -> None:
        """Show a shortened result in full, on a page that starts with it; the key for the previous page goes back."""
        position = self.answer.shortened_position(self.row) if self.answer else None
        if position is None:
            self.notify(NOTHING_SHORTENED, timeout=3)
        elif self.answer and len(self.answer.rows) == 1:
            self.notify(too_large_text(), timeout=6)
        else:
            self._search_with(self.search_state.with_result_in_full(position))

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        super().action_show_tab(tab)
        self._show_controls()
        self._show_view()

    def action_lens(self, step: int) -> None:
        """View the answer as another client delivers it."""
        from keyhole.tui.lens import lens

        chosen = (self.lens or lens()).next(step)
        self.lens = None if chosen.is_raw else chosen
        self.explorer.measure_tools()
        self.action_show_tab(self.tab if self.tab == JSON else TEXT)

    def action_versus(self) -> None:
        """Compare with the next variant."""
        self.versus += self.tab == DIFF
        self.action_show_tab(DIFF)

    def action_why(self) -> None:
        """Explain the rank of the result under the cursor."""
        from keyhole.tui.screens.why import WhyScreen, explain_rank

        if self.answer and self.explorer.service:
            row = self.row
            place = f"{row.hit.path}:{row.hit.line}" if row else ""
            paths = [file.path for file in self.explorer.inventory.files]
            explain = partial(explain_rank, self.explorer.service, self.answer.request)
            self.app.push_screen(WhyScreen(explain, place, paths))

    def action_related(self) -> None:
        """Find code similar to the result under the cursor."""
        from keyhole.tui.history import Place
        from keyhole.tui.screens.related_screen import RelatedScreen

        def go(place: Place | None) -> None:
            if place:
                self.explorer.open_file(*place)

        if (row := self.row) and self.explorer.service:
            self.app.push_screen(RelatedScreen(self.explorer.service, Place(row.hit.path, row.hit.line)), go)

    def action_references(self) -> None:
        """Find the references of the definition at the result under the cursor."""
        from keyhole.tui.history import Place
        from keyhole.tui.reference_trail import TrailStep

        if row := self.row:
            self.keep_query()
            self.explorer.show_references(TrailStep(Place(row.hit.path, row.hit.line)))

    def action_hits_of_file(self) -> None:
        """Search again, only in the file of the result under the cursor."""
        if row := self.row:
            line = self.query_one(QueryLine)
            line.value = with_path(line.value, row.hit.path)

    def action_edit(self) -> None:
        """Open the result in the user's editor."""
        if row := self.row:
            self.keep_query()
            self.explorer.edit(row.hit.path, row.hit.line)

    def action_open(self) -> None:
        """Open the file of the result in Files."""
        if row := self.row:
            self.keep_query()
            self.explorer.open_file(row.hit.path, row.hit.line, marks=self.answer.marks if self.answer else None)

    def part_to_mark(self) -> BundleItem | None:
        """Return the lines of the result, or those that are read in the preview."""
        if self.tab == PREVIEW and self.view.has_focus:
            return super().part_to_mark()
        hit = self.row.hit if self.row else None
        return BundleItem(hit.path, hit.start_line, hit.end_line) if hit else None

    def symbol_to_mark(self) -> BundleItem | None:
        """Return the definition that the result names, or the one around the line in the preview."""
        hit = self.row.hit if self.row else None
        if hit is None or (self.tab == PREVIEW and self.view.has_focus):
            return super().symbol_to_mark()
        owner = hit.owner.qualified_name if hit.owner else ""
        name = owner if hit.is_line else hit.qualified_name
        return BundleItem(hit.path, symbol=name) if name else None

    def action_copy(self) -> None:
        """Copy the answer, or the JSON or diff on those tabs."""
        if self.answer:
            is_other = self.tab in (JSON, DIFF)
            text = self._pane.document.text if is_other else self.answer.view.text
            self.explorer.copy(text, self.tab if is_other else "answer")

    def action_copy_call(self) -> None:
        """Copy the call that gets an agent the same answer."""
        from keyhole.tui.call import json_rpc

        if self.answer:
            self.explorer.copy(json_rpc(self.answer.request), "call")
