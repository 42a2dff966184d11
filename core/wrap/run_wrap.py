"""Runs a wrap: `keyhole wrap` with a command, or with an address.

Clients start a command themselves and wait for it, so this imports little: the command line's own modules would take
longer than all the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keyhole.core.wrap.server_name import server_name
from keyhole.core.wrap.stdio_pump import StdioPump, end_like
from keyhole.core.wrap.wrap_recording import StdioRecording, WrapRecording

if TYPE_CHECKING:
    from keyhole.core.wrap.rewriting import NewRewriter

_END_OF_OPTIONS = "--"


@dataclass(frozen=True, slots=True)
class WrapOptions:
    """What is wrapped (a command, or an address alone), its name, and the workspace whose journal records it.

    `budget` is what `--budget` was given, or empty.
    """

    target: tuple[str, ...]
    name: str = ""
    root: Path = Path()
    records: bool = True
    budget: str = ""

    @property
    def server(self) -> str:
        """The name of the server in the journal."""
        return self.name or server_name(self.target)


def _new_rewriter(options: WrapOptions) -> "NewRewriter | None":
    """Return what makes rewriters; None without a budget, because then no message changes."""
    if not options.budget:
        return None
    from keyhole.core.wrap.budget_rewriter import BudgetedServer, BudgetRewriter

    server = BudgetedServer(options.budget, options.root)
    return lambda: BudgetRewriter(server)


def run_command(options: WrapOptions) -> int:
    """Run a server on our stdin and stdout; return its exit code."""
    new_rewriter = _new_rewriter(options)
    rewriter = new_rewriter() if new_rewriter else None
    if not options.records:
        return end_like(StdioPump(_ignore, _ignore, rewriter).run(options.target))
    recording = WrapRecording(options.root, options.server, command=options.target)
    copies = StdioRecording(recording)
    code = StdioPump(copies.saw_client, copies.saw_server, rewriter).run(options.target)
    recording.close()
    return end_like(code)


def run_if_plain(arguments: Sequence[str]) -> int | None:
    """Run `keyhole wrap` if its arguments are those that `--install` writes; None if they are not.

    This is the same as the command `wrap` in core/cli, without importing the command line.
    """
    options = _plain_options(arguments)
    return None if options is None else run_command(options)


def _plain_options(arguments: Sequence[str]) -> WrapOptions | None:
    given: dict[str, str] = {}
    rest = list(arguments)
    while len(rest) > 1 and rest[0] in ("--name", "--root", "--budget") and rest[1] != _END_OF_OPTIONS:
        given[rest[0]], rest = rest[1], rest[2:]
    if len(rest) < 2 or rest[0] != _END_OF_OPTIONS or rest[1].startswith(("http://", "https://")):
        return None
    budget = given.get("--budget", "")
    if budget and not _is_certain(budget):
        return None
    name, root = given.get("--name", ""), Path(given.get("--root", "."))
    return WrapOptions(tuple(rest[1:]), name, root, budget=budget)


def _is_certain(budget: str) -> bool:
    from keyhole.core.wrap.budget_choice import is_certain_budget

    return is_certain_budget(budget)


def _ignore(_: bytes) -> None:
    """Record nothing."""


def run_address(options: WrapOptions, port: int, tell: Callable[[str], None]) -> int:
    """Forward to a server with an address until a signal ends it; `tell` gets the address that clients use."""
    import signal
    import sys

    from keyhole.core.processes import ENDING_SIGNALS
    from keyhole.core.wrap.http_pump import HttpPump
    from keyhole.core.wrap.http_recording import HttpRecording

    recording = WrapRecording(options.root, options.server, url=options.target[0])
    copies = HttpRecording(recording) if options.records else None
    pump = HttpPump(options.target[0], port, copies, _new_rewriter(options))
    for number in ENDING_SIGNALS:
        signal.signal(number, lambda *_: sys.exit(0))
    tell(pump.url)
    try:
        pump.serve_forever()
    finally:
        recording.close()
    return 0
