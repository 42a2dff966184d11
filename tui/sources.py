"""Reading files for display: their text, their map and their symbols."""

from typing import TYPE_CHECKING

from keyhole.core.types import MapLevel, MapRequest, Outline

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.view.writing import View


def read_text(service: "Service", path: str) -> str:
    """Return the current text of a file, even if the file is too large to be indexed."""
    return service.read(path).text


def read_map(service: "Service", path: str, level: MapLevel, max_tokens: int) -> "View":
    """Return the map of a file, as an agent gets it."""
    return service.map_view(MapRequest(path, level, max_tokens=max_tokens))


def read_outline(service: "Service", path: str) -> Outline:
    """Return the symbols of a file."""
    from keyhole.core.syntax.parser_process import shared_parser

    return shared_parser().outline_of(service.read(path))
