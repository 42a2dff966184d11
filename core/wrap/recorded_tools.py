"""What the journal knows of a wrapped server's tools and instructions, from the last time a client asked for them."""

from collections.abc import Mapping
from typing import Any

from keyhole.core.journal.reader import JournalReader
from keyhole.core.journal.wrapped_answers import answer_parts
from keyhole.core.types.calls import Call
from keyhole.core.types.completeness import CallStatus

_TOOLS, _INTRODUCTION = "tools/list", "initialize"
_DECLARED = "anthropic/maxResultSizeChars"
# Requests that only ask for something, whatever the server is.
_ASKING = frozenset(
    [
        _TOOLS,
        _INTRODUCTION,
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
    ]
)
# More pages than any list has.
_MOST_PAGES = 100

Tools = Mapping[str, Mapping[str, Any]]


def recorded_tools(reader: JournalReader, server: str) -> Tools:
    """Return the definitions of a server's tools by name; the pages of the newest list together."""
    found: dict[str, Mapping[str, Any]] = {}
    for call in _newest(reader, server, _TOOLS, _MOST_PAGES):
        listed = _answer(reader, call).get("tools")
        page = {tool["name"]: tool for tool in (listed or []) if isinstance(tool, dict) and "name" in tool}
        found = {**page, **found}
        if "cursor" not in call.parameters:
            break
    return found


def recorded_instructions(reader: JournalReader, server: str) -> str:
    """Return a server's instructions."""
    calls = _newest(reader, server, _INTRODUCTION, 1)
    return str(_answer(reader, calls[0]).get("instructions") or "") if calls else ""


def is_read_only(call: Call, tools: Tools) -> bool:
    """Return whether a call of a wrapped server changes nothing: its tool declares so, or it only asks."""
    if call.tool in _ASKING:
        return True
    hints = tools.get(call.tool, {}).get("annotations")
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True


def declared_size(call: Call, tools: Tools) -> int:
    """Return the size of answers that a tool declares in characters; 0 if it declares none."""
    meta = tools.get(call.tool, {}).get("_meta")
    size = meta.get(_DECLARED) if isinstance(meta, dict) else None
    return size if isinstance(size, int) and size > 0 else 0


def _newest(reader: JournalReader, server: str, tool: str, limit: int) -> list[Call]:
    def is_wanted(call: Call) -> bool:
        return (call.server, call.tool, call.status) == (server, tool, CallStatus.COMPLETE)

    return reader.calls(is_wanted, limit=limit)


def _answer(reader: JournalReader, call: Call) -> Mapping[str, Any]:
    whole = reader.whole(call.id)
    facts = answer_parts(whole.response).whole if whole else {}
    return facts if isinstance(facts, dict) else {}
