"""Everything Keyhole can do with a workspace, as one class that the CLI, the explorer and the MCP server use.

`core/workspace` and the packages below it do the work; this module combines them. Slow imports are inside the methods
that need them.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from keyhole.core.config import Settings
from keyhole.core.errors import ErrorKind, PathError, QueryError, StoreError, UnwritableStoreError
from keyhole.core.files.walk import scan
from keyhole.core.git.workspace_git import WorkspaceGit
from keyhole.core.index.location import BUNDLE_FILE
from keyhole.core.masking import mask_text
from keyhole.core.notes import IndexEvent, IndexMessage, Note, NoteKind
from keyhole.core.types.bundle import Bundle, BundleRequest
from keyhole.core.types.calls import ShownLines
from keyhole.core.types.choices import Mode
from keyhole.core.types.costs import TokenCost
from keyhole.core.types.index import IndexReport, Status, StoreSize
from keyhole.core.types.inventory import Inventory, Progress
from keyhole.core.types.missing import Unshown
from keyhole.core.types.search_results import Explanation, SearchResult
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.view_requests import MapRequest, Query, ReadRequest, SearchRequest
from keyhole.core.view.text import count_of
from keyhole.core.view.usage import Metrics
from keyhole.core.workspace.engine_pool import EnginePool
from keyhole.core.workspace.fresh_results import FreshResults, StaleFiles
from keyhole.core.workspace.model_loader import ModelLoader
from keyhole.core.workspace.opening import OpenWorkspace
from keyhole.core.workspace.path_guard import PathGuard

if TYPE_CHECKING:
    from keyhole.core.index.rows import SymbolEntry, SymbolPlace
    from keyhole.core.journal.reader import JournalReader
    from keyhole.core.journal.writer import Journal
    from keyhole.core.links.requests import RelationRequest
    from keyhole.core.search.engine import Engine
    from keyhole.core.search.sample_queries import SampleQueries
    from keyhole.core.view.lists.listing import ListView
    from keyhole.core.view.lists.relation_results import AnswerContext, RelationResults
    from keyhole.core.view.writing import View
    from keyhole.core.workspace.clearing import Cleared

_SAMPLE_BYTES = 5_000
_SAMPLE_SYMBOLS = 200
AnyRequest = TypeVar("AnyRequest", bound="SearchRequest | MapRequest | ReadRequest | RelationRequest | BundleRequest")


class Service:
    """One open workspace; safe to use from any thread."""

    # Whether others keep the index up to date.
    is_only_read = False

    def __init__(self, root: Path, settings: Settings) -> None:
        self._workspace = self._open_workspace(root, settings)
        self.root = root
        self.settings = settings
        self.folder = self._workspace.folder
        self.metrics = Metrics()
        self._models = self._model_loader()
        self.engines = EnginePool(self._workspace, self._models)
        self._fresh = self._fresh_results()
        self._paths = self._path_guard()
        # Only asked by people: answers to agents don't depend on it.
        self.git = WorkspaceGit(root)

    @classmethod
    def open(cls, path: Path, *, force: bool = False, flags: Mapping[str, object] | None = None) -> "Service":
        """Open a folder and load its settings."""
        workspace = OpenWorkspace.at(path, force=force, flags=flags)
        return cls(workspace.root, workspace.settings)

    # A team's repositories are not in a folder (core/team/team_service.py), so it opens them in its own way.

    def _open_workspace(self, root: Path, settings: Settings) -> OpenWorkspace:
        return OpenWorkspace(root, settings)

    def _model_loader(self) -> ModelLoader:
        return ModelLoader(self.settings.index.model)

    def _fresh_results(self) -> FreshResults:
        return FreshResults(self._workspace, self.engines, self._models)

    def _path_guard(self) -> PathGuard:
        workspace = self._workspace
        return PathGuard(self.root, self._is_indexed, self._indexed_paths, workspace.secrets, workspace.max_bytes)

    def index(  # noqa: PLR0913  # all but one are callbacks or off by default
        self,
        *,
        full: bool = False,
        retry: bool = False,
        renew: bool = True,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_message: Callable[[IndexMessage], None] = lambda _: None,
        on_found: Callable[[Inventory], None] | None = None,
    ) -> IndexReport:
        """Bring the index up to date; `retry` also parses again what could not be parsed last time.

        `renew` also reads files again that an older version of keyhole indexed, after everything else. `on_found` gets
        the paths of the workspace before the first file is read.
        """
        from keyhole.core.index.update import Hooks, update_index
        from keyhole.core.workspace.clearing import clear_gone, remember_root

        if self._models.problem:
            self._models.download()
            # Readers that are already open have no model, so they are replaced.
            self.close()
        if self._models.problem:
            on_message(IndexMessage(IndexEvent.NO_VECTORS, f"indexing without vectors: {self._models.problem}"))
        request = self._workspace.update_request(self._models.embedder, full=full, retry=retry, renew=renew)
        report = update_index(request, Hooks(on_progress, on_message, on_found))
        if remember_root(self.folder, self.root):
            clear_gone(self.settings.cache_dir)
        return report

    def search_view(self, request: SearchRequest) -> "ListView":
        """Return the answer to a search, with the same text for every front end."""
        return self.search_page(request)[1]

    def search_page(self, request: SearchRequest, known: SearchResult | None = None) -> "tuple[SearchResult, ListView]":
        """Return the hits of a search, and the answer written from them.

        `known` is an earlier result: if it contains this answer, nothing is searched again.
        """
        from keyhole.core.view.lists.cursor import check_generation, read_cursor, request_key
        from keyhole.core.view.lists.search_view import parse_search_request, search_view, shown_files

        started = time.perf_counter()
        request = self._with_budget(request)
        query, shown = parse_search_request(request, top_k=self.settings.search.top_k, mode=self.settings.search.mode)
        query = self._with_changes(query, request)
        parameters = (
            query.text,
            query.mode,
            query.path,
            query.language,
            query.kind,
            query.include_tests,
            query.output,
            query.role,
            *([str(query.changed)] if query.changed else []),
        )
        key = request_key("search_code", self._workspace.name, *parameters)
        generation = None
        if request.cursor:
            offset, generation = read_cursor(request.cursor, key)
            query = replace(query, offset=offset)
        result = self.search(query, known=known)
        if generation is not None:
            check_generation(generation, result.index.generation)
        latency = (time.perf_counter() - started) * 1e3
        view = search_view(result, shown, project=self.root.name, request=key, latency_ms=latency)
        self.metrics.record("search_code", query.text, view, lambda: shown_files(result, view))
        return result, view

    def search(self, query: Query, *, known: SearchResult | None = None) -> SearchResult:
        """Return the result of a query for the current files: if a file with hits has changed, it is searched again."""
        from keyhole.core.search.query import choose_mode, quoted_parts

        mode = choose_mode(query)

        def attempt(engine: "Engine") -> tuple[SearchResult, set[str], set[str]]:
            with engine.gaps_explained():
                result = _find(engine, query, mode, known)
            paths = {hit.path for hit in result.hits}
            paths |= {use.path for hit in result.hits for use in hit.uses}
            return replace(result, masks=engine.store.masks_of(paths)), paths, set(result.changed)

        needs_trigrams = mode == Mode.REGEX or bool(quoted_parts(query.text))
        result, stale = self._fresh.answer(attempt, needs_trigrams=needs_trigrams)
        return _without(result, stale)

    def map_view(self, request: MapRequest) -> "View":
        """Return the map of a file: what its current content defines."""
        from keyhole.core.syntax.parser_process import shared_parser
        from keyhole.core.view.maps.map_view import map_view, parse_map_request

        shown = parse_map_request(self._with_budget(request))
        source = self.read(request.path)
        view = map_view(source, shared_parser().outline_of(source), shown, request.symbol)
        self.metrics.record("map_file", source.path, view, lambda: [ShownLines(source.path)])
        return view

    def read_view(self, request: ReadRequest) -> "View":
        """Return current lines of one or several files; with several, an error for one path takes its place."""
        from keyhole.core.syntax.parser_process import shared_parser
        from keyhole.core.view.reads.read_view import parse_read_request, read_view

        shown = parse_read_request(self._with_budget(request))
        paths = tuple(dict.fromkeys(request.paths))
        files = (self._paths.read_or_refuse(path) if len(paths) > 1 else self.read(path) for path in paths)
        view = read_view(files, shown, shared_parser().outline_of)
        self.metrics.record("read_file", " ".join(paths), view, lambda: view.shown)
        return view

    def bundle_view(self, request: BundleRequest) -> "ListView":
        """Return the current lines of a context bundle as one text; a part that can't be served says why."""
        from keyhole.core.syntax.parser_process import shared_parser
        from keyhole.core.view.bundles.bundle_parts import open_parts
        from keyhole.core.view.bundles.bundle_view import bundle_view, parse_bundle_request

        request = replace(request, max_tokens=request.max_tokens or request.bundle.max_tokens)
        request = self._with_budget(request)
        shown = parse_bundle_request(request)
        parts = list(open_parts(request.bundle.items, self._paths.read_or_refuse, shared_parser().outline_of))
        return bundle_view(parts, request, shown)

    def saved_bundle(self, path: str) -> Bundle:
        """Return the bundle in a file of the workspace."""
        from keyhole.core.view.bundles.bundle_file import parse_bundle

        source = self.read(path)
        return parse_bundle(source.text, source.path)

    @property
    def bundle_file(self) -> Path:
        """Where the explorer keeps what is marked; agents read it as a resource."""
        return self.folder / BUNDLE_FILE

    def marked_bundle(self) -> Bundle:
        """Return what is marked in the explorer; empty if nothing is."""
        from keyhole.core.view.bundles.bundle_file import parse_bundle

        try:
            return parse_bundle(self.bundle_file.read_text("utf-8"), BUNDLE_FILE)
        except FileNotFoundError:
            return Bundle()
        except (OSError, UnicodeDecodeError) as error:
            raise QueryError(f"what is marked can't be read: {error}") from error

    def keep_bundle(self, bundle: Bundle) -> None:
        """Keep what is marked in the explorer; only the user may read the file."""
        from keyhole.core.index.private_files import write_private_file
        from keyhole.core.view.bundles.bundle_file import bundle_toml

        try:
            write_private_file(self.bundle_file, bundle_toml(bundle))
        except OSError as error:
            text = f"what is marked can't be kept in {self.folder} ({error.strerror})"
            raise UnwritableStoreError(text, ErrorKind.UNUSABLE_FOLDER) from error

    def relation_view(self, request: "RelationRequest") -> "ListView":
        """Return the answer to a request about links, the tree or related code; the text is the same everywhere."""
        return self.relation_page(request)[1]

    def relation_page(self, request: "RelationRequest") -> "tuple[RelationResults, ListView]":
        """Return the results of such a request for the current files, and the answer written from them."""
        from keyhole.core.view.lists.relation_results import AnswerContext
        from keyhole.core.view.lists.relation_view import (
            find_relations,
            parse_relation_request,
            relation_view,
            shown_relations,
        )

        started = time.perf_counter()
        query = parse_relation_request(
            self._with_budget(request), partial(self.relative, must_exist=False), self._workspace.name
        )

        def attempt(engine: "Engine") -> "tuple[tuple[RelationResults, AnswerContext], set[str], set[str]]":
            with engine.gaps_explained():
                results = find_relations(engine, query)
            context = AnswerContext(self.root.name, engine.index_version(), started)
            return (results, context), set(results.paths), set(results.changed)

        (results, context), _ = self._fresh.answer(attempt)
        view = relation_view(results, query, context)
        self.metrics.record(query.tool, query.subject, view, lambda: shown_relations(results, view))
        return results, view

    def explain(self, request: SearchRequest, path: str, line: int | None = None) -> Explanation:
        """Explain the rank of a file in the answer to a search, or why it is missing from it."""
        from keyhole.core.search.explain import explain
        from keyhole.core.view.lists.search_view import masks_of_explanation, parse_search_request

        query, _ = parse_search_request(request, top_k=self.settings.search.top_k, mode=self.settings.search.mode)
        query = self._with_changes(query, request)
        relative = self.relative(path, must_exist=False)
        there = self._paths.find(relative)

        def attempt(engine: "Engine") -> tuple[Explanation, set[str], set[str]]:
            explanation = explain(engine, query, there, relative, line)
            shown = masks_of_explanation(explanation, engine.store.masks_of([relative]).get(relative, ()))
            # The path may be any text that a caller sent.
            named = replace(explanation, path=mask_text(explanation.path), masked=shown)
            return named, {explanation.hit.path} if explanation.hit else set(), set()

        explanation, stale = self._fresh.answer(attempt)
        if not stale.paths:
            return explanation
        return Explanation(explanation.path, f"not known: {Unshown(1, stale.reason).why}")

    def status(self) -> Status:
        """Return what the index contains, and how many files have changed since."""
        from keyhole.core.index.index_status import read_status

        # Looking for the index first gives a clear error if the folder can't be read.
        self.has_index()
        workspace = self._workspace
        status = read_status(self.root, workspace.home, max_bytes=workspace.max_bytes, secrets=workspace.secrets)
        problem = self._models.find_problem() if status.generation else None
        return replace(status, model_problem=str(problem or ""))

    def has_index(self) -> bool:
        """Return whether there is an index to search."""
        return self._workspace.home.identity() is not None

    def inventory(self) -> Inventory:
        """Return the indexed files, the skipped paths and the kinds of symbols."""
        from keyhole.core.index.index_status import read_inventory

        with self.engines.lend() as engine, engine.store.snapshot():
            return read_inventory(engine.store)

    def symbol_places(self) -> "list[SymbolPlace]":
        """Return every symbol of the index with its place."""
        with self.engines.lend() as engine, engine.store.snapshot():
            return engine.store.symbol_places()

    def sample_queries(self) -> "SampleQueries":
        """Return queries to try, made from the definitions in the index."""
        from keyhole.core.search.sample_queries import sample_queries
        from keyhole.core.syntax.languages import LANGUAGES

        code = [language.id for language in LANGUAGES if language.has_definitions]
        with self.engines.lend() as engine, engine.store.snapshot():
            return sample_queries(engine.store.largest_symbols(code, _SAMPLE_SYMBOLS))

    def token_costs(self, on_progress: Callable[[int, int], None] = lambda *_: None) -> dict[str, TokenCost]:
        """Return what it costs to read and to map each indexed file; only changed files are measured again."""
        from keyhole.core.workspace.token_costs import CostMeter

        meter = CostMeter(self.root, self.folder, self.read, self._workspace.secrets.fingerprint)
        return meter.measure([file.path for file in self.inventory().files], on_progress)

    def clear(self) -> bool:
        """Delete the index and the journal; return False if neither exists."""
        from keyhole.core.workspace.clearing import clear_folder

        # Looking for the index first gives a clear error if the folder can't be read.
        self.has_index()
        self.close()
        was_elsewhere = self._workspace.home.delete_elsewhere()
        return clear_folder(self.folder) or was_elsewhere

    def clear_all(self) -> "Cleared":
        """Delete the indexes and journals of all workspaces, and the content store."""
        from keyhole.core.workspace.clearing import clear_cache

        self.close()
        return clear_cache(self.settings.cache_dir)

    def content_size(self) -> StoreSize:
        """Return how large the content store is."""
        from keyhole.core.index.content_store import ContentPlace, ContentStore
        from keyhole.core.index.location import store_folder

        settings = self.settings
        return ContentStore(ContentPlace(store_folder(settings.cache_dir), settings.content_store.max_bytes)).size()

    def journal(self) -> "Journal | None":
        """Open the journal for writing the calls of agents; return None if the settings disable it."""
        return open_journal(self.folder, self.settings)

    def journal_reader(self) -> "JournalReader":
        """Open the journal for reading."""
        from keyhole.core.journal.reader import JournalReader

        return JournalReader(self.folder)

    def read(self, path: str) -> SourceFile:
        """Read the current content of a file, even if it is too large to be indexed or is a picture."""
        return self._paths.read(path)

    def symbols_of(self, source: SourceFile) -> "list[SymbolEntry]":
        """Return the definitions of a file in order, if the index has them for this content."""
        with suppress(StoreError), self.engines.lend() as engine, engine.store.snapshot():
            if engine.store.digests([source.path]).get(source.path) == source.digest:
                return engine.store.symbols_of_file(source.path)
        return []

    def sample(self) -> str | None:
        """Return a file that makes a good example of a map: not too long, and a test only if there is nothing else."""
        from keyhole.core.roles.file_roles import role_by_path
        from keyhole.core.syntax.languages import detect_language
        from keyhole.core.types.choices import Role

        sizes = {
            candidate.path: candidate.size
            for candidate in scan(self.root, max_bytes=_SAMPLE_BYTES, secrets=self._workspace.secrets).candidates
            if detect_language(candidate.path, "").has_definitions
        }
        for path in sorted(sizes, key=lambda path: (role_by_path(path) != Role.SOURCE, -sizes[path], path)):
            with suppress(PathError):
                return self.read(path).path
        return None

    def relative(self, path: str, *, must_exist: bool = True) -> str:
        """Return a path relative to the root for a path from a caller, or raise PathError."""
        return self._paths.relative(path, must_exist=must_exist)

    def close(self) -> None:
        """Close the index, if it is open."""
        self.engines.close()
        self._workspace.home.close()

    def _with_budget(self, request: AnyRequest) -> AnyRequest:
        """Return a request with the budget of the settings, if it has none."""
        budget = self.settings.view.max_tokens
        return replace(request, max_tokens=budget) if request.max_tokens is None and budget else request

    def _with_changes(self, query: Query, request: SearchRequest) -> Query:
        """Return a query that admits only changed files, or only others, if the request asks for that."""
        if request.changed is None:
            return query
        changes = self.git.changes
        if not changes.is_known:
            raise QueryError(f"git doesn't know which files changed: {changes.problem}")
        return replace(query, changed=changes.as_filter(is_wanted=request.changed))

    def _is_indexed(self, path: str) -> bool:
        """Return whether there is an index and it contains the file."""
        with suppress(StoreError), self.engines.lend() as engine:
            return engine.store.file_id(path) is not None
        return False

    def _indexed_paths(self) -> list[str]:
        """Return the paths of all indexed files; none without an index."""
        with suppress(StoreError), self.engines.lend() as engine:
            return engine.store.paths()
        return []


def open_journal(folder: Path, settings: Settings) -> "Journal | None":
    """Open the journal in a folder for writing; return None if the settings disable it."""
    from keyhole.core.journal.writer import Journal

    limits = settings.journal
    return Journal(folder, max_bytes=limits.max_bytes, max_seconds=limits.max_days * 86_400) if limits.enabled else None


def _find(engine: "Engine", query: Query, mode: Mode, known: SearchResult | None) -> SearchResult:
    """Search, unless an earlier result contains the answer and the index has not changed since."""
    found = known.answer_to(query) if known and known.index == engine.index_version() else None
    return found or engine.search(query, mode)


def _without(result: SearchResult, stale: StaleFiles) -> SearchResult:
    """Leave out hits in files that differ from the index."""
    fresh = tuple(hit for hit in result.hits if hit.path not in stale.paths)
    count = len(result.hits) - len(fresh)
    if not count:
        return result
    notes, unshown = result.notes, Unshown(count, stale.reason)
    # If no hit is left, the banner says why.
    if fresh:
        text = f"{count_of(count, 'result')} of this page not shown: {unshown.why}"
        notes = (*notes, Note(NoteKind.FILES_CHANGING, text))
    return replace(result, hits=fresh, unshown=unshown, notes=notes)
