"""Runs the server: on stdio for the client that started it, or on HTTP for any number of clients."""

import hmac
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyhole.core.config import Settings
from keyhole.core.errors import ErrorKind, WorkspaceError
from keyhole.core.listening import is_loopback, listen
from keyhole.core.processes import ENDING_SIGNALS
from keyhole.core.service import Service
from keyhole.core.types.choices import TOKEN_PLACEHOLDER
from keyhole.core.view.usage import MaskedFormatter
from keyhole.mcp_server.checked_http import CheckedRequests
from keyhole.mcp_server.checked_stdio import checked_streams
from keyhole.mcp_server.http_processes import SharedListener, serve_from_processes
from keyhole.mcp_server.import_fastmcp import import_fastmcp
from keyhole.mcp_server.plain_answers import PlainAnswers
from keyhole.mcp_server.token_check import ADVICE, OnRejection, TokenCheck

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.server.auth import TokenVerifier
    from starlette.middleware import Middleware as StarletteMiddleware

    from keyhole.core.journal.writer import Journal

ENDPOINT = "/mcp"
_WARNING = ("keyhole.mcp", "keyhole.journal")


def run_stdio(service: Service) -> None:
    """Serve one client on stdio until it disconnects."""
    import_fastmcp()
    from keyhole.mcp_server.server import build_server

    journal = service.journal()
    with checked_streams():
        _run(lambda: build_server(service, journal=journal).run_stdio_async(show_banner=False), journal)


def run_http(  # noqa: PLR0913  # each is an option of the command
    service: Service, host: str, port: int, token: str | None, processes: int = 1, *, shows_token: bool = True
) -> None:
    """Serve until stopped; without a token, anyone on this machine can connect. A token that is known is not shown."""
    if not is_loopback(host) and not token:
        raise WorkspaceError(f"refusing to serve on {host} without a token", ErrorKind.NO_TOKEN)
    listener, address = listen(host, port)
    print(connect_text(address + ENDPOINT, token if shows_token or not token else TOKEN_PLACEHOLDER), flush=True)
    serve_from_processes(processes, listener, partial(_serve_http, service.root, service.settings, token))


def _serve_http(root: Path, settings: Settings, token: str | None, listener: SharedListener) -> None:
    """Serve on a socket; each process opens its own service and journal."""
    import_fastmcp()
    from keyhole.mcp_server.server import build_server

    service = Service(root, settings)
    journal = service.journal()
    serve_on(listener, build_server(service, verifier(token) if token else None, journal), journal)


def serve_on(
    listener: SharedListener, server: "FastMCP", journal: "Journal | None", options: dict[str, Any] | None = None
) -> None:
    """Serve on a socket until the process ends, with other options than `http_options` if they are given."""
    host, port, *_ = listener.getsockname()
    listener.start()
    _run(
        lambda: server.run_http_async(
            show_banner=False,
            host=host,
            port=port,
            sockets=[listener],
            uvicorn_config=uvicorn_options(),
            **(options or http_options(server)),
        ),
        journal,
    )


def http_options(
    server: "FastMCP",
    on_rejection: OnRejection = lambda _: None,
    advice: str = ADVICE,
    first: Sequence["StarletteMiddleware"] = (),
) -> dict[str, Any]:
    """Return the HTTP options that all servers share; requests without a valid token go to `on_rejection`.

    `advice` is for clients without a valid token; what is in `first` comes before all other checks.
    """
    from starlette.middleware import Middleware

    # The check of hosts and origins wraps both applications, so the plain one needs none. It looks up tokens again.
    plain = server.http_app(
        path=ENDPOINT,
        stateless_http=True,
        json_response=True,
        host_origin_protection=False,
        middleware=list(first),
    )
    around = [
        *first,
        Middleware(TokenCheck, on_rejection=on_rejection, advice=advice),
        Middleware(CheckedRequests),
        Middleware(PlainAnswers, plain=plain),
    ]
    return {"path": ENDPOINT, "stateless_http": True, "host_origin_protection": True, "middleware": around}


def uvicorn_options() -> dict[str, Any]:
    """Return the options of uvicorn that all servers share."""
    from keyhole.mcp_server.bounded_connections import KEEP_ALIVE_SECONDS, BoundedConnection

    # It accepts one connection at a time, so that it can close another one before it has too many.
    return {
        "http": BoundedConnection,
        "ws": "none",
        "backlog": 1,
        "log_config": None,
        "access_log": False,
        "timeout_graceful_shutdown": 1,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
    }


def connect_text(address: str, token: str | None) -> str:
    """Return the address of the server and the configuration to paste into a client."""
    return f"Serving agents at {address}\n{client_setup(address, token)}"


def client_setup(address: str, token: str | None) -> str:
    """Return the configuration to paste into a client, as JSON."""
    entry: dict[str, object] = {"type": "http", "url": address}
    if token:
        entry["headers"] = {"Authorization": f"Bearer {token}"}
    return json.dumps({"mcpServers": {"keyhole": entry}}, indent=2)


def quiet_libraries() -> None:
    """Keep libraries without a log handler from writing to stderr; Keyhole logs what matters itself."""
    for name in ("uvicorn", "fastmcp", "mcp", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())


def log_to_stderr() -> None:
    """Log problems to stderr, where clients look for them; agents do not see the details."""
    handler = logging.StreamHandler()
    # Of the warnings, only those about the index and the journal are for the user.
    handler.addFilter(lambda record: record.levelno >= (logging.WARNING if record.name in _WARNING else logging.ERROR))
    handler.setFormatter(MaskedFormatter("keyhole: %(message)s"))
    logging.getLogger("keyhole").addHandler(handler)


def _run(serve: Callable[[], Coroutine[Any, Any, None]], journal: "Journal | None") -> None:
    import asyncio

    quiet_libraries()
    log_to_stderr()
    # On HTTP, uvicorn handles a signal first: it closes its connections and raises the signal again.
    for number in ENDING_SIGNALS:
        signal.signal(number, lambda *_: _leave(journal))
    with suppress(BrokenPipeError):
        asyncio.run(serve())
    _leave(journal)


def _leave(journal: "Journal | None") -> None:
    """Exit immediately: a running update stops between two transactions, and its workers end with this process."""
    if journal:
        journal.close()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def verifier(token: str) -> "TokenVerifier":
    """Return a verifier that accepts only this token."""
    from fastmcp.server.auth import AccessToken, TokenVerifier

    class OneToken(TokenVerifier):
        """Accepts one token."""

        async def verify_token(self, given: str) -> AccessToken | None:
            if hmac.compare_digest(given.encode(), token.encode()):
                return AccessToken(token="…", client_id="keyhole", scopes=[])  # noqa: S106  # not the token itself
            return None

    return OneToken()
