"""The right pane of Explore: the file behind a result, the exact text an agent gets, JSON, or a comparison."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message

from keyhole.core.errors import KeyholeError
from keyhole.core.types import Status
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.notices import overview
from keyhole.tui.search_state import Variant
from keyhole.tui.sources import read_text
from keyhole.tui.widgets.bars import set_subtitle
from keyhole.tui.widgets.line_view import Document, LineView

if TYPE_CHECKING:
    from keyhole.core.clients import Delivery
    from keyhole.core.service import Service
    from keyhole.tui.answer import Answer, Row
    from keyhole.tui.lens import Lens
    from keyhole.tui.messages import Loaded

PREVIEW, TEXT, JSON, DIFF = TABS = ("Preview", "Text", "JSON", "Diff")


@dataclass(frozen=True, slots=True)
class ViewKey:
    """What is to be shown: a late text for anything else is dropped."""

    tab: str
    number: int
    row: "Row | None" = None
    versus: Variant | None = None
    # The client through whose limits the text is seen; nothing of it means as it was sent.
    lens: "Lens | None" = None


class AnswerView(LineView):
    """Shows one side of an answer: at once when it is there, or as soon as a worker has made it."""

    @dataclass
    class Seen(Message):
        """A text is shown, as a client would deliver it."""

        delivery: "Delivery | None"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._wanted: ViewKey | None = None
        self._shown: ViewKey | None = None

    @property
    def is_settled(self) -> bool:
        """Whether what was asked for is shown."""
        return self._wanted is None

    def show_overview(self, status: Status | None) -> None:
        """Show how to search, and what there is to search."""
        self._wanted = self._shown = None
        self._show_document(Document(overview(status)), "")

    def show_answer(self, service: "Service", answer: "Answer", key: ViewKey) -> None:
        """Show one side of an answer."""
        if key in (self._wanted, self._shown):
            return
        if key.tab == TEXT:
            self._wanted, self._shown = None, key
            self._show_text(answer.view.text, key, answer.view.truncation.estimated_tokens)
        elif key.row and key.row is answer.rows[0] and answer.source is not None:
            self._wanted, self._shown = None, key
            self._show_source(key.row, answer.source)
        else:
            self._wanted = key
            self.run_worker(partial(self._load, service, key, answer), thread=True, name="view")

    def _load(self, service: "Service", key: ViewKey, answer: "Answer") -> None:
        """Make the text for a tab, in a worker."""
        from keyhole.tui.answer import as_json, compare
        from keyhole.tui.messages import Loaded

        try:
            if key.row:
                self.post_message(Loaded(key, read_text(service, key.row.hit.path)))
            elif key.versus:
                compared = compare(service, answer, key.versus)
                note = f"{answer.request.detail_level} → {key.versus}: {compared.difference} · v compares with another"
                self.post_message(Loaded(key, compared.text, note=note))
            else:
                self.post_message(Loaded(key, as_json(service, answer).text))
        except KeyholeError as error:
            self.post_message(Loaded(key, f"✗ {problem_text(error)}\n", is_error=True))

    def on_loaded(self, message: "Loaded") -> None:
        """Show a text that a worker made, if it is still wanted."""
        message.stop()
        key = message.key
        if key != self._wanted or not isinstance(key, ViewKey):
            return
        self._wanted, self._shown = None, key
        if message.is_error:
            self._show_document(Document(message.text), "")
        elif key.row:
            self._show_source(key.row, message.text)
        elif key.versus:
            self._show_document(Document(message.text, lexer="diff"), message.note)
        else:
            from keyhole.core.view.budget.tokens import estimate_tokens

            self._show_text(message.text, key, estimate_tokens(message.text))

    def _show_text(self, text: str, key: ViewKey, tokens: int) -> None:
        """Show what an agent gets, or what its client leaves of that."""
        delivery = key.lens.see(text) if key.lens else None
        seen = delivery.text if delivery else text
        lexer = "json" if key.tab == JSON and seen == text else ""
        whose = "exactly what an agent gets" if seen == text else "what is left of it"
        cost = f"{count_of(tokens, 'token')} · {count_of(len(text), 'character')}"
        self._show_document(Document(seen, lexer), f"{cost} · {whose}")
        self.post_message(self.Seen(delivery))

    def _show_source(self, row: "Row", text: str) -> None:
        from keyhole.tui.source_colours import lexer_of

        hit = row.hit
        document = Document(text, lexer_of(hit.path), is_numbered=True, marked=range(hit.start_line, hit.end_line + 1))
        self._show_document(document, f"{name_text(hit.path, 60)}:{hit.start_line}-{hit.end_line}", line=hit.line)

    def _show_document(self, document: Document, subtitle: str, *, line: int = 1) -> None:
        set_subtitle(self, Content(subtitle))
        # The same text again, after files changed: whoever reads it must not lose the place.
        if self.document != document:
            self.show(document, line=line)
