"""The commands team group add, remove and list: which repositories belong together, and who may see them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.options import json_option
from keyhole.core.cli.output import exit_with_nothing, print_json, print_text
from keyhole.core.cli.store_address import store_url

if TYPE_CHECKING:
    from keyhole.core.team.team_repositories import TeamGroup


@click.group()
def group() -> None:
    """Put repositories into groups; a token gives access to groups."""


@group.command()
@click.argument("name")
@click.argument("repositories", nargs=-1, metavar="[REPOSITORY]...")
@json_option
def add(name: str, repositories: Sequence[str], *, as_json: bool) -> None:
    """Create the group NAME if it is new, and put repositories into it."""
    url = store_url()
    from keyhole.core.team.team_repositories import add_to_group

    add_to_group(url, name, repositories)
    _report(name, repositories, "Added {} to {}.", "The group {} is there.", as_json=as_json)


@group.command()
@click.argument("name")
@click.argument("repositories", nargs=-1, metavar="[REPOSITORY]...")
@json_option
def remove(name: str, repositories: Sequence[str], *, as_json: bool) -> None:
    """Take repositories out of the group NAME, or delete the group if none are named; the repositories stay."""
    url = store_url()
    from keyhole.core.team.team_repositories import remove_from_group

    remove_from_group(url, name, repositories)
    _report(name, repositories, "Removed {} from {}.", "Deleted the group {}.", as_json=as_json)


@group.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the groups with their repositories, and the tokens that give access to them."""
    url = store_url()
    from keyhole.core.team.team_repositories import list_groups

    found = list_groups(url)
    if as_json:
        print_json([asdict(each) for each in found])
    else:
        print_text("".join(map(_line, found)) or "No groups. Create one with keyhole team group add.\n")
    if not found:
        exit_with_nothing()


def _line(found: "TeamGroup") -> str:
    repositories, tokens = ", ".join(found.repositories), ", ".join(found.tokens)
    return f"{found.name}  {repositories or 'no repositories'} │ tokens: {tokens or 'none'}\n"


def _report(name: str, repositories: Sequence[str], changed: str, whole: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"group": name, "repositories": list(repositories)})
    else:
        text = changed.format(", ".join(repositories), name) if repositories else whole.format(name)
        print_text(f"{text}\n")
