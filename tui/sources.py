"""Reading files for the eye: the one place where the explorer asks for their text, their map and their symbols."""

from typing import TYPE_CHECKING

from keyhole.core.types import MapLevel, MapRequest, Outline

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.view.writing import View


def read_text(service: "Service", path: str) -> str:
    """Read a file as it is now, also when it is too large to be indexed."""
    return service.read(path).text


def read_map(service: "Service", path: str, level: MapLevel, max_tokens: int) -> "View":
    """Write the map of a file, as an agent gets it."""
    return service.map_view(MapRequest(path, level, max_tokens=max_tokens))


def read_outline(service: "Service", path: str) -> Outline:
    """Find the symbols of a file."""
    from keyhole.core.syntax.analyse import outline_of

    return outline_of(service.read(path))
