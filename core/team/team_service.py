"""Everything Keyhole can do with repositories of a team: the same views as for a folder, from the database alone."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from keyhole.core.config import Settings
from keyhole.core.errors import QueryError
from keyhole.core.postgres.shared_connections import SharedConnections
from keyhole.core.service import Service
from keyhole.core.team.stored_files import StoredPaths
from keyhole.core.team.team_database import NamedRepository
from keyhole.core.team.team_workspace import TeamWorkspace, WholeRevisions, repository_set
from keyhole.core.types.bundle import Bundle, BundleRequest
from keyhole.core.types.costs import TokenCost
from keyhole.core.types.index import IndexReport, LanguageCount, Status
from keyhole.core.types.view_requests import ReadRequest
from keyhole.core.workspace.model_loader import ModelLoader
from keyhole.core.workspace.opening import OpenWorkspace

if TYPE_CHECKING:
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.writing import View
    from keyhole.core.workspace.clearing import Cleared

# The name of the workspace in answers, and of the root that paths may start with.
DEFAULT_NAME = "team"


class TeamService(Service):
    """Some repositories of a team, as one workspace that is only read; safe to use from any thread."""

    is_only_read = True
    _paths: StoredPaths

    def __init__(
        self,
        repositories: Sequence[NamedRepository],
        settings: Settings,
        name: str = DEFAULT_NAME,
        models: ModelLoader | None = None,
        connections: SharedConnections | None = None,
    ) -> None:
        self.repositories = tuple(repositories)
        self._shared_models = models
        self._has_own_connections = connections is None
        self._connections = connections or SharedConnections(settings.store.url.get_secret_value())
        super().__init__(Path(f"/{name}"), settings)

    def _model_loader(self) -> ModelLoader:
        return self._shared_models or super()._model_loader()

    def _open_workspace(self, root: Path, settings: Settings) -> OpenWorkspace:
        return TeamWorkspace(root, settings, repository_set(self.repositories), self._connections)

    def close(self) -> None:
        """Close the index, and the connections unless others use them too."""
        super().close()
        if self._has_own_connections:
            self._connections.close()

    def _fresh_results(self) -> WholeRevisions:
        return WholeRevisions(self._workspace, self.engines, self._models)

    def _path_guard(self) -> StoredPaths:
        return StoredPaths(self.root, self.engines)

    def read_view(self, request: ReadRequest) -> "View":
        """Return lines of files of one revision."""
        with self._paths.one_revision():
            return super().read_view(request)

    def bundle_view(self, request: BundleRequest) -> "ListView":
        """Return the lines of a context bundle, of one revision."""
        with self._paths.one_revision():
            return super().bundle_view(request)

    def marked_bundle(self) -> Bundle:
        """Return an empty bundle: nobody marks anything in a team's repositories."""
        return Bundle()

    def status(self) -> Status:
        """Return what the index contains; nothing in it is ever older than its files."""
        with self.engines.lend() as engine, engine.store.snapshot():
            store = engine.store
            facts, totals, skips = store.facts(), store.language_totals(), [*store.skips(), *store.unparsed()]
        languages = tuple(LanguageCount(one.language, one.files, one.chunks, one.symbols) for one in totals)
        return Status(
            root=str(self.root),
            index_path=self._workspace.home.address,
            index_bytes=0,
            generation=facts.generation,
            updated=facts.updated,
            model=facts.model,
            pending=0,
            stale=0,
            files=sum(one.files for one in totals),
            size=sum(one.size for one in totals),
            chunks=sum(one.chunks for one in totals),
            symbols=sum(one.symbols for one in totals),
            languages=languages,
            skipped=dict(Counter(skip.reason.value for skip in skips)),
            skips=tuple(sorted(skips, key=lambda skip: skip.path)),
            model_problem=str(self._models.find_problem() or "") if facts.generation else "",
        )

    # What needs the folder of a workspace

    def index(self, **_: Any) -> IndexReport:
        """Refuse: workers index a team's repositories."""
        _refuse("indexed by keyhole team work")

    def keep_bundle(self, bundle: Bundle) -> None:  # noqa: ARG002
        """Refuse: there is no explorer of a team's repositories."""
        _refuse("only read")

    def token_costs(self, on_progress: Callable[[int, int], None] = lambda *_: None) -> dict[str, TokenCost]:  # noqa: ARG002
        """Refuse: costs are kept next to the index of a folder."""
        _refuse("not measured")

    def sample(self) -> str | None:
        """Return None: a sample is taken from a folder."""
        return None

    def clear(self) -> bool:
        """Refuse: `keyhole team remove` deletes a repository."""
        _refuse("removed by keyhole team remove")

    def clear_all(self) -> "Cleared":
        """Refuse, as `clear` does."""
        _refuse("removed by keyhole team remove")


def _refuse(what: str) -> Never:
    raise QueryError(f"a team's repositories are {what}")
