"""A context bundle: files, symbols and lines that someone marked, to hand them to a model together."""

from dataclasses import dataclass
from enum import StrEnum

from keyhole.core.types.choices import Format


class BundleStyle(StrEnum):
    """How a bundle is written: as agents get files, as Markdown, or as XML."""

    TEXT = "text"
    MARKDOWN = "markdown"
    XML = "xml"


@dataclass(frozen=True, slots=True)
class BundleItem:
    """One marked part: a symbol of a file, some of its lines, or all of it if neither is given.

    `digest` is that of the file when the part was marked; empty if it is not known.
    """

    path: str
    first_line: int = 0
    last_line: int = 0
    symbol: str = ""
    digest: str = ""

    @property
    def place(self) -> tuple[str, int, int, str]:
        """What is marked, whatever the file contained then."""
        return self.path, self.first_line, self.last_line, self.symbol


@dataclass(frozen=True, slots=True)
class Bundle:
    """The marked parts, in order; `max_tokens` is the budget, or None for the usual one."""

    items: tuple[BundleItem, ...] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """How to show a bundle; parameters are named as in every other request."""

    bundle: Bundle
    style: BundleStyle = BundleStyle.TEXT
    offset: int = 0
    max_tokens: int | None = None
    format: Format = Format.TEXT
