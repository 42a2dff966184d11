"""Commands for a team's repositories: team add, remove, list, group, sync and work."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import json_option
from keyhole.core.cli.output import EXIT_ERROR, exit_with_nothing, print_json, print_text, say
from keyhole.core.cli.store_address import store_url, team_settings
from keyhole.core.cli.team_group_commands import group
from keyhole.core.cli.team_worker import short

if TYPE_CHECKING:
    from keyhole.core.team.mirror_sync import SyncResult
    from keyhole.core.team.team_repositories import TeamRepository


@click.group()
def team() -> None:
    """Index a team's repositories in the database that store.url or KEYHOLE_STORE_URL names."""


@team.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER|MIRROR")
@click.option("--name", default="", help="Name of the repository; default: the name of the folder.")
@click.option("--group", "groups", multiple=True, help="Group to put it into, created if it is new; repeatable.")
@click.option("--branch", default="", help="Branch to follow; default: the default branch.")
@json_option
def add(folder: Path, *, name: str, groups: Sequence[str], branch: str, as_json: bool) -> None:
    """Add a local git repository, bare or not, or a plain folder, and ask for it to be indexed.

    A git repository is indexed as it is committed; a clone, as it is in its origin. Workers must be able to read it at
    the same path.
    """
    settings = team_settings()
    from keyhole.core.team.repository_source import source_at
    from keyhole.core.team.team_repositories import add_repository

    source = source_at(settings, folder.resolve(), branch)
    added = add_repository(settings.store.url.get_secret_value(), source, name, groups)
    if as_json:
        print_json(asdict(added))
        return
    where = f" in {', '.join(added.groups)}" if added.groups else ""
    print_text(f"Added {added.name}{where} at {short(added.revision)}. Run keyhole team work to index it.\n")
    if not added.groups:
        say(f"no token gives access to it yet; run `keyhole team group add GROUP {added.name}`")


@team.command()
@click.argument("name")
@json_option
def remove(name: str, *, as_json: bool) -> None:
    """Remove a repository and everything that is indexed of it. Its files are not touched."""
    url = store_url()
    from keyhole.core.team.team_repositories import remove_repository

    remove_repository(url, name)
    print_json({"name": name}) if as_json else print_text(f"Removed {name}.\n")


@team.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the repositories, the indexed revision of each, and why the last try failed."""
    url = store_url()
    from keyhole.core.team.team_repositories import list_repositories

    found = list_repositories(url)
    if as_json:
        print_json([_facts(each) for each in found])
    else:
        print_text("".join(map(_lines, found)) or "No repositories. Add one with keyhole team add.\n")
    if not found:
        exit_with_nothing()


@team.command()
@click.option("--fetch", is_flag=True, help="Run git fetch in each repository first, without hooks or questions.")
@click.option("--watch", type=click.IntRange(1), metavar="SECONDS", help="Repeat, with so many seconds in between.")
@json_option
def sync(*, fetch: bool, watch: int | None, as_json: bool) -> None:
    """Find out which repositories have a newer revision, and ask for them to be indexed."""
    settings = team_settings()
    from keyhole.core.team.mirror_sync import sync_repositories

    url = settings.store.url.get_secret_value()
    while True:
        found = []
        for result in sync_repositories(url, settings, fetch=fetch):
            found.append(result)
            if not as_json and (result.kind != "current" or watch is None):
                print_text(_sync_line(result))
        if as_json:
            print_json([asdict(each) for each in found])
        if watch is None:
            break
        time.sleep(watch)
    if not found:
        exit_with_nothing()
    if any(each.kind == "failed" for each in found):
        raise click.exceptions.Exit(EXIT_ERROR)


@team.command()
@click.option("--once", is_flag=True, help="Stop when there is nothing left to index.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Repositories at a time.")
@click.option(
    "--lease",
    type=click.FloatRange(1, 3_600),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Time without a sign of life after which another worker takes over.",
)
@json_option
def work(*, once: bool, workers: int, lease: float, as_json: bool) -> None:
    """Index what is asked for, until stopped; any number of machines may run this.

    Ctrl+C gives back the repository at work, and nothing of its new revision is visible.
    """
    team_settings()
    from functools import partial

    from keyhole.core.cli.team_worker import run_worker
    from keyhole.core.team.stop_signal import stop_on_signals
    from keyhole.core.team.worker_processes import run_workers

    stop_on_signals()
    one = partial(run_worker, once=once, lease_seconds=lease, as_json=as_json, is_alone=workers == 1)
    code = one() if workers == 1 else run_workers(workers, one)
    if code:
        raise click.exceptions.Exit(code)


def _facts(found: "TeamRepository") -> dict[str, object]:
    times = {name: getattr(found, name) for name in ("indexed", "next_try")}
    return asdict(found) | {name: time and time.isoformat(timespec="seconds") for name, time in times.items()}


def _lines(found: "TeamRepository") -> str:
    indexed = "not indexed yet"
    if found.indexed:
        indexed = f"{short(found.revision)} of {found.indexed:%Y-%m-%d %H:%M}, {found.chunks:,} chunks"
    groups = f" │ groups: {', '.join(found.groups)}" if found.groups else " │ in no group"
    line = f"{found.name}  {indexed}{groups}\n"
    if found.state == "working":
        line += f"  working: {found.worker}\n"
    elif found.state == "waiting":
        line += "  waiting for a worker\n"
    if found.problem:
        again = f"; next try at {found.next_try:%H:%M:%S}" if found.next_try else ""
        count = f" ({found.failures} times{again})" if found.failures else ""
        line += f"  last problem{count}: {found.problem}\n"
    return line


def _sync_line(result: "SyncResult") -> str:
    revision = f" at {short(result.revision)}" if result.revision else ""
    return f"{result.repository}: {result.text}{revision}\n"


team.add_command(group)
COMMANDS = (team,)
