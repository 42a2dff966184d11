"""The tree of a workspace: folders, files, and the symbols inside them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from keyhole.core.errors import ErrorKind, PathError, QueryError
from keyhole.core.index.protocols import RelationStore
from keyhole.core.index.rows import Found, Slice, SymbolEntry
from keyhole.core.links.requests import Relation, TreeRequest
from keyhole.core.search.filters import path_suggestion
from keyhole.core.search.symbol_search import separate
from keyhole.core.types.costs import TokenCost
from keyhole.core.types.inventory import IndexedFile

_LINES_LISTED = 5
# More than any path has parts.
_DEEPEST = 10_000


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A folder, file or symbol; `size` is the number of files in a folder, or of lines in a file."""

    kind: str
    path: str
    name: str
    depth: int
    size: int = 0
    language: str = ""
    start_line: int = 0
    end_line: int = 0
    signature: str = ""
    # The time of the last change of a file, in a list that is sorted by it: ISO 8601 in UTC.
    changed: str = ""
    # What it costs to read and to map, if that was asked for.
    cost: TokenCost | None = None


class _Part(NamedTuple):
    """The part of a path that is on the page: 0 is the path itself, 1 and up are its symbols."""

    path: str
    start: int
    end: int


class Tree:
    """Lists the tree around one folder, file or symbol."""

    def __init__(self, store: RelationStore, request: TreeRequest) -> None:
        self._store = store
        self._path = request.path
        self._own_depth = request.path.count("/") + 1 if request.path else 0
        self._relation = request.relation
        self._max_depth = 1 if request.relation == Relation.CHILDREN else min(request.max_depth, _DEEPEST)
        self._has_symbols = request.symbols
        self._symbols = _Symbols(store, request.path, request.symbol) if self._is_file() else None
        if request.symbol and self._symbols is None:
            raise QueryError(
                f"symbol needs the path of an indexed file, not {request.path or 'the workspace'}",
                ErrorKind.SYMBOL_WITHOUT_FILE,
                symbol=request.symbol,
            )

    def walk(self, wanted: Slice) -> Found[TreeNode]:
        """Return one page of the parents, children or descendants."""
        if self._relation == Relation.PARENTS:
            nodes = list(self._above())
        elif self._symbols:
            nodes = self._symbols.below(self._max_depth)
        else:
            return self._below(wanted)
        return Found(tuple(nodes[wanted.offset : wanted.offset + wanted.limit]), len(nodes))

    def _is_file(self) -> bool:
        if not self._path:
            return False
        if self._store.file_id(self._path) is not None:
            return True
        check_folder(self._store, self._path)
        return False

    def _above(self) -> Iterator[TreeNode]:
        """Yield what contains the starting point, nearest first."""
        depth = 0
        path = self._path
        if self._symbols:
            for node in self._symbols.above():
                depth += 1
                yield replace(node, depth=depth)
        while path:
            path = path.rpartition("/")[0]
            depth += 1
            yield TreeNode("folder", path, path.rpartition("/")[2] or ".", depth, self._store.count_files_in(path))

    def _below(self, wanted: Slice) -> Found[TreeNode]:
        """Return what is inside: each folder before its contents, each file before its symbols."""
        places, files = self._places()
        symbols = self._symbol_counts() if self._has_symbols else {}
        shown, position, end = list[_Part](), 0, wanted.offset + wanted.limit
        # Symbols before the page are counted but not read, so that the cost depends only on the page.
        for path in places:
            if position >= end:
                break
            size = 1 + symbols.get(path, 0)
            if position + size > wanted.offset:
                shown.append(_Part(path, max(0, wanted.offset - position), min(size, end - position)))
            position += size
        return Found(tuple(self._nodes(shown, files)), len(places) + sum(symbols.values()))

    def _places(self) -> tuple[list[str], dict[str, int]]:
        """Return the paths down to the shown depth, and the number of files in each folder."""
        places: list[str] = []
        files: dict[str, int] = {}
        last, is_shown = None, False
        # Reading only paths is cheap; other facts are read only for the files that are shown.
        for path in self._store.paths_in(self._path):
            folder = path.rpartition("/")[0]
            if folder != last:
                last, is_shown = folder, self._depth(path) <= self._max_depth
                places += self._new_folders(folder, files)
                files.setdefault(folder, 0)
            files[folder] += 1
            if is_shown:
                places.append(path)
        # Folders inside a folder sort after it, so going backwards each count is complete before it is added.
        for folder in sorted(files, reverse=True):
            above = folder.rpartition("/")[0]
            if folder and above in files:
                files[above] += files[folder]
        return places, files

    def _symbol_counts(self) -> dict[str, int]:
        """Return the number of shown symbols of each file, without reading them."""
        return self._store.count_symbols_in(self._path, self._max_depth + self._own_depth - 1)

    def _nodes(self, shown: list[_Part], files: dict[str, int]) -> Iterator[TreeNode]:
        known = self._files([part.path for part in shown if part.path not in files])
        symbols = self._symbols_of([part for part in shown if part.end > 1])
        for path, start, _ in shown:
            node = known.get(path) or TreeNode("folder", path, path.rpartition("/")[2], self._depth(path), files[path])
            if not start:
                yield node
            for symbol in symbols.get(path, ()):
                yield _symbol(path, node.language, symbol, node.depth + 1 + symbol.depth)

    def _symbols_of(self, shown: list[_Part]) -> dict[str, list[SymbolEntry]]:
        """Read the symbols on the page; only the first and the last file can be there in part."""
        ranges = [(path, self._max_depth - self._depth(path), max(0, start - 1), end - 1) for path, start, end in shown]
        found = self._store.symbols_of_files([(path, depth) for path, depth, *_ in ranges[1:-1]])
        for path, depth, start, end in {ranges[0], ranges[-1]} if ranges else ():
            found[path] = self._store.symbols_of_file(path, depth, Slice(end - start, start))
        return found

    def _new_folders(self, folder: str, files: dict[str, int]) -> list[str]:
        """Return this folder and those above it that are new, down to the shown depth."""
        found = []
        while len(folder) > len(self._path) and folder not in files:
            files[folder] = 0
            found.append(folder)
            folder = folder.rpartition("/")[0]
        return [path for path in reversed(found) if self._depth(path) <= self._max_depth]

    def _depth(self, path: str) -> int:
        """Return how many levels a path is below the starting point."""
        return path.count("/") + 1 - self._own_depth

    def _files(self, paths: list[str]) -> dict[str, TreeNode]:
        return {file.path: file_node(file, self._depth(file.path)) for file in self._store.files_at(paths)}


