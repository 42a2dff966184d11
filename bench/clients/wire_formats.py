"""The wire formats of the model APIs that clients speak: what a request holds, and how an answer is streamed.

Each format finds the tools on offer and the results of earlier calls in a request, and writes an answer that is either
one call of a tool or a last text.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Facts = dict[str, Any]
_MODEL = "lab-model"
_DONE = "done"
# A call's number is part of its id, so that results can be told apart however a client repeats or reorders them.
_ID = "call_"
_LOADING = "call_loading"
# The Responses API has an item of its own for the search of tools.
_TOOL_SEARCH = "tool_search"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the fake model makes: its number in the plan, the tool as the client names it, and the arguments."""

    number: int
    name: str
    arguments: Facts
    namespace: str = ""

    @property
    def id(self) -> str:
        """The id that the result will carry."""
        return f"{_ID}{self.number:04d}" if self.number >= 0 else _LOADING


class AnthropicMessages:
    """POST /v1/messages."""

    path = "/messages"

    def tools(self, request: Facts) -> list[Facts]:
        """Return the tools on offer."""
        return list(request.get("tools") or [])

    def results(self, request: Facts) -> dict[int, Any]:
        """Return what the model gets of each call, by the call's number."""
        blocks = [block for message in request["messages"] for block in _list(message["content"])]
        return {_number(block["tool_use_id"]): block for block in blocks if block.get("type") == "tool_result"}

    def stream(self, call: ToolCall | None) -> Iterator[tuple[str, Facts]]:
        """Return the events of an answer."""
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": _MODEL, "content": []}
        yield "message_start", {"message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
        if call:
            block: Facts = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            delta: Facts = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": _DONE}
        yield "content_block_start", {"index": 0, "content_block": block}
        yield "content_block_delta", {"index": 0, "delta": delta}
        yield "content_block_stop", {"index": 0}
        reason = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield "message_delta", {"delta": reason, "usage": {"output_tokens": 10}}
        yield "message_stop", {}


class OpenAIResponses:
    """POST /v1/responses."""

    path = "/responses"

    def tools(self, request: Facts) -> list[Facts]:
        """Return the tools on offer; a namespace has tools of its own."""
        found = []
        for tool in request.get("tools") or []:
            inner = tool.get("tools") if tool.get("type") == "namespace" else None
            found += [{**part, "namespace": tool["name"]} for part in inner] if inner else [tool]
        return found

    def results(self, request: Facts) -> dict[int, Any]:
        """Return what the model gets of each call, by the call's number."""
        items = _list(request["input"])
        kinds = ("function_call_output", f"{_TOOL_SEARCH}_output")
        return {_number(item["call_id"]): item for item in items if item.get("type") in kinds}

    def stream(self, call: ToolCall | None) -> Iterator[tuple[str, Facts]]:
        """Return the events of an answer."""
        yield "response.created", {"response": {"id": "resp_1"}}
        if call:
            item: Facts = {
                "type": "function_call",
                "id": f"fc_{call.number}",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            if call.namespace:
                item["namespace"] = call.namespace
            if call.name == _TOOL_SEARCH:
                item = {"type": f"{_TOOL_SEARCH}_call", "call_id": call.id, "execution": "client"}
                item |= {"status": "completed", "arguments": call.arguments}
        else:
            text = {"type": "output_text", "text": _DONE, "annotations": []}
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
        yield "response.output_item.done", {"output_index": 0, "item": item}
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        yield "response.completed", {"response": {"id": "resp_1", "output": [item], "usage": usage}}


class ChatCompletions:
    """POST /v1/chat/completions."""

    path = "/chat/completions"

    def tools(self, request: Facts) -> list[Facts]:
        """Return the tools on offer."""
        return [tool["function"] for tool in request.get("tools") or [] if "function" in tool]

    def results(self, request: Facts) -> dict[int, Any]:
        """Return what the model gets of each call, by the call's number."""
        messages = request["messages"]
        return {_number(message["tool_call_id"]): message for message in messages if message["role"] == "tool"}

    def stream(self, call: ToolCall | None) -> Iterator[tuple[str, Facts]]:
        """Return the events of an answer."""
        if call:
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            delta: Facts = {"tool_calls": [{"index": 0, "id": call.id, "type": "function", "function": function}]}
        else:
            delta = {"content": _DONE}
        yield "", self._chunk({"role": "assistant", **delta}, None)
        yield "", self._chunk({}, "tool_calls" if call else "stop")

    def whole(self, call: ToolCall | None) -> Facts:
        """Return an answer for a client that does not stream."""
        chunk = next(iter(self.stream(call)))[1]
        message = chunk["choices"][0].pop("delta")
        chunk["choices"][0] |= {
            "message": {"content": None, **message},
            "finish_reason": "tool_calls" if call else "stop",
        }
        return {**chunk, "object": "chat.completion"}

    def _chunk(self, delta: Facts, reason: str | None) -> Facts:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        facts = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": _MODEL}
        return {**facts, "choices": [choice], "usage": usage}


class GeminiContent:
    """POST /v1beta/models/NAME:streamGenerateContent."""

    path = "GenerateContent"

    def tools(self, request: Facts) -> list[Facts]:
        """Return the tools on offer."""
        return [tool for group in request.get("tools") or [] for tool in group.get("functionDeclarations", [])]

    def results(self, request: Facts) -> dict[int, Any]:
        """Return what the model gets of each call: results have the order of the calls."""
        parts = [part for content in request["contents"] for part in content.get("parts", [])]
        return dict(enumerate(part["functionResponse"] for part in parts if "functionResponse" in part))

    def stream(self, call: ToolCall | None) -> Iterator[tuple[str, Facts]]:
        """Return the events of an answer."""
        part: Facts = {"text": _DONE}
        if call:
            part = {"functionCall": {"name": call.name, "args": call.arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        yield "", {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


WireFormat = AnthropicMessages | OpenAIResponses | ChatCompletions | GeminiContent
FORMATS: tuple[WireFormat, ...] = (AnthropicMessages(), OpenAIResponses(), ChatCompletions(), GeminiContent())


def _list(value: Any) -> list[Facts]:
    return value if isinstance(value, list) else []


def _number(call_id: str) -> int:
    return -1 if call_id == _LOADING else int(call_id.removeprefix(_ID))
