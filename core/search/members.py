"""Finds what a query names by its owner and its own name: `queryset filter`, `shortcuts render`."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, NamedSymbol
from keyhole.core.search.filters import role_of
from keyhole.core.search.query import is_identifier
from keyhole.core.search.rank import letters_of
from keyhole.core.search.symbol_search import Names

# A longer query is a sentence.
_MOST_WORDS = 5
# Files that stand for their folder.
_FOLDER_FILES = frozenset(["__init__", "index", "mod", "lib", "main"])


def named_members(store: SearchStore, names: Names, text: str, scope: ChunkScope) -> dict[int, int]:
    """Return the chunks that define a member as the query names it, each with the id of its symbol."""
    found: dict[int, int] = {}
    for owner, name in _owner_and_name(text):
        for symbol in store.symbols_named(names.spelled(name)):
            is_asked_for = owner in _owners(symbol) and role_of(symbol.chunk.path) == "source"
            if is_asked_for and scope.admits_chunk(symbol.chunk):
                found.setdefault(symbol.chunk.chunk_id, symbol.symbol_id)
    return found


def _owner_and_name(text: str) -> Iterator[tuple[str, str]]:
    """Yield each way to split a few words into an owner and a name, as letters."""
    words = text.split()
    if not 2 <= len(words) <= _MOST_WORDS or not all(map(is_identifier, words)):
        return
    for number in range(1, len(words)):
        yield letters_of("".join(words[:number])), letters_of("".join(words[number:]))


def _owners(symbol: NamedSymbol) -> set[str]:
    """Return what a symbol may be said to belong to: its class, or else its file or package."""
    path = PurePosixPath(symbol.chunk.path)
    owners = {letters_of(symbol.parent.rpartition(".")[2]), letters_of(path.stem)}
    if path.stem in _FOLDER_FILES:
        owners.add(letters_of(path.parent.name))
    return owners
