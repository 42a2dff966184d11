"""Replaying a call of a wrapped server, and the question before one that may change something."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.view.text import name_text
from keyhole.tui.errors_for_explorer import problem_text

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.types.calls import Call

_LONGEST_NAME = 40


def replay_warning(service: "Service", call: "Call") -> str:
    """Return what to confirm before a replay; empty if the call changes nothing."""
    if not call.server:
        return ""
    from keyhole.core.wrap.recorded_tools import is_read_only, recorded_tools

    reader = service.journal_reader()
    try:
        if is_read_only(call, recorded_tools(reader, call.server)):
            return ""
    except KeyholeError:
        pass
    finally:
        reader.close()
    tool, server = name_text(call.tool, _LONGEST_NAME), name_text(call.server, _LONGEST_NAME)
    return f"{tool} of {server} does not say that it is read-only: it may change something"


def replayed_text(service: "Service", call: "Call", arguments: Mapping[str, object]) -> str:
    """Start the server again, make the call, and return the text of its answer or what went wrong; slow."""
    from keyhole.core.journal.wrapped_answers import answer_parts
    from keyhole.core.wrap.replay_call import replay_call

    reader = service.journal_reader()
    try:
        return answer_parts(replay_call(reader, service.root, call, arguments)).text
    except KeyholeError as error:
        return f"✗ {problem_text(error)}\n"
    finally:
        reader.close()
