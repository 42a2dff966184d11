"""The tree of a workspace: folders, files, and the symbols inside them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from keyhole.core.errors import PathError, QueryError
from keyhole.core.index.store import Store
from keyhole.core.links.requests import Relation, TreeRequest
from keyhole.core.search.link_search import Found, Slice
from keyhole.core.search.symbol_search import separate

_LINES_LISTED = 5
# No path has as many parts.
_DEEPEST = 10_000
_COLUMNS = "depth, name, kind, signature, symbol.start_line, symbol.end_line, symbol.parent"
_SYMBOLS = f"SELECT {_COLUMNS} FROM symbol JOIN file ON file.id = file_id"  # noqa: S608
_SYMBOLS_OF_SOME = f"""SELECT file.path, {_COLUMNS} FROM json_each(?) asked
    JOIN file ON file.path = asked.value ->> 0 JOIN symbol ON file_id = file.id
    WHERE depth < asked.value ->> 1 ORDER BY asked.key, symbol.id"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A folder, a file or a symbol; `size` counts the files of a folder, the lines of a file."""

    kind: str
    path: str
    name: str
    depth: int
    size: int = 0
    language: str = ""
    start_line: int = 0
    end_line: int = 0
    signature: str = ""


class _Stretch(NamedTuple):
    """What is shown of a path: 0 is itself, and from 1 on its symbols."""

    path: str
    start: int
    end: int


class Tree:
    """Walks the tree from one place."""

    def __init__(self, store: Store, request: TreeRequest) -> None:
        self._store = store
        self._path = request.path
        self._own_depth = request.path.count("/") + 1 if request.path else 0
        self._relation = request.relation
        self._max_depth = 1 if request.relation == Relation.CHILDREN else min(request.max_depth, _DEEPEST)
        self._has_symbols = request.symbols
        self._symbols = _Symbols(store, request.path, request.symbol) if self._is_file() else None
        if request.symbol and self._symbols is None:
            raise QueryError("symbol needs path to be a file; find_related and search_code find symbols anywhere")

    def walk(self, wanted: Slice) -> Found[TreeNode]:
        """Return the nodes in the direction that is asked for."""
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
        if self._store.query("SELECT 1 FROM file WHERE path = ?", self._path):
            return True
        if not self._store.query("SELECT 1 FROM file WHERE path > ? AND path < ? LIMIT 1", *_inside(self._path)):
            raise PathError(f"{self._path} is neither an indexed file nor a folder with any; keyhole tree shows all")
        return False

    def _above(self) -> Iterator[TreeNode]:
        """Yield what encloses the place, the nearest first."""
        depth = 0
        path = self._path
        if self._symbols:
            for node in self._symbols.above():
                depth += 1
                yield replace(node, depth=depth)
        while path:
            path = path.rpartition("/")[0]
            depth += 1
            files = self._store.value("SELECT count(*) FROM file WHERE path > ? AND path < ?", *_inside(path))
            yield TreeNode("folder", path, path.rpartition("/")[2] or ".", depth, files)

    def _below(self, wanted: Slice) -> Found[TreeNode]:
        """Return what is inside: each folder before what it holds, each file before its symbols."""
        places, files = self._places()
        symbols = self._symbol_counts() if self._has_symbols else {}
        shown, position, end = list[_Stretch](), 0, wanted.offset + wanted.limit
        for path in places:
            if position >= end:
                break
            size = 1 + symbols.get(path, 0)
            if position + size > wanted.offset:
                shown.append(_Stretch(path, max(0, wanted.offset - position), min(size, end - position)))
            position += size
        return Found(tuple(self._nodes(shown, files)), len(places) + sum(symbols.values()))

    def _places(self) -> tuple[list[str], dict[str, int]]:
        """Return the paths of folders and files, as deep as they are shown, and how many files each folder has."""
        # Paths alone are read from their index; what else a file has, only of those that are shown.
        rows = self._store.query(
            "SELECT path FROM file WHERE path > ? AND path < ? ORDER BY path", *_inside(self._path)
        )
        places: list[str] = []
        files: dict[str, int] = {}
        last, is_shown = None, False
        for (path,) in rows:
            folder = path.rpartition("/")[0]
            if folder != last:
                last, is_shown = folder, self._depth(path) <= self._max_depth
                places += self._new_folders(folder, files)
                files.setdefault(folder, 0)
            files[folder] += 1
            if is_shown:
                places.append(path)
        # What is inside a folder comes after it, so from the end on each adds up before it counts in the one above.
        for folder in sorted(files, reverse=True):
            above = folder.rpartition("/")[0]
            if folder and above in files:
                files[above] += files[folder]
        return places, files

    def _symbol_counts(self) -> dict[str, int]:
        """Count the symbols of each file that are shown, without reading them."""
        rows = self._store.query(
            """SELECT path, count(*) FROM file CROSS JOIN symbol ON file_id = file.id
                AND depth < ? - length(path) + length(replace(path, '/', ''))
                WHERE path > ? AND path < ? GROUP BY path""",
            self._max_depth + self._own_depth - 1,
            *_inside(self._path),
        )
        return dict(rows)

    def _nodes(self, shown: list[_Stretch], files: dict[str, int]) -> Iterator[TreeNode]:
        known = self._files([stretch.path for stretch in shown if stretch.path not in files])
        symbols = self._symbols_of([stretch for stretch in shown if stretch.end > 1])
        for path, start, _ in shown:
            node = known.get(path) or TreeNode("folder", path, path.rpartition("/")[2], self._depth(path), files[path])
            if not start:
                yield node
            for row in symbols.get(path, ()):
                yield _symbol(path, node.language, row, node.depth + 1 + row[0])

    def _symbols_of(self, shown: list[_Stretch]) -> dict[str, list[tuple[Any, ...]]]:
        """Read the symbols of stretches; only the first and the last can be a part of those that a file has."""
        asked = [(path, self._max_depth - self._depth(path), max(0, start - 1), end - 1) for path, start, end in shown]
        found: dict[str, list[tuple[Any, ...]]] = {path: [] for path, *_ in asked}
        for path, *row in self._store.query(_SYMBOLS_OF_SOME, json.dumps(asked[1:-1])):
            found[path].append(tuple(row))
        for path, depth, start, end in {asked[0], asked[-1]} if asked else ():
            found[path] = self._store.query(
                f"{_SYMBOLS} WHERE path = ? AND depth < ? ORDER BY symbol.id LIMIT ? OFFSET ?",
                path,
                depth,
                end - start,
                start,
            )
        return found

    def _new_folders(self, folder: str, files: dict[str, int]) -> list[str]:
        """Return the folders from the place down to this one that were not met yet, as deep as they are shown."""
        found = []
        while len(folder) > len(self._path) and folder not in files:
            files[folder] = 0
            found.append(folder)
            folder = folder.rpartition("/")[0]
        return [path for path in reversed(found) if self._depth(path) <= self._max_depth]

    def _depth(self, path: str) -> int:
        """Tell how many levels below the place a path is."""
        return path.count("/") + 1 - self._own_depth

    def _files(self, paths: list[str]) -> dict[str, TreeNode]:
        rows = self._store.query(
            "SELECT file.path, language, lines FROM json_each(?) asked JOIN file ON file.path = asked.value",
            json.dumps(paths),
        )
        return {
            path: TreeNode("file", path, path.rpartition("/")[2], self._depth(path), lines, language)
            for path, language, lines in rows
        }


