"""Every key of the explorer in one table: the screens, the help, the palette, the docs and the user's settings read it.

A command has a name, which the user's settings use to give it other keys. One command can work in several places, with
the same name and keys. A key has one meaning in each place: a pane, the screen around it, and everywhere.
"""

from dataclasses import replace

from textual.binding import Binding, BindingType

Keys = list[BindingType]
# The end of the names of commands that do the same as another one, also while text is typed.
ANYWHERE = "-anywhere"
# The screens that have a key of their own, in the order of the top line.
MODES = ("explore", "files", "traffic", "stats")


def _shown(name: str, keys: str, action: str, label: str, does: str) -> Binding:
    """Return a row that the footer shows with its label and its first key; help and palette show what it does."""
    return Binding(keys, action, label, tooltip=does, id=name)


def _quiet(name: str, keys: str, action: str, label: str, does: str) -> Binding:
    """Return a row that only help and palette show."""
    return Binding(keys, action, label, tooltip=does, id=name, show=False)


def _always(row: Binding) -> Binding:
    """Return a row whose keys work before those of any pane, even while text is typed."""
    return replace(row, priority=True)


# Commands that several screens have.

_TABS = [
    _shown("next-tab", "right_square_bracket", "tab(1)", "Switch tab", "Go to the next tab"),
    _shown("previous-tab", "left_square_bracket", "tab(-1)", "Switch tab", "Go to the previous tab"),
]
_ZOOM = _shown("zoom", "z", "zoom", "Zoom", "Zoom one pane, or show both")
_SIZES = [
    _quiet("narrower", "left_curly_bracket", "resize_pane(-1)", "Resize", "Make the pane narrower, or lower"),
    _quiet("wider", "right_curly_bracket", "resize_pane(1)", "Resize", "Make the pane wider, or taller"),
    _quiet("reset-panes", "0", "reset_panes", "Reset panes", "Give all panes their usual sizes"),
]
_BLAME = _quiet("blame", "b", "blame", "Blame", "Show who changed the current line last")
_CHECK_FILES = _quiet("refresh", "r", "check_files", "Check files", "Check for changed files now")
_BACK = _quiet("back", "escape", "back", "Go back", "Go back: leave the zoom, then the view")
_REFERENCES = [
    _shown("references", "u", "references", "References", "Find references: what uses, calls or inherits the symbol"),
    _quiet("reopen-references", "U", "reopen_references", "Reopen references", "Show the last references again"),
]
_MARKS = [
    _shown("mark", "m", "mark", "Mark", "Mark or unmark this for the context bundle: result, file, reference or lines"),
    _quiet("mark-symbol", "M", "mark_symbol", "Mark symbol", "Mark or unmark the definition around this line"),
]
_BUDGET = [
    _shown("lower-budget", "minus", "budget(-1)", "Set budget", "Lower the token budget"),
    _shown("raise-budget", "plus,equals_sign", "budget(1)", "Set budget", "Raise the token budget"),
]
_PAGES = [
    _shown("next-page", "n", "next_page", "Page", "Go to the next page"),
    _shown("previous-page", "p", "previous_page", "Page", "Go to the previous page"),
]
_COPY_CALL = _quiet("copy-call", "Y", "copy_call", "Copy call", "Copy the call as JSON-RPC")


def _copy(does: str) -> Binding:
    return _shown("copy", "y", "copy", "Copy", does)


def _edit(does: str) -> Binding:
    return _shown("edit", "e", "edit", "Edit", does)


def _select(label: str, does: str) -> Binding:
    return _shown("select", "enter", "select", label, does)


def _cancel(does: str = "Cancel", *, key: str = "escape") -> Binding:
    return _shown("cancel", key, "dismiss(None)", "Cancel", does)


def _half_pages(action: str) -> list[Binding]:
    return [
        _quiet("half-page-down", "ctrl+d", f"{action}(1)", "Half page", "Go down half a screen"),
        _quiet("half-page-up", "ctrl+u", f"{action}(-1)", "Half page", "Go up half a screen"),
    ]


