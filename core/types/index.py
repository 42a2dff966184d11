"""What an index run did, what the index holds, and which state of it an answer came from."""

from dataclasses import dataclass

from keyhole.core.types.source_files import Skip


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did, and what the index now contains.

    `outdated` counts the files that an older version of keyhole indexed, and that are not read again yet. `reused`
    counts the files whose text the content store knew, so that they were not parsed.
    """

    added: int
    changed: int
    removed: int
    current: int
    skipped: int
    unparsed: int
    files: int
    chunks: int
    generation: int
    model: str
    seconds: float
    outdated: int = 0
    reused: int = 0


@dataclass(frozen=True, slots=True)
class LanguageCount:
    """How many files, chunks and symbols of a workspace are in one language."""

    language: str
    files: int
    chunks: int
    symbols: int


@dataclass(frozen=True, slots=True)
class Status:
    """What an index contains and which paths are skipped; `stale` counts files that changed since it was updated.

    `outdated` counts files that an older version of keyhole indexed, and that are not read again yet. `model_problem`
    says why search by meaning is not available although the settings name a model.
    """

    root: str
    index_path: str
    index_bytes: int
    generation: int
    updated: str
    model: str
    pending: int
    stale: int
    files: int
    size: int
    chunks: int
    symbols: int
    languages: tuple[LanguageCount, ...]
    skipped: dict[str, int]
    skips: tuple[Skip, ...]
    model_problem: str = ""
    outdated: int = 0


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """The state of the index that an answer came from: generation, and number of files still to index and skipped."""

    generation: int
    # None before the first walk of the workspace has ended.
    pending: int | None = 0
    skipped: int = 0
    # Counts the index files that this process has opened: chunk ids are only valid in the file they came from.
    opening: int = 0
    # How many files the index will have when none is pending; 0 if unknown.
    total: int = 0
    # Whether files are pending and no process is indexing them: the last run was killed, or failed.
    is_interrupted: bool = False
    # How many files an older version of keyhole indexed, so that data for ranking and references is missing; and
    # whether a process is indexing them again.
    outdated: int = 0
    is_updating: bool = False

    @property
    def outdated_note(self) -> str:
        """Why ranking is less exact than it could be; empty if it is not."""
        return f"ranking is less exact for {self._outdated_files}" if self.outdated else ""

    @property
    def missing_names_note(self) -> str:
        """Why references may be missing; empty if none are."""
        return f"references are missing from {self._outdated_files}" if self.outdated else ""

    @property
    def _outdated_files(self) -> str:
        count = f"{self.outdated:,} file{'s' if self.outdated > 1 else ''}"
        remedy = "being read again now" if self.is_updating else "run keyhole index to read them again"
        return f"{count} indexed by an older version of keyhole; {remedy}"

    @property
    def incomplete(self) -> str:
        """Why files are missing from the index, and how far it is; empty if it is complete."""
        if self.pending == 0:
            return ""
        reason = "the last index run did not finish" if self.is_interrupted else "the index is being built"
        if self.pending is None:
            return f"{reason} and the index is empty" if self.is_interrupted else f"{reason} and is still empty"
        done = self.total - self.pending
        if done < 0:
            return f"{reason}; remaining files: {self.pending:,}"
        return f"{reason}, {done:,} of {self.total:,} files {'are indexed' if self.is_interrupted else 'so far'}"

    @property
    def incomplete_note(self) -> str:
        """The same for an answer, with what to do if waiting does not help."""
        return f"{self.incomplete}; run keyhole index to continue" if self.is_interrupted else self.incomplete

    def for_json(self) -> dict[str, int]:
        """Return the facts with the keys that JSON answers use."""
        return {"generation": self.generation, "stale": self.pending or 0, "skipped": self.skipped}


@dataclass(frozen=True, slots=True)
class StoreSize:
    """How much is in the content store, on disk, and how large it may become; 0 if it is turned off."""

    path: str
    entries: int
    bytes: int
    max_bytes: int
