"""The command that checks what agents can see: check."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import json_option, path_argument
from keyhole.core.cli.output import print_json, print_text, refresh_index, say

if TYPE_CHECKING:
    from keyhole.core.checks.check_result import CheckResult
    from keyhole.core.checks.checks_file import ChecksFile
    from keyhole.core.checks.run_checks import OnProgress
    from keyhole.core.service import Service

_NOT_ALLOWED_THERE = "its command is not run in another revision; --allow-commands runs it there too"


@click.command()
@path_argument
@click.option("--only", default="", metavar="TEXT", help="Run only checks whose kind or name contains TEXT.")
@click.option("--allow-commands", is_flag=True, help="Start the servers that the checks files name.")
@click.option("--trust", is_flag=True, help="Remember these checks files as trusted: their servers may be started.")
@click.option("--update", is_flag=True, help="Write the snapshots of answers.")
@click.option("--compare", default="", metavar="REF", help="Also run the checks on a git revision, and compare.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Also write JUnit XML to this file.")
@click.option("--init", is_flag=True, help="Write a first checks file, with proposals that pass now.")
@json_option
def check(path: Path, *, init: bool, trust: bool, **options: object) -> None:
    """Check what agents can see of the workspace PATH, as its checks files say.

    Exits with 1 if a check fails, and with 2 for an error or if a check was skipped.
    """
    from keyhole.core.service import Service

    service = Service.open(path)
    if init:
        refresh_index(service)
        say(_propose(service))
        return
    _run(service, trusts=trust, **options)  # type: ignore[arg-type]  # click gives them their types


def _propose(service: "Service") -> str:
    from keyhole.core.checks.propose_checks import write_proposal

    return write_proposal(service)


def _run(  # one for each option
    service: "Service",
    *,
    trusts: bool,
    allow_commands: bool,
    only: str,
    update: bool,
    compare: str,
    junit: Path | None,
    as_json: bool,
) -> None:
    from keyhole.core.checks.check_report import exit_code, junit_text, report_facts, report_text
    from keyhole.core.checks.checks_file import read_checks
    from keyhole.core.checks.trusted_files import trust, why_not_run

    with _errors_in(junit):
        files = read_checks(service.root)
    if trusts:
        trust(service.root, [file for file in files if file.has_commands])

    refresh_index(service)
    here = partial(why_not_run, service.root, is_allowed=allow_commands)
    now = _results(service, files, here, only=only, updates=update)
    if not now:
        raise click.UsageError(
            f"no check has a kind or name with {only!r}" if only else "the checks files have no checks"
        )
    if junit:
        _write(junit, junit_text(now))
    if compare:
        there = (lambda _: "") if allow_commands else (lambda _: _NOT_ALLOWED_THERE)
        _print_comparison(service, files, now, compare, there, only=only, as_json=as_json)
    elif as_json:
        print_json(report_facts(now))
    else:
        print_text(report_text(now, _width()))
    raise click.exceptions.Exit(exit_code(now))


def _results(
    service: "Service",
    files: Sequence["ChecksFile"],
    skip_reason: Callable[["ChecksFile"], str],
    *,
    only: str,
    updates: bool = False,
) -> list["CheckResult"]:
    from keyhole.core.checks.run_checks import CheckRun, run_checks
    from keyhole.mcp_server.checked_tools import CheckedTools

    with _shown_progress() as on_progress:
        run = CheckRun(service, CheckedTools(service), skip_reason, updates, only)
        return run_checks(run, files, on_progress)


def _print_comparison(  # two runs with the same options
    service: "Service",
    files: Sequence["ChecksFile"],
    now: Sequence["CheckResult"],
    revision: str,
    skip_reason: Callable[["ChecksFile"], str],
    *,
    only: str,
    as_json: bool,
) -> None:
    """Run the same checks on the files of a revision, in a temporary folder."""
    import tempfile

    from keyhole.core.checks.compare_revisions import compare_results, comparison_facts, comparison_text
    from keyhole.core.git.archive_revision import archive_revision
    from keyhole.core.service import Service

    with tempfile.TemporaryDirectory(prefix="keyhole-compare-") as folder:
        root = archive_revision(service.root, revision, Path(folder))
        other = Service.open(root, flags={"cache_dir": Path(folder) / "cache"})
        refresh_index(other)
        before = _results(other, files, skip_reason, only=only)
        other.close()
    compared = compare_results(before, now)
    if as_json:
        print_json(comparison_facts(compared, revision))
    else:
        print_text(comparison_text(compared, revision, _width()))


def _width() -> int | None:
    """Return the width of the terminal; None in a pipe or a file, where nothing has to be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


@contextmanager
def _errors_in(junit: Path | None) -> Iterator[None]:
    """Write an error that prevents the run into the JUnit file too: without a file, a CI server shows nothing."""
    from keyhole.core.checks.check_report import junit_of_error
    from keyhole.core.errors import KeyholeError

    try:
        yield
    except KeyholeError as error:
        if junit:
            _write(junit, junit_of_error(str(error)))
        raise


@contextmanager
def _shown_progress() -> Iterator["OnProgress"]:
    """Show which check is running, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from keyhole.core.cli.progress import show_steps

    with show_steps("checks") as update:
        yield update


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from error


COMMANDS = (check,)