# In a text that is only read: charts, help.
_SCROLLING = [
    _quiet("down", "j,down", "scroll(1)", "Down", "Scroll down"),
    _quiet("up", "k,up", "scroll(-1)", "Up", "Scroll up"),
    *_half_pages("scroll_half"),
    _quiet("first", "g,home", "scroll_edge(-1)", "Go top", "Go to the top"),
    _quiet("last", "G,end", "scroll_edge(1)", "Go end", "Go to the end"),
]
_NEXT_MATCH = _quiet("next-match", "f3", "find_next(1)", "Next match", "Go to the next match")
_PREVIOUS_MATCH = _quiet(
    "previous-match", "shift+f3,shift+enter", "find_next(-1)", "Previous match", "Go to the previous match"
)


# Everywhere.


def _screen(mode: str, digit: str, label: str, does: str) -> Keys:
    """Return the rows that open a screen: by its digit, and with Alt also while text is typed."""
    action = f"app.show_screen('{mode}')"
    return [
        _quiet(mode, digit, action, label, does),
        _always(_quiet(f"{mode}{ANYWHERE}", f"alt+{digit}", action, label, does)),
    ]


EVERYWHERE: Keys = [
    *_screen("explore", "1", "Explore", "Go to Explore (search)"),
    *_screen("files", "2", "Files", "Go to Files (browse)"),
    *_screen("traffic", "3", "Traffic", "Go to Traffic (agent calls)"),
    *_screen("stats", "4", "Stats", "Go to Stats (cost of calls)"),
    _always(_shown("run", "ctrl+p", "palette", "Run", "Run a command by name")),
    _always(_quiet("find", "ctrl+t", "find_name", "Find", "Find a file or symbol by name")),
    _quiet("jump", "ctrl+o", "jump", "Jump", "Jump to a pane or tab by its letter"),
    _shown("help", "question_mark,f1", "help", "Help", "Show all keys for this screen"),
    _quiet("theme", "t", "toggle_theme", "Switch theme", "Switch between the dark and the light theme"),
    _quiet("bundle", "B", "bundle", "Bundle", "Show the context bundle: what is marked, and what it costs"),
    _quiet("workspaces", "W", "workspaces", "Workspaces", "Open another workspace"),
    _shown("quit", "q", "quit", "Quit", "Quit the explorer"),
    # Textual binds this key too, with a tooltip in other words.
    _always(_shown("quit-anywhere", "ctrl+q", "quit", "Quit", "Quit the explorer")),
    _always(_quiet("suspend", "ctrl+z", "suspend_process", "Suspend", "Suspend the explorer; fg in the shell returns")),
    _always(_quiet("quit-now", "ctrl+c", "interrupt", "Quit", "Quit the explorer immediately")),
]

# Screens.

