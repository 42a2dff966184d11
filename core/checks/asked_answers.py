"""Answers as agents get them. Each is asked for once, and all of them are kept for the checks of forbidden content."""

from keyhole.core.errors import KeyholeError
from keyhole.core.service import Service
from keyhole.core.types.search_results import Hit, SearchResult
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.lists.listing import ListView
from keyhole.core.view.writing import View


class AskedAnswers:
    """Asks one workspace, with the same requests as the MCP tools."""

    def __init__(self, service: Service) -> None:
        self.service = service
        # Every text that was answered, by what it answers.
        self.texts: dict[str, str] = {}
        self._searches: dict[SearchRequest, tuple[SearchResult, ListView]] = {}

    def search(self, request: SearchRequest) -> tuple[SearchResult, ListView]:
        """Return the hits of a search and its answer."""
        if request not in self._searches:
            self._searches[request] = self.service.search_page(request)
            self.keep(f"search {request.query}", self._searches[request][1].text)
        return self._searches[request]

    def map(self, request: MapRequest) -> View:
        """Return the map of a file."""
        view = self.service.map_view(request)
        self.keep(f"map of {request.path}", view.text)
        return view

    def read(self, request: ReadRequest) -> str:
        """Return lines of a file."""
        return self.keep(f"read of {request.paths[0]}", self.service.read_view(request).text)

    def source(self, path: str) -> str:
        """Return the text of a file as it is served; empty if it is not."""
        try:
            return self.service.read(path).text
        except KeyholeError:
            return ""

    def keep(self, what: str, text: str) -> str:
        """Keep an answer, and return it."""
        self.texts[what] = self.texts.get(what, "") + text
        return text


def shown_hits(found: SearchResult, view: ListView) -> list[Hit]:
    """Return the results that an answer shows, in its order: the budget may have left out the last ones."""
    return list(found.hits[: len(view.plan.levels)])


def tokens_of(text: str) -> int:
    """Return what an answer costs."""
    return measure(text).tokens
