"""The page that shows the explorer, and the files it loads: all from this server, nothing from elsewhere."""

from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from aiohttp import web

# A click on an address in some source opens no tab, nothing is downloaded, and no script of the page's own making runs.
# xterm.js writes its styles into the page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox allow-scripts allow-same-origin"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "clipboard-read=(), camera=(), microphone=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": _POLICY,
}
# Our own files and those of textual-serve, by their paths on the server. There is no folder to list.
_OWN = ("page.css", "page.js")
_OTHERS = {
    "xterm.css": "css/xterm.css",
    "textual.js": "js/textual.js",
    "roboto-mono.ttf": "fonts/RobotoMono-VariableFont_wght.ttf",
    "roboto-mono-italic.ttf": "fonts/RobotoMono-Italic-VariableFont_wght.ttf",
}


class ExplorerPage:
    """Serves the page of each workspace."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._template = files("keyhole.assets").joinpath("web", "page.html").read_text("utf-8")

    async def show(self, request: web.Request) -> web.Response:
        """Answer with the page of a workspace."""
        number = int(request.match_info.get("number", "1"))
        if number > len(self._names):
            raise web.HTTPNotFound
        # textual.js obeys some parameters, such as one with an address to request.
        if request.query_string:
            raise web.HTTPSeeOther(request.path)
        page = self._template.replace("{{name}}", escape(self._names[number - 1]))
        page = page.replace("{{socket}}", escape(f"ws://{request.headers['Host']}/ws/{number}"))
        return web.Response(text=page, content_type="text/html")


def static_routes() -> list[web.RouteDef]:
    """Return a route for each file that the page loads."""
    return [_route(name, path) for name, path in static_files().items()]


def static_files() -> dict[str, Path]:
    """Return the files that the page loads, by name."""
    own = Path(str(files("keyhole.assets").joinpath("web")))
    others = Path(str(_folder_of_textual_serve())) / "static"
    return {name: own / name for name in _OWN} | {name: others / path for name, path in _OTHERS.items()}


def _folder_of_textual_serve() -> Path:
    """Return where the package is; it is not imported, because only its files are used."""
    found = find_spec("textual_serve")
    assert found  # noqa: S101  # the command has checked it
    assert found.origin  # noqa: S101
    return Path(found.origin).parent


def _route(name: str, path: Path) -> web.RouteDef:
    async def send(_: web.Request) -> web.FileResponse:
        return web.FileResponse(path)

    return web.get(f"/static/{name}", send)


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Add to every response what the browser must not do with it."""
    response.headers.update(_HEADERS)
