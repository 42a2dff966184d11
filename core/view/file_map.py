"""The map of a file: what it imports and defines, and on which lines."""

from collections.abc import Iterator
from dataclasses import asdict

from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types import Outline, SourceFile, Symbol
from keyhole.core.view.text import count_lines, count_of, human_size

FOOTER = "Use read_file(path, start_line=LINE, max_lines=N) for targeted reads."


def map_text(source: SourceFile, outline: Outline) -> str:
    """Render the full map."""
    lines = [
        f"File Map: {source.path}",
        f"{count_of(count_lines(source.text), 'line')} │ {human_size(source.size)} │ {BY_ID[outline.language].label}",
    ]
    if outline.has_errors:
        lines.append("The file has syntax errors; what could be parsed is shown.")
    if outline.imports:
        lines += ["", "Imports", *dict.fromkeys(f"  {imported.text}" for imported in outline.imports)]
    if outline.symbols:
        lines += ["", "Symbols", *(line for symbol in outline.symbols for line in _symbol_lines(symbol, "  "))]
    else:
        lines += ["", "No symbols found."]
    return "\n".join([*lines, "", FOOTER]) + "\n"


def map_facts(source: SourceFile, outline: Outline) -> dict[str, object]:
    """Give the same map as plain data, for JSON."""
    return {
        "file_path": source.path,
        "language": outline.language,
        "lines": count_lines(source.text),
        "bytes": source.size,
        "has_errors": outline.has_errors,
        "imports": [asdict(imported) for imported in outline.imports],
        "symbols": [asdict(symbol) for symbol in outline.symbols],
        "total_symbols": sum(1 for _ in outline.walk()),
    }


def _symbol_lines(symbol: Symbol, indent: str) -> Iterator[str]:
    decorators = " ".join(word for word in symbol.modifiers if word.startswith("@"))
    prefix = f"{decorators} " if decorators else ""
    yield f"{indent}{prefix}{symbol.signature}: [{symbol.start_line}-{symbol.end_line}]"
    if symbol.doc:
        yield f"{indent}    {symbol.doc}"
    for child in symbol.children:
        yield from _symbol_lines(child, indent + "  ")
