"""Commands for the administrator of a team's database: admin init, admin migrate, admin status, admin token."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.audit_command import audit
from keyhole.core.cli.options import json_option
from keyhole.core.cli.output import print_json, print_text
from keyhole.core.cli.store_address import store_url
from keyhole.core.cli.token_commands import token

if TYPE_CHECKING:
    from keyhole.core.postgres.server_admin import DatabaseState, Migrated


@click.group()
def admin() -> None:
    """Set up the PostgreSQL server of a team, which store.url or KEYHOLE_STORE_URL names."""


@admin.command()
@click.option(
    "--partitions",
    type=click.IntRange(1, 256),
    default=16,
    show_default=True,
    help="Parts to split each table into by repository; they can't be changed later.",
)
@json_option
def init(*, partitions: int, as_json: bool) -> None:
    """Create the tables of keyhole in the database, or bring them up to date."""
    url = store_url()
    from keyhole.core.postgres.server_admin import create_tables

    _report(create_tables(url, partitions), as_json=as_json)


@admin.command()
@json_option
def migrate(*, as_json: bool) -> None:
    """Bring the tables of an older version of keyhole up to date."""
    url = store_url()
    from keyhole.core.postgres.server_admin import migrate_tables

    _report(migrate_tables(url), as_json=as_json)


@admin.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show the server, the version of the tables and every repository."""
    url = store_url()
    from keyhole.core.postgres.server_admin import database_state

    state = database_state(url)
    print_json(asdict(state)) if as_json else print_text(_state_text(state))


def _report(done: "Migrated", *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(done))
    elif done.before == done.after:
        print_text(f"The tables in {done.database} are up to date (version {done.after}).\n")
    else:
        what = f"Updated the tables from version {done.before}" if done.before else "Created the tables"
        print_text(f"{what} in {done.database} (version {done.after}).\n")


def _state_text(state: "DatabaseState") -> str:
    from keyhole.core.view.text import count_of, human_size

    tables = f"version {state.version}" if state.version else "none yet; run keyhole admin init"
    if state.version and state.version < state.newest:
        tables += f"; run keyhole admin migrate for version {state.newest}"
    lines = [
        f"Database   {state.database}",
        f"Server     PostgreSQL {state.server} │ pgvector {state.vector or 'not installed'}",
        f"Tables     {tables}",
    ]
    if state.version:
        lines.append(f"Size       {human_size(state.bytes)} │ repositories: {len(state.repositories):,}")
    for found in state.repositories:
        pending = f" │ {count_of(found.pending, 'file')} to index" if found.pending else ""
        lines.append(f"  {found.name}  {count_of(found.files, 'file')}, {found.chunks:,} chunks{pending}")
    return "\n".join(lines) + "\n"


admin.add_command(audit)
admin.add_command(token)
COMMANDS = (admin,)
