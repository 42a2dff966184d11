"""Finds what a query names by its owner and its own name: `queryset filter`, `shortcuts render`."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, NamedSymbol
from keyhole.core.search.features import FOLDER_FILES
from keyhole.core.search.query import letters_of
from keyhole.core.search.symbol_search import Names
from keyhole.core.search.wanted import LONGEST_SPELLED
from keyhole.core.types.choices import Role


def named_members(store: SearchStore, names: Names, text: str, scope: ChunkScope) -> dict[int, int]:
    """Return the chunks that define a member as the query names it, each with the id of its symbol."""
    found: dict[int, int] = {}
    for owner, name in _owner_and_name(text):
        # Most words of a query are no names.
        spelled = names.spelled(name)
        symbols = [symbol for symbol in store.symbols_named(spelled) if _is_source_in(scope, symbol)] if spelled else []
        of_class = [symbol for symbol in symbols if letters_of(_bare_owner(symbol.parent)) == owner]
        # In client.py, `client send` means Client.send, not AsyncClient.send.
        members = of_class or [symbol for symbol in symbols if owner in _modules(symbol)]
        # The definition is meant, and not its declaration.
        for symbol in [symbol for symbol in members if symbol.lines > 1] or members:
            found.setdefault(symbol.chunk.chunk_id, symbol.symbol_id)
    return found


def _is_source_in(scope: ChunkScope, symbol: NamedSymbol) -> bool:
    return symbol.chunk.role == Role.SOURCE and scope.admits_chunk(symbol.chunk)


def _bare_owner(parent: str) -> str:
    """Return the name of the owner itself: `List` of `util.List<Item>`."""
    return parent.partition("<")[0].rpartition(".")[2]


def _owner_and_name(text: str) -> Iterator[tuple[str, str]]:
    """Yield each way to split some words into an owner and a name, as letters."""
    words = text.split()
    if not 2 <= len(words) <= LONGEST_SPELLED or not text.replace("_", "").replace(" ", "").isalnum():
        return
    for number in range(1, len(words)):
        yield letters_of("".join(words[:number])), letters_of("".join(words[number:]))


def _modules(symbol: NamedSymbol) -> set[str]:
    """Return the names of the file or package that a symbol is in."""
    path = PurePosixPath(symbol.chunk.path)
    return {letters_of(path.stem)} | ({letters_of(path.parent.name)} if path.stem in FOLDER_FILES else set())
