"""The explorer frees the memory of what it no longer shows."""

import gc
from pathlib import Path

from driving import drive, explorer, make_app, make_service, press, wait_until
from textual.pilot import Pilot

_WARM_UP, _CYCLES = 5, 12
# It was 229 when this was written, and 126,746 when each index run left frozen objects.
_MOST_GROWTH = 3_000


def objects_kept() -> int:
    """Count frozen objects: the garbage collector never checks them again, so they may be leaks."""
    gc.collect()
    return len(gc.get_objects()) + gc.get_freeze_count()


def test_index_runs_and_screens_leave_nothing_behind(tmp_path: Path) -> None:
    root = tmp_path / "small"
    root.mkdir()
    (root / "a.py").write_text("def first(): pass\n")
    service = make_service(root)
    service.index()

    async def cycle(pilot: Pilot[None], number: int) -> None:
        (root / "a.py").write_text(f"def first(): return {number}\n")
        before = explorer(pilot).inventory.generation
        explorer(pilot).index_again()
        await wait_until(pilot, lambda pilot: explorer(pilot).inventory.generation > before)
        await press(pilot, "2", "3", "4", "1")

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape")
        for number in range(_WARM_UP):
            await cycle(pilot, number)
        kept = objects_kept()
        for number in range(_CYCLES):
            await cycle(pilot, _WARM_UP + number)
        assert objects_kept() - kept < _MOST_GROWTH

    drive(make_app(service), steps)
