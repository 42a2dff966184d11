"""Updating an index: walk, compare, prepare what changed, and write it in small transactions."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keyhole.core.collector import collector_paused
from keyhole.core.errors import ErrorKind, LockedStoreError, ModelError, UnwritableStoreError
from keyhole.core.files.ignore import rules_fingerprint
from keyhole.core.files.stamps import UNKNOWN_STAMP
from keyhole.core.files.walk import Known, Scan, examine, scan
from keyhole.core.index.content_store import ContentPlace
from keyhole.core.index.content_update import ContentUpdate
from keyhole.core.index.embedder import Embedder
from keyhole.core.index.index_home import IndexHome, SqliteHome
from keyhole.core.index.link_resolution import resolve_links
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.pool import WorkerPool, prepare_all
from keyhole.core.index.prepare import Preparation, Prepared, SkippedFile, Unchanged, prepare
from keyhole.core.index.protocols import WriterStore
from keyhole.core.index.role_update import update_roles
from keyhole.core.index.rows import FileRows
from keyhole.core.notes import IndexEvent, IndexMessage
from keyhole.core.syntax.analysis_version import ANALYSIS_VERSION
from keyhole.core.syntax.parser_process import shared_parser
from keyhole.core.types.index import IndexReport
from keyhole.core.types.inventory import IndexedFile, Inventory, Progress
from keyhole.core.types.source_files import DEFAULT_SECRETS, Candidate, SecretPolicy, Skip

# Transactions are small, so that an interrupted run loses little, but large enough that their overhead is small.
_BATCH_FILES = 200
_BATCH_BYTES = 3_000_000
# Merging the words takes time proportional to the whole index, so only a run that wrote at least this share does it.
_MERGE_SHARE = 0.25
# The name and dimension that an index without vectors records.
_NO_MODEL = ("", 0)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks of an update: progress after each file, messages for the user, and what the walk found."""

    progress: Callable[[Progress], None] = lambda _: None
    message: Callable[[IndexMessage], None] = lambda _: None
    found: Callable[[Inventory], None] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to index, the folder of the index, and how to do it."""

    root: Path
    folder: Path
    max_bytes: int
    workers: int = 1
    embedder: Embedder | None = None
    full: bool = False
    # Read files again whose rows an older version of the analysis made, after everything that changed.
    renew: bool = True
    wait: bool = True
    # Parse again the files that could not be parsed last time.
    retry: bool = False
    secrets: SecretPolicy = DEFAULT_SECRETS
    # The content store that all workspaces share; None if it is off.
    content: ContentPlace | None = None
    # Where the index is, if it is not a file in the folder.
    elsewhere: IndexHome | None = None

    @property
    def home(self) -> IndexHome:
        """Where the index is."""
        return self.elsewhere or SqliteHome(self.folder)


@dataclass(frozen=True, slots=True)
class _PathChanges:
    """The changes that a walk found, except files to read."""

    new_skips: list[Skip]
    removed_skips: set[str]
    # Skipped files that this run reads.
    doubtful_skips: set[str]
    removed_files: list[str]


def update_index(request: Request, hooks: Hooks | None = None) -> IndexReport:
    """Update the index, as the only writer; a damaged index is moved away and rebuilt."""
    hooks = hooks or Hooks()

    def on_wait() -> None:
        text = "another process is indexing this workspace; waiting for it to finish"
        hooks.message(IndexMessage(IndexEvent.WAITING, text))

    with request.home.writer_lock(wait=request.wait, on_wait=on_wait):
        try:
            return _update(request, hooks)
        except Exception:
            # A damaged file can cause any kind of error, so check the file itself.
            if request.home.is_sound():
                raise
            moved = set_aside(request.folder)
            text = f"the index is damaged: moved it to {moved}, building a new one"
            hooks.message(IndexMessage(IndexEvent.DAMAGED, text))
            return _update(request, hooks)


def refresh_files(request: Request, paths: Iterable[str]) -> bool:
    """Index the current content of some files; return False if another process is writing."""
    try:
        with (
            request.home.writer_lock(wait=False),
            request.home.open_index() as store,
            ContentUpdate(request.content) as content,
        ):
            _Update(store, request, Hooks(), content, WorkerPool(request.workers)).refresh(paths)
    except LockedStoreError:
        return False
    return True


def set_aside(folder: Path) -> Path:
    """Rename a damaged index and its log, so that they can be examined later; return the new path."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    moved = folder / f"damaged-{stamp}.db"
    try:
        for suffix in ("", "-wal", "-shm"):
            part = folder / (INDEX_FILE + suffix)
            if part.exists():
                part.rename(f"{moved}{suffix}")
        # One is enough to find out what happened; more would fill the disk.
        for older in folder.glob("damaged-*"):
            if not older.name.startswith(moved.name):
                older.unlink()
    except OSError as error:
        # Windows does not move a file that another process has open.
        text = f"the damaged index {part} could not be moved ({error.strerror}); another keyhole may have it open"
        raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER) from error
    return moved


