"""What a chunk is embedded and ranked with: where it is and what it defines."""

from keyhole.core.syntax.languages import Language
from keyhole.core.types.syntax import Chunk


def context_header(path: str, language: Language, chunk: Chunk) -> str:
    """Return the lines that are embedded and ranked together with the text of a chunk."""
    lines = [f"File: {path}", f"Language: {language.id}"]
    if chunk.definitions:
        lines.append(f"Defines: {', '.join(chunk.definitions)}")
    return "\n".join(lines)
