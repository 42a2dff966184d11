"""The explorer for someone who sees it for the first time, and for people who need more contrast or no motion."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import LARGE, MIDDLE, ask, drive, explore, explorer, make_app, make_service, results_of, settle
from textual.binding import Binding
from textual.color import Color
from textual.pilot import Pilot
from textual.widgets import Input

from keyhole.core.index.rows import SymbolPlace
from keyhole.core.search.sample_queries import SampleQueries, sample_file_queries, sample_queries
from keyhole.core.service import Service
from keyhole.core.types.view_requests import Query
from keyhole.tui import keys
from keyhole.tui.index_state import IndexState, Phase
from keyhole.tui.notices import waiting_lines
from keyhole.tui.themes import HIGH_CONTRAST, MATCH_STYLE
from keyhole.tui.user_choices import choices_from

Compare = Callable[..., bool]


def test_sample_queries_find_something(acme: Service) -> None:
    samples = acme.sample_queries()
    assert samples.name
    assert samples.words != samples.name
    for text in (samples.name, samples.words, samples.pattern):
        assert acme.search(Query(text)).hits, text


def test_samples_prefer_source_and_plain_names() -> None:
    places = [
        SymbolPlace("TestRetryPolicy", "", "class", "tests/test_retry.py", 1),
        SymbolPlace("f", "", "function", "src/a.py", 1),
        SymbolPlace("Client", "", "class", "src/client.py", 1),
        SymbolPlace("RetryPolicy", "", "class", "src/retry.py", 1),
        SymbolPlace("encode_url", "", "function", "src/url.py", 1),
    ]
    assert sample_queries(places) == SampleQueries("Client", "retry policy", "/encode\\w*/", "src/client.py")
    assert sample_queries(places[:1]).name == "TestRetryPolicy"
    assert sample_queries(places[1:2]) == sample_queries([]) == SampleQueries()


def test_before_there_is_an_index_samples_come_from_the_names_of_files() -> None:
    paths = ["src/retry_policy.py", "src/net.py", "README.md", "tests/test_retry_policies.py", "src/[bold].py"]
    assert sample_file_queries(paths) == SampleQueries("retry_policy", "retry policy", "/retry\\w*/")
    assert sample_file_queries([]) == SampleQueries()


def test_names_are_never_taken_for_markup() -> None:
    state = IndexState(Phase.CURRENT, files=1, samples=SampleQueries("[bold]x[/]", "", ""))
    assert "\\[bold]x" in waiting_lines(state)[-1]


def test_the_first_screen_after_the_first_run(tmp_path: Path, snap_compare: Compare, acme: Service) -> None:
    """A new workspace, from no index to the hint of what to try."""
    app = make_app(make_service(acme.root))
    del tmp_path

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await ask(pilot, "")
        assert explorer(pilot).index_state.samples is not None

    assert snap_compare(app, terminal_size=MIDDLE, run_before=before)


def test_no_pane_is_blank_before_the_first_search(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "")
        for pane in (results_of(pilot), explore(pilot).query_one("#view")):
            drawn = [strip.text for strip in pane.render_lines(pane.size.region)]
            assert any(line.strip() for line in drawn), pane

    drive(make_app(acme), steps)


def test_high_contrast(acme: Service, snap_compare: Compare) -> None:
    app = make_app(acme)
    app.use_choices(choices_from({"theme": "keyhole-high-contrast"}))

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await ask(pilot, "retry backoff", "enter")
        assert pilot.app.theme == HIGH_CONTRAST.name

    assert snap_compare(app, terminal_size=LARGE, run_before=before)


def luminance(colour: Color) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: str, second: str) -> float:
    """Return the ratio of WCAG 2."""
    darker, lighter = sorted(luminance(Color.parse(one)) for one in (first, second))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("behind", ["background", "surface", "panel"])
def test_every_colour_of_high_contrast_can_be_read(behind: str) -> None:
    texts = ["primary", "secondary", "accent", "success", "warning", "error", "foreground"]
    colours = {name: str(getattr(HIGH_CONTRAST, name)) for name in texts} | HIGH_CONTRAST.variables
    back = str(getattr(HIGH_CONTRAST, behind))
    for name in (*texts, "text-muted"):
        assert contrast(colours[name], back) >= 7, name
    # WCAG asks for 3 to 1 between parts of the interface, such as frames.
    assert contrast(colours["border-quiet"], back) >= 3


def test_a_match_is_marked_by_more_than_its_colour() -> None:
    assert "underline" in MATCH_STYLE


def test_nothing_moves_by_itself(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduced motion is not a choice: there are no animations and no blinking cursors, whatever the variables say."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "full")

    async def steps(pilot: Pilot[None]) -> None:
        assert pilot.app.animation_level == "none"
        assert [line.cursor_blink for line in pilot.app.screen.query(Input)] == [False]

    drive(make_app(acme), steps)


def test_every_input_is_told_not_to_blink() -> None:
    folder = Path(__file__).parent.parent / "tui"
    makers = [path for path in folder.rglob("*.py") if re.search(r"= (?:\w*Input|\w*Line)\(", path.read_text())]
    with_input = [path for path in makers if re.search(r"\bInput\(", path.read_text())]
    assert len(with_input) > 3
    assert [path.name for path in with_input if "cursor_blink = False" not in path.read_text()] == []


def test_every_clickable_text_runs_a_command_that_has_a_key() -> None:
    """What the mouse can do, the keyboard can: each action that a text runs when it is clicked is bound to a key."""
    bound = {
        row.action.partition("(")[0].rpartition(".")[2]
        for rows in (keys.EVERYWHERE, *keys.SCREENS.values(), *keys.PANES.values(), *keys.DIALOGS.values())
        for row in rows
        if isinstance(row, Binding)
    }
    sources = "\n".join(path.read_text() for path in (Path(__file__).parent.parent / "tui").rglob("*.py"))
    clicked = set(re.findall(r"clickable\([^\n]*\"(?:screen|app)\.(\w+)", sources))
    clicked |= set(re.findall(r"chooser\([^\n]*, \"(\w+)\"\)", sources))
    assert len(clicked) > 2
    # What is clicked is one of several there; keys go to the next one, and Enter or Escape along a trail.
    by_other_keys = {"catch_up": "follow", "show_tab": "tab", "select_result": "move", "go_to_step": "back"}
    assert {by_other_keys.get(action, action) for action in clicked} - bound == set()
