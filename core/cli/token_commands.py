"""The commands admin token create, list and revoke: who may use the server of a team."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import json_option
from keyhole.core.cli.output import exit_with_nothing, print_json, print_text, say
from keyhole.core.cli.store_address import store_url

if TYPE_CHECKING:
    from datetime import datetime

    from keyhole.core.team.access_tokens import TokenState


@click.group()
def token() -> None:
    """Manage the tokens that clients of a team's server send."""


@token.command()
@click.argument("name")
@click.option("--group", "groups", multiple=True, required=True, help="Group to give access to; repeatable.")
@click.option(
    "--expires",
    "days",
    type=click.IntRange(0, 3_650),
    default=90,
    show_default=True,
    metavar="DAYS",
    help="Days until the token expires; 0: never.",
)
@click.option(
    "--calls-per-minute",
    type=click.IntRange(1, 1_000_000),
    default=600,
    show_default=True,
    help="Calls that the token allows per minute.",
)
@json_option
def create(name: str, *, groups: Sequence[str], days: int, calls_per_minute: int, as_json: bool) -> None:
    """Create a token for NAME and print it once; only a hash of it is stored."""
    url = store_url()
    from keyhole.core.team.access_tokens import create_token

    made = create_token(url, name, groups, days=days or None, calls_per_minute=calls_per_minute)
    if as_json:
        print_json(asdict(made) | {"expires": _time(made.expires)})
        return
    # Alone on stdout, so that it can be written to a file or a secret store.
    click.echo(made.secret)
    until = f"until {_day(made.expires)}" if made.expires else "and never expires"
    say(f"created token '{name}' for {', '.join(made.groups)}, valid {until}; it is not shown again")


@token.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List all tokens with their groups and when they expire, without the tokens themselves."""
    url = store_url()
    from keyhole.core.team.access_tokens import list_tokens

    found = list_tokens(url)
    if as_json:
        print_json([_facts(each) for each in found])
    else:
        print_text("".join(map(_line, found)) or "No tokens. Create one with keyhole admin token create.\n")
    if not found:
        exit_with_nothing()


@token.command()
@click.argument("name")
@json_option
def revoke(name: str, *, as_json: bool) -> None:
    """Revoke the token of NAME; calls with it are rejected from now on."""
    url = store_url()
    from keyhole.core.team.access_tokens import revoke_token

    is_new = revoke_token(url, name)
    if as_json:
        print_json({"name": name, "was_revoked_before": not is_new})
    else:
        print_text(f"Revoked token '{name}'.\n" if is_new else f"Token '{name}' was already revoked.\n")


def _facts(found: "TokenState") -> dict[str, object]:
    return asdict(found) | {name: _time(getattr(found, name)) for name in ("created", "expires", "revoked")}


def _line(found: "TokenState") -> str:
    day = found.revoked if found.state == "revoked" else found.expires
    when = {"valid": "until", "expired": "expired", "revoked": "revoked"}[found.state]
    until = f"{when} {_day(day)}" if day else "never expires"
    return f"{found.name}  {until} │ groups: {', '.join(found.groups)} │ {found.calls_per_minute:,} calls per minute\n"


def _day(time: "datetime") -> str:
    return time.date().isoformat()


def _time(time: "datetime | None") -> str | None:
    return time.isoformat(timespec="seconds") if time else None
