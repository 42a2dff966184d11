"""Search by pattern: every matching line is a result, with the definition around it."""

from collections import defaultdict
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter

from keyhole.core.files.text_source import TextSource
from keyhole.core.index.protocols import IndexStore
from keyhole.core.index.rows import ChunkPlace, ChunkScope, SymbolEntry
from keyhole.core.search.owners import owners_of, qualified_name
from keyhole.core.search.passages import FileLines
from keyhole.core.search.regex import FileMatches, LineMatch, chunk_of, find_matches
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.choices import Output, Role
from keyhole.core.types.search_results import Hit, MatchCount, Owner, Signal
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.view_requests import Query

_FIRST = (Role.SOURCE, Role.CONFIG)


class LineSearch:
    """All matching lines of a pattern: files of the project's own source first, then tests and others, by path."""

    def __init__(self, store: IndexStore, files: TextSource, pattern: str, scope: ChunkScope) -> None:
        self._store = store
        self._reader = files
        # Files that changed since they were indexed.
        self.changed: set[str] = set()
        found = list(find_matches(store, files, pattern, scope))
        roles = store.roles_of(file.path for file in found)
        self._files = sorted(found, key=lambda file: (roles[file.path] not in _FIRST, file.path))

    @property
    def total(self) -> MatchCount:
        """The number of matching lines, and of files with one."""
        return MatchCount("", sum(len(file.lines) for file in self._files), len(self._files))

    def counts(self, output: Output) -> list[MatchCount]:
        """Count the lines of each file or folder, most first."""
        totals: dict[str, list[int]] = defaultdict(list)
        for file in self._files:
            totals[file.path if output == Output.FILES else _folder_of(file.path)].append(len(file.lines))
        counts = [MatchCount(path, sum(lines), len(lines)) for path, lines in totals.items()]
        return sorted(counts, key=lambda count: (-count.lines, count.path))

    def page(self, query: Query) -> tuple[Hit, ...]:
        """Return a page of lines."""
        every = ((file, line) for file in self._files for line in file.lines)
        hits: list[Hit] = []
        for file, pairs in groupby(islice(every, query.offset, query.offset + query.limit), key=itemgetter(0)):
            hits += self._hits(file, [line for _, line in pairs])
        return tuple(hits)

    def place(self, path: str, line: int | None) -> tuple[int, Hit] | None:
        """Return the rank of a line, or of the first matching line of a file, and its hit."""
        before = 0
        for file in self._files:
            if file.path == path:
                wanted = [(number, found) for number, found in enumerate(file.lines, 1) if line in (None, found.line)]
                return (before + wanted[0][0], self._hits(file, [wanted[0][1]])[0]) if wanted else None
            before += len(file.lines)
        return None

    def _hits(self, file: FileMatches, lines: list[LineMatch]) -> list[Hit]:
        chunks = self._store.chunks_of_file(file.file_id)
        of_line = {line: chunk_of(chunks, line.position).chunk_id for line in lines}
        places = {place.chunk_id: place for place in self._store.chunk_places(of_line.values())}
        owners = owners_of(self._store.symbols_of_file(file.path), [line.line for line in lines])
        hits = [_hit(places[of_line[line]], line, owners.get(line.line)) for line in lines]
        return self._with_passages(file, hits)

    def _with_passages(self, file: FileMatches, hits: list[Hit]) -> list[Hit]:
        source = self._reader.read(file.path)
        if not isinstance(source, SourceFile) or source.digest != file.digest:
            self.changed.add(file.path)
            return hits
        lines = FileLines(source.text)
        return [replace(hit, passage=lines.around(hit.line, hit.owner)) for hit in hits]


def _hit(place: ChunkPlace, match: LineMatch, owner: SymbolEntry | None) -> Hit:
    unnamed = "code" if BY_ID[place.language].is_code else "section"
    return Hit(
        path=place.path,
        language=place.language,
        start_line=match.line,
        end_line=match.line,
        chunk_id=place.chunk_id,
        # All lines match equally well.
        score=1.0,
        kind=owner.kind if owner else unnamed,
        name=owner.name if owner else "",
        line=match.line,
        signature=owner.signature if owner else "",
        parent=owner.parent if owner else "",
        doc="",
        returns="",
        definitions=place.definitions,
        signals=(Signal("matches", 1.0, f"column {match.column:,}"),),
        points=1.0,
        column=match.column,
        owner=Owner(qualified_name(owner), owner.start_line, owner.end_line) if owner else None,
    )


def _folder_of(path: str) -> str:
    return f"{path.rpartition('/')[0]}/" if "/" in path else "./"
