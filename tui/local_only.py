"""What the explorer does only in a terminal: a browser may be on another machine, or belong to someone else."""

from enum import StrEnum


class LocalOnly(StrEnum):
    """What is off in the browser; the value is the notice that says so."""

    EDITOR = "The browser can't open your editor. Run keyhole in a terminal to edit files."
    EXPORT = "The browser can't write files on this machine. Copy the text instead."
    WORKSPACES = "The browser shows one workspace. Run keyhole web with several folders: each has its own address."
    OTHER_SERVERS = "The browser can't start other servers. Run keyhole in a terminal to replay this call."
    SUSPEND = "There is no shell to return to. Close the tab to end the explorer."
