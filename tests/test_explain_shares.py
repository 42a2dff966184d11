"""Explaining a rank: what the score is made of, and what a wrong path could have meant."""

import re

import pytest
from driving import ask, drive, make_app, settle
from hypothesis import example, given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input

from keyhole.core.service import Service
from keyhole.core.suggest import suggest_inside, suggest_paths
from keyhole.core.types.choices import Mode
from keyhole.core.types.search_results import Explanation, Hit, Signal
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.lists.search_view import explanation_text
from keyhole.core.view.shares import rounded_shares
from keyhole.tui.widgets.line_view import LineView

_effects = st.lists(st.floats(-20, 20, allow_nan=False), min_size=1, max_size=20)
_ROW = re.compile(r"^ +([+-]?\d+\.\d\d)(?: +([+-]?\d+\.\d\d))?  (.*)$", re.MULTILINE)


def cents(number: str | float) -> int:
    return round(float(f"{float(number):.2f}") * 100)


@given(_effects)
@example([1.115])
@example([0.005, 0.005, 0.005])
def test_rounded_shares_add_up_and_stay_within_a_hundredth(effects: list[float]) -> None:
    total = sum(effects)
    shares = rounded_shares(effects, total)
    assert sum(map(cents, shares)) == cents(total)
    assert all(abs(share - effect) < 0.0101 for share, effect in zip(shares, effects, strict=True))


def explained(score: float, points: float, effects: list[float]) -> str:
    signals = tuple(Signal(f"signal {number}", effect, "") for number, effect in enumerate(effects))
    hit = Hit("a.py", "python", 1, 2, 1, score, "function", "f", 1, "def f()", "", "", "f", signals, points=points)
    return explanation_text(Explanation("a.py", "ranked", hit=hit))


@given(_effects, st.floats(0, 1))
@example([1.0], 1.0)
@example([-1.0, -2.0], 1.0)
@example([0.001, 0.002], 0.5)
def test_every_column_adds_up_to_its_total(effects: list[float], score: float) -> None:
    text = explained(score, sum(effects), effects)
    rows = _ROW.findall(text)
    if not rows:
        assert all(abs(effect) < 0.005 for effect in effects)
        return
    *shares, (score_shown, points_shown, name) = rows
    assert name == "total"
    assert f"({float(score_shown):.2f})" in text
    assert sum(cents(share) for share, _, _ in shares) == cents(score_shown)
    if points_shown:
        assert sum(cents(points) for _, points, _ in shares) == cents(points_shown)


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.KEYWORD, Mode.SYMBOL, Mode.REGEX])
def test_the_shares_of_real_results_add_up_to_the_score_on_their_rows(acme: Service, mode: Mode) -> None:
    hits = acme.search_page(SearchRequest("retry", mode))[0].hits
    assert hits
    for hit in hits:
        text = explanation_text(acme.explain(SearchRequest("retry", mode), hit.path, hit.line))
        *shares, total = _ROW.findall(text)
        assert cents(total[0]) == cents(hit.score)
        assert sum(cents(share[0]) for share in shares) == cents(hit.score)


# Wrong paths


PATHS = ["tui/terminal_guard.py", "core/path_guard.py", "core/card.md", "tui/screens/why.py", "tui/app.py"]


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("guard.py", ["core/path_guard.py", "tui/terminal_guard.py"]),
        ("tui/term", ["tui/terminal_guard.py"]),
        ("terminal", ["tui/terminal_guard.py"]),
        ("TUI/Screens/w", []),
    ],
)
def test_part_of_a_path_or_name_leads_to_the_whole(typed: str, suggested: list[str]) -> None:
    assert suggest_paths(typed, PATHS) == suggested


def test_a_folder_leads_to_its_files() -> None:
    assert suggest_inside("tui", PATHS) == ["tui/app.py", "tui/terminal_guard.py", "tui/screens/why.py"]
    assert suggest_inside("tu", PATHS) == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("retry.py", "no such file. Did you mean src/acme/retry.py"),
        ("src/acme/rtery.py:3", "no such file. Did you mean src/acme/retry.py"),
        ("src/acme/ret", "no such file. Did you mean src/acme/retry.py?"),
        ("src/acme", "a folder, not a file. Did you mean src/acme/"),
        ("../other/retry.py", "Did you mean src/acme/retry.py"),
        ("", "Type the path of a file"),
    ],
)
def test_the_dialog_suggests_the_nearest_real_paths(acme: Service, typed: str, said: str) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "x")
        screen = pilot.app.screen
        screen.query_one(Input).value = typed
        await settle(pilot)
        assert said in screen.query_one(LineView).document.text

    drive(make_app(acme), steps)
