"""Commands about the index and the journal of a workspace: index, status, stats, clear; and the overview."""

from pathlib import Path

import click

from keyhole.core.cli.options import force_option, json_option, path_argument
from keyhole.core.cli.output import exit_with_nothing, print_json, print_text, update_index


@click.command(hidden=True)
@path_argument
@force_option
def overview(path: Path, *, force: bool) -> None:
    """Index a workspace and show its status, and the map of one file as an example."""
    from keyhole.core.service import Service
    from keyhole.core.types.view_requests import MapRequest
    from keyhole.core.view.status_text import status_text

    service = Service.open(path, force=force)
    update_index(service)
    print_text(status_text(service.status()))
    if sample := service.sample():
        print_text(f"\nExample: keyhole map {sample}\n\n{service.map_view(MapRequest(sample)).text}")


@click.command()
@path_argument
@click.option("--full", is_flag=True, help="Index every file again, changed or not.")
@click.option("--workers", type=click.IntRange(1, 64), help="Worker processes; default: one per core, at most 8.")
@json_option
@force_option
def index(path: Path, *, full: bool, workers: int | None, as_json: bool, force: bool) -> None:
    """Update the index of the workspace PATH."""
    from dataclasses import asdict

    from keyhole.core.service import Service
    from keyhole.core.view.status_text import report_text

    service = Service.open(path, force=force, flags={"index.workers": workers})
    report = update_index(service, full=full, retry=True)
    print_json(asdict(report)) if as_json else print_text(report_text(report))


@click.command()
@path_argument
@click.option("--skipped", is_flag=True, help="List every skipped path with its reason.")
@click.option("--store", is_flag=True, help="Show the size of the content store that all workspaces share.")
@json_option
@force_option
def status(path: Path, *, skipped: bool, store: bool, as_json: bool, force: bool) -> None:
    """Show what is indexed and skipped in the workspace PATH, and the shared servers."""
    from dataclasses import asdict

    from keyhole.core.cli.open_service import open_service
    from keyhole.core.sharing.shared_status import running_servers
    from keyhole.core.view.status_text import sharing_facts, sharing_text, status_facts, status_text, store_text

    service = open_service(path, force=force)
    if store:
        size = service.content_size()
        print_json(asdict(size)) if as_json else print_text(store_text(size))
        return
    status, servers = service.status(), running_servers(service.settings.cache_dir)
    if as_json:
        print_json(status_facts(status) | {"shared_servers": [sharing_facts(server) for server in servers]})
        return
    print_text(status_text(status, list_skips=skipped))
    print_text(f"\n{sharing_text(servers)}")
    if status.stale or status.pending or status.outdated:
        print_text("\nRun `keyhole index` to update the index.\n")


@click.command()
@path_argument
@json_option
@force_option
def stats(path: Path, *, as_json: bool, force: bool) -> None:
    """Show the calls, tokens and latency of agents in PATH."""
    from keyhole.core.cli.open_service import open_service
    from keyhole.core.delivery import cut_by_client
    from keyhole.core.journal.statistics import statistics
    from keyhole.core.view.stats_text import stats_facts, stats_text
    from keyhole.core.wrap.server_statistics import ServerCounter, server_facts, servers_text

    service = open_service(path, force=force)
    reader, project = service.journal_reader(), service.root.name
    found = statistics(reader.each(), lambda call: cut_by_client(call, reader, service.settings))
    wrapped = ServerCounter().count(reader)
    if as_json:
        print_json(stats_facts(found, project) | {"wrapped": [server_facts(each) for each in wrapped]})
    else:
        print_text("\n".join(filter(None, [stats_text(found, project), servers_text(wrapped)])))
    if not found.total.calls:
        exit_with_nothing()


@click.command()
@path_argument
@click.option("--all", "everything", is_flag=True, help="Delete those of all workspaces, and the content store.")
@force_option
def clear(path: Path, *, everything: bool, force: bool) -> None:
    """Delete the index and the journal of the workspace PATH. Your files are not touched."""
    from keyhole.core.service import Service
    from keyhole.core.view.status_text import cleared_text

    service = Service.open(path, force=force)
    if everything:
        freed, cleared = service.content_size().bytes, service.clear_all()
        print_text(cleared_text(len(cleared.folders), freed if cleared.has_store else 0))
        for folder in cleared.busy:
            print_text(f"Kept {folder}: another process is indexing it. Run the command again later.\n")
        return
    print_text(f"Deleted {service.folder}\n" if service.clear() else "Nothing to delete: no index and no journal.\n")


COMMANDS = (overview, index, status, stats, clear)
