"""The tray: what is marked, what each part costs, and the text of all parts, to copy or to save."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from keyhole.core.errors import KeyholeError
from keyhole.core.types.bundle import Bundle, BundleItem, BundleRequest, BundleStyle
from keyhole.core.view.bundles.bundle_file import bundle_toml
from keyhole.core.view.text import count_of, name_text
from keyhole.tui import keys
from keyhole.tui.answer_layout import RAISE_BUDGET, answer_layout
from keyhole.tui.background import run_in_thread
from keyhole.tui.document import Document
from keyhole.tui.errors_for_explorer import problem_text
from keyhole.tui.key_names import marked_up_key
from keyhole.tui.local_only import LocalOnly
from keyhole.tui.marking import item_name
from keyhole.tui.messages import BundleShown
from keyhole.tui.search_state import next_budget
from keyhole.tui.widgets.bars import chooser, set_subtitle, set_title
from keyhole.tui.widgets.gauge import Gauge
from keyhole.tui.widgets.line_view import LineView
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.core.view.lists.listing import ListView
    from keyhole.tui.explorer import Explorer

_STYLES = tuple(BundleStyle)
_NOTHING = (
    "[bold]Nothing is marked[/]",
    "",
    f"Press {marked_up_key('mark')} on a result, a file, a reference or a line to mark it,",
    f"and {marked_up_key('mark-symbol')} for the definition around a line.",
)


class BundleList(RowList):
    """Lists the marked parts with their costs."""

    HELP_TITLE = "Bundle"
    BINDINGS: ClassVar[list[BindingType]] = keys.BUNDLE_LIST

    def __init__(self) -> None:
        super().__init__(id="bundle-list")
        self.items: tuple[BundleItem, ...] = ()
        self._costs: list[str] = []

    def show(self, items: tuple[BundleItem, ...], view: "ListView", offset: int) -> None:
        """Show parts with what they cost in the text on the screen; those on other pages have no cost."""
        self.items = items
        shown = [f"{view.size_of(*at).tokens:,} tok" for at in enumerate(view.plan.levels)]
        left_out = len(items) - offset - len(shown)
        self._costs = ["page before"] * offset + shown + ["left out"] * left_out
        cursor = min(self.highlighted or 0, len(items) - 1)
        self.show_rows(len(items), cursor)

    def draw(self, number: int, width: int) -> list[Content]:
        """Return a part on one line."""
        cost = f"  {self._costs[number]}"
        name = Content(item_name(self.items[number], width))
        if name.cell_length > width - len(cost):
            name = Content("…") + name[len(name) - (width - len(cost)) + 1 :]
        return [name.pad_right(width - len(cost) - name.cell_length) + Content.styled(cost, "$warning")]


class BundleScreen(ModalScreen[None]):
    """Shows the bundle and its text."""

    HELP_TITLE = "Bundle"
    CSS_PATH = [  # noqa: RUF012
        "../styles/dialogs.tcss",
        "../styles/bundle.tcss",
    ]
    BINDINGS: ClassVar[list[BindingType]] = keys.BUNDLE

    def __init__(self) -> None:
        super().__init__()
        self.style_shown = BundleStyle.TEXT
        self.shown_view: ListView | None = None
        # Where each page up to this one starts.
        self._offsets = [0]
        self._wanted: BundleRequest | None = None

    def compose(self) -> ComposeResult:
        """Yield the gauge and the panes."""
        with Vertical(id="bundle"):
            yield Gauge(id="bundle-gauge")
            with Horizontal(id="bundle-panes"):
                yield BundleList()
                yield LineView(id="bundle-text")

    def on_mount(self) -> None:
        """Show the bundle, and show it again when it changes."""
        box = self.query_one("#bundle")
        box.border_title = "Context bundle"
        box.border_subtitle = " · ".join(
            f"{marked_up_key(command)} {label}"
            for command, label in (
                ("copy", "Copy"),
                ("save-bundle", "Save"),
                ("next-format", "Format"),
                ("unmark", "Take out"),
                ("raise-budget", "Budget"),
                ("close", "Close"),
            )
        )
        self.watch(self.app, "bundle", self._on_bundle)
        self.query_one(BundleList).focus()

    @property
    def explorer(self) -> "Explorer":
        """The app."""
        from keyhole.tui.explorer import Explorer

        assert isinstance(self.app, Explorer)  # noqa: S101  # for mypy
        return self.app

    @property
    def is_settled(self) -> bool:
        """Whether the text on the screen is that of the bundle."""
        return self._wanted is None

    @property
    def budget(self) -> int:
        """How many tokens the text may cost."""
        return self.explorer.bundle.max_tokens or self.explorer.usual_budget

    def _on_bundle(self, _: Bundle) -> None:
        self._offsets = [0]
        self._load()

    def _load(self) -> None:
        """Make the text of the bundle, in a worker."""
        bundle, service = self.explorer.bundle, self.explorer.service
        self._show_controls()
        if not bundle.items or service is None:
            self._wanted = self.shown_view = None
            self.query_one(BundleList).say(_NOTHING)
            self.query_one(LineView).show(Document())
            self.query_one(Gauge).view = None
            return
        request = BundleRequest(bundle, self.style_shown, self._offsets[-1], self.budget)
        self._wanted = request

        def write() -> None:
            try:
                self.post_message(BundleShown(request, service.bundle_view(request)))
            except KeyholeError as error:
                self.post_message(BundleShown(request, error))

        run_in_thread(self, write, "bundle-text")

    def on_bundle_shown(self, message: BundleShown) -> None:
        """Show the text, unless another one was requested since."""
        message.stop()
        if message.request is not self._wanted:
            return
        self._wanted = None
        rows, text = self.query_one(BundleList), self.query_one(LineView)
        if isinstance(message.answer, KeyholeError):
            text.show(Document(f"✗ {problem_text(message.answer)}\n"))
            return
        view = self.shown_view = message.answer
        text.show(Document(view.text, wraps=True, layout=answer_layout(view, commands=[RAISE_BUDGET])))
        rows.show(message.request.bundle.items, view, message.request.offset)
        self.query_one(Gauge).view = view
        self._show_controls()
        self._select_in_text()

    def _show_controls(self) -> None:
        form = chooser("Format", self.style_shown, "format")
        budget = chooser("Budget", f"{self.budget:,}", "budget")
        set_title(self.query_one(Gauge), form + Content("  ") + budget)
        info = self.shown_view.truncation if self.shown_view else None
        cost = f"{info.estimated_tokens:,} tokens · {count_of(info.estimated_chars, 'character')}" if info else ""
        set_subtitle(self.query_one("#bundle-text"), Content(cost))

    def on_row_list_highlighted(self) -> None:
        """Mark the part under the cursor in the text."""
        self._select_in_text()

    def _select_in_text(self) -> None:
        number = self.query_one(BundleList).highlighted
        if number is not None and not self._wanted:
            here = number - self._offsets[-1]
            self.query_one(LineView).select_result(here if here >= 0 else None)

    @property
    def _item(self) -> BundleItem | None:
        rows = self.query_one(BundleList)
        is_there = rows.highlighted is not None and rows.highlighted < len(rows.items)
        return rows.items[rows.highlighted] if is_there and rows.highlighted is not None else None

    # Actions

    def action_format(self, step: int) -> None:
        """Write the bundle in the next format."""
        self.style_shown = _STYLES[(_STYLES.index(self.style_shown) + step) % len(_STYLES)]
        self._offsets = [0]
        self._load()

    def action_budget(self, step: int) -> None:
        """Raise or lower the budget."""
        self.explorer.marking.set_budget(next_budget(self.budget, step))

    def action_next_page(self) -> None:
        """Go to the parts that did not fit."""
        view = self.shown_view
        after = view.page.after(len(view.plan.levels)) if view and not self._wanted else None
        if after is not None:
            self._offsets.append(after)
            self._load()

    def action_previous_page(self) -> None:
        """Go back a page."""
        if len(self._offsets) > 1 and not self._wanted:
            self._offsets.pop()
            self._load()

    def action_unmark(self) -> None:
        """Take the part under the cursor out of the bundle."""
        if item := self._item:
            self.explorer.marking.remove(item)

    def action_unmark_all(self) -> None:
        """Take all parts out of the bundle."""
        self.explorer.marking.clear()

    def action_copy(self) -> None:
        """Copy the text."""
        if self.shown_view:
            self.explorer.copy(self.shown_view.text, "bundle")

    def on_row_list_selected(self) -> None:
        """Open the part under the cursor in Files."""
        self.action_open()

    def action_open(self) -> None:
        """Open the part under the cursor in Files."""
        if item := self._item:
            self.dismiss()
            self.explorer.open_file(item.path, max(1, item.first_line))

    def action_save(self) -> None:
        """Ask for a file, and write the list or the text to it."""
        if self.shown_view and not self.explorer.refuses(LocalOnly.EXPORT):
            self.app.push_screen(SaveBundleScreen(self.explorer.root), self._save)

    def _save(self, path: Path | None) -> None:
        if path is None or self.shown_view is None:
            return
        is_list = path.suffix == ".toml"
        text = bundle_toml(self.explorer.bundle) if is_list else self.shown_view.text
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            problem = f"Could not save {name_text(str(path))}: {error.strerror}"
            self.notify(problem, severity="error", markup=False)
        else:
            what = "the list" if is_list else "the text"
            self.notify(f"Saved {what} to {name_text(str(path))}", timeout=5, markup=False)


class SaveBundleScreen(ModalScreen[Path | None]):
    """Asks where to save the bundle."""

    HELP_TITLE = "Save bundle"
    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SAVE_BUNDLE

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="replay") as box:
            box.border_title = "Save bundle"
            box.border_subtitle = f"⏎ Save · {marked_up_key('cancel')} Cancel"
            yield Static("File, from the workspace or absolute: NAME.toml saves the list, any other the text.")
            line = Input("bundle.toml", id="replay-line", compact=True)
            line.cursor_blink = False
            yield line
            yield Static(id="replay-problem", markup=False)

    def _path(self, text: str) -> Path:
        return self._root / Path(text.strip()).expanduser()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say so if a file would be replaced."""
        is_there = bool(event.value.strip()) and self._path(event.value).is_file()
        self.query_one("#replay-problem", Static).update("Replaces the file that is there." if is_there else "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the path."""
        if event.value.strip():
            self.dismiss(self._path(event.value))
