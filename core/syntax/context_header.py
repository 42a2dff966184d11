"""What a chunk is embedded and ranked with: where it is and what it defines."""

from keyhole.core.syntax.languages import Language


def context_header(path: str, language: Language, definitions: str) -> str:
    """Return the lines that are embedded and ranked together with the text of a chunk, given what it defines."""
    lines = [f"File: {path}", f"Language: {language.id}"]
    if definitions:
        lines.append(f"Defines: {definitions}")
    return "\n".join(lines)
