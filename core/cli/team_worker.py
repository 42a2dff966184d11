"""One worker of `keyhole team work`: it prints a line for each repository."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.cli.output import EXIT_INTERRUPTED, fail
from keyhole.core.cli.store_address import team_settings
from keyhole.core.errors import KeyholeError

if TYPE_CHECKING:
    from keyhole.core.team.repository_worker import WorkEvent

_SHORT_REVISION = 12


def short(revision: str) -> str:
    """Return as much of a revision as people need."""
    return revision.removeprefix("files-")[:_SHORT_REVISION]


def run_worker(*, once: bool, lease_seconds: float, as_json: bool, is_alone: bool) -> int:
    """Work until stopped, or until there is nothing left, and return the exit code.

    A worker that is not alone uses one core for parsing; otherwise the setting index.workers says how many.
    """
    from keyhole.core.team.repository_worker import RepositoryWorker

    try:
        settings = team_settings(None if is_alone else {"index.workers": 1})
        report = _print_json if as_json else _print_line
        url = settings.store.url.get_secret_value()
        RepositoryWorker(url, settings, report, lease_seconds).work(once=once)
    except KeyholeError as error:
        return fail(error.worded(SHELL_STEPS))
    except KeyboardInterrupt:
        return fail("stopped; the next worker indexes the repository again", code=EXIT_INTERRUPTED)
    return 0


def _print_line(event: "WorkEvent") -> None:
    from keyhole.core.untrusted_text import visible

    revision = f" at {short(event.revision)}" if event.revision else ""
    place = f"{event.repository}: " if event.repository else ""
    click.echo(visible(f"{place}{event.kind}{revision}: {event.text}"))


def _print_json(event: "WorkEvent") -> None:
    from keyhole.core.view.text import json_line

    click.echo(json_line(asdict(event)))
