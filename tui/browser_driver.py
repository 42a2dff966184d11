"""Draws the explorer in a browser: `keyhole web` passes on what this writes, and what is typed there."""

import asyncio
from typing import TYPE_CHECKING, cast

from textual.drivers.web_driver import WebDriver

from keyhole.tui.closing import close_for_sure

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer


class BrowserDriver(WebDriver):
    """Textual's driver for browsers, which also ends the explorer when the server is gone."""

    def start_application_mode(self) -> None:
        """Start to draw and to read."""
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Handle what the server says besides keys; when the page is closed, exit as after a key."""
        if packet_type == "quit":
            self._leave()
        else:
            super().on_meta(packet_type, payload)

    def run_input_thread(self) -> None:
        """Read until the explorer ends, or until the server is gone."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._leave()

    def _leave(self) -> None:
        close_for_sure(cast("Explorer", self._app), self._loop)
