"""Finds what a query names by its owner and its own name: `queryset filter`, `shortcuts render`."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from keyhole.core.index.protocols import SearchStore
from keyhole.core.index.rows import ChunkScope, NamedSymbol
from keyhole.core.search.features import FOLDER_FILES
from keyhole.core.search.query import letters_of
from keyhole.core.search.symbol_search import Names, separate
from keyhole.core.search.wanted import LONGEST_SPELLED
from keyhole.core.types.choices import Role

# Many a longer query is a sentence that ends with a name. Reading all its definitions would take time.
_FEW_WORDS = 5


def named_members(store: SearchStore, names: Names, text: str, scope: ChunkScope) -> dict[int, int]:
    """Return the chunks that define a member as the query names it, each with the id of its symbol."""
    found: dict[int, int] = {}
    is_short = len(text.split()) <= _FEW_WORDS
    for owner, name in _owner_and_name(text):
        # Most words of a query are no names.
        spelled = names.spelled(name) if is_short or names.spelled(owner) else []
        symbols = store.symbols_named(spelled) if spelled else []
        for symbol in _members(owner, [symbol for symbol in symbols if scope.admits_chunk(symbol.chunk)]):
            found.setdefault(symbol.chunk.chunk_id, symbol.symbol_id)
    return found


def _members(owner: str, symbols: Sequence[NamedSymbol]) -> Sequence[NamedSymbol]:
    """Return those symbols of one name that belong to an owner."""
    of_class = [symbol for symbol in symbols if letters_of(_bare_owner(symbol.parent)) == owner]
    # In client.py, `client send` means Client.send, not AsyncClient.send.
    of_module = [symbol for symbol in symbols if owner in _modules(symbol)]
    # What is no source, such as a test, is only meant if no source is.
    members = _in_source(of_class) or _in_source(of_module) or of_class
    # The definition is meant, and not its declaration.
    return [symbol for symbol in members if symbol.lines > 1] or members


def _in_source(symbols: Sequence[NamedSymbol]) -> list[NamedSymbol]:
    return [symbol for symbol in symbols if symbol.chunk.role == Role.SOURCE]


def _bare_owner(parent: str) -> str:
    """Return the name of the owner itself: `List` of `util.List<Item>`."""
    return parent.partition("<")[0].rpartition(".")[2]


def _owner_and_name(text: str) -> Iterator[tuple[str, str]]:
    """Yield each way to split some words into an owner and a name, as letters."""
    # `Client.send` is an owner and a name as well.
    words = [part for word in text.split() for part in separate(word)]
    if not 2 <= len(words) <= LONGEST_SPELLED or not all(word.replace("_", "").isalnum() for word in words):
        return
    for number in range(1, len(words)):
        yield letters_of("".join(words[:number])), letters_of("".join(words[number:]))


def _modules(symbol: NamedSymbol) -> set[str]:
    """Return the names of the file or package that a symbol is in."""
    path = PurePosixPath(symbol.chunk.path)
    return {letters_of(path.stem)} | ({letters_of(path.parent.name)} if path.stem in FOLDER_FILES else set())
