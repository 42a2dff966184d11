"""Files that are not indexed but served, the pages of a map, and the tree while the first index run is under way."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from driving import LARGE, drive, files, make_app, make_service, press, settle, wait_for
from textual.content import Content
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Tree

from keyhole.core.errors import KeyholeError
from keyhole.core.index import update as update_module
from keyhole.core.types.view_requests import MapRequest
from keyhole.tui.index_state import Phase
from keyhole.tui.map_pages import next_offset
from keyhole.tui.widgets.line_view import LineView

FUNCTIONS = 600


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    body = "    return value" + " + value" * 40
    code = "".join(f"def function_{number}(value):\n{body}\n" for number in range(FUNCTIONS))
    (root / "keyhole.toml").write_text("[index]\nmax_file_bytes = 50_000\n")
    (root / "large.py").write_text(code)
    (root / "small.py").write_text("def small(): pass\n")
    (root / "picture.svg").write_text("<svg><text>A title</text></svg>\n")
    (root / "data.txt").write_bytes(b"\0binary text")
    (root / ".env").write_text("PASSWORD=hidden words\n")
    (root / "out.log").write_text("hidden words\n")
    (root / ".gitignore").write_text("*.log\n")
    return root


async def select(pilot: Pilot[None], name: str) -> LineView:
    """Select a file in the tree; return the view."""
    tree = files(pilot).query_one(Tree)
    (node,) = (node for node in tree.root.children if node.data and node.data.path == name)
    tree.move_cursor(node)
    tree.focus()
    await press(pilot, "enter")
    return files(pilot).query_one(LineView)


def subtitle(widget: Widget) -> str:
    return Content.from_markup(str(widget.border_subtitle)).plain


def test_a_file_too_large_for_the_index_is_shown_as_agents_get_it(root: Path) -> None:
    service = make_service(root)

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2")
        view = await select(pilot, "large.py")
        assert view.document.text == (root / "large.py").read_text()
        assert "large.py · 1,200 lines · not indexed: too large: " in subtitle(view)
        await press(pilot, "right_square_bracket")
        assert view.document.text == service.map_view(MapRequest("large.py", max_tokens=files(pilot).max_tokens)).text
        assert "not indexed: too large: " in subtitle(view)

    drive(make_app(service), steps)


@pytest.mark.parametrize("name", [".env", "out.log", "data.txt", "picture.svg", "large.py"])
@pytest.mark.parametrize("tab", ["Source", "Map"])
def test_of_a_skipped_file_exactly_what_is_served_is_shown(root: Path, name: str, tab: str) -> None:
    service = make_service(root)
    service.index()

    def served() -> str | None:
        try:
            return service.read(name).text if tab == "Source" else service.map_view(MapRequest(name)).text
        except KeyholeError:
            return None

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2")
        files(pilot).action_show_tab(tab)
        view = await select(pilot, name)
        expected = served()
        if expected is None:
            assert view.document.text.startswith(f"○ {name}\n\nSkipped: ")
            assert "hidden" not in view.document.text
            assert files(pilot).opened is None
        else:
            assert view.document.text == expected

    drive(make_app(service), steps)


def test_the_pages_of_a_map_have_keys(root: Path) -> None:
    service = make_service(root)

    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2")
        view = await select(pilot, "large.py")
        await press(pilot, "n")
        assert "Only a map has pages" in [note.message for note in pilot.app._notifications][-1]
        files(pilot).max_tokens = budget = 1_000
        await press(pilot, "right_square_bracket")
        texts = [view.document.text]
        assert subtitle(view).startswith("Page 1 ◂ p  n ▸ · large.py")
        offset: int | None = 0
        while offset is not None and len(texts) < 4:
            offset = next_offset(service.map_view(MapRequest("large.py", offset=offset, max_tokens=budget)))
            assert offset is not None
            await press(pilot, "n")
            texts.append(view.document.text)
            assert texts[-1] == service.map_view(MapRequest("large.py", offset=offset, max_tokens=budget)).text
            assert subtitle(view).startswith(f"Page {len(texts)} ")
        assert len(set(texts)) == 4
        await press(pilot, "p")
        assert view.document.text == texts[2]
        # Another level starts at the first page.
        await press(pilot, "d")
        assert len(files(pilot).opened.offsets) == 1  # type: ignore[union-attr]

    drive(make_app(service), steps)


def test_a_map_of_one_page_shows_no_page(root: Path) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await press(pilot, "escape", "2")
        view = await select(pilot, "small.py")
        await press(pilot, "right_square_bracket", "n")
        assert subtitle(view).startswith("small.py")
        assert [note.message for note in pilot.app._notifications][-1] == "Last page of the map."

    drive(make_app(make_service(root)), steps)


# The first index run


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Index runs wait for this event before they read files."""
    held, prepare_all = Event(), update_module.__dict__["prepare_all"]

    def wait(*arguments: object, **options: object) -> object:
        assert held.wait(60)
        return prepare_all(*arguments, **options)

    monkeypatch.setattr(update_module, "prepare_all", wait)
    yield held
    held.set()


def test_the_tree_shows_what_the_walk_found_while_the_first_run_is_under_way(root: Path, held: Event) -> None:
    (root / "inside").mkdir()
    (root / "inside" / "b.py").write_text("")
    app = make_app(make_service(root))

    async def steps(pilot: Pilot[None]) -> None:
        tree = files(pilot).query_one(Tree)
        labels = [str(node.label) for node in tree.root.children]
        assert labels == [
            "inside/  1",
            ".gitignore",
            "data.txt",
            "keyhole.toml",
            "small.py",
            "○ .env  secret",
            "○ large.py  too-large",
            "○ out.log  ignored",
            "○ picture.svg  picture",
        ]
        assert app.index_state.phase == Phase.INDEXING
        # A file can be read before it is indexed.
        files(pilot).open("small.py")
        await wait_for(pilot, lambda pilot: files(pilot).opened)
        assert files(pilot).query_one(LineView).document.text == "def small(): pass\n"
        held.set()
        await settle(pilot)
        assert subtitle(tree) == "4 indexed · 5 skipped"
        assert "○ data.txt  binary" in [str(node.label) for node in tree.root.children]

    async def run() -> None:
        async with app.run_test(size=LARGE) as pilot:
            await wait_for(pilot, lambda _: app.service is not None)
            app.switch_mode("files")
            await wait_for(pilot, lambda _: app.found_files.files)
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())
