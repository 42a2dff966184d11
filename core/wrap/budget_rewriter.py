"""Keeps the answers of a wrapped server within a budget: changes its lists of tools and the results of calls.

Everything else passes as the same bytes. So does an answer that cannot be shortened; then stderr says so.
"""

import json
import sys
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from keyhole.core.index.location import ANSWERS_FOLDER
from keyhole.core.wrap.budget_choice import answer_budget
from keyhole.core.wrap.rewriting import Reply, ToServer
from keyhole.core.wrap.tool_lists import ToolLists

if TYPE_CHECKING:
    from keyhole.core.wrap.shortening.answer_budget import AnswerBudget
    from keyhole.core.wrap.shortening.cut_answers import Shortener
    from keyhole.core.wrap.shortening.kept_answers import KeptAnswers

# A client that never gets an answer must not fill the memory.
_MOST_PENDING = 10_000
_MODERN = "io.modelcontextprotocol/protocolVersion"


class _Pending(NamedTuple):
    """A request whose response will be changed: a call of a tool, or a list of tools (`tool` is empty)."""

    tool: str
    is_first_page: bool = False


class BudgetedServer:
    """What all conversations with one wrapped server share: the budget, its tools, and the kept answers."""

    def __init__(self, budget: str, root: Path) -> None:
        self._budget_text = budget
        self._root = root
        self.tools = ToolLists()
        # Few tokens fit in many bytes, but never many tokens in few: none has less than half a byte.
        self.small_bytes = int(budget) // 2 if budget.isdecimal() else 0

    @cached_property
    def budget(self) -> "AnswerBudget":
        """The budget; slow to import, and needed only for the first answer that may be too large."""
        return answer_budget(self._budget_text)

    @cached_property
    def kept(self) -> "KeptAnswers":
        """The answers of which something was left out, in the workspace's folder of the cache."""
        from keyhole.core.workspace.opening import OpenWorkspace
        from keyhole.core.wrap.shortening.kept_answers import KeptAnswers

        return KeptAnswers(OpenWorkspace.at(self._root, force=True, flags=None).folder / ANSWERS_FOLDER)

    @property
    def shortener(self) -> "Shortener":
        """Shortens answers to the budget."""
        from keyhole.core.wrap.shortening.cut_answers import Shortener

        return Shortener(self.budget, self.kept, self.tools.more_name)


class BudgetRewriter:
    """The rewriter of one conversation."""

    def __init__(self, server: BudgetedServer) -> None:
        self._server = server
        self._pending: dict[str, _Pending] = {}
        self._lock = threading.Lock()

    def request(self, message: bytes) -> ToServer | Reply:
        """Answer calls of our own tool, and remember which responses are to be changed."""
        request = _parsed(message)
        if request is None or "id" not in request:
            return ToServer(message)
        params = request.get("params")
        params = params if isinstance(params, dict) else {}
        if request.get("method") == "tools/list":
            self._expect(request["id"], _Pending("", is_first_page=params.get("cursor") is None))
        elif request.get("method") == "tools/call":
            if self._is_ours(params):
                return Reply(self._more(request["id"], params))
            self._expect(request["id"], _Pending(str(params.get("name"))))
        return ToServer(message)

    def response(self, message: bytes) -> bytes:
        """Return the message, or a changed list of tools, or a shortened answer."""
        if not self._pending:
            return message
        response = _parsed(message)
        if response is None or "method" in response or "id" not in response:
            return message
        with self._lock:
            pending = self._pending.pop(_key(response["id"]), None)
        result = response.get("result")
        if pending is None or not isinstance(result, dict):
            return message
        try:
            changed = self._changed(pending, result, len(message))
        except Exception as error:  # noqa: BLE001  # whatever is wrong, the client gets the answer
            _say(f"passing an answer of {pending.tool or 'tools/list'} as it is: {error or type(error).__name__}")
            return message
        return message if changed is None else _written({**response, "result": changed})

    def _changed(self, pending: _Pending, result: dict[str, Any], size: int) -> dict[str, Any] | None:
        if not pending.tool:
            return self._server.tools.rewritten(result, is_first=pending.is_first_page)
        if size <= self._server.small_bytes:
            return None
        shortener = self._server.shortener
        if shortener.is_small(result):
            return None
        return shortener.shortened(result, self._server.tools.schema_of(pending.tool))

    def _expect(self, request_id: object, pending: _Pending) -> None:
        with self._lock:
            self._pending[_key(request_id)] = pending
            if len(self._pending) > _MOST_PENDING:
                del self._pending[next(iter(self._pending))]

    def _is_ours(self, params: dict[str, Any]) -> bool:
        """Return whether a call is for our tool; before the list is known, the server may have one of that name."""
        tools = self._server.tools
        if params.get("name") != tools.more_name:
            return False
        arguments = params.get("arguments")
        handle = arguments.get("handle") if isinstance(arguments, dict) else None
        return tools.is_known or (isinstance(handle, str) and self._server.kept.find(handle) is not None)

    def _more(self, request_id: object, params: dict[str, Any]) -> bytes:
        from keyhole.core.wrap.shortening.more_tool import answer_more

        arguments, meta, server = params.get("arguments"), params.get("_meta"), self._server
        given = arguments if isinstance(arguments, dict) else {}
        result = answer_more(given, server.kept, server.budget, server.tools.more_name)
        if isinstance(meta, dict) and _MODERN in meta:
            result["resultType"] = "complete"
        return _written({"jsonrpc": "2.0", "id": request_id, "result": result})


def _parsed(message: bytes) -> dict[str, Any] | None:
    """Return a message; None if it is a batch, or no JSON."""
    try:
        parsed = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _key(request_id: object) -> str:
    return json.dumps(request_id)


def _written(message: dict[str, Any]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # Half a character can only be sent as an escape.
        return json.dumps(message, separators=(",", ":")).encode()


def _say(text: str) -> None:
    print(f"keyhole wrap: {text}", file=sys.stderr, flush=True)
