"""Analysing the text of one file: its symbols, imports, names and chunks.

This runs grammars, so only workers call it: the parsing worker, and those of an index run.
"""

from keyhole.core.syntax.chunks import cut_chunks
from keyhole.core.syntax.languages import Language, detect_language
from keyhole.core.syntax.occurrences import pack_occurrences
from keyhole.core.syntax.parse import find_names, parse, quoted_trees, trees_of
from keyhole.core.syntax.plain_outline import plain_outline
from keyhole.core.syntax.spans import Source
from keyhole.core.syntax.symbols import extract_outline
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Analysis, Outline


def outline_of(source: SourceFile) -> Outline:
    """Parse a file for its map only; `missed` says why if it cannot be parsed."""
    language = detect_language(source.path, source.text)
    known = plain_outline(source, language)
    if known is not None:
        return known
    content = source.text.encode("utf-8")
    root = parse(language, content)
    if root is None:
        return _unparsed(language)
    return extract_outline(language, trees_of(language, root, content), Source(content))


def analyse(source: SourceFile) -> Analysis:
    """Parse a file once, for its symbols, imports, names and chunks."""
    language = detect_language(source.path, source.text)
    content = source.text.encode("utf-8")
    root = parse(language, content)
    if root is None:
        return Analysis(source, _unparsed(language), cut_chunks(content, None, ()))
    trees, positions = trees_of(language, root, content), Source(content)
    outline = extract_outline(language, trees, positions)
    # Maps show the keys of data and the headings of prose, but these are not definitions.
    symbols = tuple(outline.walk()) if language.has_definitions else ()
    named = find_names(language, (*trees, *quoted_trees(language, content)))
    names = pack_occurrences(language.id, positions, named, symbols)
    return Analysis(source, outline, cut_chunks(content, root, symbols), names)


def _unparsed(language: Language) -> Outline:
    missed = f"the {language.label} grammar cannot parse this file safely" if language.grammar else ""
    return Outline(language.id, missed=missed)
