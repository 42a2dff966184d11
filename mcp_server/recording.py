"""Records every call of an agent and its answer in the journal, without delaying the call."""

import re
import secrets
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import TypeVar

from fastmcp import Context
from fastmcp.resources.base import ResourceResult
from fastmcp.server.dependencies import get_http_headers
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolRequestParams, ReadResourceRequestParams

from keyhole.core.journal.writer import Ended, Journal, Started
from keyhole.core.types.completeness import CallStatus, Completeness
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.text import name_text
from keyhole.core.view.usage import Usage, observed, utilisation
from keyhole.mcp_server.shared_client import current_client

READ_RESOURCE = "resources/read"
_LONGEST_NAME = 80
# The name and version at the start of a User-Agent header; nothing else of it is used.
_PRODUCT = re.compile(r"([\w.-]{1,60})/([\w.+-]{1,30})")

Answer = TypeVar("Answer")


class Recording(Middleware):
    """Writes each call when it starts and when it ends."""

    def __init__(self, journal: Journal, caller: Callable[[], str] = str) -> None:
        self._journal = journal
        # Returns the name of the token that a call came with, on the server of a team.
        self._caller = caller
        # One client uses stdin and stdout, or the server of a test, so that the process is its session. In the shared
        # server, each client has its own.
        self._session = secrets.token_hex(4)

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool and record the call."""
        call = self._started(context.fastmcp_context, str(context.message.name), context.message.arguments or {})
        return await self._recorded(call, lambda: call_next(context), _tool_text)

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource and record the call."""
        call = self._started(context.fastmcp_context, READ_RESOURCE, {"uri": str(context.message.uri)})
        return await self._recorded(call, lambda: call_next(context), _resource_text)

    def _started(self, context: Context | None, tool: str, arguments: Mapping[str, object]) -> Started:
        name, version = client_of(context)
        client = current_client.get()
        transport = "http" if get_http_headers() else (context.transport if context else None) or "memory"
        return Started(
            transport=transport,
            client=name_text(name, _LONGEST_NAME),
            client_version=name_text(version, _LONGEST_NAME),
            tool=name_text(tool, _LONGEST_NAME),
            arguments=arguments,
            session=client.session if client else "" if transport == "http" else self._session,
            caller=name_text(self._caller(), _LONGEST_NAME),
        )

    async def _recorded(
        self, call: Started, ask: Callable[[], Awaitable[Answer]], text_of: Callable[[Answer], str]
    ) -> Answer:
        self._journal.started(call)
        began = time.perf_counter()

        def end(status: CallStatus, text: str, usage: Usage | None = None) -> None:
            milliseconds = (time.perf_counter() - began) * 1e3
            self._journal.ended(call, _ended(status, text, milliseconds, usage))

        with observed() as seen:
            try:
                answer = await ask()
            except CancelledError:
                end(CallStatus.CANCELLED, "")
                raise
            except Exception as error:
                end(CallStatus.ERROR, str(error))
                raise
        usage = seen[-1] if seen else None
        end(CallStatus(usage.completeness if usage else Completeness.COMPLETE), text_of(answer), usage)
        return answer


def client_of(context: Context | None) -> tuple[str, str]:
    """Return the name and version of the calling client."""
    parameters = context.session.client_params if context and context.request_context else None
    if parameters:
        return parameters.client_info.name, parameters.client_info.version
    # Over HTTP, older clients send their name only in the first request, so the User-Agent header has to do.
    product = _PRODUCT.match(get_http_headers().get("user-agent", ""))
    return (product[1], product[2]) if product else ("unknown", "")


def _ended(status: CallStatus, text: str, milliseconds: float, usage: Usage | None) -> Ended:
    if usage is None:
        return Ended(status, text, milliseconds, tokens=measure(text).tokens)
    info = usage.info
    return Ended(
        status,
        text,
        milliseconds,
        tokens=info.estimated_tokens,
        budget=info.limit_tokens,
        utilisation=utilisation(info),
        note=info.reason or "",
        truncation=asdict(info),
        shown=usage.shown,
    )


def _tool_text(answer: ToolResult) -> str:
    return "".join(getattr(block, "text", "") for block in answer.content)


def _resource_text(answer: ResourceResult) -> str:
    return "".join(str(part.content) for part in answer.contents)
