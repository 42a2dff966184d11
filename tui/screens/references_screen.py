"""References of a symbol, its callers, its callees or its hierarchy, and the trail that leads there."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from keyhole.core.deadline import Deadline, within
from keyhole.core.errors import KeyholeError
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.types.bundle import BundleItem
from keyhole.core.types.inventory import Inventory
from keyhole.core.view.writing import head_text
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread, run_later
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.history import Place
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.messages import RelationAnswered
from keyhole.tui.reference_rows import ReferenceRow, reference_rows
from keyhole.tui.reference_trail import RELATIONS, TrailStep
from keyhole.tui.screens.panes import PanesScreen
from keyhole.tui.widgets.answer_banner import Banner
from keyhole.tui.widgets.bars import clickable, set_subtitle, set_title
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.reference_list import ReferenceList
from keyhole.tui.widgets.reference_preview import ReferencePreview
from keyhole.tui.widgets.results import page_arrows
from keyhole.tui.widgets.trail_line import TrailLine

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.lists.relation_results import RelationResults

PREVIEW, TEXT, JSON = TABS = ("Preview", "Text", "JSON")
# An answer takes a few milliseconds; saying so earlier would only make the list flicker.
SAY_SEARCHING_AFTER = 0.2
LONGEST_WAIT = 20.0
_OTHER_RELATION = (
    f"Press {marked_up_key('previous-relation')} or {marked_up_key('next-relation')} for another relation."
)


class ReferencesScreen(PanesScreen):
    """Lists what uses a symbol, with a preview of each place."""

    HELP_TITLE = "References"
    TABS = TABS
    CSS_PATH = "../styles/references.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.REFERENCES

    def __init__(self, trail: Sequence[TrailStep]) -> None:
        super().__init__()
        self.trail = list(trail)
        self.answer: ListView | None = None
        # The definition that the answer is about.
        self._definition: Place | None = None
        self._wanted: ReferencesRequest | None = None
        self._deadline = Deadline(LONGEST_WAIT)

    def compose_body(self) -> ComposeResult:
        """Yield the panes."""
        yield TrailLine()
        yield Banner(id="banner")
        yield Static(id="notes", markup=False)
        with Horizontal(id="panes"):
            yield ReferenceList(id="references")
            yield ReferencePreview(id="view")

    def on_mount(self) -> None:
        """Load the first list, and load it again after files have changed."""
        self.watch(self.app, "inventory", self._on_inventory, init=False)
        self._list.say(["Searching…"])
        self._list.focus()
        self._load()

    def on_unmount(self) -> None:
        """Stop the search, and remember the trail however the references were left."""
        self._deadline.cancel()
        self.explorer.last_trail = tuple(self.trail)

    @property
    def step(self) -> TrailStep:
        """The end of the trail, which is on the screen."""
        return self.trail[-1]

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return self._wanted is None and self._preview.is_settled

    @property
    def current_place(self) -> Place | None:
        """The current line of the file in the preview."""
        path = self._preview.shown_path
        return Place(path, self._preview.current_line) if path and self._preview.display else None

    @property
    def _list(self) -> ReferenceList:
        return self.query_one(ReferenceList)

    @property
    def _preview(self) -> ReferencePreview:
        return self.query_one(ReferencePreview)

    # Searching

    def _load(self) -> None:
        """Ask for the end of the trail; an earlier request stops."""
        service = self.explorer.service
        if service is None:
            return
        self._deadline.cancel()
        self._deadline, self._wanted = Deadline(LONGEST_WAIT), self.step.request
        self.query_one(TrailLine).show(self.trail)
        self._show_controls()
        run_later(self, SAY_SEARCHING_AFTER, partial(self._say_searching, self._wanted))
        work = partial(self._answer, service, self._wanted, self._deadline)
        run_in_thread(self, work, "references")

    def _answer(self, service: "Service", request: ReferencesRequest, deadline: Deadline) -> None:
        try:
            with within(deadline):
                self.post_message(RelationAnswered(request, service.relation_page(request)))
        except KeyholeError as error:
            self.post_message(RelationAnswered(request, error))

    def _say_searching(self, request: ReferencesRequest) -> None:
        if request is self._wanted:
            self._show_nothing(["Searching…"])
            self._show_controls()

    def on_relation_answered(self, message: RelationAnswered) -> None:
        """Show the answer, unless there is a newer request."""
        if message.request is not self._wanted:
            return
        self._wanted = None
        if isinstance(message.answer, KeyholeError):
            self._show_nothing([f"✗ {Content(problem_text(message.answer)).markup}"])
        else:
            self._show_answer(*message.answer)
        self._show_controls()

    # Showing

    def _show_answer(self, results: "RelationResults", view: "ListView") -> None:
        page, step = results.references, self.step
        if page is None:
            return
        self.trail[-1] = replace(step, name=page.definition.qualified_name)
        self._definition = Place(page.definition.path, page.definition.name_line)
        rows = reference_rows(page, len(view.plan.levels), step.relation)
        self.answer = view
        self._preview.forget()
        self._list.name_to_mark = page.definition.name
        if rows:
            self._list.show(rows, step.cursor)
            self._list.scroll_to(y=step.top, animate=False, force=True)
        else:
            self._list.say(_nothing_lines(step.relation, view, is_complete=results.nothing is not None))
        self._show_head(view if rows else None)
        self.query_one(TrailLine).show(self.trail)
        self.tab = step.tab or self.tab
        self._preview.return_to = step.view
        self._show_view()

    def _show_nothing(self, lines: list[str]) -> None:
        self.answer = None
        self._list.say(lines)
        self._preview.clear()
        self._show_head(None)

    def _show_head(self, view: "ListView | None") -> None:
        """Show the banner and the notes of an answer; without rows, the list says the same."""
        banner, notes = self.query_one(Banner), self.query_one("#notes", Static)
        banner.display = view is not None
        notes.display = bool(view and view.notes)
        banner.show(view)
        notes.update(head_text("", view.notes).strip() if view else "")

    def _show_controls(self) -> None:
        names = []
        for relation in RELATIONS:
            style = "bold $primary underline" if relation == self.step.relation else "$text-muted"
            names.append(clickable(Content.styled(relation.capitalize(), style), f"screen.relation('{relation}')"))
        set_title(self._list, Content(" │ ").join(names))
        page = self.answer.page if self.answer else None
        has_next = self._next_offset is not None
        arrows = page_arrows(self.step.page, page.total, has_next=has_next) if page and page.total else Content("")
        set_subtitle(self._list, arrows)
        set_title(self._preview, self.tabs())

    def _show_view(self) -> None:
        """Show the content of the current tab in the right pane."""
        service, row = self.explorer.service, self._list.row
        if service is None or self.answer is None:
            return
        if self.tab == TEXT:
            self._preview.show_view(self.answer, self._list.result)
        elif self.tab == JSON:
            self._preview.show_json(service, self.step.request)
        elif place := row.place if row else self._definition:
            self._preview.show_place(service, place, self._name_in(row))

    def _name_in(self, row: ReferenceRow | None) -> str:
        """Return the name to mark at a place: the symbol where it is used, or else the one that is defined there."""
        if row and self.step.relation in (ReferenceRelation.CALLEES, ReferenceRelation.HIERARCHY):
            return row.first.rpartition(".")[2].rpartition(" ")[2]
        return self._list.name_to_mark

    # Events

    def on_row_list_highlighted(self) -> None:
        """Preview the row under the cursor."""
        if self.tab == PREVIEW:
            self._show_view()
        elif self.tab == TEXT:
            self._preview.select_result(self._list.result)

    def on_line_view_clicked(self, message: LineView.Clicked) -> None:
        """Move the cursor to the row that was clicked in the text of the answer."""
        layout = self._preview.document.layout
        if layout and (number := layout.result_at(message.line - 1)) is not None:
            self._list.select_result(number)

    def on_row_list_selected(self) -> None:
        """Open a reference, or list the same about the function or class under the cursor."""
        row = self._list.row
        if row is None or self._wanted:
            return
        if row.target is None or self.step.relation == ReferenceRelation.REFERENCES:
            self.action_open()
            return
        self._keep_place()
        self.trail.append(TrailStep(row.target, self.step.relation))
        self._load()

    def _on_inventory(self, _: Inventory) -> None:
        self._keep_place()
        self._load()

    def _keep_place(self) -> None:
        self.trail[-1] = replace(
            self.step,
            cursor=self._list.highlighted,
            top=self._list.scroll_offset.y,
            tab=self.tab,
            view=self._preview.place,
        )

    # Actions

    def action_relation(self, relation: str) -> None:
        """List another relation of the same symbol."""
        self._ask(self.step.with_relation(ReferenceRelation(relation)))

    def action_next_relation(self, step: int) -> None:
        """Go to the next or the previous relation."""
        self.action_relation(RELATIONS[(RELATIONS.index(self.step.relation) + step) % len(RELATIONS)])

    def action_next_page(self) -> None:
        """Go to the next page."""
        if self._next_offset is not None and not self._wanted:
            self._ask(self.step.with_next_page(self._next_offset))

    def action_previous_page(self) -> None:
        """Go to the previous page."""
        if self.step.page > 1:
            self._ask(self.step.with_previous_page())

    @property
    def _next_offset(self) -> int | None:
        return self.answer.page.after(len(self.answer.plan.levels)) if self.answer else None

    def _ask(self, step: TrailStep) -> None:
        self.trail[-1] = step
        self._load()

    def action_show_tab(self, tab: str) -> None:
        """Go to a tab."""
        super().action_show_tab(tab)
        self._show_controls()
        self._show_view()

    def action_back(self) -> None:
        """Leave the zoom, or else the view, or else the last step; from the first step, close the references."""
        if self.has_class("-zoomed") or self._preview.has_focus:
            super().action_back()
        elif len(self.trail) > 1:
            self.action_go_to_step(len(self.trail) - 2)
        else:
            self._close()

    def action_go_to_step(self, number: int) -> None:
        """Go back to a step of the trail."""
        del self.trail[number + 1 :]
        self._load()

    def action_read(self) -> None:
        """Move the focus to the preview; on a narrow terminal, that shows it."""
        self._preview.focus()

    def action_open(self) -> None:
        """Open the place under the cursor in Files."""
        if (row := self._list.row) and row.place:
            self._close()
            self.explorer.open_file(*row.place)

    def action_edit(self) -> None:
        """Open the place under the cursor in the user's editor."""
        if (row := self._list.row) and row.place:
            self.explorer.edit(*row.place)

    def part_to_mark(self) -> BundleItem | None:
        """Return the line of the reference, or those that are read in the preview."""
        if self.tab == PREVIEW and self._preview.has_focus:
            return super().part_to_mark()
        place = self._list.row.place if self._list.row else None
        return BundleItem(place.path, place.line, place.line) if place and place.line else None

    def action_copy(self) -> None:
        """Copy the answer, or the JSON on that tab."""
        if self.answer:
            is_json = self.tab == JSON
            text = self._preview.document.text if is_json else self.answer.text
            self.explorer.copy(text, self.tab if is_json else "answer")

    def action_copy_call(self) -> None:
        """Copy the call that gets an agent the same answer."""
        from keyhole.tui.call import json_rpc

        self.explorer.copy(json_rpc(self.step.request), "call")

    def _close(self) -> None:
        self._keep_place()
        self.explorer.last_trail = tuple(self.trail)
        self.dismiss()


def _nothing_lines(relation: ReferenceRelation, view: "ListView", *, is_complete: bool) -> list[str]:
    """Return what is shown instead of an empty list: what was looked for, and what to try."""
    title = f"○ No {relation}" if is_complete else f"◌ No {relation} yet"
    notes = [f"· {Content(text).markup}" for text in (view.banner, *view.notes)]
    return [f"[bold]{title}[/]", "", *notes, "", _OTHER_RELATION]
