"""The command line: parse the options, call the service, print the view.

Imports that cost time stand inside the commands, so that `--help` is instant.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keyhole.core.errors import KeyholeError
from keyhole.core.install.cli import install, uninstall
from keyhole.core.relation_commands import relation_commands
from keyhole.core.types import Detail, Format, MapLevel, MapRequest, Mode, ReadRequest, SearchRequest

if TYPE_CHECKING:
    from keyhole.core.clients import Profile
    from keyhole.core.links.requests import RelationRequest
    from keyhole.core.service import Service
    from keyhole.core.types import IndexReport

EXIT_NOTHING = 1
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

    Without a command, keyhole [PATH] opens the explorer on the workspace PATH; with --serve [--port N] it serves it to
    agents over HTTP meanwhile.
    """


@cli.command(hidden=True)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@_force
def overview(path: Path, *, force: bool) -> None:
    """Index a workspace, show its status and, as a sample, the map of one file."""
    from keyhole.core.service import Service
    from keyhole.core.view.status_text import status_text

    service = Service.open(path, force=force)
    _index(service, full=False)
    _print(status_text(service.status()))
    if sample := service.sample():
        _print(f"\nA sample view: keyhole map {sample}\n\n{service.map_view(MapRequest(sample)).text}")


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
    from keyhole.core.view.status_text import report_text

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
    from keyhole.core.view.status_text import status_facts, status_text

    found = Service.open(path, force=force).status()
    _print_json(status_facts(found)) if as_json else _print(status_text(found, list_skips=skipped))


@cli.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@_json
@_force
def stats(path: Path, *, as_json: bool, force: bool) -> None:
    """Show what agents asked of the workspace PATH, and what it cost them."""
    from keyhole.core.journal.statistics import statistics
    from keyhole.core.service import Service
    from keyhole.core.view.stats_text import stats_facts, stats_text

    service = Service.open(path, force=force)
    found = statistics(service.journal_reader().each())
    _print_json(stats_facts(found, service.root.name)) if as_json else _print(stats_text(found, service.root.name))
    if not found.total.calls:
        raise click.exceptions.Exit(EXIT_NOTHING)


@cli.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@_force
def clear(path: Path, *, force: bool) -> None:
    """Delete the index and the journal of the workspace PATH; the files themselves stay."""
    from keyhole.core.service import Service

    service = Service.open(path, force=force)
    _print(f"deleted {service.folder}\n" if service.clear() else "there was no index\n")


_filter_options = (
    click.option("--mode", type=click.Choice([*map(str, Mode)]), help="How to search; default: search.mode, auto."),
    click.option("--path", default="", help="Only files below this folder, or that match this glob."),
    click.option("--language", default="", help="Only files in this language, such as python or py."),
    click.option("--kind", default="", help="Only chunks that define this kind, such as class."),
    click.option("--include-tests/--no-tests", default=True, show_default=True, help="Whether tests count."),
)
_page_options = (
    click.option("--limit", type=int, help="Results on a page; default: search.top_k, 10."),
    click.option("--offset", type=int, default=0, show_default=True, help="Results to pass over."),
)
_answer_options = (
    click.option("--budget", "--max-tokens", "max_tokens", type=int, help="Tokens to spend; default: 20,000."),
    click.option(
        "--format", type=click.Choice([*map(str, Format)]), default="text", show_default=True, help="Text or JSON."
    ),
    click.option("--json", "as_json", is_flag=True, help="Short for --format json."),
    click.option(
        "--as", "client", default="", help="Show what the model of this client sees: claude, codex, cursor, vscode..."
    ),
)
_detail_option = click.option(
    "--detail",
    "--detail-level",
    "detail_level",
    type=click.Choice([*map(str, Detail)]),
    default="compact",
    show_default=True,
    help="How much to tell of each result.",
)
_view_options = (
    _detail_option,
    click.option("--cursor", default="", help="Go on where an answer in JSON ended."),
    *_answer_options,
)


