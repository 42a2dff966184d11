"""A real project, Flask (BSD licence), with real calls of real MCP clients in its journal; for pictures."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.types import Implementation

from keyhole.core.config import load_settings
from keyhole.core.service import Service

# At the end: the folder has a module `mcp` of its own.
sys.path.append(str(Path(__file__).parent.parent / "bench"))
from record import fetch_sdist

PROJECT, RELEASE = "flask", "3.1.2"
SESSIONS, APP = "src/flask/sessions.py", "src/flask/app.py"
Conversation = list[tuple[str, dict[str, Any]]]
# How agents work on a question: they search, look at a map, read a part, ask for what uses it, and sometimes err.
COOKIES: Conversation = [
    ("search_code", {"query": "where is the session cookie signed"}),
    ("map_file", {"path": SESSIONS}),
    ("read_file", {"path": SESSIONS, "start_line": 298, "max_lines": 60}),
    ("find_references", {"symbol": "SecureCookieSessionInterface.get_signing_serializer"}),
    ("search_code", {"query": "SECRET_KEY_FALLBACKS", "detail_level": "rich"}),
    ("read_file", {"path": APP}),
    ("read_file", {"path": APP, "start_line": 501}),
    ("search_code", {"query": "/session_cookie_\\w+/", "limit": 50}),
]
ERRORS: Conversation = [
    ("search_code", {"query": "handle an exception during a request", "detail_level": "rich", "max_tokens": 2_000}),
    ("search_code", {"query": "handle an exception during a request", "detail_level": "rich", "offset": 3}),
    ("read_file", {"path": "src/flask/application.py"}),
    ("map_file", {"path": APP}),
    ("find_references", {"symbol": "Flask.handle_user_exception", "relation": "callers"}),
    ("search_code", {"query": "register error handler", "path": "tests"}),
    ("get_backlinks", {"path": APP}),
]
BLUEPRINTS: Conversation = [
    ("index_status", {}),
    ("get_tree", {"path": "src/flask"}),
    ("search_code", {"query": "register blueprint", "detail_level": "rich", "limit": 50, "max_tokens": 4_000}),
    ("map_file", {"path": "src/flask/sansio/blueprints.py"}),
    ("read_file", {"path": "src/flask/sansio/blueprints.py", "start_line": 273, "max_lines": 120}),
    ("find_references", {"symbol": "Blueprint.register", "relation": "callers"}),
    ("find_related", {"path": "src/flask/sansio/blueprints.py", "line": 273}),
]
CONVERSATIONS: Mapping[str, Conversation] = {
    "claude-code": COOKIES,
    "codex-mcp-client": ERRORS,
    "Visual Studio Code": BLUEPRINTS,
}
CALLS = sum(map(len, CONVERSATIONS.values()))


def real_service(base: Path) -> Service:
    """Copy the project into a folder, out of our own repository, index it, and return its service."""
    root = base / PROJECT
    shutil.copytree(fetch_sdist(PROJECT, RELEASE) / f"{PROJECT}-{RELEASE}", root)
    service = Service(root, load_settings(root, {"cache_dir": base / "cache"}))
    service.index()
    return service


async def hold_conversations(service: Service) -> None:
    """Let each client ask its questions; every one starts a server, which writes the journal."""
    for name, conversation in CONVERSATIONS.items():
        transport = StdioTransport(
            sys.executable,
            ["-m", "keyhole", "mcp"],
            # The settings of whoever takes the pictures stay out.
            env={
                "HOME": str(service.root.parent),
                "KEYHOLE_CACHE_DIR": str(service.settings.cache_dir),
                "KEYHOLE_SHARE": "0",
            },
            cwd=str(service.root),
            keep_alive=False,
        )
        async with Client(transport, client_info=Implementation(name=name, version="2.1")) as client:
            for tool, arguments in conversation:
                await client.call_tool_mcp(tool, arguments)
