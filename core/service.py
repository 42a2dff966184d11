"""What Keyhole can do with a workspace; every door (CLI, explorer, MCP) comes through here.

Imports that cost time stand inside the methods that need them.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from keyhole.core.config import Settings, load_settings
from keyhole.core.deadline import check_time, time_left
from keyhole.core.errors import AssetError, DeadlineError, PathError, StoreError
from keyhole.core.files.read import read_source
from keyhole.core.files.walk import examine, printable, scan
from keyhole.core.files.workspace import open_workspace
from keyhole.core.index.location import INDEX_FILE, LOCK_FILE, index_folder
from keyhole.core.notes import IndexEvent, IndexMessage, Note, NoteKind
from keyhole.core.types import (
    Candidate,
    Explanation,
    Hit,
    IndexReport,
    Inventory,
    MapRequest,
    Mode,
    Progress,
    Query,
    ReadRequest,
    Refusal,
    SearchRequest,
    SearchResult,
    SkipReason,
    SourceFile,
    Status,
)
from keyhole.core.view.budget.usage import Metrics

if TYPE_CHECKING:
    from keyhole.core.index.embedder import Embedder
    from keyhole.core.index.store import Store
    from keyhole.core.index.update import Request
    from keyhole.core.journal.reader import JournalReader
    from keyhole.core.journal.writer import Journal
    from keyhole.core.links.requests import RelationRequest
    from keyhole.core.search.engine import Engine
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.lists.relation_view import Gathered
    from keyhole.core.view.writing import View

# Files up to this size are mapped and read, whether they are indexed or not.
SERVED_BYTES = 50_000_000
_SAMPLE_BYTES = 5_000
# A file may change again while it is looked up again; at some point what is left is left out.
_FRESHNESS_TRIES = 3


class Service:
    """One open workspace; any thread may ask it."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.settings = settings
        self.folder = index_folder(settings.cache_dir, root)
        self.metrics = Metrics()
        self._lock = RLock()
        self._engine: Engine | None = None
        self._engine_of: tuple[int, int] | None = None

    @classmethod
    def open(cls, path: Path, *, force: bool = False, flags: Mapping[str, object] | None = None) -> "Service":
        """Open a folder, with its settings."""
        root = open_workspace(path, force=force)
        return cls(root, load_settings(root, flags))

    def index(
        self,
        *,
        full: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_message: Callable[[IndexMessage], None] = lambda _: None,
    ) -> IndexReport:
        """Bring the index up to date."""
        from keyhole.core.index.update import Hooks, update_index

        if problem := self._fetch_model():
            on_message(IndexMessage(IndexEvent.NO_VECTORS, f"{problem}: indexing without vectors"))
        return update_index(self._request(full=full), Hooks(on_progress, on_message))

    def search_view(self, request: SearchRequest) -> "ListView":
        """Answer a search with the text that every door gives out."""
        return self.search_page(request)[1]

    def search_page(self, request: SearchRequest, known: SearchResult | None = None) -> "tuple[SearchResult, ListView]":
        """Answer a search with that text, and with the hits it was written from.

        `known` is what an earlier search found: where it holds this answer too, nothing is searched again.
        """
        from keyhole.core.view.lists.cursor import check_generation, read_cursor, request_key
        from keyhole.core.view.lists.hit_text import needs_source
        from keyhole.core.view.lists.search_view import search_view, understand

        started = time.perf_counter()
        query, shown = understand(request, top_k=self.settings.search.top_k, mode=self.settings.search.mode)
        wanted = (query.text, query.mode, query.path, query.language, query.kind, query.include_tests)
        key = request_key("search_code", self.folder.name, *wanted)
        generation = None
        if request.cursor:
            offset, generation = read_cursor(request.cursor, key)
            query = replace(query, offset=offset)
        result = self.search(query, needs_source=lambda hit: needs_source(hit, shown), known=known)
        if generation is not None:
            check_generation(generation, result.index.generation)
        latency = (time.perf_counter() - started) * 1e3
        view = search_view(result, shown, project=self.root.name, request=key, latency_ms=latency)
        self.metrics.record("search_code", query.text, view.truncation)
        return result, view

    def search(
        self,
        query: Query,
        *,
        needs_source: Callable[[Hit], bool] = lambda _: False,
        known: SearchResult | None = None,
    ) -> SearchResult:
        """Answer a query from files as they are now: hits in files that changed are looked up again."""
        from keyhole.core.index.trigrams import fill_trigrams
        from keyhole.core.index.update import refresh_files
        from keyhole.core.search.query import choose_mode

        with self._searching() as engine:
            mode = choose_mode(query)
            if mode == Mode.REGEX:
                fill_trigrams(engine.store, self.root, self.folder, max_bytes=self.settings.index.max_file_bytes)
            for _ in range(_FRESHNESS_TRIES):
                result, stale = self._search_once(engine, partial(_find, engine, query, mode, known), needs_source)
                if not stale or not refresh_files(self._request(), stale):
                    break
            return _without(result, stale)

    def _search_once(
        self, engine: "Engine", find: Callable[[], SearchResult], needs_source: Callable[[Hit], bool]
    ) -> tuple[SearchResult, set[str]]:
        """Search, and tell which files of the hits are no longer as indexed."""
        from keyhole.core.search.passages import load_passages

        with engine.store.snapshot():
            result = find()
            stale = self._stale_paths(engine.store, {hit.path for hit in result.hits})
            hits = [hit for hit in result.hits if needs_source(hit)]
            limit = self.settings.index.max_file_bytes
            passages, changed = load_passages(engine.store, self.root, hits, result.query.text, max_bytes=limit)
        return replace(result, passages=passages), stale | changed

    def map_view(self, request: MapRequest) -> "View":
        """Show what a file defines, as it is now."""
        from keyhole.core.syntax.analyse import outline_of
        from keyhole.core.view.maps.map_view import map_view, understand_map

        shown = understand_map(request)
        source = self.read(request.path)
        view = map_view(source, outline_of(source), shown, request.symbol)
        self.metrics.record("map_file", source.path, view.truncation)
        return view

    def read_view(self, request: ReadRequest) -> "View":
        """Show lines of one or several files, as they are now; among several, one bad path is told in place."""
        from keyhole.core.syntax.analyse import outline_of
        from keyhole.core.view.reads.read_view import read_view, understand_read

        shown = understand_read(request)
        paths = tuple(dict.fromkeys(request.paths))
        files = (self._read_or_refuse(path) if len(paths) > 1 else self.read(path) for path in paths)
        view = read_view(files, shown, outline_of)
        self.metrics.record("read_file", " ".join(paths), view.truncation)
        return view

    def relation_view(self, request: "RelationRequest") -> "ListView":
        """Answer a question about links, the tree or related code with the text that every door gives out."""
        return self.relation_page(request)[1]

    def relation_page(self, request: "RelationRequest") -> "tuple[Gathered, ListView]":
        """Answer it with that text, and with what it was written from; both are of the files as they are now."""
        from keyhole.core.index.update import refresh_files
        from keyhole.core.view.lists.relation_view import About, Where, gather, relation_view, understand_relation

        started = time.perf_counter()
        asked = understand_relation(request, partial(self.relative, must_exist=False), self.folder.name)
        with self._searching() as engine:
            where = Where(engine, self.root, self.settings.index.max_file_bytes)
            for _ in range(_FRESHNESS_TRIES):
                with engine.store.snapshot():
                    gathered = gather(where, asked)
                    stale = self._stale_paths(engine.store, set(gathered.paths)) | gathered.changed
                    about = About(self.root.name, engine.index_facts(), started)
                if not stale or not refresh_files(self._request(), stale):
                    break
        view = relation_view(gathered, asked, about)
        self.metrics.record(asked.tool, asked.subject, view.truncation)
        return gathered, view

    def explain(self, request: SearchRequest, path: str, line: int | None = None) -> Explanation:
        """Say why a file is where it is in the answer to a search, or why it is not there."""
        from keyhole.core.search.explain import explain
        from keyhole.core.view.lists.search_view import understand

        query, _ = understand(request, top_k=self.settings.search.top_k, mode=self.settings.search.mode)
        relative = self.relative(path, must_exist=False)
        with self._searching() as engine, engine.store.snapshot():
            found = examine(self.root, relative, max_bytes=self.settings.index.max_file_bytes)
            return explain(engine, query, found, relative, line)

    def status(self) -> Status:
        """Tell what the index holds, and how far the files have moved on since."""
        from keyhole.core.index.status import read_status

        return read_status(self.root, self.folder / INDEX_FILE, max_bytes=self.settings.index.max_file_bytes)

    def has_index(self) -> bool:
        """Tell whether there is anything to search."""
        return (self.folder / INDEX_FILE).exists()

    def inventory(self) -> Inventory:
        """List what the index knows: its files, what it passes over, and the kinds of symbols."""
        from keyhole.core.index.status import read_inventory

        with self._searching() as engine, engine.store.snapshot():
            return read_inventory(engine.store)

    def clear(self) -> bool:
        """Delete the index and the journal; False when there was neither."""
        from keyhole.core.index.lock import writer_lock
        from keyhole.core.journal.file import delete

        is_deleted = delete(self.folder)
        if not self.has_index():
            return is_deleted
        self.close()
        with writer_lock(self.folder, wait=False):
            # The locks themselves stay: another process may be waiting for them. So does a journal that is new.
            for path in self.folder.iterdir():
                if path.name != LOCK_FILE and not path.name.startswith("journal."):
                    path.unlink(missing_ok=True)
        return True

    def journal(self) -> "Journal | None":
        """Make what a server writes the calls of agents to, unless the settings say not to."""
        from keyhole.core.journal.writer import Journal

        limits = self.settings.journal
        if not limits.enabled:
            return None
        return Journal(self.folder, max_bytes=limits.max_bytes, max_seconds=limits.max_days * 86_400)

    def journal_reader(self) -> "JournalReader":
        """Make what people look at the calls of agents with."""
        from keyhole.core.journal.reader import JournalReader

        return JournalReader(self.folder)

    def read(self, path: str) -> SourceFile:
        """Read one file as it is now, also when it is too large to be indexed, or a picture."""
        check_time()
        relative = self.relative(path)
        admitted = examine(self.root, relative, max_bytes=SERVED_BYTES)
        if isinstance(admitted, Candidate) or admitted.reason == SkipReason.PICTURE:
            source = read_source(self.root, relative, max_bytes=SERVED_BYTES)
        else:
            source = admitted
        if isinstance(source, SourceFile):
            return source
        if source.reason == SkipReason.TOO_LARGE:
            raise PathError(f"{source.path} is not served: files over {SERVED_BYTES:,} bytes are not")
        raise PathError(f"{source.path} is not served: {source.reason}: {source.detail}")

    def _read_or_refuse(self, path: str) -> SourceFile | Refusal:
        try:
            return self.read(path)
        except PathError as error:
            return Refusal(printable(path), str(error))

    def sample(self) -> str | None:
        """Choose a file that shows well what a map is: code, and not too long."""
        from keyhole.core.syntax.languages import detect_language

        sizes = {
            candidate.path: candidate.size
            for candidate in scan(self.root, max_bytes=_SAMPLE_BYTES).candidates
            if detect_language(candidate.path, "").has_definitions
        }
        for path in sorted(sizes, key=lambda path: (-sizes[path], path)):
            with suppress(PathError):
                return self.read(path).path
        return None

    def relative(self, path: str, *, must_exist: bool = True) -> str:
        """Turn what a caller wrote into a path relative to the root, or refuse it."""
        try:
            # Resolve the folder only: the file itself may be a link, which has a reason of its own.
            given = self.root / path
            inside = (given.parent.resolve() / given.name).relative_to(self.root)
        except (ValueError, OSError, RuntimeError):
            raise PathError(f"{printable(path)} is outside the workspace; paths are relative to its root") from None
        # Unlike Path.is_file, this never raises.
        is_file = os.path.isfile(self.root / inside)  # noqa: PTH113
        if must_exist and not is_file and self._is_indexed(inside.as_posix()):
            raise PathError(f"{printable(path)} was deleted since it was indexed; run keyhole index, or search anew")
        if inside.name in ("", "..") or (must_exist and not is_file):
            raise PathError(f"{printable(path)} is not a file in the workspace; keyhole status lists what there is")
        return inside.as_posix()

    def _request(self, *, full: bool = False) -> "Request":
        from keyhole.core.index.update import Request

        return Request(
            root=self.root,
            folder=self.folder,
            max_bytes=self.settings.index.max_file_bytes,
            workers=self.settings.index.workers,
            embedder=self._model[0],
            full=full,
        )

    @contextmanager
    def _searching(self) -> "Iterator[Engine]":
        """Lend the open index to one caller at a time; it stays open, so that the next search starts warm."""
        if not self._lock.acquire(timeout=time_left()):
            raise DeadlineError("other searches keep keyhole busy; ask again in a few seconds")
        try:
            yield self._current_engine()
        except StoreError:
            self.close()
            raise
        finally:
            self._lock.release()

    def _current_engine(self) -> "Engine":
        from keyhole.core.index.store import Store
        from keyhole.core.search.engine import Engine

        path = self.folder / INDEX_FILE
        try:
            status = path.stat()
        except OSError:
            raise StoreError("this workspace has no index yet; run keyhole index") from None
        # Another process may have put a new file in the place of a damaged one.
        if self._engine is None or self._engine_of != (status.st_dev, status.st_ino):
            self.close()
            limit = self.settings.index.max_file_bytes
            embedder, problem = self._model
            self._engine = Engine(Store(path), self.root, max_bytes=limit, embedder=embedder, problem=problem)
            self._engine_of = status.st_dev, status.st_ino
        return self._engine

    def close(self) -> None:
        """Close the index, if it is open."""
        with self._lock:
            if self._engine:
                self._engine.store.close()
            self._engine = None

    def _is_indexed(self, path: str) -> bool:
        """Tell whether the index, if there is one, knows a file."""
        with suppress(StoreError), self._searching() as engine:
            return bool(engine.store.query("SELECT 1 FROM file WHERE path = ?", path))
        return False

    def _stale_paths(self, store: "Store", paths: set[str]) -> set[str]:
        known = {path: store.query("SELECT size, mtime_ns, digest FROM file WHERE path = ?", path) for path in paths}
        return {path for path in paths if not (known[path] and self._is_as_indexed(path, *known[path][0]))}

    def _is_as_indexed(self, path: str, size: int, mtime_ns: int, digest: str) -> bool:
        try:
            status = (self.root / path).lstat()
        except OSError:
            return False
        if (status.st_size, status.st_mtime_ns) == (size, mtime_ns):
            return True
        # A time that was too young to be trusted: then the content tells.
        source = read_source(self.root, path, max_bytes=self.settings.index.max_file_bytes)
        return isinstance(source, SourceFile) and source.digest == digest

    @cached_property
    def _model(self) -> "tuple[Embedder | None, str]":
        """The model, or why there is none although one is wanted; searching by words needs none."""
        return self._open_model(may_download=False)

    def _fetch_model(self) -> str:
        """Have the model here, also when it must be downloaded; returns why that failed."""
        if self._model[1]:
            found = self._open_model(may_download=True)
            with self._lock:
                self._model = found
                self.close()
        return self._model[1]

    def _open_model(self, *, may_download: bool) -> "tuple[Embedder | None, str]":
        from keyhole.core.index.model import open_embedder

        try:
            return open_embedder(self.settings.index.model, may_download=may_download), ""
        except AssetError as error:
            return None, str(error)


def _find(engine: "Engine", query: Query, mode: Mode, known: SearchResult | None) -> SearchResult:
    """Search, unless what was found before holds the answer and the index is still the one that it was found in."""
    found = known.answer_to(query) if known and known.index == engine.index_facts() else None
    return found or engine.search(query, mode)


def _without(result: SearchResult, stale: set[str]) -> SearchResult:
    """Leave out the hits in files that change faster than they can be read."""
    fresh = tuple(hit for hit in result.hits if hit.path not in stale)
    if len(fresh) == len(result.hits):
        return result
    text = f"left out {len(result.hits) - len(fresh)} hits in files that are changing just now"
    return replace(result, hits=fresh, notes=(*result.notes, Note(NoteKind.HITS_LEFT_OUT, text)))
