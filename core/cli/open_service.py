"""Opening what a command works on: the folder of a workspace, or repositories of a team (`team:`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyhole.core.service import Service

_TEAM = "team:"


def open_service(root: Path, *, force: bool = False, flags: Mapping[str, object] | None = None) -> "Service":
    """Open a folder; `team:` stands for all repositories of the team, `team:NAME` for a group or a repository."""
    given = str(root)
    if given.startswith(_TEAM):
        return _open_team(given.removeprefix(_TEAM), flags)
    from keyhole.core.service import Service

    return Service.open(root, force=force, flags=flags)


def _open_team(name: str, flags: Mapping[str, object] | None) -> "Service":
    from keyhole.core.cli.store_address import team_settings

    settings = team_settings(flags)
    from keyhole.core.team.access_book import named_repositories
    from keyhole.core.team.team_service import TeamService

    return TeamService(named_repositories(settings.store.url.get_secret_value(), name), settings)
