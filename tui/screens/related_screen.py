"""Code that is similar to a result."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen

from keyhole.core.errors import KeyholeError
from keyhole.core.links.requests import RelatedRequest
from keyhole.core.types.search_results import Hit
from keyhole.core.view.lists.hit_text import preview_text
from keyhole.core.view.lists.relation_view import HOW_FOUND
from keyhole.core.view.text import name_text
from keyhole.tui import keys
from keyhole.tui.answer import label_of
from keyhole.tui.background import run_in_thread
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.history import Place
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.messages import RelationAnswered
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.core.service import Service


class RelatedList(RowList):
    """Lists places, each with its code and its similarity."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SIMILAR_LIST
    lines_each = 2

    def __init__(self) -> None:
        super().__init__(id="related")
        self.hits: tuple[Hit, ...] = ()

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a place on two lines, like a search result."""
        hit = self.hits[number]
        score = f"  {hit.score:.2f}"
        place = f"{name_text(hit.path)}:{hit.start_line}"
        first = Content.assemble((place, "bold")).truncate(width - len(score), ellipsis=True, pad=True)
        label = label_of(hit)
        after = label.after if hit.signature else name_text(" ".join(preview_text(hit).split()))
        second = Content.assemble(f"  {label.before}", (label.kind, "$secondary"), f" {after}")
        return [first + Content.styled(score, "$text-muted"), second.truncate(width, ellipsis=True, pad=True)]


class RelatedScreen(ModalScreen[Place | None]):
    """Shows similar code; selecting a place opens it."""

    HELP_TITLE = "Similar code"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SIMILAR

    def __init__(self, service: "Service", place: Place) -> None:
        super().__init__()
        self._service = service
        self._request = RelatedRequest(place.path, place.line)

    def compose(self) -> ComposeResult:
        """Yield the list."""
        yield RelatedList()

    def on_mount(self) -> None:
        """Start the search for similar code."""
        rows = self.query_one(RelatedList)
        rows.border_title = f"Code similar to {name_text(self._request.path, 50)}:{self._request.line}"
        rows.border_subtitle = f"⏎ Open · {marked_up_key('cancel')} Cancel"
        rows.say(["Searching…"])
        run_in_thread(self, partial(self._answer, self._service), "related")

    def _answer(self, service: "Service") -> None:
        try:
            self.post_message(RelationAnswered(self._request, service.relation_page(self._request)))
        except KeyholeError as error:
            self.post_message(RelationAnswered(self._request, error))

    def on_relation_answered(self, message: RelationAnswered) -> None:
        """Show what was found."""
        rows = self.query_one(RelatedList)
        if isinstance(message.answer, KeyholeError):
            rows.say([f"✗ {Content(problem_text(message.answer)).markup}"])
            return
        results, view = message.answer
        if results.related:
            rows.hits = results.related.hits[: len(view.plan.levels)]
            # The title already names the code it is similar to.
            rows.border_subtitle = f"{HOW_FOUND[results.related.how]} · ⏎ Open · {marked_up_key('cancel')} Cancel"
        if rows.hits:
            rows.show_rows(len(rows.hits), 0)
        else:
            rows.say([Content(line).markup for line in view.text.splitlines()])

    def on_row_list_selected(self) -> None:
        """Open the place under the cursor."""
        rows = self.query_one(RelatedList)
        if rows.highlighted is not None and rows.hits:
            hit = rows.hits[rows.highlighted]
            self.dismiss(Place(hit.path, hit.start_line))
