"""The state of the explorer's MCP server, as text."""

from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content

from keyhole.tui.key_names import key_of


class ServerPhase(StrEnum):
    """What the server is doing."""

    OFF = "off"
    STARTING = "starting"
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerState:
    """Holds the phase of the server; `client_setup` is the configuration to paste into a client."""

    phase: ServerPhase = ServerPhase.OFF
    address: str = ""
    client_setup: str = ""
    problem: str = ""
    rejected: int = 0

    @property
    def short(self) -> Content:
        """The text for the top line of every screen; empty while the server is off."""
        match self.phase:
            case ServerPhase.ON:
                return Content.assemble(("MCP ● ", "$success"), (self._place, "$text-muted"))
            case ServerPhase.FAILED:
                return Content.styled("MCP ✗ not serving", "$error")
            case _:
                return Content("")

    def content(self, width: int) -> Content:
        """Return the state and the key that changes it, in a long or a short form, as the width allows."""
        long, short = self._forms()
        return long if long.cell_length <= width else short.truncate(width, ellipsis=True)

    def _forms(self) -> tuple[Content, Content]:
        serve, setup = key_of("serve"), key_of("setup")
        match self.phase:
            case ServerPhase.OFF:
                state = Content.styled("○ off", "bold")
                return state + _quiet(f"   Press {serve} to serve agents"), state + _quiet(f"   {serve}: serve agents")
            case ServerPhase.STARTING:
                state = Content.styled("◌ starting", "$secondary")
                return state, state
            case ServerPhase.ON:
                return (
                    Content.assemble(("● on  ", "bold $success"), self.address) + _quiet(f"  {setup}: copy the setup"),
                    Content.assemble(("● ", "bold $success"), self._place) + _quiet(f"  {setup}: copy setup"),
                )
            case ServerPhase.FAILED:
                state = Content.styled("✗ not serving", "bold $error")
                return state + _quiet(f"   Press {serve} to use any free port"), state + _quiet(
                    f"  {serve}: use any port"
                )

    @property
    def _place(self) -> str:
        return self.address.removeprefix("http://").removesuffix("/mcp")


def _quiet(text: str) -> Content:
    return Content.styled(text, "$text-muted")
