"""The sample projects of tests/fixtures/references, and what Keyhole finds in them."""

from collections.abc import Iterable
from pathlib import Path

from keyhole.core.index.protocols import ReferenceStore
from keyhole.core.references.find import references_to
from keyhole.core.references.name_meaning import same_thing
from keyhole.core.references.open_names import open_resolver
from keyhole.core.service import Service

SAMPLES = Path(__file__).parent / "fixtures" / "references"


def languages() -> list[str]:
    """Return the languages that have a sample with checked answers."""
    return sorted(path.stem for path in SAMPLES.glob("*.expected"))


def expected(language: str) -> dict[str, list[str]]:
    """Return the checked references of each symbol of a sample."""
    answers: dict[str, list[str]] = {}
    symbol = ""
    for line in (SAMPLES / f"{language}.expected").read_text("utf-8").splitlines():
        if line.startswith("  "):
            answers[symbol].append(line.strip())
        elif line and not line.startswith("#"):
            symbol = line.strip()
            answers[symbol] = []
    return answers


def found(service: Service, symbols: Iterable[str]) -> dict[str, list[str]]:
    """Return the references that Keyhole finds for each of these symbols."""
    with service.engines.lend() as engine:
        return {symbol: _references(engine.store, symbol) for symbol in symbols}


def as_text(answers: dict[str, list[str]]) -> str:
    """Return answers in the form of the files."""
    return "".join(f"{symbol}\n" + "".join(f"  {one}\n" for one in found) for symbol, found in answers.items())


def _references(store: ReferenceStore, symbol: str) -> list[str]:
    path, _, name = symbol.partition("::")
    rows = [row for row in store.definitions_in([path]) if row.qualified_name == name]
    assert rows, f"{symbol} is not defined"
    resolver = open_resolver(store)
    same = {same_thing(row): row for row in rows}
    places = {
        (one.path, one.line, one.column + 1): f"{one.role_words} {one.certainty}"
        for row in same.values()
        for one in references_to(resolver, row)
    }
    return [f"{path}:{line}:{column} {what}" for (path, line, column), what in sorted(places.items())]
