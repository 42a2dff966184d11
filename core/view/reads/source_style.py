"""How a read writes the text of a file: with line numbers, in a fence, or as a JSON string."""

from keyhole.core.types.choices import Format
from keyhole.core.view.text import fence_line, framed_source, json_line, numbered_source, source_text


class SourceStyle:
    """Writes text of a file, and the parts of it that are measured to find out how much fits."""

    def __init__(self, form: Format, *, line_numbers: bool) -> None:
        self._is_json = form == Format.JSON
        self._has_numbers = line_numbers and not self._is_json
        self.has_fence = not line_numbers and not self._is_json
        self._last_written: tuple[str, int, str] | None = None

    def write(self, text: str, line: int) -> str:
        """Return text as it is sent; `line` is its first. The last one is kept: what is measured is mostly sent."""
        if not self._last_written or self._last_written[:2] != (text, line):
            framed = json_line(text) if self._is_json else framed_source(text, line, has_numbers=self._has_numbers)
            self._last_written = text, line, framed
        return self._last_written[2]

    def lines(self, text: str, line: int) -> str:
        """Return whole lines without the fence around all of them; the sizes of several add up."""
        return numbered_source(text, line) if self._has_numbers else self.columns(text)

    def columns(self, text: str) -> str:
        """Return part of a line without number and fence; all of a line is never larger than its parts together."""
        return json_line(text) if self._is_json else source_text(text)

    def number(self, line: int) -> str:
        """Return what is written before a line, if lines have numbers."""
        return f"{line}\t" if self._has_numbers else ""

    def fence(self, text: str) -> str:
        """Return the line before and after a text, if it is in a fence."""
        return fence_line(text) if self.has_fence else ""
