"""`keyhole demo` in the explorer: shows each call in Traffic, then the lens and a replay, until a key is pressed.

The tour only does what keys do. From the first key on it leaves the screen to the user, and only makes its calls.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from keyhole.core.types.completeness import CallStatus
from keyhole.tui.index_state import Phase
from keyhole.tui.key_names import key_of

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.types.demo import DemoStep
    from keyhole.tui.explorer import Explorer
    from keyhole.tui.screens.traffic import TrafficScreen
    from keyhole.tui.serving import Demo, ScriptedAgent

_LOOK_SECONDS = 0.05


class DemoTour:
    """One run of the demo."""

    def __init__(self, app: "Explorer", service: "Service", demo: "Demo") -> None:
        self._app = app
        self._service = service
        self._demo = demo
        self.is_over = False

    async def run(self) -> None:
        """Make the calls one after another, and show each."""
        if self._app.index_state.phase != Phase.CURRENT:
            self._say("Demo", "It starts as soon as this folder is indexed; the top line shows how far that is.")
        await self._until(lambda: self._app.index_state.phase == Phase.CURRENT)
        samples = await asyncio.to_thread(self._service.sample_queries)
        if not samples.path:
            self._say("Demo", "This folder defines nothing that an agent could ask for.")
            return
        agent = await asyncio.to_thread(self._demo.start, self._service)
        try:
            self._show_traffic()
            steps = self._demo.steps(samples)
            for number, step in enumerate(steps, 1):
                await self._show_step(agent, step, f"Demo {number} of {len(steps)}: {step.client}")
        finally:
            agent.close()
        self._say("Demo", f"That was all. Look around; {key_of('quit')} quits, and the demo's index is deleted.")
        self.is_over = True

    async def _show_step(self, agent: "ScriptedAgent", step: "DemoStep", title: str) -> None:
        self._say(title, step.says)
        await self._pause()
        before = self._newest
        await agent.call(step)
        await self._until(lambda: self._newest > before)
        self._show_answer()
        await self._pause()
        if step.replay and (traffic := self._traffic):
            await self._replay(traffic, step)
        if step.lens and (traffic := self._traffic):
            await self._show_lens(traffic, step)

    async def _replay(self, traffic: "TrafficScreen", step: "DemoStep") -> None:
        """Replay the newest call with other arguments, and show the difference."""
        traffic.action_replay()
        dialog = self._app.screen
        await self._pause()
        if self._app.has_key or dialog is traffic:
            return
        dialog.dismiss(dict(step.replay))
        await self._until(lambda: traffic.is_settled)
        await self._pause()
        if not self._app.has_key:
            traffic.action_catch_up()

    async def _show_lens(self, traffic: "TrafficScreen", step: "DemoStep") -> None:
        """Open the newest call in Explore, as a client delivers it."""
        from keyhole.tui.lens import lens
        from keyhole.tui.screens.explore import ExploreScreen

        traffic.action_open()
        await self._until(lambda: isinstance(self._app.screen, ExploreScreen) and self._app.wanted_search is None)
        screen = self._app.screen
        if isinstance(screen, ExploreScreen) and not self._app.has_key:
            screen.lens = lens(step.lens).next(-1)
            screen.action_lens(1)
            await self._pause()
            await self._pause()
            screen.lens = None
        self._show_traffic()

    def _show_answer(self) -> None:
        """Show the text of the newest call beside the list."""
        from keyhole.tui.widgets.call_view import TEXT

        if (traffic := self._traffic) and traffic.tab != TEXT:
            traffic.action_show_tab(TEXT)

    def _show_traffic(self) -> None:
        if not self._app.has_key:
            self._app.switch_mode("traffic")

    @property
    def _traffic(self) -> "TrafficScreen | None":
        """Traffic, unless the user is at the keys."""
        from keyhole.tui.screens.traffic import TrafficScreen

        screen = self._app.screen
        return screen if isinstance(screen, TrafficScreen) and not self._app.has_key else None

    @property
    def _newest(self) -> int:
        return max((call.id for call in self._app.calls.shown if call.status != CallStatus.PENDING), default=0)

    def _say(self, title: str, text: str) -> None:
        self._app.notify(text, title=title, timeout=max(2 * self._demo.pause, 1), markup=False)

    async def _pause(self) -> None:
        await asyncio.sleep(self._demo.pause)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await asyncio.sleep(_LOOK_SECONDS)
