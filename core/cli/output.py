"""Output and exit codes of commands: results go to stdout, everything else to stderr."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.parameters import flags_of

if TYPE_CHECKING:
    from keyhole.core.clients import Profile
    from keyhole.core.service import Service
    from keyhole.core.types.index import IndexReport
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.writing import View

EXIT_NOTHING = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


def print_text(text: str) -> None:
    """Print a text with control characters made visible."""
    from keyhole.core.untrusted_text import visible

    click.echo(visible(text), nl=False)


def print_json(facts: Mapping[str, object] | Sequence[object]) -> None:
    """Print facts as JSON."""
    from keyhole.core.view.text import json_text

    click.echo(json_text(facts))


def print_answer(view: "View", profile: "Profile | None") -> None:
    """Print a view, or what a client delivers of it, with a note on stderr if the client truncates it."""
    from keyhole.core.delivery import deliver

    if profile is None:
        print_text(view.text)
    else:
        delivery = deliver(view.text, profile)
        print_text(delivery.text if delivery.text.endswith("\n") else f"{delivery.text}\n")
        if delivery.note:
            say(delivery.note)
    if _is_read_by_a_person():
        _say_next_page(view)


def _is_read_by_a_person() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def _say_next_page(view: "View") -> None:
    """Say how to get the next page; the answer itself names a tool's parameters, byte for byte as agents get it."""
    from shlex import join

    flags = flags_of(click.get_current_context().command, view.truncation.next)
    if flags:
        say(f"next page: add {join(flags)}")


def print_list(view: "ListView", profile: "Profile | None") -> None:
    """Print a page of a list; exit with EXIT_NOTHING if it is empty."""
    print_answer(view, profile)
    if not view.plan.levels:
        exit_with_nothing()


def exit_with_nothing() -> None:
    """Exit with the code of a command that found nothing."""
    raise click.exceptions.Exit(EXIT_NOTHING)


def say(message: str) -> None:
    """Print a message on stderr."""
    click.echo(f"keyhole: {message}", err=True)


def fail(message: str, code: int = EXIT_ERROR) -> int:
    """Print an error and return the exit code."""
    from keyhole.core.untrusted_text import error_text

    say(error_text(message))
    return code


def refresh_index(service: "Service") -> None:
    """Update the index for a command that reads it; if it can't be written, the command uses it as it is.

    Files that an older version of keyhole indexed are left to `keyhole index`: reading all of them takes long.
    """
    from keyhole.core.errors import FullStoreError, UnwritableStoreError

    if service.is_only_read:
        return
    try:
        update_index(service, renew=False)
    except (FullStoreError, UnwritableStoreError) as error:
        if not service.has_index():
            raise
        status = service.status()
        changed = status.pending or status.stale
        if changed:
            from keyhole.core.untrusted_text import visible
            from keyhole.core.view.text import count_of

            say(visible(f"{error.problem}: the index is not updated, but {count_of(changed, 'file')} changed"))


def update_index(service: "Service", *, full: bool = False, retry: bool = False, renew: bool = True) -> "IndexReport":
    """Update the index, with a progress bar if stderr is a terminal."""
    if not sys.stderr.isatty():
        return service.index(full=full, retry=retry, renew=renew, on_message=lambda message: say(message.text))
    from keyhole.core.cli.progress import show_progress

    with show_progress() as shown:
        return service.index(full=full, retry=retry, renew=renew, on_progress=shown.update, on_message=shown.say)
