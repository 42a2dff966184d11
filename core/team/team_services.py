"""The open services of a team's server: one for each set of repositories that someone may see, a few of them at a time.

Callers who may see the same repositories share a service with its caches, and all share the connections.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from keyhole.core.config import Settings
from keyhole.core.errors import QueryError
from keyhole.core.postgres.shared_connections import SharedConnections
from keyhole.core.suggest import suggest_name
from keyhole.core.team.team_database import NamedRepository
from keyhole.core.team.team_service import TeamService
from keyhole.core.workspace.model_loader import ModelLoader

# Each has its own caches.
MOST_OPEN = 16


class TeamServices:
    """Opens a service when it is first needed, and closes the one that was not used for longest."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._models = ModelLoader(settings.index.model)
        self._connections = SharedConnections(settings.store.url.get_secret_value())
        self._lock = Lock()
        self._open: OrderedDict[tuple[NamedRepository, ...], TeamService] = OrderedDict()

    def of(self, repositories: Sequence[NamedRepository]) -> TeamService:
        """Return the service of a set of repositories; calls that run on a closed one still end well."""
        key = tuple(sorted(repositories))
        with self._lock:
            if key not in self._open:
                self._open[key] = TeamService(key, self._settings, models=self._models, connections=self._connections)
            self._open.move_to_end(key)
            unused = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - MOST_OPEN)]
            service = self._open[key]
        for one in unused:
            one.close()
        return service

    def close(self) -> None:
        """Close all services."""
        with self._lock:
            for service in self._open.values():
                service.close()
            self._open.clear()
        self._connections.close()


def chosen(repositories: Sequence[NamedRepository], wanted: str) -> list[NamedRepository]:
    """Return those of the repositories that a filter names, separated by commas; an empty one names all."""
    by_name = {repository.name: repository for repository in repositories}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if name not in by_name:
            raise QueryError(f"repo: there is no repository {name!r}", suggestion=suggest_name(name, sorted(by_name)))
    return [by_name[name] for name in dict.fromkeys(names)] if names else list(repositories)
