"""How the server beside the explorer stands, in a few words."""

from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content


class ServerPhase(StrEnum):
    """What the server is doing."""

    OFF = "off"
    STARTING = "starting"
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerState:
    """How the server stands; `client_setup` is what to paste into a client."""

    phase: ServerPhase = ServerPhase.OFF
    address: str = ""
    client_setup: str = ""
    problem: str = ""
    turned_away: int = 0

    @property
    def short(self) -> Content:
        """Say it in the first line of every screen; nothing when there is nothing to say."""
        match self.phase:
            case ServerPhase.ON:
                return Content.assemble(("MCP ● ", "$success"), (self._place, "$text-muted"))
            case ServerPhase.FAILED:
                return Content.styled("MCP ✗ not serving", "$error")
            case _:
                return Content("")

    def content(self, width: int) -> Content:
        """Say what agents can do now, and what a key would change, in as many words as there is room for."""
        whole, short = self._words()
        return whole if whole.cell_length <= width else short.truncate(width, ellipsis=True)

    def _words(self) -> tuple[Content, Content]:
        match self.phase:
            case ServerPhase.OFF:
                state = Content.styled("○ off", "bold")
                return state + _quiet("   s serves this workspace to agents"), state + _quiet("   s serves agents")
            case ServerPhase.STARTING:
                state = Content.styled("◌ starting", "$secondary")
                return state, state
            case ServerPhase.ON:
                return (
                    Content.assemble(("● on  ", "bold $success"), self.address) + _quiet("  C copies the setup"),
                    Content.assemble(("● ", "bold $success"), self._place) + _quiet("  C copies setup"),
                )
            case ServerPhase.FAILED:
                state = Content.styled("✗ not serving", "bold $error")
                return state + _quiet("   s takes any free port"), state + _quiet("  s takes any port")

    @property
    def _place(self) -> str:
        return self.address.removeprefix("http://").removesuffix("/mcp")


def _quiet(text: str) -> Content:
    return Content.styled(text, "$text-muted")
