"""Narrowing a search to some files, and telling tests, vendored and other side matter by their paths."""

import json
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import PurePosixPath

from keyhole.core.errors import QueryError
from keyhole.core.files.globs import glob_test
from keyhole.core.index.store import Store
from keyhole.core.syntax.languages import BY_ID, LANGUAGES
from keyhole.core.types import Query

PathTest = Callable[[str], bool]

_GLOB = re.compile(r"[*?\[]")
_TEST_FOLDERS = frozenset(["test", "tests", "testing", "spec", "specs", "__tests__", "e2e", "testdata", "fixtures"])
_TEST_STEM = re.compile(r"^(?:test_.+|.+[_.-](?:test|tests|spec)|.+Tests?|.+Spec|Test[A-Z]\w*|conftest)$")
_VENDOR_FOLDERS = frozenset(
    ["vendor", "vendored", "_vendor", "third_party", "thirdparty", "node_modules", "external", "deps"]
)
_EXAMPLE_FOLDERS = frozenset(
    ["example", "examples", "demo", "demos", "sample", "samples", "doc", "docs", "benchmark", "benchmarks", "bench"]
)
_LOCALE_FOLDERS = frozenset(["locale", "locales", "i18n", "translations", "legacy", "compat"])


@lru_cache(maxsize=100_000)
def role_of(path: str) -> str:
    """Say what a file is for: "source", "test", "vendored", "example", "locale" or "prose"."""
    parts = PurePosixPath(path)
    folders = {part.lower() for part in parts.parts[:-1]}
    if folders & _VENDOR_FOLDERS:
        return "vendored"
    if folders & _TEST_FOLDERS or _TEST_STEM.match(parts.stem):
        return "test"
    if folders & _EXAMPLE_FOLDERS:
        return "example"
    if folders & _LOCALE_FOLDERS:
        return "locale"
    return "source"


class Filter:
    """The files a query admits; `ids` is None when it admits all."""

    def __init__(self, store: Store, query: Query) -> None:
        language = _known_language(store, query.language)
        self.kind = _known_kind(store, query.kind)
        self.ids: set[int] | None = None
        if not (query.path or language or not query.include_tests):
            return
        admits = _path_test(query.path)
        rows = store.query("SELECT id, path FROM file WHERE ? IN ('', language)", language)
        self.ids = {id_ for id_, path in rows if admits(path) and (query.include_tests or role_of(path) != "test")}
        if query.path and not any(admits(path) for _, path in store.query("SELECT id, path FROM file")):
            raise QueryError(f"no indexed file matches path {query.path!r}{_nearest_path(store, query.path)}")

    def admits_file(self, file_id: int) -> bool:
        """Tell whether a file is inside."""
        return self.ids is None or file_id in self.ids

    def admits(self, file_id: int, definitions: str) -> bool:
        """Tell whether a chunk is inside."""
        return self.admits_file(file_id) and (not self.kind or f", {self.kind} " in f", {definitions}")

    def as_sql(self) -> tuple[str, list[object]]:
        """Write the same as a condition on the table `chunk`."""
        conditions, values = ["1"], list[object]()
        if self.ids is not None:
            conditions.append("chunk.file_id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(self.ids)))
        if self.kind:
            conditions.append("instr(', ' || chunk.definitions, ?) > 0")
            values.append(f", {self.kind} ")
        return " AND ".join(conditions), values

    @property
    def is_open(self) -> bool:
        """Whether everything is inside."""
        return self.ids is None and not self.kind


def _path_test(pattern: str) -> PathTest:
    pattern = pattern.strip().removeprefix("./").strip("/")
    if not pattern:
        return lambda _: True
    if not _GLOB.search(pattern):
        return lambda path: path == pattern or path.startswith(f"{pattern}/")
    return glob_test(pattern if "/" in pattern else f"**/{pattern}")


def _known_language(store: Store, language: str) -> str:
    if not language:
        return ""
    given = language.lower().removeprefix(".")
    for known in LANGUAGES:
        if given in (known.id, known.label.lower()) or f".{given}" in known.extensions:
            return known.id
    present = [row[0] for row in store.query("SELECT DISTINCT language FROM file")]
    raise QueryError(f"unknown language {language!r}; {_nearest(given, BY_ID, present)}")


def _known_kind(store: Store, kind: str) -> str:
    if not kind:
        return ""
    present = [row[0] for row in store.query("SELECT DISTINCT kind FROM symbol")]
    if kind.lower() in present:
        return kind.lower()
    raise QueryError(f"no symbol of kind {kind!r} is indexed; {_nearest(kind.lower(), present, present)}")


def _nearest(given: str, names: Iterable[str], present: Iterable[str]) -> str:
    close = get_close_matches(given, list(names), n=3, cutoff=0.5)
    return f"did you mean {', '.join(close)}?" if close else f"there are: {', '.join(sorted(present)[:20])}"


def _nearest_path(store: Store, pattern: str) -> str:
    paths = [row[0] for row in store.query("SELECT path FROM file")]
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}
    close = get_close_matches(pattern.strip("/"), [*folders, *paths], n=3, cutoff=0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""