EXPLORE: Keys = [
    _shown("query", "slash", "query", "Search", "Go to the search line"),
    _edit("Open the result in $EDITOR"),
    *_REFERENCES,
    *_MARKS,
    _copy("Copy the answer, or the JSON or Diff tab"),
    _COPY_CALL,
    _shown("next-detail", "d", "detail(1)", "Set detail", "Switch to the next detail level"),
    _shown("previous-detail", "D", "detail(-1)", "Set detail", "Switch to the previous detail level"),
    *_BUDGET,
    *_PAGES,
    _shown("left-out", "c", "toggle_left_out", "Show missing", "Show what was left out"),
    _shown("in-full", "s", "in_full", "Show full", "Show a shortened result in full: the selected one, or the first"),
    _shown("explain", "x", "why", "Explain", "Explain ranking"),
    _quiet("similar", "i", "related", "Find similar", "Find similar code"),
    _quiet("hits-of-file", "f", "hits_of_file", "Show hits", "Show every hit in the file of the result"),
    _quiet("open", "o", "open", "Open file", "Open the file of the result in Files"),
    _shown("next-client", "a", "lens(1)", "View as", "View the answer as the next client delivers it"),
    _shown("previous-client", "A", "lens(-1)", "View as", "View the answer as the previous client delivers it"),
    *_TABS,
    _quiet("compare", "v", "versus", "Compare", "Compare with another detail or budget"),
    _ZOOM,
    *_SIZES,
    _BLAME,
    _CHECK_FILES,
    _BACK,
]
FILES: Keys = [
    _shown("find-file", "f,slash", "find", "Find file", "Find a file by name"),
    _shown("find-symbol", "s", "symbol", "Find symbol", "Find a symbol in this file"),
    *_REFERENCES,
    _shown("links", "l", "links", "Show links", "Show or hide the links of this file"),
    *_TABS,
    _shown("next-detail", "d", "level(1)", "Set detail", "Switch to the next map level"),
    _shown("previous-detail", "D", "level(-1)", "Set detail", "Switch to the previous map level"),
    *_BUDGET,
    *_PAGES,
    _edit("Open the file in $EDITOR"),
    *_MARKS,
    _copy("Copy the text of this tab"),
    _ZOOM,
    *_SIZES,
    _BLAME,
    _CHECK_FILES,
    _BACK,
    _shown("token-costs", "h", "costs", "Costs", "Show what reading or mapping each file and folder costs, or neither"),
    _quiet("history-back", "less_than_sign", "history(-1)", "Go back", "Go back in history"),
    _quiet("history-forward", "greater_than_sign", "history(1)", "Go forward", "Go forward in history"),
]
REFERENCES: Keys = [
    _shown("back", "escape,backspace", "back", "Go back", "Go back along the trail, or close the references"),
    _shown("read", "v", "read", "Read", "Go to the preview"),
    _shown("open", "o", "open", "Open file", "Open the selected place in Files"),
    _edit("Open the selected place in $EDITOR"),
    *_MARKS,
    *_PAGES,
    _quiet("references", "u", "relation('references')", "References", "Show the references"),
    _shown("callers", "c", "relation('callers')", "Callers", "Show what calls the symbol"),
    _shown("callees", "C", "relation('callees')", "Callees", "Show what the symbol calls"),
    _shown("hierarchy", "h", "relation('hierarchy')", "Hierarchy", "Show base classes, subclasses and overrides"),
    *_TABS,
    _copy("Copy the answer, or the JSON tab"),
    _COPY_CALL,
    _ZOOM,
    *_SIZES,
    _BLAME,
    _CHECK_FILES,
]
TRAFFIC: Keys = [
    _shown("query", "slash", "query", "Filter", "Go to the filter line"),
    _shown("follow", "f", "follow", "Follow", "Follow the newest call"),
    _shown("pause", "space", "pause", "Pause", "Pause or resume the list"),
    _shown("mark", "m", "mark", "Mark", "Mark or unmark this call"),
    _shown("group", "c", "group", "Group", "Show the calls by conversation, or all by time"),
    _shown("open", "o", "open", "Open", "Open this call in Explore, Files or References"),
    _shown("explain", "x", "missed", "Explain", "Explain why the agent did not see a file"),
    _shown("replay", "R", "replay", "Replay", "Replay this call with the same or other parameters"),
    _quiet("view-as", "v", "lens(1)", "View as", "Show what the next client delivers of the answer"),
    _quiet("view-as-previous", "V", "lens(-1)", "View as", "Show what the previous client delivers of the answer"),
    _quiet("add-check", "a", "add_check", "Add check", "Add this search and what was read to keyhole.checks.toml"),
    _copy("Copy the text of this tab"),
    _COPY_CALL,
    _shown("serve", "s", "serve", "Serve", "Start or stop the server for agents"),
    _shown("setup", "C", "copy_setup", "Copy setup", "Copy and show the setup for a client"),
    *_TABS,
    _ZOOM,
    *_SIZES,
    _CHECK_FILES,
    _BACK,
]
STATS: Keys = [
    _select("Show calls", "Show the calls of the bar in Traffic"),
    _shown("next-chart", "right,right_square_bracket", "chart(1)", "Chart", "Go to the next chart"),
    _shown("previous-chart", "left,left_square_bracket", "chart(-1)", "Chart", "Go to the previous chart"),
    _shown("refresh", "r", "count", "Count", "Count the calls again"),
    _copy("Copy the figures as text"),
    _quiet("down", "j,down", "move(1)", "Next", "Go to the next bar"),
    _quiet("up", "k,up", "move(-1)", "Previous", "Go to the previous bar"),
    *_half_pages("move_half"),
    _quiet("first", "g,home", "move_to(0)", "Go first", "Go to the first bar"),
    _quiet("last", "G,end", "move_to(-1)", "Go last", "Go to the last bar"),
]

# Panes.

