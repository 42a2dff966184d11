"""What parsing finds in a file."""

from collections.abc import Iterator
from dataclasses import dataclass

from keyhole.core.types.source_files import SourceFile

# Functions inside definitions of these kinds are methods.
HOLDS_METHODS = frozenset(
    [
        "class",
        "enum",
        "extension",
        "given",
        "impl",
        "interface",
        "object",
        "protocol",
        "record",
        "struct",
        "trait",
        "union",
    ]
)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. Its range includes decorators, and its doc is one sentence."""

    name: str
    kind: str
    signature: str
    doc: str
    returns: str
    start_line: int
    end_line: int
    name_line: int
    parent: str
    exported: bool
    modifiers: tuple[str, ...] = ()
    children: tuple["Symbol", ...] = ()

    def walk(self) -> Iterator["Symbol"]:
        """Yield this symbol and everything inside it, in source order."""
        stack = [self]
        while stack:
            symbol = stack.pop()
            yield symbol
            stack.extend(reversed(symbol.children))


@dataclass(frozen=True, slots=True)
class Import:
    """One import, include or use: the name it imports and the statement as written."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The symbols and imports that parsing found in one file."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    has_errors: bool = False
    # Why the file was not parsed; empty if it was.
    missed: str = ""
    # Imports inside other statements. They count as links but are not listed with the imports of the file.
    references: tuple[Import, ...] = ()

    def walk(self) -> Iterator[Symbol]:
        """Yield every symbol at every depth, in source order."""
        for symbol in self.symbols:
            yield from symbol.walk()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file; the chunks of a file, joined in order, give the whole file."""

    start_line: int
    end_line: int
    text: str
    definitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything the index needs to know about one file."""

    source: SourceFile
    outline: Outline
    chunks: tuple[Chunk, ...]
    # Every name with its role, as syntax/occurrences.py packs them.
    occurrences: bytes = b""
