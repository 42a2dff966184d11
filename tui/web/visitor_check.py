"""Lets in only the browser of someone who has the token, and only from the server's own page.

A page of another site can make a browser send requests to this machine. It can't set the cookie or know the token, it
sends its own Origin, and a name that it has pointed to this machine shows in Host.
"""

import secrets
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from keyhole.core.listening import is_loopback

_ADVICE = "Open the address that keyhole web printed when it started; it contains the token.\n"


class VisitorCheck:
    """Checks Host, Origin and token of every request, whatever it asks for."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self._host = host
        self._token = token
        # Browsers share cookies between the ports of a machine, so each server needs a name of its own. The value is
        # not the token: another server on this machine may see it.
        self._cookie = f"keyhole-{port}"
        self._session = secrets.token_urlsafe(24)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass on a request that may be answered; exchange a token in the address for a cookie."""
        host = request.headers.get("Host", "")
        if not is_own_host(host, self._host):
            raise web.HTTPForbidden(text=f"Rejected: this server has another address. {_ADVICE}")
        # Browsers always send the origin of a WebSocket; they leave it out when someone opens an address.
        origin = request.headers.get("Origin", "" if "Upgrade" in request.headers else f"http://{host}")
        if origin != f"http://{host}":
            raise web.HTTPForbidden(text="Rejected: another site sent this request.\n")
        if "token" in request.query:
            return self._welcome(request)
        if not _is_same(request.cookies.get(self._cookie, ""), self._session):
            raise web.HTTPForbidden(text=f"Rejected: no token. {_ADVICE}")
        return await handler(request)

    def _welcome(self, request: web.Request) -> web.StreamResponse:
        """Exchange the token for a cookie: the browser continues without it, so no history or referrer has it."""
        if not _is_same(request.query["token"], self._token):
            raise web.HTTPForbidden(text=f"Rejected: wrong token. {_ADVICE}")
        # Not the path as it was sent: `//example.org/` would be another site.
        answer = web.HTTPSeeOther(f"/{request.match_info.get('number', '')}")
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="Strict", path="/")
        return answer


def is_own_host(given: str, bound: str) -> bool:
    """Return whether a Host header names this server; the port may differ, as with a tunnel."""
    try:
        name = urlsplit(f"//{given}").hostname or ""
    except ValueError:
        return False
    if is_loopback(bound):
        return is_loopback(name)
    if not _is_any_address(bound):
        return name == bound.lower()
    # Only a name can be pointed to this machine by someone else, an address can't.
    return is_loopback(name) or _is_address(name)


def _is_any_address(bound: str) -> bool:
    return _is_address(bound) and ip_address(bound).is_unspecified


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(given: str, known: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), known.encode())
