"""Work that the interface does not wait for."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.dom import DOMNode


def run_in_thread(node: "DOMNode", work: Callable[[], object], name: str) -> None:
    """Run work in a thread for as long as a widget or the app exists.

    Without a description, Textual describes the work by its arguments, which can be every result of a search.
    """
    node.run_worker(work, name=name, description=name, thread=True)
