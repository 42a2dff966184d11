"""Work that the interface does not wait for."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.dom import DOMNode


def run_in_thread(node: "DOMNode", work: Callable[[], object], name: str) -> None:
    """Run work in a thread for as long as a widget or the app exists.

    Without a description, Textual describes the work by its arguments, which can be every result of a search.
    """
    node.run_worker(work, name=name, description=name, thread=True)


def run_later(node: "DOMNode", seconds: float, work: Callable[[], object]) -> asyncio.TimerHandle:
    """Run work after a delay, as one of a widget's own messages.

    Textual's `set_timer` never calls if the process is held up for longer than the delay just when it is set.
    """
    return asyncio.get_running_loop().call_later(seconds, node.call_next, work)
