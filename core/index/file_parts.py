"""Making the parts of a file (content_parts.py) from its analysis, and its rows from the parts."""

from collections.abc import Iterator

from keyhole.core.index.content_parts import PlaceFacts, TextFacts
from keyhole.core.index.embedder import Embedder, quantise
from keyhole.core.index.file_document import FileDocument, document_of, pack_words
from keyhole.core.index.rows import (
    ChunkRow,
    DeclaredRow,
    DocumentRow,
    FileRows,
    SymbolRow,
    WordColumns,
    WrittenLink,
)
from keyhole.core.index.words import split_words
from keyhole.core.links.declare import declarations
from keyhole.core.links.extract import links_of
from keyhole.core.links.link_types import LinkState
from keyhole.core.roles.content_hint import content_hint
from keyhole.core.syntax.context_header import context_header
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Analysis, Symbol


def text_facts(analysis: Analysis) -> TextFacts:
    """Return what a text gives, whatever its path."""
    outline, document = analysis.outline, document_of(analysis)
    return TextFacts(
        language=outline.language,
        lines=analysis.chunks[-1].end_line if analysis.chunks else 0,
        has_errors=outline.has_errors,
        chunks=tuple(_chunk_rows(analysis)),
        symbols=tuple(row for symbol in outline.symbols for row in _symbol_rows(symbol)),
        links=tuple(_link_rows(analysis)),
        names=document.definitions,
        comment=document.comment,
        occurrences=analysis.occurrences,
    )


def place_facts(source: SourceFile, text: TextFacts) -> PlaceFacts:
    """Return what a text gives at its path, without vectors."""
    return PlaceFacts(
        content_hint=content_hint(source.path, text.language, source.text),
        declared=tuple(
            DeclaredRow(fact.kind, fact.name, fact.value)
            for fact in declarations(source.path, text.language, source.text)
        ),
        document=DocumentRow(pack_words(_document(source, text)), b""),
        vectors=(),
        tokens=(),
    )


def with_vectors(source: SourceFile, text: TextFacts, found: PlaceFacts, embedder: Embedder) -> PlaceFacts:
    """Return a part with the vectors and tokens of the chunks, and the vector of the document."""
    encoded = embedder.encode_with_tokens([*_passages(source, text), _document(source, text).text])
    *vectors, (_, of_document) = quantise(encoded.vectors)
    return found._replace(
        vectors=vectors,
        tokens=[ids.tobytes() for ids in encoded.tokens[:-1]],
        document=DocumentRow(found.document.words, of_document),
    )


def _document(source: SourceFile, text: TextFacts) -> FileDocument:
    return FileDocument(source.path, text.names, text.comment)


def rows_of(source: SourceFile, text: TextFacts, place: PlaceFacts) -> FileRows:
    """Return the rows of a file, made of its parts."""
    path_words = split_words(source.path)
    return FileRows(
        path=source.path,
        size=source.size,
        mtime_ns=source.mtime_ns,
        ctime_ns=source.ctime_ns,
        inode=source.inode,
        digest=source.digest,
        encoding=source.encoding,
        language=text.language,
        lines=text.lines,
        has_errors=text.has_errors,
        # Faster than `_replace`, and there are tens of thousands.
        chunks=tuple(ChunkRow(*chunk[:5], WordColumns(path_words, *chunk.words[1:])) for chunk in text.chunks),
        symbols=text.symbols,
        links=text.links,
        masked=source.masked,
        occurrences=text.occurrences,
        content_hint=place.content_hint,
        declared=place.declared,
        document=place.document,
        vectors=place.vectors,
        tokens=place.tokens,
    )


def _link_rows(analysis: Analysis) -> Iterator[WrittenLink]:
    for link in links_of(analysis.source, analysis.outline):
        # A link with a site, such as a URL, is resolved by its text alone; others wait until all paths are known.
        state = LinkState.EXTERNAL.value if link.site else None
        yield WrittenLink(link.line, link.kind.value, link.target, link.part, bool(link.site), state, link.site)


def _passages(source: SourceFile, text: TextFacts) -> list[str]:
    """Return each chunk with its context, as the input of the model."""
    language = BY_ID[text.language]
    return [
        f"{context_header(source.path, language, chunk.definitions)}\n\n"
        f"{source.text[chunk.start : chunk.start + chunk.length]}"
        for chunk in text.chunks
    ]


def _chunk_rows(analysis: Analysis) -> list[ChunkRow]:
    """Return the chunks without the words of their path."""
    rows, start = [], 0
    for chunk in analysis.chunks:
        definitions = ", ".join(chunk.definitions)
        words = WordColumns("", split_words(definitions), split_words(chunk.text))
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
