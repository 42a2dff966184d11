"""The command line: parse the options, call the service, print the view.

Imports that cost time stand inside the commands, so that `--help` is instant.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.errors import KeyholeError

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.types import IndexReport

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

_root = click.option(
    "--root", type=click.Path(path_type=Path), default=".", show_default="this folder", help="Workspace folder."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_force = click.option("--force", is_flag=True, help="Allow the home folder and the file system root.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="keyhole")
def cli() -> None:
    """See your codebase the way your agent does.

    Without a command, keyhole [PATH] shows an overview of the workspace PATH.
    """


@cli.command(hidden=True)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@_force
def overview(path: Path, *, force: bool) -> None:
    """Index a workspace, show its status and, as a sample, the map of one file."""
    from keyhole.core.service import Service
    from keyhole.core.view.file_map import map_text
    from keyhole.core.view.status import status_text

    service = Service.open(path, force=force)
    _index(service, full=False)
    _print(status_text(service.status()))
    if sample := service.sample():
        _print(f"\nA sample view: keyhole map {sample.source.path}\n\n{map_text(sample.source, sample.outline)}")


@cli.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--full", is_flag=True, help="Read every file again, changed or not.")
@click.option("--workers", type=click.IntRange(1, 64), help="Processes that parse; default: one per core, at most 8.")
@_json
@_force
def index(path: Path, *, full: bool, workers: int | None, as_json: bool, force: bool) -> None:
    """Bring the index of the workspace PATH up to date."""
    from dataclasses import asdict

    from keyhole.core.service import Service
    from keyhole.core.view.status import report_text

    report = _index(Service.open(path, force=force, flags={"index.workers": workers}), full=full)
    _print_json(asdict(report)) if as_json else _print(report_text(report))


@cli.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--skipped", is_flag=True, help="List every path that is passed over, with the reason.")
@_json
@_force
def status(path: Path, *, skipped: bool, as_json: bool, force: bool) -> None:
    """Show what the index of the workspace PATH holds and what is passed over."""
    from keyhole.core.service import Service
    from keyhole.core.view.status import status_facts, status_text

    found = Service.open(path, force=force).status()
    _print_json(status_facts(found)) if as_json else _print(status_text(found, list_skips=skipped))


@cli.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@_force
def clear(path: Path, *, force: bool) -> None:
    """Delete the index of the workspace PATH; the files themselves stay."""
    from keyhole.core.service import Service

    service = Service.open(path, force=force)
    _print(f"deleted {service.folder}\n" if service.clear() else "there was no index\n")


@cli.command("map")
@click.argument("path")
@_root
@_json
def map_file(path: str, root: Path, *, as_json: bool) -> None:
    """Show what the file PATH imports and defines, with line ranges."""
    from keyhole.core.service import Service
    from keyhole.core.view.file_map import map_facts, map_text

    analysis = Service.open(root).analyse(path)
    if as_json:
        _print_json(map_facts(analysis.source, analysis.outline))
    else:
        _print(map_text(analysis.source, analysis.outline))


def _index(service: "Service", *, full: bool) -> "IndexReport":
    """Index with a progress bar on stderr, when that is a terminal."""
    from keyhole.core.progress import show_progress

    with show_progress() as shown:
        return service.index(full=full, on_progress=shown.update, on_message=shown.say)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; errors are one line on stderr."""
    if not arguments or (arguments[0] not in cli.commands and Path(arguments[0]).is_dir()):
        arguments = ["overview", *arguments]
    try:
        return cli.main(arguments, prog_name="keyhole", standalone_mode=False) or 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _fail("interrupted; what is indexed so far stays, and the next run goes on", code=EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        return EXIT_ERROR
    except KeyholeError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing to say, and nothing more to flush.
        sys.stdout = None
        return 0


def _fail(message: str, code: int = EXIT_ERROR) -> int:
    click.echo(f"keyhole: {message}", err=True)
    return code


def _print(text: str) -> None:
    from keyhole.core.view.text import visible

    click.echo(visible(text), nl=False)


def _print_json(facts: dict[str, object]) -> None:
    click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
