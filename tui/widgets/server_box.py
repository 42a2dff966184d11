"""The box that shows the state of the server."""

from textual.app import RenderResult
from textual.reactive import reactive
from textual.widget import Widget

from keyhole.tui.server_state import ServerState


class ServerBox(Widget):
    """Shows the server's state on one line in a frame."""

    state: reactive[ServerState] = reactive(ServerState())

    def render(self) -> RenderResult:
        """Draw the line."""
        return self.state.content(self.size.width)
