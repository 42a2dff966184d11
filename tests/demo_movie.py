"""Record `keyhole demo` as one animated SVG, from the real explorer with real calls: `make screenshots`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from driving import make_app, settle
from small_svg import compact

from keyhole.core.cli.demo_command import demo_folder
from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.mcp_server.demo_agent import DemoAgent, demo_steps
from keyhole.tui.demo_tour import DemoTour
from keyhole.tui.serving import Demo

if TYPE_CHECKING:
    from keyhole.tui.explorer import Explorer

SIZE = (104, 30)
SECONDS = 3
LARGEST = 1_000_000
_OUTER = re.compile(r'<svg[^>]*viewBox="([^"]+)"[^>]*>')
_STYLE = """\
.frame {{ visibility: hidden; animation: show {total}s step-end infinite; }}
@keyframes show {{ 0% {{ visibility: visible; }} {share:.4f}% {{ visibility: hidden; }} }}
{delays}
@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} #f{still} {{ visibility: visible; }} }}
"""


class RecordedTour(DemoTour):
    """Takes a picture wherever the tour pauses."""

    def __init__(self, app: "Explorer", service: Service, demo: Demo) -> None:
        super().__init__(app, service, demo)
        self.frames: list[str] = []

    async def _pause(self) -> None:
        await super()._pause()
        frame = compact(re.sub(r"terminal-\d+-", "terminal-", self._app.export_screenshot(simplify=True)))
        if not self.frames or frame != self.frames[-1]:
            self.frames.append(frame)


async def record_demo(base: Path) -> str:
    """Return the movie."""
    with demo_folder(None, base) as root:
        service = Service(root, load_settings(root, {"cache_dir": base / "cache"}))
        service.index()
        app = make_app(service)
        tour = RecordedTour(app, service, Demo(demo_steps, DemoAgent, 0.5))
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            await settle(pilot)
            await tour.run()
    return movie(tour.frames)


def movie(frames: list[str]) -> str:
    """Return one SVG that shows some SVGs of the same size one after another; without motion, the last one."""
    box = _OUTER.search(frames[0])
    assert box
    delays = "\n".join(f"#f{number} {{ animation-delay: {number * SECONDS}s; }}" for number in range(len(frames)))
    style = _STYLE.format(total=len(frames) * SECONDS, share=100 / len(frames), delays=delays, still=len(frames) - 1)
    shown = [
        f'<g class="frame" id="f{number}">{frame.replace("terminal-", f"t{number}-")}</g>'
        for number, frame in enumerate(frames)
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1]}"><style>\n{style}</style>'
    return "\n".join([head, *shown, "</svg>\n"])