SEARCH_LINE: Keys = [
    _shown("submit", "enter", "submit", "Show results", "Go to the results"),
    _shown("complete", "tab", "complete", "Complete", "Complete the filter, or go to the results"),
    _quiet("down", "down", "screen.move(1)", "Next result", "Preview the next result"),
    _quiet("up", "up", "screen.move(-1)", "Previous result", "Preview the previous result"),
]
QUERIES: Keys = [
    _quiet("older-query", "ctrl+up", "screen.history(-1)", "Older query", "Go to the query before"),
    _quiet("newer-query", "ctrl+down", "screen.history(1)", "Newer query", "Go to the query after"),
    _quiet("queries", "ctrl+r", "screen.queries", "Queries", "Choose a saved query or an earlier one"),
    _quiet("save-query", "ctrl+s", "screen.save_query", "Save query", "Save the query under a name"),
]
LIST: Keys = [
    _select("Read", "Go to the view"),
    _quiet("down", "j,down", "move(1)", "Next", "Go to the next row"),
    _quiet("up", "k,up", "move(-1)", "Previous", "Go to the previous row"),
    _quiet("page-down", "pagedown", "move_page(1)", "Page down", "Move down one screen"),
    _quiet("page-up", "pageup", "move_page(-1)", "Page up", "Move up one screen"),
    *_half_pages("move_half"),
    _quiet("first", "g,home", "move_to(0)", "Go first", "Go to the first row"),
    _quiet("last", "G,end", "move_to(-1)", "Go last", "Go to the last row"),
]
SIMILAR_LIST: Keys = [_select("Open", "Open the code in Files")]
LINKS: Keys = [_select("Follow", "Follow the link")]
REFERENCE_LIST: Keys = [
    _select("Follow", "Open the reference, or list the same for the selected symbol"),
    _shown("next-relation", "right", "screen.next_relation(1)", "Relation", "Go to the next relation"),
    _shown("previous-relation", "left", "screen.next_relation(-1)", "Relation", "Go to the previous relation"),
]
VIEW: Keys = [
    _quiet("down", "j,down", "scroll_down", "Scroll down", "Scroll down one line"),
    _quiet("up", "k,up", "scroll_up", "Scroll up", "Scroll up one line"),
    *_half_pages("scroll_half"),
    _quiet("first", "g,home", "scroll_home", "Go top", "Go to the first line"),
    _quiet("last", "G,end", "scroll_end", "Go end", "Go to the last line"),
    _quiet("left", "left", "scroll_side(-1)", "Scroll left", "Scroll to the left"),
    _quiet("right", "right", "scroll_side(1)", "Scroll right", "Scroll to the right"),
    _quiet("wrap", "w", "toggle_wrap", "Wrap lines", "Wrap long lines, or stop wrapping them"),
    _quiet("find-text", "ctrl+f", "find", "Find", "Find a text in this view"),
    _NEXT_MATCH,
    _PREVIOUS_MATCH,
    _quiet("go-to-line", "colon,ctrl+g", "ask_line", "Go to", "Go to a line by its number"),
]
FIND_LINE: Keys = [
    _shown("submit", "enter", "submit", "Next match", "Go to the next match"),
    replace(_NEXT_MATCH, show=True),
    replace(_PREVIOUS_MATCH, show=True),
    _shown("close", "escape", "close", "Close", "Close the line; the view stays where it is"),
]
NUMBER_LINE: Keys = [
    _shown("submit", "enter", "submit", "Go", "Go to the line"),
    _shown("close", "escape", "close", "Close", "Close the line; the view stays where it is"),
]
TREE: Keys = [
    _quiet("down", "j,down", "cursor_down", "Next", "Go to the next row"),
    _quiet("up", "k,up", "cursor_up", "Previous", "Go to the previous row"),
    *_half_pages("move_half"),
    _quiet("first", "g,home", "move_to(0)", "Go first", "Go to the first row"),
    _quiet("last", "G,end", "move_to(-1)", "Go last", "Go to the last row"),
]

# Dialogs.

