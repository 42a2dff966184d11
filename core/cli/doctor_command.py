"""The command that checks the installation: doctor."""

import os
import sys
from pathlib import Path

import click

from keyhole.core.cli.errors_for_shell import SHELL_STEPS
from keyhole.core.cli.options import json_option, path_argument
from keyhole.core.cli.output import EXIT_NOTHING, print_json, print_text, say


@click.command()
@path_argument
@json_option
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a file for a bug report: the findings, versions and variables, with secrets masked.",
)
def doctor(path: Path, *, as_json: bool, bundle: Path | None) -> None:
    """Check this installation and the workspace PATH, and say what to do about each problem.

    The exit code is 1 if there is a problem. Notes are no problems.
    """
    from keyhole.core.cli.terminal_checks import TERMINAL_CHECKS
    from keyhole.core.doctor.diagnosis import CHECKS, count_problems, examined_at, run_checks
    from keyhole.core.doctor.doctor_report import bundle_text, doctor_facts, part_text, summary_text

    if bundle and bundle.exists():
        raise click.BadParameter(f"{bundle} exists already; give the path of a new file", param_hint="--bundle")
    examined = examined_at(path, SHELL_STEPS)
    parts = []
    for part in run_checks(examined, (*CHECKS, *TERMINAL_CHECKS)):
        parts.append(part)
        if not as_json:
            print_text(part_text(part))
            sys.stdout.flush()
    print_json(doctor_facts(parts)) if as_json else print_text(summary_text(parts))
    if bundle:
        _write_new(bundle, bundle_text(parts, os.environ, examined.home))
        say(f"wrote {bundle}; read it before you share it, because names of folders are in it")
    if count_problems(parts):
        raise click.exceptions.Exit(EXIT_NOTHING)


def _write_new(path: Path, text: str) -> None:
    """Write a file that only its owner can read, and never over another one."""
    from keyhole.core.index.private_files import PRIVATE_FILE

    try:
        with os.fdopen(
            os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE), "w", encoding="utf-8"
        ) as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {path} ({error.strerror}); give another path") from error


COMMANDS = (doctor,)
