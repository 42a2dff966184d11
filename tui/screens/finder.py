"""The finder: go to a file or a symbol by typing some letters of its name, from any screen."""

from asyncio import TimerHandle
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from keyhole.core.types.inventory import Inventory
from keyhole.tui import keys
from keyhole.tui.background import run_in_thread, run_later
from keyhole.tui.index_state import Phase
from keyhole.tui.key_names import key_of
from keyhole.tui.messages import NamesFound, NamesRead
from keyhole.tui.names_to_find import BOTH, FILES, SCOPES, SYMBOLS, FoundNames, NamesToFind, read_files, read_symbols
from keyhole.tui.widgets.bars import set_subtitle, set_title, tab_names
from keyhole.tui.widgets.finder_list import FinderList
from keyhole.tui.widgets.reference_preview import ReferencePreview
from keyhole.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.tui.explorer import Explorer

# A file is read for the preview only if the cursor rests on it.
PREVIEW_SECONDS = 0.06
# While the index is being built, its names are read again after this time.
_READ_AGAIN_SECONDS = 2.0
_NOTHING = {BOTH: "file or symbol", FILES: "file", SYMBOLS: "symbol"}


class FinderScreen(ModalScreen[None]):
    """Shows a line, the names that match, and a preview of the selected one."""

    HELP_TITLE = "Find a file or symbol"
    CSS_PATH = "../styles/finder.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.FINDER

    def __init__(self, scope: str = BOTH) -> None:
        super().__init__()
        self.scope = scope
        self._names = NamesToFind()
        self._number = 0
        self._is_searching = False
        self._is_reading = False
        # Enter was pressed before the names for the typed line were there.
        self._opens_best = False
        self._preview_timer: TimerHandle | None = None

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with Vertical(id="finder"):
            with Horizontal(id="finder-head"):
                line = Input(id="finder-line", compact=True, placeholder="Some letters of the name, as in dbmqry")
                line.cursor_blink = False
                yield line
                # Not in the frame: the whole box would be drawn again for each letter.
                yield Static(id="finder-count")
            with Horizontal(id="finder-panes"):
                yield FinderList(id="finder-list")
                yield ReferencePreview(id="finder-view")

    def on_mount(self) -> None:
        """Start with the names that are known, and read them again if the index has changed since."""
        for pane in (self._list, self._preview):
            pane.can_focus = False
        self._names = self.explorer.names_to_find or NamesToFind()
        self.watch(self.app, "inventory", self._on_inventory)
        self._search()

    def on_unmount(self) -> None:
        """Keep the names for the next time, but not what only the next letter would need."""
        self._names.forget()

    @property
    def is_settled(self) -> bool:
        """Whether everything requested is on the screen."""
        return not (self._is_searching or self._is_reading or self._preview_timer) and self._preview.is_settled

    @property
    def explorer(self) -> "Explorer":
        """The app, which holds the workspace."""
        return cast("Explorer", self.app)

    @property
    def _list(self) -> FinderList:
        return self.query_one(FinderList)

    @property
    def _preview(self) -> ReferencePreview:
        return self.query_one(ReferencePreview)

    # Reading the names

    def _on_inventory(self, inventory: Inventory) -> None:
        if self._names.symbols is None or self._names.generation != inventory.generation:
            self._read()

    def _read(self) -> None:
        service = self.explorer.service
        if service and not self._is_reading:
            self._is_reading = True
            run_in_thread(self, partial(self._read_in_thread, service), "names")
        elif not service:
            run_later(self, 0.1, self._read)

    def _read_in_thread(self, service: "Service") -> None:
        names = read_files(service)
        self.post_message(NamesRead(names))
        self.post_message(NamesRead(read_symbols(service, names)))

    def on_names_read(self, message: NamesRead) -> None:
        """Search the new names; while the index is being built, there will be more."""
        if message.names.symbols is None and self._names.symbols is not None:
            # Older symbols are better than none until the new ones are read.
            return
        self._names = self.explorer.names_to_find = message.names
        if message.names.symbols is not None:
            self._is_reading = False
            if self.explorer.index_state.phase in (Phase.OPENING, Phase.INDEXING):
                run_later(self, _READ_AGAIN_SECONDS, self._read)
        self._search()

    # Searching

    def on_input_changed(self, _: Input.Changed) -> None:
        """Search for what is typed."""
        self._search()

    def _search(self) -> None:
        """Start a search; while another one runs, only the newest one waits."""
        self._number += 1
        if not self._is_searching:
            self._start_search()

    def _start_search(self) -> None:
        self._is_searching = True
        work = partial(self._find, self._number, self._names, self.query_one(Input).value, self.scope)
        run_in_thread(self, work, "find")

    def _find(self, number: int, names: NamesToFind, typed: str, scope: str) -> None:
        self.post_message(NamesFound(number, names.find(typed, scope)))

    def on_names_found(self, message: NamesFound) -> None:
        """Show the names, unless something else was typed since."""
        self._is_searching = False
        if message.number != self._number:
            self._start_search()
            return
        self._show(message.found)
        if self._opens_best:
            self._opens_best = False
            self.action_open()

    def _show(self, found: FoundNames) -> None:
        if found.names:
            self._list.show(found)
        else:
            self._list.found = found
            self._list.say(self._nothing_lines(found))
        self._show_frame(found)
        self._preview_soon()

    def _nothing_lines(self, found: FoundNames) -> list[str]:
        if self._is_reading or self.explorer.service is None:
            return ["Reading the names…"]
        if not found.total:
            is_indexing = self.explorer.index_state.phase == Phase.INDEXING
            return ["Indexing: names appear as files are indexed." if is_indexing else "Nothing is indexed here."]
        lines = [f"[bold]○ No {_NOTHING[self.scope]} matches[/]", "", "· Type fewer letters, in the order of the name."]
        return (
            lines
            if self.scope == BOTH
            else [*lines, f"· Press {key_of('switch-names')} to look for files and symbols."]
        )

    def _show_frame(self, found: FoundNames) -> None:
        box = self.query_one("#finder")
        set_title(box, Content("Find   ") + tab_names(SCOPES, self.scope))
        self.query_one("#finder-count", Static).update(f"{found.count:,} of {found.total:,}", layout=False)
        reading = "Reading symbols… · " if self._names.symbols is None and self.scope != FILES else ""
        indexing = "Indexing… · " if self.explorer.index_state.phase == Phase.INDEXING else ""
        set_subtitle(
            box, Content(f"{indexing or reading}⏎ Open · {key_of('switch-names')} Switch · {key_of('cancel')} Close")
        )

    # The preview

    def on_row_list_highlighted(self, _: RowList.Highlighted) -> None:
        """Preview the name under the cursor."""
        self._preview_soon()

    def _preview_soon(self) -> None:
        if self._preview_timer:
            self._preview_timer.cancel()
        self._preview_timer = run_later(self, PREVIEW_SECONDS, self._show_preview)

    def _show_preview(self) -> None:
        self._preview_timer = None
        service, name = self.explorer.service, self._list.name_under_cursor
        if name is None or service is None:
            self._preview.clear()
        elif self._preview.display:
            self._preview.show_place(service, name.place, name.text[name.tail :] if name.kind else "")

    # Actions

    def on_input_submitted(self, _: Input.Submitted) -> None:
        """Open the name under the cursor; if the last letters are not searched yet, the best one then."""
        if self._is_searching:
            self._opens_best = True
        else:
            self.action_open()

    def on_row_list_selected(self, _: RowList.Selected) -> None:
        """Open the clicked name."""
        self.action_open()

    def action_open(self) -> None:
        """Open the name under the cursor in Files; this closes the finder and what was open below it."""
        if name := self._list.name_under_cursor:
            for screen in reversed(self.app.screen_stack[1:]):
                screen.dismiss()
            self.explorer.open_file(name.place.path, max(1, name.place.line))

    def action_move(self, step: int) -> None:
        """Move the cursor while the focus stays in the line."""
        self._list.action_move(step)

    def action_move_page(self, step: int) -> None:
        """Move the cursor by one screen."""
        self._list.action_move_page(step)

    def action_switch(self, step: int) -> None:
        """Look for files, for symbols, or for both."""
        self.action_show_tab(SCOPES[(SCOPES.index(self.scope) + step) % len(SCOPES)])

    def action_show_tab(self, scope: str) -> None:
        """Look for files, symbols or both, by the name of the tab."""
        self.scope = scope
        self._search()
