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
    """How the server stands; `connect_text` is what to paste into a client."""

    phase: ServerPhase = ServerPhase.OFF
    address: str = ""
    connect_text: str = ""
    problem: str = ""

    @property
    def short(self) -> Content:
        """Say it in the first line of every screen; nothing when there is nothing to say."""
        match self.phase:
            case ServerPhase.ON:
                place = self.address.removeprefix("http://").removesuffix("/mcp")
                return Content.assemble(("MCP ● ", "$success"), (place, "$text-muted"))
            case ServerPhase.FAILED:
                return Content.styled("MCP ✗ not serving", "$error")
            case _:
                return Content("")

    @property
    def content(self) -> Content:
        """Say what agents can do now, and what a key would change."""
        match self.phase:
            case ServerPhase.OFF:
                return Content.assemble(("○ off", "bold"), ("   s serves this workspace to agents", "$text-muted"))
            case ServerPhase.STARTING:
                return Content.styled("◌ starting", "$secondary")
            case ServerPhase.ON:
                return Content.assemble(
                    ("● on ", "bold $success"),
                    (f" {self.address} ", "$foreground"),
                    ("  C copies how to connect", "$text-muted"),
                )
            case ServerPhase.FAILED:
                return Content.assemble(("✗ not serving", "bold $error"), ("   s takes any free port", "$text-muted"))
