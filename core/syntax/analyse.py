"""Analysing the text of one file: its symbols, imports and chunks."""

from keyhole.core.syntax.chunks import cut_chunks
from keyhole.core.syntax.csv_columns import table_outline
from keyhole.core.syntax.languages import Language, detect_language
from keyhole.core.syntax.parse import parse
from keyhole.core.syntax.symbols import extract_outline
from keyhole.core.types import Analysis, Chunk, Outline, SourceFile

# Increase this when the same file gives different symbols, chunks or links: the next index run then reads every file.
ANALYSIS_VERSION = 3


# Larger files would take too long to map: a dense file of this size takes about ten seconds.
MAPPED_BYTES = 6_000_000


def outline_of(source: SourceFile) -> Outline:
    """Parse a file for its map only; `missed` says why if it cannot be parsed."""
    language = detect_language(source.path, source.text)
    if language.id == "csv":
        return table_outline(language.id, source.text)
    if language.grammar is None:
        return Outline(language.id)
    if source.size > MAPPED_BYTES:
        return Outline(language.id, missed=f"files over {MAPPED_BYTES:,} bytes are not parsed")
    content = source.text.encode("utf-8")
    root = parse(language, content)
    if root is None:
        return Outline(language.id, missed="the parser could not process this file")
    return extract_outline(language, root, content)


def analyse(source: SourceFile) -> Analysis:
    """Parse a file once, for its symbols, imports and chunks."""
    language = detect_language(source.path, source.text)
    content = source.text.encode("utf-8")
    root = parse(language, content)
    outline = extract_outline(language, root, content) if root is not None else Outline(language.id)
    # Maps show the keys of data and the headings of prose, but these are not definitions.
    definitions = outline.walk() if language.has_definitions else ()
    return Analysis(source, outline, cut_chunks(content, root, definitions))


def context_header(path: str, language: Language, chunk: Chunk) -> str:
    """Return the lines that are embedded and ranked together with the text of a chunk."""
    lines = [f"File: {path}", f"Language: {language.id}"]
    if chunk.definitions:
        lines.append(f"Defines: {', '.join(chunk.definitions)}")
    return "\n".join(lines)