class _Symbols:
    """The symbols of a file, in order; each with how deep it is."""

    def __init__(self, store: Store, path: str, symbol: str) -> None:
        (self._file,) = store.query("SELECT path, language, lines FROM file WHERE path = ?", path)
        self._rows = store.query(f"{_SYMBOLS} WHERE path = ? ORDER BY symbol.id", path)
        self._start = self._find(symbol) if symbol else -1

    def below(self, max_depth: int) -> list[TreeNode]:
        base = self._rows[self._start][0] if self._start >= 0 else -1
        nodes = []
        for row in self._rows[self._start + 1 :]:
            if row[0] <= base:
                break
            if row[0] - base <= max_depth:
                nodes.append(_symbol(self._file[0], self._file[1], row, row[0] - base))
        return nodes

    def above(self) -> Iterator[TreeNode]:
        if self._start < 0:
            return
        depth = self._rows[self._start][0]
        for row in reversed(self._rows[: self._start]):
            if row[0] < depth:
                depth = row[0]
                yield _symbol(self._file[0], self._file[1], row, 0)
        path, language, lines = self._file
        yield TreeNode("file", path, path.rpartition("/")[2], 0, lines, language)

    def _find(self, symbol: str) -> int:
        """Find a symbol by name, dotted name or line."""
        *owners, name = separate(symbol)
        numbers = [
            number
            for number, row in enumerate(self._rows)
            if (row[1] == name and (not owners or row[6].split(".")[-1] == owners[-1])) or str(row[4]) == symbol
        ]
        path = self._file[0]
        if not numbers:
            raise QueryError(f"{path} has no symbol {symbol!r}; map_file shows what it has")
        if len(numbers) > 1:
            lines = ", ".join(str(self._rows[number][4]) for number in numbers[:_LINES_LISTED])
            raise QueryError(f"{path} has {len(numbers)} symbols {symbol!r}; give symbol=LINE, one of {lines}")
        return numbers[0]


def _symbol(path: str, language: str, row: tuple[Any, ...], depth: int) -> TreeNode:
    _, name, kind, signature, start, end, _ = row
    return TreeNode(kind, path, name, depth, 0, language, start, end, signature)


def _inside(folder: str) -> tuple[str, str]:
    """Return the bounds of all paths inside a folder: a slash is followed by 0 in the order of bytes."""
    return (f"{folder}/", f"{folder}0") if folder else ("", "\U0010ffff")
