"""Take the README's pictures with the real explorer, a real project and real calls: `make screenshots`."""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from demo_movie import LARGEST, record_demo
from driving import LARGE, Steps, ask, explore, explorer, make_app, press, settle, stats, wait_until, watch
from real_project import CALLS, SESSIONS, hold_conversations, real_service
from recorded_wraps import WRAPPED_CALLS, record_wrapped
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail
from keyhole.tui.search_state import SearchState

FOLDER = Path(__file__).parent.parent / "assets" / "screenshots"
# A picture must not download fonts; the viewer's own fonts are used.
_REMOTE_FONTS = re.compile(r"@font-face\s*{[^}]*}")


async def show_search(pilot: Pilot[None]) -> None:
    await ask(pilot, "error handler for exceptions", "enter")


async def show_text(pilot: Pilot[None]) -> None:
    explore(pilot).search_state = SearchState(detail=Detail.RICH, max_tokens=2_000)
    await ask(pilot, "register blueprint limit:50", "enter", "]")


async def show_diff(pilot: Pilot[None]) -> None:
    await ask(pilot, "url_for", "enter", "v", "t")


async def show_files(pilot: Pilot[None]) -> None:
    explorer(pilot).open_file(SESSIONS, 1)
    await settle(pilot)
    await press(pilot, "]")


async def show_traffic(pilot: Pilot[None]) -> None:
    await watch(pilot, CALLS)
    await press(pilot, *"jjj", "m", "k")


async def show_stats(pilot: Pilot[None]) -> None:
    await press(pilot, "escape", "4")


async def show_lens(pilot: Pilot[None]) -> None:
    explore(pilot).search_state = SearchState(detail=Detail.RICH)
    await ask(pilot, "request context limit:50", "enter", "A")
    await wait_until(pilot, lambda pilot: explorer(pilot).tool_costs is not None)


async def show_wrapped(pilot: Pilot[None]) -> None:
    await watch(pilot, CALLS + WRAPPED_CALLS, is_grouped=True)
    await press(pilot, "slash", *"server:github", "enter", *"jjv", "enter")


async def show_wrapped_stats(pilot: Pilot[None]) -> None:
    await watch(pilot, CALLS + WRAPPED_CALLS)
    await press(pilot, "4")
    await wait_until(pilot, lambda pilot: stats(pilot).statistics is not None)
    stats(pilot).query_one("#servers").scroll_visible(top=True, animate=False)
    await settle(pilot)


async def show_callers(pilot: Pilot[None]) -> None:
    await ask(pilot, "locate_app mode:symbol", "enter", "u", "c", "enter")


PICTURES = {
    "explore": show_search,
    "text": show_text,
    "diff-light": show_diff,
    "map": show_files,
    "traffic": show_traffic,
    "stats": show_stats,
    "lens": show_lens,
    "callers": show_callers,
}
# With the calls of a wrapped server in the journal.
WRAPPED_PICTURES = {"wrap-lost": show_wrapped, "wrap-stats": show_wrapped_stats}


async def take_all(base: Path) -> None:
    service = real_service(base)
    await hold_conversations(service)
    await take(service, PICTURES)
    record_wrapped(service)
    await take(service, WRAPPED_PICTURES)
    (base / "demo").mkdir()
    recorded = await record_demo(base / "demo")
    assert len(recorded.encode()) < LARGEST
    (FOLDER / "demo.svg").write_text(recorded)
    print("assets/screenshots/demo.svg")


async def take(service: Service, pictures: Mapping[str, Steps]) -> None:
    for name, steps in pictures.items():
        app = make_app(service)
        async with app.run_test(size=LARGE) as pilot:
            await settle(pilot)
            await steps(pilot)
            svg = _REMOTE_FONTS.sub("", app.export_screenshot(simplify=True))
        # The export prefixes its classes with a hash of the content; a fixed prefix keeps diffs small.
        (FOLDER / f"{name}.svg").write_text(re.sub(r"terminal-\d+-", "terminal-", svg))
        print(f"assets/screenshots/{name}.svg")


def main() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(take_all(Path(scratch).resolve()))


if __name__ == "__main__":
    main()