HELP: Keys = [_shown("close", "escape,q,question_mark,f1", "dismiss", "Close", "Close the help"), *_SCROLLING]
EXPLAIN: Keys = [_shown("close", "escape", "dismiss", "Close", "Close the explanation")]
TEXT: Keys = [
    _shown("close", "escape,enter,q", "dismiss", "Close", "Close the text"),
    _copy("Copy the text again"),
]
REPLAY: Keys = [_cancel("Cancel the replay")]
SIMILAR: Keys = [_cancel(key="escape,i")]
JUMP: Keys = [_cancel()]
PALETTE: Keys = [
    _cancel(),
    _quiet("down", "down", "move(1)", "Next", "Go to the next command"),
    _quiet("up", "up", "move(-1)", "Previous", "Go to the previous command"),
    _quiet("page-down", "pagedown", "move_page(1)", "Page down", "Move down one screen"),
    _quiet("page-up", "pageup", "move_page(-1)", "Page up", "Move up one screen"),
]
PICK: Keys = [
    _cancel(),
    _quiet("down", "down", "move(1)", "Next", "Go to the next choice"),
    _quiet("up", "up", "move(-1)", "Previous", "Go to the previous choice"),
]
CHOOSE_QUERY: Keys = [
    _always(_shown("delete-query", "ctrl+x,shift+delete", "delete", "Delete", "Delete the query from this list")),
]
SAVE_QUERY: Keys = [_cancel()]
BUNDLE: Keys = [
    _shown("close", "escape,B,q", "dismiss", "Close", "Close the bundle"),
    _copy("Copy the text of the bundle"),
    _shown("save-bundle", "s", "save", "Save", "Save the list or the text to a file"),
    _shown("next-format", "f", "format(1)", "Format", "Switch to the next format"),
    _quiet("previous-format", "F", "format(-1)", "Format", "Switch to the previous format"),
    *_BUDGET,
    *_PAGES,
    _shown("unmark", "x,delete", "unmark", "Take out", "Take this part out of the bundle"),
    _quiet("unmark-all", "C", "unmark_all", "Take out all", "Take all parts out of the bundle"),
    _shown("open", "o", "open", "Open", "Open this part in Files"),
]
BUNDLE_LIST: Keys = [_select("Open", "Open this part in Files")]
SAVE_BUNDLE: Keys = [_cancel()]
FINDER: Keys = [
    _cancel(),
    _shown("switch-names", "tab", "switch(1)", "Switch", "Find files, symbols or both"),
    _quiet("switch-names-back", "shift+tab", "switch(-1)", "Switch", "Find files, symbols or both, backwards"),
    _quiet("down", "down", "move(1)", "Next", "Go to the next name"),
    _quiet("up", "up", "move(-1)", "Previous", "Go to the previous name"),
    _quiet("page-down", "pagedown", "move_page(1)", "Page down", "Move down one screen"),
    _quiet("page-up", "pageup", "move_page(-1)", "Page up", "Move up one screen"),
]

# The places of the table, by their titles in help and docs; in a chain of pane, screen and app a key has one meaning.
SCREENS: dict[str, Keys] = {
    "Explore": EXPLORE,
    "Files": FILES,
    "References": REFERENCES,
    "Traffic": TRAFFIC,
    "Stats": STATS,
}
PANES: dict[str, Keys] = {
    "Search line": SEARCH_LINE,
    "Search line of Explore": [*SEARCH_LINE, *QUERIES],
    "Lists": LIST,
    "Links": LINKS,
    "List of references": REFERENCE_LIST,
    "Tree of files": TREE,
    "Views": VIEW,
}
PANES_OF: dict[str, tuple[str, ...]] = {
    "Explore": ("Search line of Explore", "Lists", "Views"),
    "Files": ("Tree of files", "Lists", "Links", "Views"),
    "References": ("Lists", "List of references", "Views"),
    "Traffic": ("Search line", "Lists", "Views"),
    "Stats": (),
}
DIALOGS: dict[str, Keys] = {
    "Help": HELP,
    "Explain ranking": EXPLAIN,
    "Explain missed file": EXPLAIN,
    "Text": TEXT,
    "Replay": REPLAY,
    "Similar code": [*SIMILAR, *SIMILAR_LIST],
    "Jump": JUMP,
    "Run": PALETTE,
    "Choose": PICK,
    "Find in a view": FIND_LINE,
    "Go to a line": NUMBER_LINE,
    "Saved queries and history": [*PICK, *CHOOSE_QUERY],
    "Save query": SAVE_QUERY,
    "Find a file or symbol": FINDER,
    "Bundle": [*BUNDLE, *BUNDLE_LIST],
    "Save bundle": SAVE_BUNDLE,
}
# Where text is typed: keys that type a character can't be commands there.
LINES: list[Keys] = [
    SEARCH_LINE,
    QUERIES,
    EXPLAIN,
    REPLAY,
    PALETTE,
    PICK,
    FIND_LINE,
    NUMBER_LINE,
    CHOOSE_QUERY,
    SAVE_QUERY,
    SAVE_BUNDLE,
    FINDER,
]
