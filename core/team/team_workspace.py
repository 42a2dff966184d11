"""Several repositories of a team as one workspace: each is a folder at its top, and everything is in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from keyhole.core.files.text_source import TextSource
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.repository_set import RepositorySet
from keyhole.core.postgres.shared_connections import SharedConnections
from keyhole.core.team.group_home import GroupHome
from keyhole.core.team.stored_files import StoredFiles
from keyhole.core.team.team_database import NamedRepository
from keyhole.core.types.missing import StaleReason
from keyhole.core.workspace.fresh_results import Attempt, FreshResults, StaleFiles
from keyhole.core.workspace.opening import OpenWorkspace

if TYPE_CHECKING:
    from keyhole.core.index.protocols import IndexStore

Answer = TypeVar("Answer")
_FOLDER = "team"


def team_folder(cache_dir: Path, url: str) -> Path:
    """Return the folder for the journal of a team's server."""
    return cache_dir / f"{_FOLDER}-{blake2b(url.encode(), digest_size=8).hexdigest()}"


def repository_set(repositories: Sequence[NamedRepository]) -> RepositorySet:
    """Return repositories as the store needs them."""
    numbers = sorted(repository.id for repository in repositories)
    return RepositorySet(tuple(numbers), {repository.name: repository.id for repository in repositories})


@dataclass(frozen=True, slots=True)
class TeamWorkspace(OpenWorkspace):
    """The workspace of everyone who may see exactly these repositories; its root is only a name."""

    repositories: RepositorySet
    connections: SharedConnections

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", team_folder(self.settings.cache_dir, self.connections.url))
        object.__setattr__(self, "elsewhere", GroupHome(self.connections, self.repositories))

    @property
    def name(self) -> str:
        """What tells this workspace from others in cursors: whoever sees other repositories can't use them."""
        return f"team {','.join(map(str, self.repositories.numbers))}"

    def texts_for(self, store: "IndexStore") -> TextSource:
        """Return the texts in the database."""
        assert isinstance(store, PostgresStore)  # noqa: S101  # a team has no other
        return StoredFiles(store, self.secrets)


class WholeRevisions(FreshResults):
    """Answers from one state of the database; the files can't differ from it."""

    def answer(self, attempt: Attempt[Answer], *, needs_trigrams: bool = False) -> tuple[Answer, StaleFiles]:  # noqa: ARG002
        """Return an answer from one snapshot of the index."""
        with self._engines.lend() as engine, engine.store.snapshot():
            answer, _, _ = attempt(engine)
        return answer, StaleFiles(frozenset(), StaleReason.CHANGING)
