"""The MCP call that gets an agent the same view."""

from collections.abc import Mapping
from dataclasses import fields

from keyhole.core.links.requests import ReferencesRequest
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.text import json_text

# What the explorer can filter by and agents can't.
_NOT_FOR_AGENTS = ("changed",)


def json_rpc(request: SearchRequest | ReferencesRequest) -> str:
    """Write a request as a JSON-RPC message, without arguments that have their default value."""
    arguments = {
        field.name: getattr(request, field.name)
        for field in fields(request)
        if field.name not in _NOT_FOR_AGENTS
        and (field.name == "query" or getattr(request, field.name) != field.default)
    }
    return tool_call("search_code" if isinstance(request, SearchRequest) else "find_references", arguments)


def tool_call(tool: str, arguments: Mapping[str, object]) -> str:
    """Write a tool call as a JSON-RPC message."""
    params = {"name": tool, "arguments": arguments}
    return json_text({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
