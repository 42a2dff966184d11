"""Links in the explorer: a pane to follow them, history, and code similar to a result."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from driving import LARGE, MIDDLE, ask, drive, explorer, files, make_app, make_service, press, settle
from linked import MARKDOWN, PYTHON
from textual.pilot import Pilot
from vault import write_vault

from keyhole.core.service import Service
from keyhole.core.types.search_results import Hit
from keyhole.tui.history import History, Place
from keyhole.tui.screens.related_screen import RelatedList, RelatedScreen
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.links_pane import LinksPane

Steps = Callable[[Pilot[None]], Awaitable[None]]
Compare = Callable[..., bool]
README, GUIDE, CART, PRICES = "README.md", "docs/guide.md", "src/shop/cart.py", "src/shop/prices.py"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Index code and notes with all kinds of links."""
    root = tmp_path_factory.mktemp("links") / "shop"
    for path, text in {**PYTHON[0], **MARKDOWN[0]}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    service = make_service(root)
    service.index()
    return service


def pane(pilot: Pilot[None]) -> LinksPane:
    return files(pilot).query_one(LinksPane)


def titles(pilot: Pilot[None]) -> list[str]:
    return [row.text for row in pane(pilot).rows if row.is_title]


def shown(pilot: Pilot[None]) -> tuple[str, str]:
    """Return the file on the screen, and the file whose links are listed."""
    opened = files(pilot).opened
    return opened.path if opened else "", pane(pilot).path


async def open_links(pilot: Pilot[None], path: str) -> None:
    explorer(pilot).open_file(path, 1)
    await settle(pilot)
    await press(pilot, "l")


async def put_cursor(pilot: Pilot[None], text: str) -> None:
    """Go to the row that starts with a text, by keyboard."""
    for _ in range(100):
        row = pane(pilot).rows[pane(pilot).highlighted or 0]
        if row.text.startswith(text):
            return
        await pilot.press("down")
    raise AssertionError(f"no row {text}")


def test_links_are_listed_by_where_they_lead(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, README)
        assert titles(pilot) == ["internal 12", "broken 2", "external 3", "incoming 1"]
        assert pane(pilot).has_focus
        broken = [(row.text, row.note) for row in pane(pilot).rows if row.problem.startswith("missing")]
        assert broken == [("3: docs/guide.md#no", "✗ missing anchor"), ("4: docs/gone.md", "✗ missing file")]
        await press(pilot, "l")
        assert not pane(pilot).display
        assert files(pilot).query_one(LineView).has_focus

    drive(make_app(shop), steps)


def test_a_link_to_a_heading_opens_the_file_there(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, README)
        await put_cursor(pilot, "3: docs/guide.md#the-end")
        await press(pilot, "enter")
        opened = files(pilot).opened
        assert opened is not None
        assert (opened.path, opened.marked.start) == (GUIDE, 4)
        assert (shop.root / GUIDE).read_text().split("\n")[3] == "## The `end`!"

    drive(make_app(shop), steps)


def test_walking_along_links_back_and_forward(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, CART)
        await put_cursor(pilot, "3: .prices")
        await press(pilot, "enter")
        assert shown(pilot) == (PRICES, PRICES)
        assert pane(pilot).has_focus
        await put_cursor(pilot, "src/shop/deep/rules.py:2")
        await press(pilot, "enter")
        assert shown(pilot)[0] == "src/shop/deep/rules.py"
        assert files(pilot).query_one(LineView).document.marked == range(2, 3)
        await press(pilot, "less_than_sign")
        assert shown(pilot) == (PRICES, PRICES)
        await press(pilot, "less_than_sign")
        assert shown(pilot) == (CART, CART)
        await press(pilot, "less_than_sign")
        assert shown(pilot) == (CART, CART)
        await press(pilot, "greater_than_sign", "greater_than_sign")
        assert shown(pilot)[0] == "src/shop/deep/rules.py"

    drive(make_app(shop), steps)


