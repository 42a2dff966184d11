"""Repositories of a team in a real database, indexed by a real worker."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from keyhole.core.config import Settings, load_settings
from keyhole.core.team.access_book import served_repositories
from keyhole.core.team.repository_source import source_at
from keyhole.core.team.repository_worker import RepositoryWorker, WorkEvent
from keyhole.core.team.team_repositories import add_repository
from keyhole.core.team.team_service import TeamService


def team_settings_for(url: str, folder: Path, model: str = "none") -> Settings:
    flags = {"store.url": url, "cache_dir": folder / "cache", "index.model": model, "index.workers": 1}
    return load_settings(folder, flags)


def index_team(settings: Settings, folders: Mapping[str, Path], groups: Mapping[str, Sequence[str]]) -> None:
    """Add repositories by name in this order, each to the groups that list it, and index them."""
    url = settings.store.url.get_secret_value()
    for name, folder in folders.items():
        of_repository = [group for group, members in groups.items() if name in members]
        add_repository(url, source_at(settings, folder, ""), name, of_repository)
    events: list[WorkEvent] = []
    RepositoryWorker(url, settings, events.append).work(once=True)
    assert {event.kind for event in events} <= {"indexed"}, events


def committed(folder: Path, target: Path) -> Path:
    """Return a git repository with a commit of everything in a folder, ignored or not."""
    shutil.copytree(folder, target)
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for command in (["init", "-q"], ["add", "-f", "-A"], [*who, "commit", "-q", "-m", "everything"]):
        subprocess.run(["git", *command], cwd=target, check=True)
    return target


def team_service(settings: Settings, group: str, name: str = "team") -> TeamService:
    return TeamService(served_repositories(settings.store.url.get_secret_value(), group), settings, name)
