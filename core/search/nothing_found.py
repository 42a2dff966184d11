"""What a search without results looked for, and what exists instead: results without a filter, similar names."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyhole.core.index.protocols import IndexStore
from keyhole.core.search.filters import chunk_scope
from keyhole.core.search.query import is_identifier, is_quoted, pattern_of, quoted_parts
from keyhole.core.search.symbol_search import Names
from keyhole.core.types.choices import Mode
from keyhole.core.types.missing import NothingFound
from keyhole.core.types.view_requests import Query

# The filters of a query, and their values when they admit everything.
_OPEN: dict[str, Any] = {"path": "", "language": "", "kind": "", "role": "", "include_tests": True, "changed": None}
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_WORD = re.compile(r"[^\W\d]\w{3,}")
_NO_FILES = "the index has no files: the folder is empty, or everything in it is skipped"
_MOST_CLOSEST = 3
_MOST_WORDS = 5
_MODES_BY_WORDS = (Mode.HYBRID, Mode.SEMANTIC, Mode.KEYWORD)


class SearchGap:
    """Explains why a search finds nothing; `count` returns the number of results of another search."""

    def __init__(self, store: IndexStore, names: Names, count: Callable[[Query], int]) -> None:
        self._store = store
        self._names = names
        self._count = count

    def explain(self, query: Query, mode: Mode) -> NothingFound:
        """Return what was looked for, and what exists instead."""
        if not self._store.count_files():
            return NothingFound(f"match for {_quoted(query.text, mode)}", 0, hints=(_NO_FILES,))
        query = replace(query, mode=mode)
        scope = chunk_scope(self._store, query)
        filters = tuple((name, value) for name, value in _filters(query).items())
        without = results_without(list(_filters(query)), lambda names: self._count(_opened(query, names)))
        return NothingFound(
            looked_for=f"match for {_quoted(query.text, mode)}",
            files=self._store.count_files() if scope.file_ids is None else len(scope.file_ids),
            of_files=self._store.count_files(),
            filters=filters,
            without=tuple(without),
            # If a filter is the reason, other names are not.
            closest=() if without else tuple(self._closest(query.text, mode)),
            hints=() if without else tuple(self._hints(query)),
        )

    def _closest(self, text: str, mode: Mode) -> Sequence[str]:
        """Return the names most similar to the text, or to its words."""
        plain = _ESCAPE.sub(" ", pattern_of(text)) if mode == Mode.REGEX else text
        parts = [plain, *_WORD.findall(plain)[:_MOST_WORDS]]
        return list(dict.fromkeys(name for part in parts for name in self._names.closest(part)))[:_MOST_CLOSEST]

    def _hints(self, query: Query) -> Iterator[str]:
        """Yield other ways to search that find something."""
        others = list(_other_searches(query))
        found = [(text, count) for other, text in others if (count := self._count(other))]
        yield from (f"{text}: {count:,} {'result' if count == 1 else 'results'}" for text, count in found)
        if not found and query.mode in _MODES_BY_WORDS and not quoted_parts(query.text):
            yield "words match as a whole; mode=regex also finds parts of them"


def results_without(filters: Sequence[str], count: Callable[[Sequence[str]], int]) -> list[tuple[tuple[str, ...], int]]:
    """Return how many results there are without each of the filters, or else without all of them.

    `count` returns the number of results without the filters that it is given.
    """
    total = count(filters) if filters else 0
    if not total or len(filters) == 1:
        return [(tuple(filters), total)] if total else []
    each: list[tuple[tuple[str, ...], int]] = [((name,), found) for name in filters if (found := count([name]))]
    return each or [(tuple(filters), total)]


def _filters(query: Query) -> dict[str, str]:
    """Return the filters of a query that do not admit everything, as parameters."""
    given = {name: getattr(query, name) for name, admits_all in _OPEN.items() if getattr(query, name) != admits_all}
    return {name: value if isinstance(value, str) else str(value).lower() for name, value in given.items()}


def _opened(query: Query, names: Mapping[str, Any] | Sequence[str]) -> Query:
    return replace(query, **{name: _OPEN[name] for name in names})


def _quoted(text: str, mode: Mode) -> str:
    if is_quoted(text):
        return text.strip()
    return f"/{pattern_of(text)}/" if mode == Mode.REGEX else f"'{text.strip()}'"


def _other_searches(query: Query) -> Iterator[tuple[Query, str]]:
    """Yield other searches for the same, each with what is different about it."""
    if quoted_parts(query.text):
        mode = Mode.KEYWORD if query.mode == Mode.REGEX else query.mode
        yield replace(query, mode=mode, text=query.text.replace('"', " ")), "without quotes"
        if is_quoted(query.text):
            pattern = f"(?i){pattern_of(query.text)}"
            yield replace(query, mode=Mode.REGEX, text=pattern), f"ignoring case, with /{pattern}/"
        return
    if query.mode == Mode.REGEX:
        pattern = pattern_of(query.text)
        if "(?i" not in pattern:
            yield replace(query, text=f"(?i){pattern}"), "ignoring case, with (?i)"
        if _SPECIAL.search(pattern):
            # The group keeps slashes at both ends from being taken for those around a pattern.
            yield replace(query, text=f"(?:{re.escape(pattern)})"), "as plain text, with special characters escaped"
    elif query.mode == Mode.SYMBOL:
        yield replace(query, mode=Mode.KEYWORD), "mode=keyword, which searches the text"
    elif is_identifier(query.text):
        yield replace(query, mode=Mode.SYMBOL), "mode=symbol, which also finds parts of names"
