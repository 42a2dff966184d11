"""One call in detail: its arguments, the exact answer, its timing, and the difference to a replay."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.core.errors import KeyholeError
from keyhole.core.journal.reader import is_lost
from keyhole.core.journal.story import Conversation
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.story_text import STORY_HEAD, story_text
from keyhole.core.view.text import count_of
from keyhole.tui.background import run_in_thread
from keyhole.tui.call_deliveries import deliveries
from keyhole.tui.call_text import answer_json, answer_text, arguments_document, replay_diff, timing_text
from keyhole.tui.document import Document
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import key_of
from keyhole.tui.messages import Loaded
from keyhole.tui.widgets.bars import set_subtitle
from keyhole.tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.tui.call_log import Summary

TABS = ("Arguments", "Text", "Timing", "Story", "Diff", "JSON", "Lens")
ARGUMENTS, TEXT, TIMING, STORY, DIFF, JSON, LENS = TABS
_NO_CALL = "Select a call to see its arguments, the exact answer, its timing, and how a replay differs.\n"
_NO_REPLAY = (
    f"Press {key_of('replay')} to replay this call with the same or other parameters and compare the answers.\n"
)
_NO_ANSWER = "No answer yet.\n"
_CANCELLED = "No answer: the client cancelled the call, or the server was stopped.\n"
_LOST = """No answer: the server that handled this call
is no longer running.
"""


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed call: its arguments and its answer."""

    call_id: int
    arguments: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownPart:
    """What is chosen to be shown of any call: a tab, the client on the tab Lens, and the last replay."""

    tab: str
    client: str = ""
    replay: Replay | None = None


@dataclass(frozen=True, slots=True)
class CallKey:
    """What to show; texts that arrive late for another key are ignored. A call gets a new key when it ends."""

    tab: str
    call_id: int
    change: int
    replay: Replay | None = None
    # How many calls the conversation has, and how many of them have ended.
    progress: tuple[int, ...] = ()
    # The client whose deliveries are shown; empty for the one that made the call.
    client: str = ""


class CallView(LineView):
    """Shows a call on one of the tabs."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # so named by Textual
        super().__init__(id=id)
        self._wanted: CallKey | None = None
        self._shown: CallKey | None = None

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is shown."""
        return self._wanted is None

    def show_nothing(self) -> None:
        """Show what this pane is for."""
        self._wanted = self._shown = None
        self._put(Document(_NO_CALL, wraps=True), "")

    def show_story(self, told: Conversation, call: Call) -> None:
        """Show the conversation of a call."""
        key = CallKey(STORY, call.id, told.steps[-1].call.change, progress=(len(told.steps), told.tokens))
        if key != self._shown:
            self._wanted, self._shown = None, key
            text = story_text(told, call.id)
            line = STORY_HEAD + next(number for number, step in enumerate(told.steps, 1) if step.call.id == call.id)
            self._put(Document(text, wraps=True), "the conversation, oldest call first", line)

    def show_call(self, service: "Service", call: Call, summary: "Summary", shown: "ShownPart") -> None:
        """Show a call on one of the tabs, immediately or once a worker has read it."""
        tab, replay = shown.tab, shown.replay
        replay = replay if replay and replay.call_id == call.id and tab == DIFF else None
        key = CallKey(tab, call.id, call.change, replay, client=shown.client if tab == LENS else "")
        if key in (self._wanted, self._shown):
            return
        self._wanted = None
        if tab == ARGUMENTS:
            self._shown = key
            self._put(Document(arguments_document(call), "json", wraps=True), f"{call.tool} by {call.client}")
        elif tab == DIFF and replay is None:
            self._shown = key
            self._put(Document(_NO_REPLAY, wraps=True), "")
        else:
            self._wanted = key
            run_in_thread(self, partial(self._load, service, key, summary), "call")

    def _load(self, service: "Service", key: CallKey, summary: "Summary") -> None:
        """Read a call from the journal, in a worker."""
        reader = service.journal_reader()
        try:
            whole = reader.whole(key.call_id)
            if whole is None:
                self.post_message(Loaded(key, "✗ This call is no longer in the journal.\n", is_error=True))
            elif key.tab == TIMING:
                self.post_message(Loaded(key, timing_text(whole, summary)))
            elif key.replay:
                text, note = replay_diff(answer_text(whole), key.replay.text)
                self.post_message(Loaded(key, text, note=f"{note} · {key.replay.arguments}"))
            elif whole.call.status == CallStatus.PENDING:
                self.post_message(Loaded(key, _LOST if is_lost(whole.call) else _NO_ANSWER))
            elif whole.call.status == CallStatus.CANCELLED:
                self.post_message(Loaded(key, _CANCELLED))
            elif key.tab == LENS:
                text, note = deliveries(reader, whole, key.client)
                self.post_message(Loaded(key, text, note=note))
            elif key.tab == JSON:
                self.post_message(Loaded(key, answer_json(whole), note=whole.call.tool))
            else:
                text = answer_text(whole)
                cost = f"{count_of(whole.call.tokens, 'token')} · {count_of(len(text), 'character')}"
                what = "the text of the answer, secrets masked" if whole.call.server else "exactly what was sent"
                self.post_message(Loaded(key, text, note=f"{cost} · {what}"))
        except KeyholeError as error:
            self.post_message(Loaded(key, f"✗ {problem_text(error)}\n", is_error=True))
        finally:
            reader.close()

    def on_loaded(self, message: Loaded) -> None:
        """Show what a worker has read, unless something else was requested since."""
        message.stop()
        if message.key == self._wanted and isinstance(message.key, CallKey):
            self._wanted, self._shown = None, message.key
            lexer = "json" if message.key.tab == JSON else "diff" if message.key.replay else ""
            lexer = "" if message.is_error else lexer
            self._put(Document(message.text, lexer, wraps=lexer != "diff"), message.note)

    def _put(self, document: Document, subtitle: str, line: int = 1) -> None:
        set_subtitle(self, Content(subtitle))
        if self.document != document:
            self.show(document, line=line)