def test_links_that_lead_nowhere_say_so(shop: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, README)
        monkeypatch.setattr(files(pilot), "notify", lambda text, **_: said.append(text))
        monkeypatch.setattr(explorer(pilot), "copy", lambda text, what: said.append(f"{what} {text}"))
        for row in ("4: docs/gone.md", "15: docs/", "16: https://www.example.com/x"):
            await put_cursor(pilot, row)
            await press(pilot, "enter")
        assert shown(pilot) == (README, README)

    drive(make_app(shop), steps)
    assert said == [
        "Can't follow this link: missing file.",
        "docs is a folder: see the tree.",
        "address https://www.example.com/x",
    ]


def test_many_links_are_paged(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "vault", notes=150, links=400, hub_links=130)
    service = make_service(root)
    service.index()

    async def steps(pilot: Pilot[None]) -> None:
        await open_links(pilot, "Hub.md")
        assert titles(pilot) == ["incoming 130"]
        assert len(pane(pilot).rows) == 102
        await press(pilot, "end")
        assert pane(pilot).rows[-1].text == "▾ 30 more"
        await press(pilot, "enter")
        assert titles(pilot) == ["incoming 101-130 of 130"]
        assert len(pane(pilot).rows) == 31

    drive(make_app(service), steps)


def test_without_a_file_there_are_no_links(shop: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "", "escape", "2", "l")
        assert not pane(pilot).display

    drive(make_app(shop), steps)


def test_code_like_a_result_can_be_gone_to(acme: Service) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await ask(pilot, "handle_paid", "enter", "i")
        assert isinstance(pilot.app.screen, RelatedScreen)
        rows = pilot.app.screen.query_one(RelatedList)
        assert "src/acme/handlers/paid.py" not in {hit.path for hit in rows.hits}
        assert "by shared words" in str(rows.border_subtitle)
        place = rows.hits[1].path
        await press(pilot, "down", "enter")
        assert shown(pilot)[0] == place

    drive(make_app(acme), steps)


def test_a_history_forgets_what_lay_ahead_when_one_turns_off() -> None:
    history = History()
    assert history.step(-1) is None
    for path in "abb":
        history.visit(Place(path, 1))
    assert history.step(-1) == Place("a", 1)
    assert history.step(-1) is None
    history.visit(Place("c", 1))
    assert history.step(1) is None
    assert history.step(-1) == Place("a", 1)


async def links_of_notes(pilot: Pilot[None]) -> None:
    await open_links(pilot, README)


async def links_of_code(pilot: Pilot[None]) -> None:
    await open_links(pilot, CART)
    await press(pilot, "down", "down", "down")


async def no_links(pilot: Pilot[None]) -> None:
    await open_links(pilot, "yaml/notes.py")


async def related(pilot: Pilot[None]) -> None:
    await ask(pilot, "total", "enter", "i")


STATES: dict[str, tuple[Steps, tuple[int, int]]] = {
    "links": (links_of_notes, LARGE),
    "links-narrow": (links_of_code, MIDDLE),
    "links-none": (no_links, LARGE),
    "related": (related, LARGE),
}


@pytest.mark.parametrize("name", STATES)
def test_state(shop: Service, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    steps, size = STATES[name]

    async def run_before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await steps(pilot)

    assert snap_compare(make_app(shop), terminal_size=size, run_before=run_before)


@pytest.mark.parametrize(
    ("kind", "signature", "line"),
    [
        ("class", "class Client:", "  class Client:"),
        ("method", "async def fetch(self)", "  async method fetch(self)"),
        ("section", "", "  section "),
    ],
)
def test_a_row_of_related_code_names_the_kind_once(kind: str, signature: str, line: str) -> None:
    rows = RelatedList()
    rows.hits = (Hit("a.py", "python", 1, 9, 1, 0.5, kind, "x", 1, signature, "", "", "", ()),)
    assert rows.draw(0, 60)[1].plain.rstrip() == line.rstrip()
