"""The names of files and symbols that the finder searches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from keyhole.core.errors import StoreError
from keyhole.core.files.globs import glob_test
from keyhole.core.search.fuzzy_scores import best_match, words_of
from keyhole.core.search.name_matcher import Matches, NameMatcher
from keyhole.core.types.source_files import SkipReason
from keyhole.tui.history import Place

if TYPE_CHECKING:
    from keyhole.core.index.rows import SymbolPlace
    from keyhole.core.service import Service
    from keyhole.core.types.inventory import Inventory

BOTH, FILES, SYMBOLS = SCOPES = ("Both", "Files", "Symbols")
# Nobody reads a longer list; typing narrows it.
MOST_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class Name:
    """A name to find: its text, where its last part starts, and its place; a file has no kind and no line."""

    text: str
    tail: int
    place: Place
    kind: str = ""


# Textual writes the arguments of workers and messages as text, which must not take long.
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FoundNames:
    """The best names for what was typed, how many match, and of how many."""

    typed: str
    names: tuple[Name, ...]
    count: int
    total: int


@dataclass(slots=True, repr=False, eq=False)
class NamesToFind:
    """All names of one state of the index."""

    files: Sequence[str] = ()
    # None until the symbols are read, which takes longer.
    symbols: "Sequence[SymbolPlace] | None" = None
    generation: int = 0
    _matchers: dict[str, NameMatcher] = field(default_factory=dict)

    def prepare(self) -> "NamesToFind":
        """Prepare the names for searching, which takes longer than a search may."""
        for one in (FILES, SYMBOLS):
            if one == FILES or self.symbols is not None:
                self._matcher(one)
        return self

    def forget(self) -> None:
        """Free what only the next letter would need."""
        for matcher in self._matchers.values():
            matcher.forget()

    def total(self, scope: str) -> int:
        """Return how many names there are."""
        return (scope != SYMBOLS) * len(self.files) + (scope != FILES) * len(self.symbols or ())

    def find(self, typed: str, scope: str) -> FoundNames:
        """Return the names that match; files come before symbols that match as well."""
        words = typed.split()
        globs = [_glob_test(word) for word in words if "*" in word]
        plain = " ".join(word for word in words if "*" not in word)
        ranked: list[tuple[int, int, int, Name]] = []
        count = 0
        for number, one in enumerate((FILES, SYMBOLS)):
            if scope in (one, BOTH):
                names, found = self._found(one, plain, globs)
                count += found.count
                # If nothing is typed, no name is better than another, and they stay in their order.
                length = len if plain else _no_length
                ranked += [
                    (-score, length(name.text), number, name) for name, score in zip(names, found.scores, strict=True)
                ]
        ranked.sort(key=lambda row: row[:3])
        return FoundNames(typed, tuple(row[3] for row in ranked[:MOST_SHOWN]), count, self.total(scope))

    def _found(self, one: str, plain: str, globs: list[Callable[[str], bool]]) -> tuple[list[Name], Matches]:
        matcher = self._matcher(one)
        found = matcher.find(plain, len(matcher) if globs else MOST_SHOWN)
        if globs:
            texts = self._texts(one, found.best)
            fits = [place for place, text in enumerate(texts) if all(test(text.lower()) for test in globs)]
            best = tuple(found.best[place] for place in fits[:MOST_SHOWN])
            found = Matches(len(fits), best, tuple(found.scores[place] for place in fits[:MOST_SHOWN]))
        return [self._name(one, number) for number in found.best], found

    def _matcher(self, one: str) -> NameMatcher:
        if one == SYMBOLS and self.symbols is None:
            return NameMatcher((), ())
        if one not in self._matchers:
            self._matchers[one] = self._new_matcher(one)
        return self._matchers[one]

    def _new_matcher(self, one: str) -> NameMatcher:
        """Prepare all names; a `Name` for each of them would take much longer."""
        if one == FILES:
            return NameMatcher(self.files, [path.rfind("/") + 1 for path in self.files])
        symbols = self.symbols or ()
        heads = [len(symbol.parent) + 1 if symbol.parent else 0 for symbol in symbols]
        return NameMatcher([_symbol_text(symbol) for symbol in symbols], heads)

    def _texts(self, one: str, numbers: Sequence[int]) -> list[str]:
        return [self._name(one, number).text for number in numbers]

    def _name(self, one: str, number: int) -> Name:
        if one == FILES:
            path = self.files[number]
            return Name(path, path.rfind("/") + 1, Place(path, 0))
        symbol = (self.symbols or ())[number]
        text = _symbol_text(symbol)
        return Name(text, len(text) - len(symbol.name), Place(symbol.path, symbol.line), symbol.kind)


def _symbol_text(symbol: "SymbolPlace") -> str:
    return f"{symbol.parent}.{symbol.name}" if symbol.parent else symbol.name


def _no_length(_: str) -> int:
    return 0


def _glob_test(word: str) -> Callable[[str], bool]:
    """Return the test of a word with a star: a glob as in get_tree, or a name that contains the word itself."""
    word = word.lower()
    matches = glob_test(word if "/" in word else f"**/{word}")
    # The name of an operator may contain a star.
    return lambda name: matches(name) or word in name


def marked_places(name: Name, typed: str) -> set[int]:
    """Return the places of the letters in a name that what is typed has matched."""
    words = [word for word in words_of(typed) if not word.is_unwanted and "*" not in word.text]
    matches = [best_match(name.text, name.tail, word) for word in words]
    return {place for match in matches if match for place in match[1]}


def read_files(service: "Service") -> NamesToFind:
    """Read the names of files, also of those that are too large to be indexed but can be opened."""
    inventory = _inventory(service)
    if inventory is None:
        return NamesToFind()
    large = [skip.path for skip in inventory.skips if skip.reason == SkipReason.TOO_LARGE]
    paths = sorted([*(file.path for file in inventory.files), *large])
    return NamesToFind(paths, generation=inventory.generation).prepare()


def read_symbols(service: "Service", names: NamesToFind) -> NamesToFind:
    """Return the names with those of symbols; what was prepared for searching files is kept."""
    try:
        symbols = service.symbol_places()
    except StoreError:
        symbols = []
    return replace(names, symbols=symbols).prepare()


def _inventory(service: "Service") -> "Inventory | None":
    """Return what is indexed; None before the first file is."""
    try:
        return service.inventory()
    except StoreError:
        return None
