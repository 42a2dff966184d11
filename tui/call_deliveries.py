"""What each client delivers of a recorded answer, for Traffic."""

from typing import TYPE_CHECKING

from keyhole.core.clients import profile_for, profiles
from keyhole.core.delivery import recorded_result
from keyhole.core.view.budget.limits import CHARACTER_LIMIT
from keyhole.tui.key_names import key_of

if TYPE_CHECKING:
    from keyhole.core.journal.reader import JournalReader, WholeCall


def deliveries(reader: "JournalReader", whole: "WholeCall", client: str) -> tuple[str, str]:
    """Return what a client delivers of an answer beside a table of all clients, and a note; slow."""
    from keyhole.core.wrap.client_deliveries import default_client, deliveries_text
    from keyhole.core.wrap.recorded_tools import declared_size, recorded_tools

    call = whole.call
    result = recorded_result(call, whole.response)
    declared = declared_size(call, recorded_tools(reader, call.server)) if call.server else CHARACTER_LIMIT
    chosen = profiles()[client] if client else default_client(result, declared, profile_for(call.client))
    return deliveries_text(result, declared, chosen), f"as {chosen.title} · {key_of('view-as')}: next client"
