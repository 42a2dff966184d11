"""Pieces of files as text, with a banner and a heading for each file, or the same facts as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.core.masking import Mask
from keyhole.core.notes import Note
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.choices import Format
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.missing import Refusal
from keyhole.core.view.budget.sizes import Budget, Size, TruncationInfo
from keyhole.core.view.masked import MaskedPlace, longest_first, masked_facts, masked_sentence, masks_in_lines
from keyhole.core.view.reads.line_window import Piece, Position, Window
from keyhole.core.view.reads.source_style import SourceStyle
from keyhole.core.view.text import count_of, human_size, json_line, name_text
from keyhole.core.view.writing import Draft, Page, count_facts, head_text, json_answer, note_texts

# The most paths that one request may name.
MOST_PATHS = 50
# An emoji costs more than three tokens, so paths have to be short even in characters.
_LONGEST_PATH, _LONGEST_PATH_WHEN_NARROW = 200, 80
_ROOM_FOR_LONG_PATH = 4_000
_LONGEST_MESSAGE = 160


@dataclass(frozen=True, slots=True)
class ReadShown:
    """Which lines to show, and how."""

    start: Position
    max_lines: int
    format: Format
    budget: Budget
    notes: tuple[Note, ...] = ()
    line_numbers: bool = True


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file with its window, and without the rest of its text."""

    path: str
    size: int
    encoding: str
    language: str
    window: Window
    remarks: tuple[str, ...]
    masked: tuple[Mask, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class FileSection:
    """What is shown of one file."""

    file: OpenedFile
    piece: Piece
    map: str = ""


FileSections = Sequence[FileSection | Refusal]


class ReadWriter:
    """Writes sections; `count` is how many paths were asked for."""

    def __init__(self, shown: ReadShown, count: int) -> None:
        self._shown = shown
        self._count = count
        self._notes = note_texts(*shown.notes)
        self._is_json = shown.format == Format.JSON
        self.style = SourceStyle(shown.format, line_numbers=shown.line_numbers)
        has_room = count == 1 and shown.budget.tokens >= _ROOM_FOR_LONG_PATH
        self._path_width = _LONGEST_PATH if has_room else _LONGEST_PATH_WHEN_NARROW

    def draft(self, sections: FileSections, *, is_widest: bool = False) -> Draft:
        """Return the whole view, as text or JSON; `is_widest` means with as much as can be said about masks."""
        masked = self._masked_at_most(sections) if is_widest else self._masked(sections)
        banner = self._lines_banner(sections) + masked_sentence(masked, is_one_file=self._count == 1)
        if not self._is_json:
            return Draft(head_text(banner, self._notes) + "".join(map(self._text, sections)))
        page = Page(0, MOST_PATHS, self._count)
        return json_answer(
            banner,
            list(map(self._json, sections)),
            lambda info: {
                **count_facts(page, len(sections), info),
                "notes": self._notes,
                **masked_facts(masked, self._shown.budget),
            },
        )

    def written(self, piece: Piece) -> str:
        """Return the text of a piece as the view writes it."""
        return self.style.write(piece.text, piece.window.start.line)

    def written_map(self, text: str) -> str:
        """Return a map as the view writes it."""
        return json_line(text) if self._is_json else text

    def completeness(self, sections: FileSections) -> Completeness:
        """Return what the read lacks. A window that is not the whole file is partial, even if asked for exactly."""
        pieces = _pieces(sections)
        if len(sections) < self._count or any(piece.reason and not piece.end_column for piece in pieces):
            return Completeness.LEFT_OUT
        if any(piece.end_column for piece in pieces):
            return Completeness.CLIPPED
        return Completeness.PARTIAL if any(map(_is_partial, pieces)) else Completeness.COMPLETE

    def truncation(self, sections: FileSections, size: Size) -> TruncationInfo:
        """Return what the budget did."""
        pieces = _pieces(sections)
        following = pieces[0].next if self._count == 1 and pieces else None
        return TruncationInfo(
            reason=self._reason(sections),
            original_count=sum(piece.window.asked for piece in pieces),
            returned_count=sum(piece.returned for piece in pieces),
            estimated_chars=size.chars,
            limit_chars=self._shown.budget.limit_chars,
            estimated_tokens=size.tokens,
            limit_tokens=self._shown.budget.tokens,
            detail_requested="lines",
            detail_applied="columns" if any(piece.end_column for piece in pieces) else "lines",
            next=str(following or ""),
        )

    def banner(self, sections: FileSections) -> str:
        """Return the line at the top."""
        return self._lines_banner(sections) + masked_sentence(self._masked(sections), is_one_file=self._count == 1)

    def _masked(self, sections: FileSections) -> list[MaskedPlace]:
        """Return what is masked in the lines that are shown."""
        return [
            MaskedPlace(section.file.path, mask)
            for section in sections
            if isinstance(section, FileSection) and section.piece.returned
            for mask in masks_in_lines(section.file.masked, section.piece.window.start.line, section.piece.end)
        ]

    def _masked_at_most(self, sections: FileSections) -> list[MaskedPlace]:
        """Return what is masked in all lines that were asked for, the longest paths first."""
        return longest_first(
            [
                MaskedPlace(section.file.path, mask)
                for section in sections
                if isinstance(section, FileSection)
                for mask in _masks_in_window(section.file)
            ]
        )

    def _lines_banner(self, sections: FileSections) -> str:
        pieces = _pieces(sections)
        if self._count > 1 or not pieces:
            return self._banner_of_several(sections)
        (piece,) = pieces
        if not piece.window.lines:
            return self._nothing_here(piece.window)
        text = _capitalised(_lines_text(piece)) + (" (partial)" if _is_partial(piece) and not piece.end_column else "")
        if piece.window.start.column > 1 and not piece.end_column:
            text += f", line {piece.window.start.line:,} from column {piece.window.start.column:,}"
        text += f". {self._limit(piece.reason)}: {_missing(piece)}." if piece.reason else "."
        return text + (f" Next page: {piece.next}." if piece.next else "")

    def _nothing_here(self, window: Window) -> str:
        start = window.start
        if not window.total:
            return "The file is empty."
        if start.line > window.total:
            last = (window.total - 1) // self._shown.max_lines * self._shown.max_lines + 1
            lines = count_of(window.total, "line")
            return f"Nothing at start_line={start.line}: the file has {lines}. Last page: start_line={last}."
        columns = count_of(window.columns, "column")
        return f"Nothing at start_column={start.column}: line {start.line:,} has {columns}. Read it: start_column=1."

    def _banner_of_several(self, sections: FileSections) -> str:
        pieces = _pieces(sections)
        partial = sum(map(_is_partial, pieces))
        refused, left_out = len(sections) - len(pieces), self._count - len(sections)
        text = f"{len(pieces)} of {count_of(self._count, 'file')}"
        text += f", {partial} partial" if partial else ""
        text += f", {refused} not served" if refused else ""
        text += "."
        if reason := self._reason(sections):
            missing = count_of(left_out, "file") if left_out else "lines"
            text += f" {self._limit(reason)}: {missing} left out."
        text += " Next page: the start_line in each heading." if any(piece.next for piece in pieces) else ""
        return text + (f" Read the last {left_out} paths in another call." if left_out else "")

    def _reason(self, sections: FileSections) -> str | None:
        pieces = _pieces(sections)
        if self._count == 1 and pieces and pieces[0].end_column:
            return "single_result_too_large"
        left_out = "token_limit" if len(sections) < self._count else None
        return next((piece.reason for piece in pieces if piece.reason), left_out)

    def _limit(self, reason: str | None) -> str:
        return self._shown.budget.limit_text(reason)

    def _text(self, section: FileSection | Refusal) -> str:
        if isinstance(section, Refusal):
            return f"── {self._path(section.path)} ──\n{name_text(section.message, _LONGEST_MESSAGE)}\n"
        file, piece = section.file, section.piece
        # The banner says which lines of a single file are shown, and where they continue.
        is_told = self._count == 1 and piece.returned > 0
        facts = [
            self._path(file.path),
            *([] if is_told else [_lines_text(piece) if piece.returned else count_of(piece.window.total, "line")]),
            human_size(file.size),
            BY_ID[file.language].label,
            *file.remarks,
            *([f"next {piece.next}"] if piece.next and not is_told else []),
        ]
        return f"{section.map}── {' │ '.join(facts)} ──\n{self.written(piece)}"

    def _json(self, section: FileSection | Refusal) -> str:
        if isinstance(section, Refusal):
            error = name_text(section.message, _LONGEST_MESSAGE)
            return json_line({"file_path": self._path(section.path), "error": error})
        file, piece = section.file, section.piece
        facts = {
            "file_path": self._path(file.path),
            "language": file.language,
            "encoding": file.encoding,
            "bytes": file.size,
            "total_lines": piece.window.total,
            "returned_lines": piece.returned,
            "start_line": piece.window.start.line,
            "start_column": piece.window.start.column,
            "end_line": piece.end if piece.returned else None,
            "is_truncated": piece.next is not None,
            "next_start_line": piece.next.line if piece.next else None,
            "next_start_column": piece.next.column if piece.next else None,
            "map": section.map or None,
        }
        return f'{json_line(facts)[:-1]}, "content": {self.written(piece)}}}'

    def _path(self, path: str) -> str:
        return name_text(path, self._path_width)


def _masks_in_window(file: OpenedFile) -> list[Mask]:
    first = file.window.start.line
    return masks_in_lines(file.masked, first, first + file.window.asked)


def _lines_text(piece: Piece) -> str:
    window, start = piece.window, piece.window.start
    if not piece.end_column:
        return f"lines {start.line:,}-{piece.end:,} of {window.total:,}"
    columns = f"columns {start.column:,}-{piece.end_column:,} of {window.columns:,}"
    return f"line {start.line:,} of {window.total:,}, {columns}"


def _pieces(sections: FileSections) -> list[Piece]:
    return [section.piece for section in sections if isinstance(section, FileSection)]


def _is_partial(piece: Piece) -> bool:
    """Return whether a piece is not the whole file."""
    return piece.next is not None or piece.window.start != Position()


def _missing(piece: Piece) -> str:
    """Return what the budget took from the lines that were asked for."""
    if piece.end_column:
        return f"line {piece.window.start.line:,} clipped"
    first, last = piece.end + 1, piece.window.start.line + piece.window.asked - 1
    return f"{first:,} left out" if first >= last else f"{first:,}-{last:,} left out"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
