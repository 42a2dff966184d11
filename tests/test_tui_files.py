"""The Files screen: the tree, symbols, and files of any size."""

from pathlib import Path

import pytest
from driving import (
    ask,
    drive,
    explorer,
    files,
    make_app,
    make_service,
    press,
    settle,
)
from textual.pilot import Pilot
from textual.widgets import Tree

from keyhole.core.service import Service
from keyhole.tui.widgets.file_tree import FileTree
from keyhole.tui.widgets.finder_list import FinderList
from keyhole.tui.widgets.line_view import LineView

WIDE_QUERY = "handle event limit:50"


def test_the_tree_tells_what_is_skipped_and_why(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "2")
        tree = files(pilot).query_one(Tree)
        labels = [str(node.label) for node in tree.root.children]
        assert labels == [
            "src/  15",
            "tests/  1",
            "web/  1",
            ".gitignore",
            "README.md",
            "○ .env  secret",
            "○ debug.log  ignored",
            "○ package-lock.json  lockfile",
        ]
        tree.move_cursor(tree.root.children[5])
        await press(pilot, "enter")
        assert files(pilot).query_one(LineView).document.text.startswith("○ .env\n\nSkipped: secret: ")

    drive(make_app(acme), steps)


@pytest.mark.parametrize("keys", [("o",), ("2", "f", *"refun", "enter")], ids=["from Explore", "by its name"])
def test_the_tree_reveals_the_file_that_is_opened(acme: Service, keys: tuple[str, ...]) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle_refunded", "enter", *keys)
        await pilot.pause()
        tree = files(pilot).query_one(FileTree)
        assert tree.cursor_node
        assert tree.cursor_node.data
        assert tree.cursor_node.data.path == "src/acme/handlers/refunded.py"
        top = tree.scroll_offset.y
        assert top <= tree.cursor_line < top + tree.scrollable_content_region.height
        # The tree is rebuilt when files change; the cursor stays.
        tree.show(explorer(pilot).inventory)
        await pilot.pause()
        assert tree.cursor_node.data.path == "src/acme/handlers/refunded.py"

    drive(make_app(acme), steps, size=(100, 16))


def test_a_symbol_is_jumped_to(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("src/acme/retry.py", 1)
        await settle(pilot)
        await press(pilot, "s", *"allo", "enter")
        view = files(pilot).query_one(LineView)
        assert view.document.marked == range(18, 21)
        assert view.scroll_offset.y <= 17 < view.scroll_offset.y + view.size.height

    drive(make_app(acme), steps, size=(100, 20))


def test_a_file_is_found_by_a_part_of_its_name(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "backoff", "enter", "2", "f", *"stor")
        assert len(pilot.app.screen.query_one(FinderList).found.names) >= 2
        await press(pilot, "down", "up", "enter")
        assert files(pilot).opened
        assert files(pilot).query_one(LineView).document.is_numbered

    drive(make_app(acme), steps)


def test_a_file_too_large_to_index_is_shown(tmp_path: Path) -> None:
    root = tmp_path / "big"
    root.mkdir()
    (root / "large.py").write_text("value = 1\n" * 120_000)
    (root / "small.py").write_text("value = 1\n")

    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("large.py", 100_000)
        await settle(pilot)
        view = files(pilot).query_one(LineView)
        assert len(view.document.lines) == 120_000
        assert "100000▎value = 1" in [view.render_line(y).text.strip() for y in range(view.size.height)]

    drive(make_app(make_service(root)), steps)


def test_a_file_is_opened_from_the_files_screen_itself(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        explorer(pilot).open_file("src/acme/retry.py", 7)
        await settle(pilot)
        # The screen is shown already.
        explorer(pilot).open_file("src/acme/store.py", 3)
        await settle(pilot)
        opened = files(pilot).opened
        assert opened
        assert (opened.path, opened.marked.start) == ("src/acme/store.py", 3)

    drive(make_app(acme), steps)
