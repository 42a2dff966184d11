"""The list of a wrapped server's tools: what is known from it, and how it changes with a budget."""

import threading
from collections.abc import Mapping
from typing import Any

MORE_TOOL = "keyhole_more"
_DESCRIPTION = (
    "Return more of an answer that Keyhole shortened: the next page, only records that match, or only some fields. "
    "The note at the end of a shortened answer has the handle and the offset."
)
_ARGUMENTS = {
    "handle": {"type": "string", "description": "From the note."},
    "offset": {"type": "integer", "minimum": 0, "description": "Records to skip."},
    "position": {"type": "integer", "minimum": 0, "description": "Characters of that record to skip."},
    "query": {"type": "string", "description": "Words that a record must contain, or a /regex/."},
    "fields": {"type": "array", "items": {"type": "string"}, "description": "Fields or columns; a.b is nested."},
}


class ToolLists:
    """What the lists of a server's tools say; all conversations with the server share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: set[str] = set()
        self._schemas: dict[str, Mapping[str, Any]] = {}
        # Tools whose structured content was already left out, before their schema was known.
        self._without_structure: set[str] = set()
        self.is_known = False
        self.more_name = MORE_TOOL

    def schema_of(self, tool: str) -> Mapping[str, Any] | None:
        """Return the output schema that a shortened answer of a tool has to follow; None if clients know of none."""
        with self._lock:
            schema = self._schemas.get(tool)
            if schema is None:
                self._without_structure.add(tool)
            return schema

    def rewritten(self, result: dict[str, Any], *, is_first: bool) -> dict[str, Any] | None:
        """Return a list, or a page of one, with our tool at its end; None if it is no such list.

        An output schema that allows no shorter form is removed: a client would reject shortened answers.
        """
        tools = result.get("tools")
        if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
            return None
        with self._lock:
            self._names = set() if is_first else self._names
            self._names.update(str(tool.get("name")) for tool in tools)
            listed = [self._listed(tool) for tool in tools]
            # Only the last page: any later one could have a tool of the same name.
            if result.get("nextCursor") is None:
                self.more_name = self._free_name()
                self.is_known = True
                listed.append(_more_tool(self.more_name))
        return {**result, "tools": listed}

    def _listed(self, tool: dict[str, Any]) -> dict[str, Any]:
        from keyhole.core.wrap.shortening.output_schemas import allows_shorter

        name, schema = str(tool.get("name")), tool.get("outputSchema")
        if schema is None:
            return tool
        if name not in self._without_structure and allows_shorter(schema):
            self._schemas[name] = schema
            return tool
        self._schemas.pop(name, None)
        return {key: value for key, value in tool.items() if key != "outputSchema"}

    def _free_name(self) -> str:
        name, number = MORE_TOOL, 1
        while name in self._names:
            number += 1
            name = f"{MORE_TOOL}_{number}"
        return name


def _more_tool(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": _DESCRIPTION,
        "inputSchema": {"type": "object", "properties": _ARGUMENTS, "required": ["handle"]},
        "annotations": {"title": "More of an answer", "readOnlyHint": True, "openWorldHint": False},
    }
