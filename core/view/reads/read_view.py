"""Lines of files, within one budget that several files share fairly."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from keyhole.core.errors import QueryError
from keyhole.core.masking import MASK_START
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.calls import ShownLines
from keyhole.core.types.missing import Refusal
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline
from keyhole.core.types.view_requests import ReadRequest
from keyhole.core.view.budget.limits import check_least, clamp_limit
from keyhole.core.view.budget.sizes import Budget, answer_budget, largest, measure
from keyhole.core.view.maps.map_view import map_view
from keyhole.core.view.maps.map_writer import MapShown
from keyhole.core.view.reads.line_window import Piece, Position, Window, cut_window, open_window
from keyhole.core.view.reads.read_writer import MOST_PATHS, FileSection, FileSections, OpenedFile, ReadShown, ReadWriter
from keyhole.core.view.writing import WIDEST, View, finish

READ_BYTES = 100_000
# A file over either limit is large: its first page comes with its map, which takes part of the budget.
LARGE_LINES, LARGE_BYTES = 2_000, 50_000
_MAP_PART = 4
# Parsing more than this takes a second or more, and a read should be quick.
_LARGEST_PARSED = 2_000_000
_MAP_HEADING = "Map of this file, from map_file (its parameters are map_file's):"
_NO_MAP = "Use map_file(path) for a map of this file.\n"

# Enough of a digest to tell the contents of one file apart.
_VERSION_LENGTH = 8

Files = Sequence[OpenedFile | Refusal]


@dataclass(frozen=True, slots=True)
class ReadView(View):
    """A read, and which lines of which files it shows."""

    shown: tuple[ShownLines, ...]


def parse_read_request(request: ReadRequest) -> ReadShown:
    """Check a request against the limits."""
    check_least("start_line", request.start_line, 1)
    check_least("start_column", request.start_column, 1)
    if not 1 <= len(request.paths) <= MOST_PATHS:
        raise QueryError(f"paths must name 1 to {MOST_PATHS} files, not {len(request.paths):,}")
    lines, line_notes = clamp_limit("read_file", request.max_lines, name="max_lines")
    budget, token_notes = answer_budget(request.max_tokens, READ_BYTES)
    start = Position(request.start_line, request.start_column)
    return ReadShown(start, lines, request.format, budget, (*line_notes, *token_notes), request.line_numbers)


def read_view(
    files: Iterable[SourceFile | Refusal], shown: ReadShown, outline_of: Callable[[SourceFile], Outline]
) -> "ReadView":
    """Return windows into files; each of several files is released before the next is read."""
    opened: list[OpenedFile | Refusal] = []
    only: SourceFile | None = None
    for file in files:
        opened.append(file if isinstance(file, Refusal) else _open(file, shown))
        only = file if isinstance(file, SourceFile) and len(opened) == 1 else None
    writer = ReadWriter(shown, len(opened))
    sections = _Sharing(writer, shown.budget).share(opened)
    if only and _wants_map(sections[0]):
        sections = _Sharing(writer, shown.budget).share(opened, _map_text(only, outline_of, shown.budget))
    text, info = finish(writer.draft(sections), partial(writer.truncation, sections))
    lines = tuple(_shown_lines(section) for section in sections if isinstance(section, FileSection))
    return ReadView(text, writer.banner(sections), writer.completeness(sections), info, lines)


def _shown_lines(section: FileSection) -> ShownLines:
    file, piece = section.file, section.piece
    return ShownLines(file.path, piece.window.start.line, piece.end, file.digest[:_VERSION_LENGTH])


class _Sharing:
    """Fits pieces of files into a budget."""

    def __init__(self, writer: ReadWriter, budget: Budget) -> None:
        self._writer = writer
        self._budget = budget

    def share(self, files: Files, map_text: str = "") -> FileSections:
        """Give each file an equal share; what small files don't use goes to the larger ones."""
        kept = files[: largest(1, len(files), lambda count: self._leaves_room(files[:count]))]
        frame = self._writer.written_map(map_text) if map_text else ""
        room = self._budget.less(measure(self._frame(kept))).less(measure(frame))
        sections: list[FileSection | Refusal] = [
            file if isinstance(file, Refusal) else FileSection(file, _widest(file.window)) for file in kept
        ]
        waiting = [(sum(map(len, file.window.lines)), number, file) for number, file in _opened(kept)]
        waiting.sort(key=lambda entry: entry[:2])
        for left, (_, number, file) in zip(range(len(waiting), 0, -1), waiting, strict=True):
            piece = cut_window(file.window, room.part(left), self._writer.style)
            sections[number] = FileSection(file, piece, map_text)
            if left > 1:
                room = room.less(measure(self._writer.written(piece)))
        return sections

    def _leaves_room(self, files: Files) -> bool:
        return self._budget.part(2).admits(measure(self._frame(files)))

    def _frame(self, files: Files) -> str:
        """Return everything but the text of the files, at its longest."""
        sections = [file if isinstance(file, Refusal) else FileSection(file, _widest(file.window)) for file in files]
        return self._writer.draft(sections, is_widest=True).with_info(self._writer.truncation(sections, WIDEST))


def _opened(files: Files) -> Iterable[tuple[int, OpenedFile]]:
    return ((number, file) for number, file in enumerate(files) if isinstance(file, OpenedFile))


def _open(source: SourceFile, shown: ReadShown) -> OpenedFile:
    language = detect_language(source.path, source.text).id
    window = open_window(source.text, shown.start, shown.max_lines)
    remarks = [] if source.encoding.startswith("utf-8") else [source.encoding]
    if "\r\n" in "".join(window.lines):
        remarks.append("CRLF line endings")
    if source.text and not source.text.endswith("\n"):
        remarks.append("no final newline")
    facts = (source.path, source.size, source.encoding, language, window, tuple(remarks), source.masked, source.digest)
    return OpenedFile(*facts)


def _widest(window: Window) -> Piece:
    """Return the piece whose description takes the most room."""
    if not window.lines:
        return Piece(window, "", 0, window.start.line)
    line, column = window.total, max(window.columns, window.start.column)
    wide = replace(window, start=Position(line, column))
    return Piece(wide, "", 1, line, Position(line, column + 1), "character_limit", column)


def _wants_map(section: FileSection | Refusal) -> bool:
    """Return whether this is the first of several pages of a large file."""
    if isinstance(section, Refusal) or section.piece.next is None:
        return False
    window = section.file.window
    return window.start == Position() and (window.total > LARGE_LINES or section.file.size > LARGE_BYTES)


def _map_text(source: SourceFile, outline_of: Callable[[SourceFile], Outline], budget: Budget) -> str:
    """Return a map that leaves most of the budget to the text, or say how to get one."""
    if source.size > _LARGEST_PARSED:
        return _NO_MAP
    outline, part = outline_of(source), budget.part(_MAP_PART)
    if not outline.symbols:
        return ""
    text = map_view(source, outline, MapShown(budget=part)).text
    # The first line speaks of the lines that are shown, so what is masked in a map is left to map_file.
    is_shown = part.admits(measure(text)) and MASK_START not in text
    return f"{_MAP_HEADING}\n{text}" if is_shown else _NO_MAP
