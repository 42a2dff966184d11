"""The right pane of references: the source of a place, the exact text an agent gets, or JSON."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.core.errors import KeyholeError
from keyhole.core.types.choices import Format
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.text import count_of, name_text
from keyhole.tui.answer_layout import answer_layout
from keyhole.tui.background import run_in_thread
from keyhole.tui.document import Document, ViewPlace
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.history import Place
from keyhole.tui.hit_marks import NameMarks
from keyhole.tui.messages import Loaded
from keyhole.tui.sources import FileText, read_source, source_document
from keyhole.tui.widgets.bars import set_subtitle
from keyhole.tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from keyhole.core.links.requests import ReferencesRequest
    from keyhole.core.service import Service
    from keyhole.core.view.writing import View

_LONGEST_PATH = 60


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to show: a place, or a request as JSON; texts that arrive late for another one are ignored."""

    place: Place | None = None
    request: "ReferencesRequest | None" = None


class ReferencePreview(LineView):
    """Shows a text immediately, or once a worker has read it."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._wanted: _Wanted | None = None
        # The file on the screen, so that another place in it needs no reading.
        self._path = ""
        # The place that is shown or on its way, and the name to mark in its source.
        self._place: Place | None = None
        self._name = ""
        # Where the next text is to be shown: where it was when it was left.
        self.return_to: ViewPlace | None = None

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is shown."""
        return self._wanted is None

    @property
    def shown_path(self) -> str:
        """The path of the file on the screen; empty if the text is not that of a file."""
        return self._path

    def clear(self) -> None:
        """Show nothing."""
        self._show(Document(), "")

    def show_place(self, service: "Service", place: Place, name: str) -> None:
        """Show the source around a place, with a name marked."""
        if (place, name) == (self._place, self._name):
            return
        if self._place:
            self.return_to = None
        self._place, self._name = place, name
        if place.path == self._path:
            self._show_source(place, FileText(self.document.text, self.document.symbols))
        else:
            self._load(service, _Wanted(place=place))

    def show_view(self, view: "View", selected: int | None) -> None:
        """Show the text that an agent gets, with a result marked."""
        document = Document(view.text, wraps=True, layout=answer_layout(view, commands=()))
        self._show_answer(replace(document, marked=document.lines_of_result(selected)))

    def _show_answer(self, document: Document) -> None:
        text = document.text
        cost = f"{count_of(estimate_tokens(text), 'token')} · {count_of(len(text), 'character')}"
        self._show(document, f"{cost} · exactly what an agent gets", line=document.marked.start or 1)

    def show_json(self, service: "Service", request: "ReferencesRequest") -> None:
        """Show what an agent gets as JSON."""
        self._load(service, _Wanted(request=replace(request, format=Format.JSON)))

    def forget(self) -> None:
        """Read the file again the next time: it may have changed."""
        self._path, self._place = "", None

    def _load(self, service: "Service", wanted: _Wanted) -> None:
        self._wanted = wanted
        run_in_thread(self, partial(self._read, service, wanted), "preview")

    def _read(self, service: "Service", wanted: _Wanted) -> None:
        try:
            if wanted.request:
                self.post_message(Loaded(wanted, service.relation_view(wanted.request).text))
            elif wanted.place:
                source = read_source(service, wanted.place.path, wanted.place.line)
                self.post_message(Loaded(wanted, source=source))
        except KeyholeError as error:
            self.post_message(Loaded(wanted, f"✗ {problem_text(error)}\n", is_error=True))

    def on_loaded(self, message: Loaded) -> None:
        """Show a text that a worker has read, unless another one was requested since."""
        message.stop()
        wanted = message.key
        if wanted is not self._wanted or not isinstance(wanted, _Wanted):
            return
        if message.is_error:
            self._show(Document(message.text), "")
        elif wanted.place and message.source:
            self._show_source(wanted.place, message.source)
        else:
            self._show_answer(Document(message.text, "json", wraps=True))

    def _show_source(self, place: Place, source: FileText) -> None:
        marks = NameMarks(self._name) if self._name else None
        document = source_document(place.path, source, range(place.line, place.line + 1), marks)
        # A place without a line is a whole file.
        number = f":{place.line}" if place.line else ""
        self._show(document, f"{name_text(place.path, _LONGEST_PATH)}{number}", line=place.line)
        self._path, self._place = place.path, place

    def _show(self, document: Document, subtitle: str, *, line: int = 1) -> None:
        self._wanted, self._path, self._place = None, "", None
        set_subtitle(self, Content(subtitle))
        self.show(document, line=line)
        if self.return_to:
            self.go_back_to(self.return_to)
            self.return_to = None