def _update(request: Request, hooks: Hooks) -> IndexReport:
    # A run creates many objects but no cycles, and collecting takes a tenth of it.
    with (
        request.home.open_index() as store,
        store.revision(),
        ContentUpdate(request.content) as content,
        WorkerPool(request.workers) as workers,
        collector_paused(),
    ):
        return _Update(store, request, hooks, content, workers).run()


class _Update:
    """One update of one index."""

    def __init__(
        self, store: WriterStore, request: Request, hooks: Hooks, content: ContentUpdate, workers: WorkerPool
    ) -> None:
        self._store = store
        self._content = content
        self._workers = workers
        self._request = request
        self._hooks = hooks
        self._started = time.monotonic()
        self._embedder = request.embedder
        self._fingerprint = rules_fingerprint(request.max_bytes, request.secrets)
        self._counts = {"added": 0, "changed": 0, "removed": 0, "chunks": 0}
        self._unchanged = 0
        # The digests of files that are parsed again although they have not changed.
        self._retried: dict[str, str] = {}
        self._done = 0
        # Whether the index was made with other decisions about secrets, or by a version that did not mask them.
        self._has_other_secrets = store.facts().secrets not in (None, request.secrets.fingerprint)

    def run(self) -> IndexReport:
        self._adopt_model()
        facts = self._store.facts()
        if self._request.full:
            self._read_all_again()
        known = self._store.known()
        if self._has_other_secrets:
            self._say(IndexEvent.READING_ALL, "the rules for secrets changed: reading every file again")
            known.files = dict.fromkeys(known.files, UNKNOWN_STAMP)
        is_outdated = self._request.renew and facts.analysis not in (None, ANALYSIS_VERSION)
        if self._has_other_secrets or is_outdated:
            known.skips = {path: (skip, stamp and UNKNOWN_STAMP) for path, (skip, stamp) in known.skips.items()}
        # If the default rules or settings changed, every path must be checked against them again.
        known.rules_hold = facts.rules == self._fingerprint
        retried = [skip.path for skip in self._store.unparsed()] if self._request.retry else []
        for path in retried:
            known.files[path] = UNKNOWN_STAMP
        request = self._request
        found = scan(
            request.root,
            max_bytes=request.max_bytes,
            known=known,
            secrets=request.secrets,
            on_candidate=self._workers.expect,
        )
        if self._hooks.found:
            self._hooks.found(_inventory_of(found, known))
        if changes := self._compare(known, found):
            # Only indexed files have a digest, so a first run looks up none.
            digests = self._store.digests(c.path for c in found.candidates if c.path in known.files)
            self._retried = {path: digests[path] for path in retried if path in digests}
            digests |= dict.fromkeys(self._retried, "")
            digests |= dict.fromkeys(self._masked_otherwise(digests), "")
            # A run that only removes files needs no model.
            if found.candidates:
                self._load_model()
            self._write_changes(found, changes, digests)
        renewed = self._renew() if self._request.renew else 0
        self._record_analysis()
        if self._counts["chunks"] and self._counts["chunks"] > _MERGE_SHARE * self._store.count_chunks():
            self._store.merge_words()
            self._store.shrink()
        if changes and self._has_other_secrets:
            self._store.wipe_deleted()
            # Only now: if the run is killed before, the next one wipes the file.
            with self._store.transaction():
                self._store.set_fact("secrets", self._request.secrets.fingerprint)
        return self._report(found, renewed)

    def _renew(self) -> int:
        """Read files again whose rows an older version of the analysis made; return how many.

        Nothing is missing from the index in the meantime, and if the run ends early, the next one continues.
        """
        if self._store.facts().analysis == ANALYSIS_VERSION:
            return 0
        outdated = self._store.outdated_files(ANALYSIS_VERSION)
        if outdated:
            text = f"Keyhole was updated: files are read again for better ranking ({len(outdated):,})"
            self._say(IndexEvent.READING_ALL, text)
            self._load_model_of_index()
            self._done, self._retried = 0, {}
            for batch in self._batches(outdated, {}):
                with self._store.transaction():
                    for prepared in batch:
                        self._write_one(prepared, is_known=True)
                    if self._done == len(outdated):
                        self._relate_files()
        return len(outdated)

    def _record_analysis(self) -> None:
        """Record that all files were read by this version of the analysis, once they were."""
        is_recorded = self._store.facts().analysis == ANALYSIS_VERSION
        if not is_recorded and not self._store.count_outdated_files(ANALYSIS_VERSION):
            with self._store.transaction():
                self._store.set_fact("analysis", ANALYSIS_VERSION)

    def _relate_files(self) -> None:
        """Find again what depends on several files, if that is necessary."""
        resolve_links(self._store)
        update_roles(self._store)

    def _count_outdated(self) -> int:
        is_renewed = self._store.facts().analysis in (None, ANALYSIS_VERSION)
        return 0 if is_renewed else self._store.count_outdated_files(ANALYSIS_VERSION)

    def refresh(self, paths: Iterable[str]) -> None:
        """Update some paths, without walking the workspace."""
        root, limit, secrets = self._request.root, self._request.max_bytes, self._request.secrets
        self._load_model_of_index()
        preparation = self._preparation()
        distinct = sorted(set(paths))
        removed, batch, digests = [], list[Prepared](), self._store.digests(distinct)
        digests |= dict.fromkeys(self._masked_otherwise(distinct), "")
        for path in distinct:
            found = examine(root, path, max_bytes=limit, secrets=secrets)
            if isinstance(found, Candidate):
                digest = digests.get(path, "")
                batch.append(prepare(preparation, found, digest, shared_parser().analyse))
            # The path exists but is now skipped: a rule changed, or it became a link.
            elif os.path.lexists(root / path):
                batch.append(SkippedFile(found, None))
            else:
                removed.append(path)
        # All slow work is done before the transaction, so that it holds the write lock for milliseconds only.
        with self._store.transaction():
            for path in removed:
                self._store.remove_file(path)
            for prepared in batch:
                self._write_one(prepared, is_known=True)
            self._relate_files()
        self._content.record(batch)

    def _preparation(self) -> Preparation:
        request = self._request
        return Preparation(
            request.root,
            request.max_bytes,
            self._embedder,
            request.secrets,
            rereads_masked=self._has_other_secrets,
            analysis=ANALYSIS_VERSION,
            # Whoever asks for everything to be read again expects it to be analysed, too.
            content=None if request.full else request.content,
            keeps_text=request.home.keeps_text,
        )

    def _masked_otherwise(self, paths: Iterable[str]) -> Iterable[str]:
        """Return the files whose masks may no longer be right, even if they have not changed."""
        return self._store.masks_of(paths) if self._has_other_secrets else ()

    def _load_model(self) -> None:
        """Load the model before workers need it; if that fails, continue without vectors."""
        if self._embedder and not self._can_load(self._embedder):
            self._record_model(*_NO_MODEL)

    def _load_model_of_index(self) -> None:
        """Load the model if the vectors in the index are from it; otherwise use none."""
        if self._embedder and self._store.facts().model == self._name_of_model()[0]:
            self._load_model()
        else:
            self._embedder = None

    def _adopt_model(self) -> None:
        """Record the model; if it changed, have every file embedded again."""
        facts = self._store.facts()
        old = (facts.model, facts.dimension)
        if (self._embedder or old[0]) and not self._store.load_vectors():
            self._say(IndexEvent.NO_VECTORS, "indexing without vectors: sqlite-vec can't be loaded")
            self._embedder = None
        new = self._name_of_model()
        if new not in (old, _NO_MODEL):
            # A model that can't be loaded must not cause every file to be read again, in this run and the next ones.
            new = new if self._embedder and self._can_load(self._embedder) else _NO_MODEL
        if old == new:
            return
        # Delete the old vectors right away: vectors of different models cannot be compared.
        must_embed = new != _NO_MODEL and self._store.count_files() > 0
        if must_embed:
            text = f"the model changed from {old[0] or 'none'} to {new[0]}: embedding every file again"
            self._say(IndexEvent.MODEL_CHANGED, text)
        self._record_model(*new, must_embed=must_embed)

    def _name_of_model(self) -> tuple[str, int]:
        """Return the name and dimension of the model; if it is damaged, continue without."""
        try:
            return (self._embedder.name, self._embedder.dimension) if self._embedder else _NO_MODEL
        except ModelError as error:
            self._go_without_model(error)
            return _NO_MODEL

    def _can_load(self, embedder: Embedder) -> bool:
        """Load the model; if it is damaged, continue without."""
        try:
            embedder.load()
        except ModelError as error:
            self._go_without_model(error)
        return self._embedder is not None

    def _go_without_model(self, error: ModelError) -> None:
        self._say(IndexEvent.NO_VECTORS, f"indexing without vectors: {error}")
        self._embedder = None

    def _record_model(self, name: str, dimension: int, *, must_embed: bool = False) -> None:
        """Delete all vectors, and record the model of the new ones."""
        with self._store.transaction():
            self._store.set_fact("model", name)
            self._store.set_fact("dimension", dimension)
            self._store.reset_vectors()
            if must_embed:
                self._store.forget_digests()

    def _read_all_again(self) -> None:
        self._say(IndexEvent.READING_ALL, "reading every file again")
        with self._store.transaction():
            self._store.forget_digests()

    def _compare(self, known: Known, found: Scan) -> _PathChanges | None:
        """Return the changed paths, except files to read; None if nothing at all has changed."""
        candidates = {candidate.path for candidate in found.candidates}
        old_skips = known.skips.keys() - {skip.path for skip in found.skips} - set(found.same_skips)
        # These were skipped for their content, and may still be. Others are removed before they are read: if this run
        # ends early, the next one must read them.
        doubtful_skips = {path for path in old_skips & candidates if known.skips[path][1] is not None}
        changes = _PathChanges(
            new_skips=[skip for skip in found.skips if known.skips.get(skip.path, (None,))[0] != skip],
            removed_skips=old_skips - doubtful_skips,
            doubtful_skips=doubtful_skips,
            removed_files=_removed_files(known, found, candidates),
        )
        same_rules = known.rule_files == found.rule_files and known.rules_hold and not self._has_other_secrets
        if candidates or changes.new_skips or changes.removed_skips or changes.removed_files or not same_rules:
            return changes
        # `pending` is not 0 after an interrupted run, and None before the first one.
        return None if self._store.facts().pending == 0 else changes

    def _write_changes(self, found: Scan, changes: _PathChanges, digests: dict[str, str]) -> None:
        """Prepare and write every candidate, batch by batch; the first batch also writes the other changes."""
        total = len(found.candidates)
        # So that searches can say how far the index is, even before the first batch is written.
        self._store.announce(pending=total, total=total + len(found.same_files))
        self._report_progress(total, "")
        is_first = True
        for batch in self._batches(found.candidates, digests):
            with self._store.transaction():
                if is_first:
                    self._write_path_changes(found, changes)
                for prepared in batch:
                    self._write_one(prepared, is_known=prepared.path in digests)
                # Links and roles depend on all paths, so they are found once, in the last transaction.
                if self._done == total:
                    self._relate_files()
                # If the run is killed now, searches can report how many files are still missing.
                self._store.set_fact("pending", total - self._done)
                self._store.set_fact("updated", datetime.now(UTC).isoformat(timespec="seconds"))
            is_first = False

    def _batches(self, candidates: list[Candidate], digests: dict[str, str]) -> Iterator[list[Prepared]]:
        """Prepare candidates and yield them in batches, one per transaction; without candidates, one empty batch."""
        sizes = {candidate.path: candidate.size for candidate in candidates}
        batch: list[Prepared] = []
        size = 0
        for prepared in prepare_all(self._preparation(), candidates, digests, workers=self._workers):
            batch.append(prepared)
            size += sizes[prepared.path]
            # Report progress here because preparing takes the time, and because the callback may end the run, which
            # must not happen inside a transaction.
            self._done += 1
            self._counts["chunks"] += len(prepared.chunks) if isinstance(prepared, FileRows) else 0
            self._report_progress(len(sizes), prepared.path)
            if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
                yield batch
                self._content.record(batch)
                batch, size = [], 0
        if batch or not sizes:
            yield batch
            self._content.record(batch)

    def _write_path_changes(self, found: Scan, changes: _PathChanges) -> None:
        for path in changes.removed_files:
            self._store.remove_file(path)
        for path in changes.removed_skips:
            self._store.remove_skip(path)
        for path in changes.doubtful_skips:
            self._store.distrust_skip(path)
        for skip in changes.new_skips:
            self._store.put_skip(skip)
        self._store.put_rule_files(found.rule_files)
        self._store.set_fact("rules", self._fingerprint)
        if not self._has_other_secrets:
            self._store.set_fact("secrets", self._request.secrets.fingerprint)
        self._counts["removed"] = len(changes.removed_files)

    def _write_one(self, prepared: Prepared, *, is_known: bool) -> None:
        if isinstance(prepared, SkippedFile):
            self._store.put_skip(prepared.skip, prepared.stamp)
        elif isinstance(prepared, Unchanged):
            self._store.restamp_file(prepared.path, prepared.stamp)
            self._unchanged += 1
        elif prepared.unparsed and self._retried.get(prepared.path) == prepared.digest:
            # Another try ended the same way, so nothing has changed.
            stamp = (prepared.size, prepared.mtime_ns, prepared.ctime_ns, prepared.inode)
            self._store.restamp_file(prepared.path, stamp)
            self._unchanged += 1
        else:
            self._store.replace_file(prepared)
            self._counts["changed" if is_known else "added"] += 1

    def _say(self, event: IndexEvent, text: str) -> None:
        self._hooks.message(IndexMessage(event, text))

    def _report_progress(self, total: int, path: str) -> None:
        self._hooks.progress(Progress(self._done, total, self._counts["chunks"], path))

    def _report(self, found: Scan, renewed: int) -> IndexReport:
        store, facts = self._store, self._store.facts()
        return IndexReport(
            added=self._counts["added"],
            changed=self._counts["changed"],
            removed=self._counts["removed"],
            current=len(found.same_files) + self._unchanged - renewed,
            skipped=store.count_skips(),
            unparsed=len(store.unparsed()),
            files=store.count_files(),
            chunks=store.count_chunks(),
            generation=facts.generation,
            outdated=self._count_outdated(),
            model=facts.model,
            seconds=time.monotonic() - self._started,
            reused=self._content.reused,
        )


def _inventory_of(found: Scan, known: Known) -> Inventory:
    """Return the paths that a walk found, before any of them is read."""
    paths = sorted([*(candidate.path for candidate in found.candidates), *found.same_files])
    skips = [*found.skips, *(known.skips[path][0] for path in found.same_skips)]
    return Inventory(tuple(IndexedFile(path, "", 0) for path in paths), tuple(sorted(skips, key=lambda it: it.path)))


def _removed_files(known: Known, found: Scan, candidates: set[str]) -> list[str]:
    """Return the indexed files that the walk did not find, sorted."""
    # Counting is enough if none is missing, which saves comparing every path in most runs.
    if len(found.same_files) + len(candidates & known.files.keys()) == len(known.files):
        return []
    return sorted(known.files.keys() - candidates - set(found.same_files))
