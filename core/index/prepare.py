"""Turning a file into the rows that the store writes: the part of indexing that runs on several cores."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from keyhole.core.errors import ParserError
from keyhole.core.files.read import read_source
from keyhole.core.files.stamps import settled
from keyhole.core.files.walk import RECHECKED_REASONS
from keyhole.core.index.embedder import Embedder, quantise
from keyhole.core.index.file_document import FileDocument, document_of, pack_words
from keyhole.core.index.rows import ChunkRow, DeclaredRow, DocumentRow, FileRows, SymbolRow, WordColumns, WrittenLink
from keyhole.core.index.words import split_words
from keyhole.core.links.declare import declarations
from keyhole.core.links.extract import links_of
from keyhole.core.links.link_types import LinkState
from keyhole.core.masking import mask_text
from keyhole.core.roles.content_hint import content_hint
from keyhole.core.syntax.context_header import context_header
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.source_files import (
    DEFAULT_SECRETS,
    Candidate,
    SecretPolicy,
    Skip,
    SkipReason,
    SourceFile,
    Stamp,
)
from keyhole.core.types.syntax import Analysis, Symbol


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file whose time changed but whose content did not."""

    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was skipped after reading it; the skip is valid while the file has this stamp."""

    skip: Skip
    stamp: Stamp | None

    @property
    def path(self) -> str:
        """The skipped path."""
        return self.skip.path


Prepared = FileRows | Unchanged | SkippedFile


Analyse = Callable[[SourceFile], Analysis]


@dataclass(frozen=True, slots=True)
class Preparation:
    """What preparing any file of a workspace needs; it is sent to workers, and each opens the model itself."""

    root: Path
    max_bytes: int
    embedder: Embedder | None = None
    secrets: SecretPolicy = DEFAULT_SECRETS
    # The index was made with other decisions about secrets: even a file that has not changed may need other masks.
    rereads_masked: bool = False
    # The version that the index records with the rows.
    analysis: int = 0


def prepare(preparation: Preparation, candidate: Candidate, known_digest: str, analyse: Analyse) -> Prepared:
    """Read, parse, split and embed one file, unless its content has the known digest.

    `analyse` runs a grammar: in a worker directly, everywhere else through the parsing worker.
    """
    embedder = preparation.embedder
    read_at = time.time_ns()
    source = read_source(preparation.root, candidate.path, max_bytes=preparation.max_bytes, secrets=preparation.secrets)
    if isinstance(source, Skip):
        # A file skipped for its content is not read again until it changes; links and devices are checked every time.
        by_content = source.reason not in RECHECKED_REASONS
        return SkippedFile(source, settled(candidate.stamp, read_at) if by_content else None)
    stamp = source.stamp
    if source.digest == known_digest and not (preparation.rereads_masked and source.masked):
        return Unchanged(source.path, stamp)
    try:
        analysis = analyse(source)
        document = document_of(analysis)
        words = DocumentRow(pack_words(document), b"")
        rows = replace(_rows(analysis), document=words, analysis=preparation.analysis)
    except ParserError:
        raise  # No file is to blame if the parsing worker cannot start.
    except (Exception, RecursionError) as error:  # noqa: BLE001  # one bad file must not stop a run
        detail = mask_text(f"internal error ({type(error).__name__}: {error})")
        return SkippedFile(Skip(source.path, SkipReason.FAILED, detail[:200]), stamp)
    # Outside the try block: an error of the model is not a problem of the file.
    return _with_vectors(rows, analysis, document, embedder) if embedder and rows.chunks else rows


def _with_vectors(rows: FileRows, analysis: Analysis, document: FileDocument, embedder: Embedder) -> FileRows:
    """Return the rows with the vectors and tokens of the chunks, and the vector of the document."""
    encoded = embedder.encode_with_tokens([*_passages(analysis), document.text])
    *vectors, (_, of_document) = quantise(encoded.vectors)
    words = rows.document.words if rows.document else b""
    return replace(
        rows,
        vectors=vectors,
        tokens=[ids.tobytes() for ids in encoded.tokens[:-1]],
        document=DocumentRow(words, of_document),
    )


def _rows(analysis: Analysis) -> FileRows:
    source, outline = analysis.source, analysis.outline
    return FileRows(
        path=source.path,
        size=source.size,
        mtime_ns=source.mtime_ns,
        ctime_ns=source.ctime_ns,
        inode=source.inode,
        digest=source.digest,
        encoding=source.encoding,
        language=outline.language,
        lines=analysis.chunks[-1].end_line if analysis.chunks else 0,
        has_errors=outline.has_errors,
        unparsed=outline.missed,
        chunks=tuple(_chunk_rows(analysis)),
        symbols=tuple(row for symbol in outline.symbols for row in _symbol_rows(symbol)),
        links=tuple(_link_rows(analysis)),
        masked=source.masked,
        occurrences=analysis.occurrences,
        content_hint=content_hint(source.path, outline.language, source.text),
        declared=tuple(
            DeclaredRow(fact.kind, fact.name, fact.value)
            for fact in declarations(source.path, outline.language, source.text)
        ),
    )


def _link_rows(analysis: Analysis) -> Iterator[WrittenLink]:
    for link in links_of(analysis.source, analysis.outline):
        # A link with a site, such as a URL, is resolved by its text alone; others wait until all paths are known.
        state = LinkState.EXTERNAL.value if link.site else None
        yield WrittenLink(link.line, link.kind.value, link.target, link.part, bool(link.site), state, link.site)


def _passages(analysis: Analysis) -> list[str]:
    """Return each chunk with its context, as the input of the model."""
    path, language = analysis.source.path, BY_ID[analysis.outline.language]
    return [f"{context_header(path, language, chunk)}\n\n{chunk.text}" for chunk in analysis.chunks]


def _chunk_rows(analysis: Analysis) -> list[ChunkRow]:
    path_words = split_words(analysis.source.path)
    rows, start = [], 0
    for chunk in analysis.chunks:
        definitions = ", ".join(chunk.definitions)
        words = WordColumns(path_words, split_words(definitions), split_words(chunk.text))
        rows.append(ChunkRow(chunk.start_line, chunk.end_line, start, len(chunk.text), definitions, words))
        start += len(chunk.text)
    return rows


def _symbol_rows(top: Symbol) -> list[SymbolRow]:
    # A stack instead of recursion, because a hostile file may nest deeper than Python's recursion limit.
    rows, pending = [], [(top, 0)]
    while pending:
        symbol, depth = pending.pop()
        rows.append(_symbol_row(symbol, depth))
        if symbol.children:
            pending += [(child, depth + 1) for child in reversed(symbol.children)]
    return rows


def _symbol_row(symbol: Symbol, depth: int) -> SymbolRow:
    return SymbolRow(
        depth,
        symbol.name,
        symbol.kind,
        symbol.signature,
        symbol.doc,
        symbol.returns,
        symbol.start_line,
        symbol.end_line,
        symbol.name_line,
        symbol.parent,
        symbol.exported,
        " ".join(symbol.modifiers),
    )
