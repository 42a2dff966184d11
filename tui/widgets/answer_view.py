"""The right pane of Explore: the file of a result, the exact text an agent gets, JSON, or a comparison."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message

from keyhole.core.errors import KeyholeError
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.background import run_in_thread
from keyhole.tui.document import Document
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.notices import overview
from keyhole.tui.search_state import Variant
from keyhole.tui.sources import FileText, read_source, source_document
from keyhole.tui.widgets.bars import set_subtitle
from keyhole.tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from keyhole.core.delivery import Delivery
    from keyhole.core.service import Service
    from keyhole.core.types.index import Status
    from keyhole.core.view.writing import View
    from keyhole.tui.answer import Answer, Row
    from keyhole.tui.lens import Lens
    from keyhole.tui.messages import Loaded

PREVIEW, TEXT, JSON, DIFF = TABS = ("Preview", "Text", "JSON", "Diff")


@dataclass(frozen=True, slots=True)
class ViewKey:
    """What to show; texts that arrive late for another key are ignored."""

    tab: str
    number: int
    row: "Row | None" = None
    versus: Variant | None = None
    # The client the text is viewed as; None shows it as sent.
    lens: "Lens | None" = None


class AnswerView(LineView):
    """Shows an answer on one of the tabs, immediately or once a worker has made the text."""

    @dataclass
    class Seen(Message):
        """A text is shown: `delivery` is what a client delivers of it, `note` what to know about it."""

        delivery: "Delivery | None" = None
        note: str = ""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._wanted: ViewKey | None = None
        self._shown: ViewKey | None = None
        # The answer that the wanted text is about, and its selected result.
        self._answer: Answer | None = None
        self._selected: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is shown."""
        return self._wanted is None

    def show_overview(self, status: "Status | None") -> None:
        """Show how to search, and what is indexed."""
        self._wanted = self._shown = None
        self._show_document(Document(overview(status)), "")

    def show_answer(self, service: "Service", answer: "Answer", key: ViewKey) -> None:
        """Show an answer on one of the tabs."""
        if key in (self._wanted, self._shown):
            return
        self._answer = answer
        if key.tab == TEXT:
            self._wanted, self._shown = None, key
            self._show_text(answer.view.text, key, answer.view.truncation.estimated_tokens)
        elif key.row and key.row is answer.rows[0] and answer.source is not None:
            self._wanted, self._shown = None, key
            self._show_source(key.row, answer, answer.source)
        else:
            self._wanted = key
            # First the cursor moves on the screen. While its key is held down, files in between are not read.
            self.call_after_refresh(self._start_loading, service, key, answer)

    def _start_loading(self, service: "Service", key: ViewKey, answer: "Answer") -> None:
        if key == self._wanted:
            run_in_thread(self, partial(self._load, service, key, answer), "view")

    def _load(self, service: "Service", key: ViewKey, answer: "Answer") -> None:
        """Make the text of a tab, in a worker."""
        from keyhole.tui.answer import as_json, compare, json_note
        from keyhole.tui.messages import Loaded

        try:
            if key.row:
                source = read_source(service, key.row.hit.path, key.row.hit.line)
                self.post_message(Loaded(key, source=source))
            elif key.versus:
                compared = compare(service, answer, key.versus)
                note = f"{answer.request.detail_level} → {key.versus}: {compared.difference} · v: compare with another"
                self.post_message(Loaded(key, compared.text, note=note))
            else:
                view = as_json(service, answer)
                self.post_message(Loaded(key, view.text, note=json_note(answer, view)))
        except KeyholeError as error:
            self.post_message(Loaded(key, f"✗ {problem_text(error)}\n", is_error=True))

    def on_loaded(self, message: "Loaded") -> None:
        """Show a text that a worker made, unless another one was requested since."""
        message.stop()
        key = message.key
        if key != self._wanted or not isinstance(key, ViewKey):
            return
        self._wanted, self._shown = None, key
        if message.is_error:
            self._show_document(Document(message.text), "")
            self.post_message(self.Seen())
        elif key.row and self._answer and message.source:
            self._show_source(key.row, self._answer, message.source)
        elif key.versus:
            self._show_document(Document(message.text, lexer="diff"), message.note)
        else:
            from keyhole.core.view.budget.tokens import estimate_tokens

            self._show_text(message.text, key, estimate_tokens(message.text), message.note)

    def _show_text(self, text: str, key: ViewKey, tokens: int, note: str = "") -> None:
        """Show what an agent gets, or what its client delivers of that."""
        delivery = key.lens.see(text) if key.lens else None
        seen = delivery.text if delivery else text
        lexer = "json" if key.tab == JSON and seen == text else ""
        whose = "exactly what an agent gets" if seen == text else "as the client delivers it"
        if self._answer and self._answer.request.changed is not None:
            whose = "agents can't filter by changes"
        cost = f"{count_of(tokens, 'token')} · {count_of(len(text), 'character')}"
        document = Document(seen, lexer, wraps=True)
        if key.tab == TEXT and seen == text and self._answer:
            document = self._with_layout(document, self._answer.view)
        line = document.marked.start or 1
        self._show_document(document, f"{cost} · {whose}", line=line)
        self.post_message(self.Seen(delivery, note))

    def _with_layout(self, document: Document, view: "View") -> Document:
        from keyhole.tui.answer_layout import IN_FULL, RAISE_BUDGET, answer_layout

        document = replace(document, layout=answer_layout(view, commands=(IN_FULL, RAISE_BUDGET)))
        return replace(document, marked=document.lines_of_result(self._selected))

    def select_result(self, number: int | None) -> None:
        """Mark a result in the text of the answer and keep it in view; `number` is its place on the page."""
        self._selected = number
        super().select_result(number)

    def _show_source(self, row: "Row", answer: "Answer", source: FileText) -> None:
        from keyhole.tui.hit_marks import marks_of_hit, opening_line

        hit = row.hit
        marked = range(hit.start_line, hit.end_line + 1)
        document = source_document(hit.path, source, marked, marks_of_hit(hit, answer.marks))
        lines = f"{hit.start_line}" if hit.is_line else f"{hit.start_line}-{hit.end_line}"
        line = opening_line(hit, answer.request, document.lines)
        self._show_document(document, f"{name_text(hit.path, 60)}:{lines}", line=line)

    def _show_document(self, document: Document, subtitle: str, *, line: int = 1) -> None:
        set_subtitle(self, Content(subtitle))
        # The text can be the same after files changed; then the scroll position stays.
        if self.document != document:
            self.show(document, line=line)
