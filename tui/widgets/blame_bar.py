"""The line that says who changed the current line last."""

from functools import partial
from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive

from keyhole.core.errors import KeyholeError
from keyhole.core.view.text import name_text, one_line
from keyhole.tui.background import run_in_thread
from keyhole.tui.messages import Blamed
from keyhole.tui.widgets.bars import Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyhole.core.git.workspace_git import WorkspaceGit
    from keyhole.tui.history import Place

# The current line is looked at this often; a line that is only passed by is not asked about.
_LOOK_SECONDS = 0.15
_LONGEST_PATH = 40
# How many answers are kept until a file or a commit changes.
_MOST_KEPT = 500
_NO_LINE = Content.styled(" Blame: no line of a file is in view", "$text-muted")


class BlameBar(Line):
    """Follows the current line of a view and shows who changed it last."""

    text: reactive[Content] = reactive(_NO_LINE)

    def __init__(self, git: "WorkspaceGit", current: "Callable[[], Place | None]") -> None:
        super().__init__()
        self._git = git
        self._current = current
        self._seen: Place | None = None
        self._asked: Place | None = None
        self._is_asking = False
        self._known: dict[Place, str] = {}

    @property
    def is_settled(self) -> bool:
        """Whether it shows what is known about the current line."""
        return not self.display or (not self._is_asking and self._asked == self._current())

    def on_mount(self) -> None:
        """Look at the current line regularly, and forget the answers when something has changed."""
        self.set_interval(_LOOK_SECONDS, self._look)
        self.watch(self.app, "inventory", self._forget, init=False)
        self.watch(self.app, "git_changes", self._forget, init=False)

    def render(self) -> RenderResult:
        """Draw the line."""
        return self.text.truncate(self.size.width, ellipsis=True)

    def _forget(self) -> None:
        self._known.clear()
        self._asked = None

    def _look(self) -> None:
        place = self._current() if self.display else None
        is_still, self._seen = place == self._seen, place
        if not is_still or place == self._asked or self._is_asking:
            return
        self._asked = place
        if place is None:
            self.text = _NO_LINE
        elif known := self._known.get(place):
            self._show(place, known)
        else:
            self._is_asking = True
            run_in_thread(self, partial(self._ask, place), "blame")

    def _ask(self, place: "Place") -> None:
        try:
            self.post_message(Blamed(place, self._git.blame(place.path, place.line)))
        except KeyholeError as error:
            self.post_message(Blamed(place, error))

    def on_blamed(self, message: Blamed) -> None:
        """Show the answer; while it was on its way, the current line may have become another one."""
        from keyhole.core.git.blame_line import blame_text

        message.stop()
        self._is_asking = False
        blame = message.blame
        text = f"no blame: {blame}" if isinstance(blame, KeyholeError) else blame_text(blame)
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[message.place] = text
        self._show(message.place, text)

    def _show(self, place: "Place", text: str) -> None:
        where = f" {name_text(place.path, _LONGEST_PATH)}:{place.line}  "
        self.text = Content.assemble((where, "$text-muted"), one_line(text))
