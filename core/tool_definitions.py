"""What the definitions of a server's tools, and its instructions, cost a client before the first call."""

from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.core.clients import Profile, truncate_description
from keyhole.core.view.budget.tokens import estimate_tokens

# The table of clients has the prefixes of our own tools.
_OWN_NAME = "keyhole"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as clients list it: name, description, the schema of its parameters, and all that is sent, as JSON."""

    name: str
    description: str
    schema: str
    sent: str = ""


def list_cost(tools: Sequence[ToolDefinition]) -> int:
    """Return the tokens of the list of tools as it is sent, with everything in it."""
    return estimate_tokens(f"[{','.join(tool.sent for tool in tools)}]")


def definition_cost(tools: Sequence[ToolDefinition], profile: Profile, server: str = _OWN_NAME) -> dict[str, int]:
    """Return the tokens that each tool of a server costs a client, by the name that the client gives it."""
    prefix = profile.prefix.replace(_OWN_NAME, server)
    return {
        f"{prefix}{tool.name}": estimate_tokens(
            f"{prefix}{tool.name}\n{truncate_description(tool.description, profile)}\n{tool.schema}", profile.tokenizer
        )
        for tool in tools
    }


def instructions_cost(instructions: str, profile: Profile) -> int:
    """Return the tokens of a server's instructions, as far as a client keeps them."""
    kept = instructions[: profile.instructions] if profile.instructions else instructions
    return estimate_tokens(kept, profile.tokenizer)
