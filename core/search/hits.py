"""Turns candidates into hits: each gets its source, and the label of the definition that fits the query best."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TypedDict

from keyhole.core.files.text_source import TextSource
from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import SymbolLabel
from keyhole.core.search.excerpts import Lines, MatchedLines, excerpt
from keyhole.core.search.features import ChunkCandidate
from keyhole.core.search.indexed_texts import IndexedTexts
from keyhole.core.search.passages import ChunkLines, FileLines, FoundStems, QueryStems, stems_of
from keyhole.core.search.query import letters_of
from keyhole.core.search.wanted import Wanted
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.search_results import Hit, Passage, Signal, Stretch
from keyhole.core.types.syntax import HOLDS_METHODS

_MAX_KEY_METHODS = 3
# A quoted text on a line of a definition says more than all words.
_QUOTED_WORTH = 20
# How comments start in most languages.
_COMMENTS = ("#", "//", "/*", "*", "--", ";", "%")
_CONTAINERS = HOLDS_METHODS | {"module", "namespace", "package"}
# A line of code with fewer letters, such as `else:`, says nothing.
_FEWEST_LETTERS = 8
# A line that describes a definition says less than one of its code: Purpose shows the description.
_DOC_WORTH = 0.5
# The code that a comment is about is at most so many lines below it.
_MOST_BELOW = 4
# A word that the index does not count.
_UNKNOWN_WORTH = 0.01


class LabelledHits(NamedTuple):
    """Hits in the order of their candidates, and the files that changed since they were indexed."""

    hits: tuple[Hit, ...]
    changed: frozenset[str]


class PageParts(NamedTuple):
    """Candidates that are not shown like the others.

    `further` are the chunks that are only rows below another hit of their file, and `answer`, which gets an excerpt, is
    the only good candidate, if there is just one.
    """

    further: Collection[int] = ()
    answer: ChunkCandidate | None = None


_NOTHING_SPECIAL = PageParts()


def label_hits(
    store: SearchStore,
    files: TextSource,
    candidates: list[ChunkCandidate],
    wanted: Wanted,
    parts: PageParts = _NOTHING_SPECIAL,
) -> LabelledHits:
    """Make hits from candidates."""
    symbols = _symbols_in(store, candidates)
    sources, changed = _load_sources(store, files, candidates)
    asked = _Asked(wanted, QueryStems(wanted.stems, wanted.texts))
    hits = []
    for candidate in candidates:
        found, chunk_id = symbols.get(candidate.chunk_id, []), candidate.chunk_id
        labelling = _Labelling(store, candidate, found, sources.get(chunk_id), asked)
        hit = labelling.further_hit() if chunk_id in parts.further else labelling.hit()
        hits.append(replace(hit, excerpt=labelling.excerpt()) if candidate is parts.answer else hit)
    return LabelledHits(tuple(hits), changed)


class _Source(NamedTuple):
    """The file of a chunk, and where the chunk is in it."""

    file: FileLines
    chunk: ChunkLines

    @property
    def text(self) -> str:
        """The chunk."""
        return self.file.text[self.chunk.start : self.chunk.end]


class _Asked(NamedTuple):
    """What the query asks for, and how to find it in texts."""

    wanted: Wanted
    stems: QueryStems


class _HitFacts(TypedDict):
    """What the hits of a page have in common with their further hits."""

    path: str
    language: str
    start_line: int
    end_line: int
    chunk_id: int
    score: float
    kind: str
    name: str
    line: int
    signature: str
    definitions: str
    signals: tuple[Signal, ...]
    points: float
    parent: str
    named_lines: tuple[int, int]
    is_similar: bool


class _Labelling:
    """Finds the definition that a chunk is shown as, and the line in it that matches best."""

    def __init__(
        self,
        store: SearchStore,
        candidate: ChunkCandidate,
        symbols: list[SymbolLabel],
        source: _Source | None,
        asked: _Asked,
    ) -> None:
        self._store = store
        self._candidate = candidate
        self._symbols = symbols
        self._source = source
        self._wanted, self._stems = asked
        self._found: FoundStems = self._stems.in_lines(source.text, candidate.start_line) if source else {}
        self._owners = {line: self._owner_of(line) for line in self._found} if symbols else {}
        self._label = self._choose()

    def hit(self) -> Hit:
        """Return the candidate as a hit with its source."""
        label, best = self._label, self._marked_line
        starts_here = label is not None and self._starts_here(label)
        return Hit(
            **self._facts(),
            doc=label.doc if label and starts_here else "",
            returns=label.returns if label and starts_here else "",
            key_methods=self._key_methods() if starts_here else (),
            passage=self._passage(),
            best_line=self._stretch_of(best),
            commented=self._stretch_of(self._code_below(best)),
            best_column=self._column_of(best),
        )

    def excerpt(self) -> Stretch | None:
        """Return the lines that match best."""
        if self._source is None:
            return None
        file, best, chunk = self._source.file, self._best_line, self._source.chunk
        whole_chunk = Lines(chunk.start_line, chunk.end_line)
        # A class may be named, while a method of it matches.
        owner = self._owners.get(best) or self._label
        if owner is None:
            return excerpt(file, whole_chunk, whole_chunk, MatchedLines(self._found, self._wanted.worths, frozenset()))
        first = owner.start_line if owner != self._label else file.start_of_body(owner.name_line, owner.end_line)
        if first == owner.name_line == owner.end_line:
            # The row has this line already.
            return None
        shown = self._stems.in_text(f"{owner.signature} {owner.parent}")
        # The best line may be in the comment above a definition.
        definition = Lines(best if 0 < best < owner.start_line else first, owner.end_line)
        return excerpt(file, definition, whole_chunk, MatchedLines(self._found, self._wanted.worths, shown))

    def further_hit(self) -> Hit:
        """Return the candidate as a row below another hit, with only what such a row shows."""
        best = 0 if self._label and self._label.signature else self._marked_line
        return Hit(
            **self._facts(),
            doc="",
            returns="",
            best_line=self._stretch_of(best),
            best_column=self._column_of(best),
        )

    def _facts(self) -> _HitFacts:
        """Return what every hit has."""
        candidate, label = self._candidate, self._label
        return {
            "path": candidate.path,
            "language": candidate.language,
            "start_line": candidate.start_line,
            "end_line": candidate.end_line,
            "chunk_id": candidate.chunk_id,
            "score": round(candidate.relative_score, 4),
            "kind": label.kind if label else "code" if BY_ID[candidate.language].is_code else "section",
            "name": label.name if label else "",
            "line": label.name_line if label and self._starts_here(label) else self._line_to_show(),
            "signature": label.signature if label else "",
            "definitions": candidate.definitions,
            "signals": tuple(Signal(*signal) for signal in candidate.shares()),
            "points": candidate.score,
            "parent": label.parent if label else "",
            "named_lines": (label.start_line, label.end_line) if label else (0, 0),
            "is_similar": candidate.is_similar,
        }

    def _choose(self) -> SymbolLabel | None:
        """Return the definition that fits the query best: by its name, and by the words on its own lines."""
        if not self._symbols:
            return None
        own = self._own_stems()
        fits = [self._fit(symbol, own.get(symbol.symbol_id, frozenset())) for symbol in self._symbols]
        best_fit = max(fits)
        best = self._symbols[fits.index(best_fit)]
        if any(best_fit[:3]):
            return best
        # The words are outside of all definitions: the line with the best match says more.
        if self._found:
            return None
        return best if self._starts_here(best) else self._innermost(self._candidate.start_line)

    def _fit(self, symbol: SymbolLabel, own: frozenset[str]) -> tuple[bool, bool, float, float, bool]:
        starts_here = self._starts_here(symbol)
        name = stems_of(symbol.name) if starts_here else frozenset[str]()
        if named := name & self._wanted.stems:
            own = own | (stems_of(symbol.parent) & self._wanted.stems)
        return (
            symbol.symbol_id == self._candidate.symbol_id,
            starts_here and letters_of(symbol.name) in self._wanted.names,
            # A word in the name says more than one on a line.
            len(named) + len(own - name) / 2 + _QUOTED_WORTH * self._stems.count_quoted(own),
            len(named) / len(name) if named else 0.0,
            starts_here,
        )

    def _own_stems(self) -> dict[int, frozenset[str]]:
        """Return the stems on the lines of each definition that are in no definition inside it."""
        own: dict[int, frozenset[str]] = {}
        for line, stems in self._found.items():
            if symbol := self._owners[line]:
                own[symbol.symbol_id] = own.get(symbol.symbol_id, frozenset()) | stems
        return own

    def _owner_of(self, line: int) -> SymbolLabel | None:
        """Return the definition that a line is about: the innermost around it, or the one that a comment precedes."""
        owner = self._innermost(line)
        if (owner and owner.kind not in _CONTAINERS) or not self._is_comment(line):
            return owner
        last = owner.end_line if owner else self._candidate.end_line
        following = next((symbol for symbol in self._symbols if line < symbol.start_line <= last), None)
        return following or owner

    def _is_comment(self, line: int) -> bool:
        return self._source is not None and self._source.file.line(line).lstrip().startswith(_COMMENTS)

    def _innermost(self, line: int) -> SymbolLabel | None:
        """Return the innermost definition with a line; definitions are in the order of the file."""
        for symbol in reversed(self._symbols):
            if symbol.start_line <= line <= symbol.end_line:
                return symbol
        return None

    def _starts_here(self, symbol: SymbolLabel) -> bool:
        return self._candidate.start_line <= symbol.name_line <= self._candidate.end_line

    @cached_property
    def _best_line(self) -> int:
        """Return the line with the most words that the label does not contain; 0 if no line contains one."""
        label, missing = self._label, self._wanted.stems
        lines = self._found
        if label:
            described = f"{label.signature} {label.parent} {label.doc if self._starts_here(label) else ''}"
            missing = missing - self._stems.in_text(described)
            declared = range(label.start_line, label.name_line + 1)
            lines = {n: stems for n, stems in lines.items() if n not in declared and self._is_about(n, label)}
        described_on = self._doc_lines()
        worth = {
            n: (self._stems.count_quoted(found), self._worth(found & missing, is_doc=n in described_on))
            for n, found in lines.items()
        }
        most = max(worth.values(), default=(0, 0.0))
        if most == (0, 0.0):
            return 0
        best = [n for n in lines if worth[n] == most]
        return max(best, key=lambda n: (self._is_telling(n), len(lines[n]), -n))

    def _doc_lines(self) -> range:
        """Return the lines that describe the named definition: the comment above it, or the docstring in it."""
        label = self._label
        if label is None or self._source is None or not self._starts_here(label):
            return range(0)
        return range(self._candidate.start_line, self._source.file.start_of_body(label.name_line, label.end_line))

    def _worth(self, stems: frozenset[str], *, is_doc: bool) -> float:
        """Return how much the words on a line count together."""
        total = sum(self._wanted.worths.get(one, _UNKNOWN_WORTH) for one in stems)
        return round(total * (_DOC_WORTH if is_doc else 1), 6)

    def _code_below(self, line: int) -> int:
        """Return the line of code that a comment is about; 0 if the line is no comment, or the code is far below."""
        if not line or not self._is_comment(line):
            return 0
        following = range(line + 1, line + 1 + _MOST_BELOW)
        return next((n for n in following if not self._is_comment(n) and self._is_telling(n)), 0)

    def _is_telling(self, line: int) -> bool:
        text = self._source.file.line(line) if self._source else ""
        return sum(map(str.isalpha, text)) >= _FEWEST_LETTERS

    def _is_about(self, line: int, label: SymbolLabel) -> bool:
        return label.start_line <= line <= label.end_line or self._owners[line] == label

    def _line_to_show(self) -> int:
        """Return the line that shows best what a chunk is about that defines nothing."""
        if self._best_line or self._source is None:
            return self._best_line or self._candidate.start_line
        return next(iter(self._found), 0) or self._first_telling_line(self._source.text)

    def _first_telling_line(self, text: str) -> int:
        lines = dict(enumerate(text.split("\n"), self._candidate.start_line))
        telling = (n for n, line in lines.items() if sum(map(str.isalpha, line)) >= _FEWEST_LETTERS)
        return next(telling, 0) or next((n for n, line in lines.items() if line.strip()), self._candidate.start_line)

    def _key_methods(self) -> tuple[str, ...]:
        label = self._label
        if label is None or label.kind not in HOLDS_METHODS:
            return ()
        return tuple(self._store.methods_of(self._candidate.file_id, label, _MAX_KEY_METHODS))

    @property
    def _marked_line(self) -> int:
        """The line that a hit is shown with, below what it names or in its place; 0 if there is none."""
        return self._best_line if self._label else self._line_to_show()

    def _stretch_of(self, line: int) -> Stretch | None:
        return Stretch(line, self._source.file.line(line)) if self._source and line else None

    def _passage(self) -> Passage | None:
        if self._source is None:
            return None
        label = self._label
        named_lines = (label.start_line, label.end_line) if label else (0, 0)
        name_line = label.name_line if label else 0
        matches = self._stems.best_lines(self._found)
        return self._source.file.passage(self._source.chunk, named_lines, name_line, matches, self._marked_line)

    def _column_of(self, line: int) -> int:
        """Return where the first match on a line starts, counted from 0."""
        text = self._source.file.line(line) if self._source and line else ""
        parts = [part[1:-1] if part.startswith('"') else part for part in self._found.get(line, ())]
        places = [place for part in parts if (place := text.lower().find(part.lower())) >= 0]
        return min(places, default=0)


def _symbols_in(store: SearchStore, candidates: Iterable[ChunkCandidate]) -> dict[int, list[SymbolLabel]]:
    """Load the symbols with lines in the chunks of a page."""
    symbols: dict[int, list[SymbolLabel]] = {}
    for symbol in store.symbols_in_chunks({candidate.chunk_id for candidate in candidates}):
        symbols.setdefault(symbol.chunk_id, []).append(symbol)
    return symbols


def _load_sources(
    store: SearchStore, files: TextSource, candidates: Iterable[ChunkCandidate]
) -> tuple[Mapping[int, _Source], frozenset[str]]:
    """Read the files of chunks; return also the paths of those that changed since they were indexed."""
    wanted = {candidate.chunk_id: candidate for candidate in candidates}
    sources: dict[int, _Source] = {}
    changed: set[str] = set()
    by_file = {path: list(chunks) for path, chunks in groupby(store.chunk_sources(wanted), attrgetter("path"))}
    texts = IndexedTexts(store, files, by_file.keys())
    for path, chunks in by_file.items():
        text = texts.read(path)
        if text is None:
            changed.add(path)
            continue
        lines = FileLines(text)
        for chunk_id, _, _, start, length in chunks:
            candidate = wanted[chunk_id]
            chunk = ChunkLines(start, start + length, candidate.start_line, candidate.end_line)
            sources[chunk_id] = _Source(lines, chunk)
    return sources, frozenset(changed)