def _with(*options: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command several options, in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _search_request(query: str, options: dict[str, Any], *, as_json: bool = False) -> SearchRequest:
    chosen = options | {"mode": Mode(options["mode"]) if options["mode"] else None}
    if "detail_level" in chosen:
        chosen["detail_level"] = Detail(chosen["detail_level"])
        chosen["format"] = _format(chosen["format"], as_json=as_json)
    return SearchRequest(query, **chosen)


def _format(name: str, *, as_json: bool) -> Format:
    return Format.JSON if as_json else Format(name)


def _profile(options: dict[str, Any]) -> "Profile | None":
    """Take `--as` out of the options; its client sets the budget when nothing else does."""
    from keyhole.core.clients import profile_named

    name = options.pop("client")
    profile = profile_named(name) if name else None
    if profile and profile.max_tokens and options["max_tokens"] is None:
        options["max_tokens"] = profile.max_tokens.value
    return profile


def _print_answer(text: str, profile: "Profile | None") -> None:
    """Print a view, or what a client makes of it, with a word about what it lost."""
    from keyhole.core.clients import deliver

    if profile is None:
        _print(text)
        return
    delivery = deliver(text, profile)
    _print(delivery.text if delivery.text.endswith("\n") else f"{delivery.text}\n")
    if delivery.note:
        click.echo(f"keyhole: {delivery.note}", err=True)


@cli.command()
@click.argument("query")
@_with(*_filter_options, *_page_options, *_view_options)
@_root
def search(query: str, root: Path, *, as_json: bool, **options: Any) -> None:
    """Search the workspace for QUERY: a name, a few words, or /a regular expression/."""
    from keyhole.core.service import Service

    service = Service.open(root)
    profile = _profile(options)
    _index(service, full=False)
    view = service.search_view(_search_request(query, options, as_json=as_json))
    _print_answer(view.text, profile)
    if not view.plan.levels:
        raise click.exceptions.Exit(EXIT_NOTHING)


@cli.command()
@click.argument("query")
@click.argument("place", metavar="PATH[:LINE]")
@_with(*_filter_options, *_page_options)
@_root
@_json
def explain(query: str, place: str, root: Path, *, as_json: bool, **options: Any) -> None:
    """Say why PATH is where it is among the hits for QUERY, or why it is not there."""
    from dataclasses import asdict

    from keyhole.core.service import Service
    from keyhole.core.view.lists.search_view import explanation_text

    path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
    service = Service.open(root)
    _index(service, full=False)
    found = service.explain(_search_request(query, options), path, int(line) if line else None)
    _print_json(asdict(found)) if as_json else _print(explanation_text(found))
    if not found.rank:
        raise click.exceptions.Exit(EXIT_NOTHING)


@cli.command("map")
@click.argument("path")
@click.option(
    "--level",
    type=click.Choice([*map(str, MapLevel)]),
    default="auto",
    show_default=True,
    help="How much to tell of each symbol; auto is the first level at which all fit.",
)
@click.option("--symbol", default="", help="Expand one symbol: its name, dotted name or first line.")
@click.option(
    "--symbols-each", type=int, default=50, show_default=True, help="Symbols at each end of a list that is too long."
)
@click.option("--offset", type=int, default=0, show_default=True, help="Symbols to pass over.")
@_with(*_answer_options)
@_root
def map_file(path: str, root: Path, *, level: str, as_json: bool, **options: Any) -> None:
    """Show what the file PATH imports and defines, with line ranges."""
    from keyhole.core.service import Service

    profile = _profile(options)
    options["format"] = _format(options["format"], as_json=as_json)
    _print_answer(Service.open(root).map_view(MapRequest(path, MapLevel(level), **options)).text, profile)


@cli.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--start-line", type=int, default=1, show_default=True, help="The first line to show.")
@click.option(
    "--start-column", type=int, default=1, show_default=True, help="Where in that line to start, if it is very long."
)
@click.option("--max-lines", type=int, help="Lines of each file; default: 500, at most 2,000.")
@_with(*_answer_options)
@_root
def read(paths: tuple[str, ...], root: Path, *, as_json: bool, **options: Any) -> None:
    """Show lines of the files PATHS as they are now; several share the budget."""
    from keyhole.core.service import Service

    profile = _profile(options)
    options["format"] = _format(options["format"], as_json=as_json)
    _print_answer(Service.open(root).read_view(ReadRequest(paths, **options)).text, profile)


cli.add_command(install)
cli.add_command(uninstall)


def _print_relation(root: Path, options: dict[str, Any], request_of: "Callable[[Any], RelationRequest]") -> None:
    """Answer a question about links, the tree or related code."""
    from keyhole.core.service import Service

    options["format"] = _format(options["format"], as_json=options.pop("as_json"))
    profile = _profile(options)
    service = Service.open(root)
    _index(service, full=False)
    view = service.relation_view(request_of(options))
    _print_answer(view.text, profile)
    if not view.plan.levels:
        raise click.exceptions.Exit(EXIT_NOTHING)


for _command in relation_commands(_with(_detail_option), _with(*_answer_options, _root), _print_relation):
    cli.add_command(_command)


def _index(service: "Service", *, full: bool) -> "IndexReport":
    """Index with a progress bar on stderr, when that is a terminal."""
    if not sys.stderr.isatty():
        return service.index(full=full, on_message=lambda message: click.echo(f"keyhole: {message}", err=True))
    from keyhole.core.progress import show_progress

    with show_progress() as shown:
        return service.index(full=full, on_progress=shown.update, on_message=shown.say)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; errors are one line on stderr."""
    if not arguments or (arguments[0] not in cli.commands and os.path.isdir(arguments[0])):  # noqa: PTH112  # never raises
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
    from keyhole.core.view.text import visible

    click.echo(f"keyhole: {visible(message)}", err=True)
    return code


def _print(text: str) -> None:
    from keyhole.core.view.text import visible

    click.echo(visible(text), nl=False)


def _print_json(facts: dict[str, object]) -> None:
    from keyhole.core.view.text import json_text

    click.echo(json_text(facts))