class _Symbols:
    """The symbols of a file, in the order of the source."""

    def __init__(self, store: RelationStore, path: str, symbol: str) -> None:
        (self._file,) = store.files_at([path])
        self._entries = store.symbols_of_file(path)
        self._start = self._find(symbol) if symbol else -1

    def below(self, max_depth: int) -> list[TreeNode]:
        base = self._entries[self._start].depth if self._start >= 0 else -1
        nodes = []
        for symbol in self._entries[self._start + 1 :]:
            # In the order of the source, the first symbol that is not deeper ends the contents.
            if symbol.depth <= base:
                break
            if symbol.depth - base <= max_depth:
                nodes.append(_symbol(self._file.path, self._file.language, symbol, symbol.depth - base))
        return nodes

    def above(self) -> Iterator[TreeNode]:
        if self._start < 0:
            return
        depth = self._entries[self._start].depth
        for symbol in reversed(self._entries[: self._start]):
            # Going backwards, each symbol that is less deep than all before contains the symbol.
            if symbol.depth < depth:
                depth = symbol.depth
                yield _symbol(self._file.path, self._file.language, symbol, 0)
        yield file_node(self._file, 0)

    def _find(self, symbol: str) -> int:
        """Return the number of a symbol, found by name, dotted name or line."""
        *owners, name = separate(symbol)
        numbers = [
            number
            for number, entry in enumerate(self._entries)
            if (entry.name == name and (not owners or entry.parent.split(".")[-1] == owners[-1]))
            or str(entry.start_line) == symbol
        ]
        path = self._file.path
        if not numbers:
            raise QueryError(f"{path} has no symbol {symbol!r}", ErrorKind.NO_SYMBOL, path=path)
        if len(numbers) > 1:
            lines = ", ".join(str(self._entries[number].start_line) for number in numbers[:_LINES_LISTED])
            raise QueryError(f"{path} has {len(numbers)} symbols named {symbol!r}; use a first line as symbol: {lines}")
        return numbers[0]


def check_folder(store: RelationStore, path: str) -> None:
    """Reject a path that contains no indexed file."""
    if not store.count_files_in(path):
        raise PathError(
            f"{path} is not an indexed file, nor a folder that contains one",
            ErrorKind.UNKNOWN_PATH,
            suggestion=path_suggestion(store, path, with_folders=True),
        )


def file_node(file: IndexedFile, depth: int) -> TreeNode:
    """Return a file as part of the tree."""
    return TreeNode("file", file.path, file.path.rpartition("/")[2], depth, file.lines, file.language)


def _symbol(path: str, language: str, symbol: SymbolEntry, depth: int) -> TreeNode:
    return TreeNode(
        symbol.kind, path, symbol.name, depth, 0, language, symbol.start_line, symbol.end_line, symbol.signature
    )
