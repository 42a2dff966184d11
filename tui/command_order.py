"""The order of commands in the help and the palette: the most used first, quitting last."""

from textual.binding import Binding

# Actions by their use; those that are not listed come after all of these.
_BY_USE = (
    # Searching
    "query",
    "submit",
    "complete",
    "find",
    "find_name",
    "queries",
    "save_query",
    # Opening
    "select",
    "open",
    "read",
    "edit",
    "symbol",
    "references",
    "reopen_references",
    "links",
    "history",
    "related",
    "why",
    # Paging and moving
    "next_page",
    "previous_page",
    "move",
    "move_page",
    "move_to",
    "follow",
    "pause",
    "mark",
    # Reading
    "ask_line",
    "find_next",
    "toggle_wrap",
    "blame",
    # References
    "relation",
    "next_relation",
    # Budget and detail
    "budget",
    "detail",
    "level",
    "toggle_left_out",
    # Tabs
    "tab",
    "lens",
    "versus",
    "replay",
    "zoom",
    # Copying
    "copy",
    "copy_call",
    "copy_setup",
    # Server, index and screens
    "serve",
    "count",
    "check_files",
    "show_screen",
    "workspaces",
    "jump",
    "back",
)
_LAST = ("toggle_theme", "palette", "help", "quit", "interrupt")
QUITTING = frozenset(("quit", "interrupt"))


def use_rank(binding: Binding) -> tuple[int, bool]:
    """Return the position of a binding's action among all commands; steps back come after steps forward."""
    name = action_name(binding)
    if name in _LAST:
        place = len(_BY_USE) + 1 + _LAST.index(name)
    else:
        place = _BY_USE.index(name) if name in _BY_USE else len(_BY_USE)
    return place, "(-" in binding.action


def action_name(binding: Binding) -> str:
    """Return the name of a binding's action, without its namespace and arguments."""
    return binding.action.partition("(")[0].rpartition(".")[2]
