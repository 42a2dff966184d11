"""Tools whose definitions hold only what a model or a client uses."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastmcp.tools.function_tool import FunctionTool
from mcp.types import Tool, ToolAnnotations

from keyhole.core.view.budget.limits import CHARACTER_LIMIT
from keyhole.mcp_server.tool_texts import TOOLS, ToolText

# Claude Code saves longer answers to a file, unless a tool declares that they may be longer.
_META = {"anthropic/maxResultSizeChars": CHARACTER_LIMIT}
# Claude Code shows its model a tool only after a search for it, unless the tool declares this (docs/clients.md). One is
# enough: the instructions name the others.
_ALWAYS_LOADED = {"anthropic/alwaysLoad": True}


class LeanTool(FunctionTool):
    """A tool without the title and the tags that fastmcp adds; a name such as search_code needs no title."""

    def to_mcp_tool(self, **overrides: Any) -> Tool:
        """Return the definition as it is sent."""
        return super().to_mcp_tool(**{"title": None, "_meta": self.meta, **overrides})


def described(function: Callable[..., Awaitable[str]], *, is_always_loaded: bool = False) -> FunctionTool:
    """Make a tool of a function, with the text under its name in tool_texts.py."""
    text = TOOLS[function.__name__]
    tool = LeanTool.from_function(
        function,
        description=text.description,
        # The other hints are only about tools that write.
        annotations=ToolAnnotations(read_only_hint=True),
        # With structured output there would be two copies, and clients differ in which one the model sees.
        output_schema=None,
        meta=_META | (_ALWAYS_LOADED if is_always_loaded else {}) if "max_tokens" in text.parameters else None,
    )
    tool.parameters = _lean_schema(tool.parameters, text)
    return tool


def _lean_schema(schema: Mapping[str, Any], text: ToolText) -> dict[str, Any]:
    """Return the schema of the parameters; arguments are checked by the function's types, not by this."""
    properties = {name: _property(name, facts, text) for name, facts in schema["properties"].items()}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def _property(name: str, facts: Mapping[str, Any], text: ToolText) -> dict[str, Any]:
    # A parameter that may be null is simply left out, so models need not read about it.
    kind = next((kind for kind in facts.get("anyOf", ()) if kind["type"] != "null"), facts)
    lean = {key: kind[key] for key in ("type", "items") if key in kind}
    if "enum" in kind:
        lean["enum"] = [choice for choice in kind["enum"] if choice]
    if _is_worth_saying(facts.get("default")):
        lean["default"] = facts["default"]
    if name in text.maxima:
        lean["maximum"] = text.maxima[name]
    if text.parameters[name]:
        lean["description"] = text.parameters[name]
    return lean


def _is_worth_saying(default: object) -> bool:
    """Return whether a reader would not expect a default: not empty, not the first line, and not text."""
    return bool(default) and default != "text" and (default is True or default != 1)
