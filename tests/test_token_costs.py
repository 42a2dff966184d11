"""What files and folders cost: true for the current text, sums add up, and figures are kept until a file changes."""

import json
from pathlib import Path

import pytest
from driving import MIDDLE, drive, explorer, files, make_app, press, settle
from relating import open_service, put
from test_tui_snapshots import Compare, State, check
from textual.pilot import Pilot
from textual.widgets import Tree

from keyhole.core.cli.main import run_command
from keyhole.core.service import Service
from keyhole.core.types.costs import TokenCost, with_folders
from keyhole.core.types.view_requests import MapRequest, ReadRequest
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.workspace import token_costs
from keyhole.core.workspace.token_costs import COSTS_FILE
from keyhole.tui.token_heat import BAR_WIDTH, Heat, bar

TINY = (60, 16)
FILES = {
    "src/a/one.py": "def one():\n    return 1\n",
    "src/a/two.py": "import os\n\n\nclass Two:\n    pass\n" * 30,
    "src/b.py": "value = 'ä'\n",
    "empty.py": "",
    "README.md": "# Shop\n\nSome text.\n",
}


@pytest.fixture(autouse=True)
def _in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def shop(tmp_path: Path) -> Service:
    put(tmp_path / "work", FILES)
    return open_service(tmp_path / "work")


def test_costs_are_those_of_the_lines_and_of_the_map(shop: Service) -> None:
    costs = shop.token_costs()
    assert costs.keys() == FILES.keys()
    for path, cost in costs.items():
        read = shop.read_view(ReadRequest((path,), max_lines=2_000)).text
        lines = "".join(line for line in read.splitlines(keepends=True) if "\t" in line)
        assert cost.read == estimate_tokens(lines)
        assert cost.map == shop.map_view(MapRequest(path)).truncation.estimated_tokens


def test_a_folder_costs_what_its_files_cost_together(shop: Service) -> None:
    files_only = shop.token_costs()
    costs = with_folders(files_only)
    assert costs["src/a"] == files_only["src/a/one.py"] + files_only["src/a/two.py"]
    assert costs["src"] == costs["src/a"] + files_only["src/b.py"]
    assert costs[""] == costs["src"] + files_only["README.md"] + files_only["empty.py"]


def test_only_changed_files_are_measured_again(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shop.token_costs()
    measured: list[str] = []
    cost_of = token_costs.CostMeter._cost

    def counted(meter: token_costs.CostMeter, path: str) -> TokenCost:
        measured.append(path)
        return cost_of(meter, path)

    monkeypatch.setattr(token_costs.CostMeter, "_cost", counted)
    assert shop.token_costs() == before
    assert measured == []
    put(shop.root, {"src/b.py": "value = 1\n" * 9})
    shop.index()
    assert shop.token_costs()["src/b.py"].read > before["src/b.py"].read
    assert measured == ["src/b.py"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 1}', '{"version": 1, "files": {"a": [1]}}', "[" * 99_999]
)
def test_a_damaged_file_of_figures_is_replaced(shop: Service, content: str) -> None:
    before = shop.token_costs()
    (shop.folder / COSTS_FILE).write_text(content)
    assert shop.token_costs() == before
    assert json.loads((shop.folder / COSTS_FILE).read_text())["files"].keys() == before.keys()


def test_the_tree_shows_costs_as_text_and_json(shop: Service, capfd: pytest.CaptureFixture[str]) -> None:
    costs = with_folders(shop.token_costs())
    root = ["--root", str(shop.root)]
    assert run_command(["tree", "--tokens", *root]) == 0
    shown = capfd.readouterr().out
    assert f"src/ (3 files, read {costs['src'].read:,} tokens, map {costs['src'].map:,})\n" in shown
    assert run_command(["tree", "src", "--relation", "descendants", "--symbols", "--tokens", "--json", *root]) == 0
    nodes = json.loads(capfd.readouterr().out)["results"]
    for node in nodes:
        cost = costs[node["path"]]
        is_symbol = node["kind"] not in ("file", "folder")
        assert ("read_tokens" in node) is not is_symbol
        assert is_symbol or (node["read_tokens"], node["map_tokens"]) == (cost.read, cost.map)
    assert run_command(["tree", *root]) == 0
    assert "tokens" not in capfd.readouterr().out


@pytest.mark.parametrize(("part", "shown"), [(0, "    "), (1, "▏   "), (500, "██  "), (999, "████"), (1_000, "████")])
def test_bars(part: int, shown: str) -> None:
    assert bar(part, 1_000) == shown
    assert len(bar(part, 0)) == BAR_WIDTH


async def show_heat(pilot: Pilot[None], *keys: str) -> None:
    await press(pilot, "escape", "2", "h")
    for _ in range(1_000):
        if files(pilot).has_measured:
            break
        await settle(pilot)
    tree = files(pilot).query_one(Tree)
    tree.root.children[0].expand_all()
    await settle(pilot)
    await press(pilot, *keys)


def test_the_column_follows_edits_and_can_be_switched_off(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await show_heat(pilot)
        tree = files(pilot).query_one(Tree)
        before = explorer(pilot).token_costs
        assert before is not None

        def rows() -> str:
            return "\n".join(tree.render_line(y).text for y in range(tree.size.height))

        assert f"{before[''].read - before['src'].read - before['README.md'].read:,}" in rows()
        assert f" {before['src'].read:,} " in rows()
        put(shop.root, {"src/b.py": "value = 1\n" * 90})
        await press(pilot, "r")
        for _ in range(1_000):
            if explorer(pilot).token_costs is not before:
                break
            await settle(pilot)
        after = explorer(pilot).token_costs
        assert after is not None
        assert f" {after['src'].read:,} " in rows()
        await press(pilot, "h")
        assert files(pilot).heat == Heat.MAP
        assert f" {after['src'].map:,} " in rows()
        await press(pilot, "h")
        assert f" {after['src'].map:,} " not in rows()

    drive(make_app(shop), steps)


STATES = {
    "heat": State(show_heat, lambda pilot: files(pilot).heat == Heat.READ),
    "heat-map": State(lambda pilot: show_heat(pilot, "h"), lambda pilot: files(pilot).heat == Heat.MAP, MIDDLE),
    "heat-60": State(show_heat, lambda pilot: files(pilot).heat == Heat.READ, TINY),
    "heat-light": State(lambda pilot: show_heat(pilot, "t"), lambda pilot: not pilot.app.current_theme.dark),
}


@pytest.mark.parametrize("name", STATES)
def test_heat_state(unasked_service: Service, snap_compare: Compare, name: str) -> None:
    check(make_app(unasked_service), snap_compare, STATES[name])


def test_heat_without_colour(unasked_service: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    check(make_app(unasked_service), snap_compare, State(show_heat, lambda pilot: bool(pilot.app.no_color)))
