"""What a team's repository is made from: a git repository at the commit of a branch, or a plain folder as it is."""

from hashlib import sha256
from pathlib import Path

from keyhole.core.config import Settings
from keyhole.core.errors import TeamError
from keyhole.core.files.read import read_bytes
from keyhole.core.files.walk import EXCLUDE_FILE, Scan, scan
from keyhole.core.git.archive_revision import archive_revision
from keyhole.core.git.local_mirror import branch_commit, is_repository
from keyhole.core.git.shadow_repository import repository_flags
from keyhole.core.types.source_files import SecretPolicy, Skip
from keyhole.core.workspace.opening import OpenWorkspace

# The files of a plain folder may change while they are copied. Then the copy is made again, but not forever.
_COPIES = 3


class RepositorySource:
    """The source of one repository; `max_bytes` and `secrets` decide which files of a plain folder count."""

    def __init__(self, folder: Path, branch: str, max_bytes: int, secrets: SecretPolicy) -> None:
        self.folder = folder
        self.branch = branch
        self._max_bytes = max_bytes
        self._secrets = secrets

    @property
    def is_there(self) -> bool:
        """Whether the folder is on this machine."""
        return self.folder.is_dir()

    @property
    def is_git(self) -> bool:
        """Whether the folder is a git repository, with or without working files."""
        return is_repository(self.folder)

    def revision(self) -> str:
        """Return what names the current content: the commit, or a hash of the names and times of all files."""
        return branch_commit(self.folder, self.branch) if self.is_git else self._fingerprint(self._scan())

    def unpack(self, scratch: Path, name: str) -> tuple[Path, str]:
        """Put the current files into a folder `name`; return the folder that contains only that, and the revision."""
        root = scratch / "root"
        root.mkdir()
        if not self.is_git:
            return root, self._copy(root / name)
        commit = branch_commit(self.folder, self.branch)
        archive_revision(self.folder, commit, scratch, flags=repository_flags(self.folder)).rename(root / name)
        return root, commit

    def _copy(self, target: Path) -> str:
        """Copy all files that are not skipped by their name, and return the revision."""
        for number in range(_COPIES):
            found = self._scan()
            revision = self._fingerprint(found)
            copied = target.with_name(f"{target.name}.{number}")
            copied.mkdir()
            rules = [path for path in found.rule_files if path != EXCLUDE_FILE]
            for path in {*(candidate.path for candidate in found.candidates), *rules}:
                self._copy_file(path, copied / path)
            if self.revision() == revision:
                copied.rename(target)
                return revision
        raise TeamError(f"files in {self.folder} keep changing while they are read")

    def _copy_file(self, path: str, target: Path) -> None:
        content = read_bytes(self.folder, path, max_bytes=self._max_bytes)
        if not isinstance(content, Skip):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content[0])

    def _scan(self) -> Scan:
        return scan(self.folder, max_bytes=self._max_bytes, secrets=self._secrets)

    def _fingerprint(self, found: Scan) -> str:
        facts = sorted((c.path, c.size, c.mtime_ns) for c in found.candidates)
        # By content: the time of a rule file that has just been written does not count yet, so it would differ later.
        rules = {path: read_bytes(self.folder, path, max_bytes=self._max_bytes) for path in sorted(found.rule_files)}
        texts = [(path, "" if isinstance(read, Skip) else read[0]) for path, read in rules.items()]
        return "files-" + sha256(repr((facts, texts)).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def source_at(settings: Settings, folder: Path, branch: str) -> RepositorySource:
    """Return the source of a repository, read with the settings of this machine."""
    return RepositorySource(folder, branch, settings.index.max_file_bytes, OpenWorkspace(folder, settings).secrets)
