"""Git at a glance in the explorer: marks, the filter, and blame of the current line."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from driving import ask, drive, explorer, files, make_app, make_service, press, results_of, settle, wait_until
from git_samples import changed_acme, commit_all
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.core.view.text import name_text
from keyhole.tui.change_marks import change_mark
from keyhole.tui.widgets.blame_bar import BlameBar
from keyhole.tui.widgets.file_tree import FileTree
from keyhole.tui.widgets.line_view import LineView

Steps = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return make_service(changed_acme(tmp_path / "acme"))


async def until_known(pilot: Pilot[None]) -> None:
    await wait_until(pilot, lambda pilot: explorer(pilot).git_changes is not None)


def screen_text(pilot: Pilot[None]) -> str:
    """Return what is on the screen, as text."""
    strips = pilot.app.screen._compositor.render_strips()  # what a person sees
    return "\n".join(strip.text for strip in strips)


def blame_of(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one(BlameBar).text.plain


async def until_blamed(pilot: Pilot[None]) -> None:
    await wait_until(pilot, lambda pilot: pilot.app.screen.query_one(BlameBar).is_settled)


def test_changed_files_are_marked_in_the_tree(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        await press(pilot, "escape", "2")
        tree = files(pilot).query_one(FileTree)
        assert "fresh/  1 ●" in screen_text(pilot)
        assert "src/  16 ●" in screen_text(pilot)
        for path in ("fresh/retry_new.py", "src/acme/store.py"):
            tree.reveal(path)
            await settle(pilot)
        text = screen_text(pilot)
        for row in ("retry_new.py ?", "store.py M", "connection.py R", "added.py A", "retry.py "):
            assert row in text, row
        assert "retry.py M" not in text
        # A commit is noticed without a change of a file.
        commit_all(service.root, "All")
        await press(pilot, "r")
        await wait_until(pilot, lambda pilot: "store.py M" not in screen_text(pilot))
        assert "/  16 ●" not in screen_text(pilot)

    drive(make_app(service), steps)
    assert service.git.refresh().problem == "git was stopped"


def test_changed_files_are_marked_in_results_and_found_by_the_filter(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        await ask(pilot, "retry changed:yes mode:keyword")
        changes = explorer(pilot).git_changes
        paths = {row.hit.path for row in results_of(pilot).rows}
        assert {"src/acme/store.py", "fresh/retry_new.py", "src/acme/added.py", "src/acme/connection.py"} == paths
        assert changes
        for path in paths:
            name = path.rpartition("/")[2]
            row = next(line for line in screen_text(pilot).splitlines() if f"{name}:" in line)
            assert f"{change_mark(changes, path).plain} " in row
        await ask(pilot, "retry changed:no mode:keyword")
        assert results_of(pilot).rows
        assert not paths & {row.hit.path for row in results_of(pilot).rows}
        # After a commit, the same search finds others.
        await ask(pilot, "retry changed:yes mode:keyword")
        commit_all(service.root, "All")
        await press(pilot, "escape", "r")
        await wait_until(pilot, lambda pilot: not results_of(pilot).rows)
        assert "changed=yes" in screen_text(pilot)

    drive(make_app(service), steps)


def test_the_text_of_a_filtered_answer_does_not_claim_to_be_an_agents(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        await ask(pilot, "retry", "enter", "right_square_bracket")
        assert "exactly what an agent gets" in screen_text(pilot)
        await ask(pilot, "retry changed:yes")
        assert "exactly what an agent gets" not in screen_text(pilot)
        assert "agents can't filter by changes" in screen_text(pilot)

    drive(make_app(service), steps)


def test_blame_follows_the_current_line(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        explorer(pilot).open_file("src/acme/store.py", 4)
        await settle(pilot)
        await press(pilot, "b")
        await until_blamed(pilot)
        assert blame_of(pilot).startswith(" src/acme/store.py:4  Ada Lovelace, ")
        assert blame_of(pilot).endswith("ago: Start")
        view = files(pilot).query_one(LineView)
        last = len(view.document.lines)
        view.go_to_line(last)
        await until_blamed(pilot)
        assert blame_of(pilot) == f" src/acme/store.py:{last}  Not committed yet"
        await press(pilot, "b")
        assert not pilot.app.screen.query_one(BlameBar).display

    drive(make_app(service), steps)


def test_blame_works_on_results_and_references(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        await ask(pilot, "RetryPolicy mode:symbol", "enter", "b")
        await until_blamed(pilot)
        assert "src/acme/retry.py:" in blame_of(pilot)
        # A view without a file has no current line, and so has a screen that shows no file yet.
        await press(pilot, "right_square_bracket")
        await until_blamed(pilot)
        assert "no line of a file" in blame_of(pilot)
        await press(pilot, "2", "b")
        assert "no line of a file" in blame_of(pilot)
        await press(pilot, "1", "left_square_bracket", "u")
        await press(pilot, "b")
        await until_blamed(pilot)
        assert "Ada Lovelace" in blame_of(pilot)

    drive(make_app(service), steps)


def test_hostile_names_of_authors_are_shown_as_text(service: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        explorer(pilot).open_file("src/acme/store.py", 1)
        await settle(pilot)
        await press(pilot, "b")
        await until_blamed(pilot)
        assert "[red]\\x1b[31m Start" in blame_of(pilot)
        assert "\x1b" not in screen_text(pilot)

    commit_all(service.root, "All")
    store = service.root / "src/acme/store.py"
    store.write_text(store.read_text().replace("Keeps", "Holds", 1))
    commit_all(service.root, "[red]\x1b[31m Start")
    drive(make_app(service), steps)


def test_without_a_repository_nothing_is_marked_and_the_reason_is_a_key_away(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/one.py").write_text("def one(): pass\n")

    async def steps(pilot: Pilot[None]) -> None:
        await until_known(pilot)
        explorer(pilot).open_file("one.py", 1)
        await settle(pilot)
        assert "one.py ?" not in screen_text(pilot)
        await press(pilot, "b")
        assert not pilot.app.screen.query(BlameBar)
        (notice,) = pilot.app._notifications
        assert notice.message.startswith("No blame: not a git repository")
        await press(pilot, "1")
        await ask(pilot, "one changed:yes")
        assert "not a git repository" in screen_text(pilot)

    drive(make_app(make_service(tmp_path / "plain")), steps)


def test_marks_have_a_letter_without_colours(service: Service) -> None:
    service.git.refresh()
    assert change_mark(service.git.changes, "src/acme/store.py").plain == " M"
    assert change_mark(service.git.changes, "src/acme/retry.py").plain == ""
    assert change_mark(None, name_text("src/acme/store.py")).plain == ""
