"""Outlines that need no grammar: of tables, of languages without one, and of files that are too large to parse."""

from keyhole.core.syntax.csv_columns import table_outline
from keyhole.core.syntax.languages import Language
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline

# Larger files would take too long to map: a dense file of this size takes about ten seconds.
MAPPED_BYTES = 6_000_000


def plain_outline(source: SourceFile, language: Language) -> Outline | None:
    """Return the outline of a file that needs no grammar; None if it has to be parsed."""
    if language.id == "csv":
        return table_outline(language.id, source.text)
    if language.grammar is None:
        return Outline(language.id)
    if source.size > MAPPED_BYTES:
        return Outline(language.id, missed=f"files over {MAPPED_BYTES:,} bytes are not parsed")
    return None
