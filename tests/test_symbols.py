"""The symbols of every language, compared with goldens that were checked by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keyhole.core.syntax.languages import LANGUAGES, detect_language
from keyhole.core.syntax.parse import parse, trees_of
from keyhole.core.syntax.spans import Source
from keyhole.core.syntax.symbols import extract_outline
from keyhole.core.types.syntax import Outline, Symbol

FIXTURES = Path(__file__).parent / "fixtures" / "languages"
SAMPLES = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.glob("*/*"))


def outline_of(path: Path) -> Outline:
    source = path.read_bytes()
    language = detect_language(path.name, source.decode())
    root = parse(language, source)
    assert root is not None
    return extract_outline(language, trees_of(language, root, source), Source(source))


def dump(outline: Outline) -> str:
    """Return an outline as text that people can check line by line."""
    lines = [f"{outline.language}{', with syntax errors' if outline.has_errors else ''}", ""]
    lines += [f"import {imported.target}  [{imported.line}] {imported.text}" for imported in outline.imports]
    for symbol in outline.symbols:
        lines += ["", *dump_symbol(symbol, "")]
    return "\n".join(lines) + "\n"


def dump_symbol(symbol: Symbol, indent: str) -> Iterator[str]:
    flags = " ".join([*(["exported"] if symbol.exported else []), *symbol.modifiers])
    lines = f"[{symbol.start_line}-{symbol.end_line} @{symbol.name_line}]"
    yield f"{indent}{symbol.kind} {symbol.name}  {lines} {flags}".rstrip()
    facts = {"in": symbol.parent, "sig": symbol.signature, "doc": symbol.doc, "returns": symbol.returns}
    for label, fact in facts.items():
        if fact:
            yield f"{indent}    {label}: {fact}"
    for child in symbol.children:
        yield from dump_symbol(child, indent + "  ")


@pytest.mark.parametrize("sample", SAMPLES)
def test_symbols_of_a_sample_file(sample: str, check_golden: Callable[[str, str], None]) -> None:
    check_golden(f"symbols/{sample}.txt", dump(outline_of(FIXTURES / sample)))


@pytest.mark.parametrize("language", [language.id for language in LANGUAGES if language.has_symbols])
def test_every_language_with_symbols_has_a_whole_and_a_broken_sample(language: str) -> None:
    names = {sample.split("/")[1].split(".")[0] for sample in SAMPLES if sample.startswith(f"{language}/")}
    assert names == {"sample", "broken"}


def test_every_language_is_found_by_a_name() -> None:
    for language in LANGUAGES:
        names = [f"a{extension}" for extension in language.extensions] + list(language.filenames)
        assert names, language.id
        assert language in [detect_language(name, "") for name in names]
