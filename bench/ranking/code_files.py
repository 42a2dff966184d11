"""The code of a tree: which files count as code, and what they define."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from keyhole.core.files.content import decode, skip_reason_for
from keyhole.core.roles.file_roles import role_by_path
from keyhole.core.syntax.captures import Captures
from keyhole.core.syntax.docs import read_comment, read_docstring
from keyhole.core.syntax.languages import Language, detect_language
from keyhole.core.syntax.parse import find_matches, parse, trees_of
from keyhole.core.syntax.spans import Source, Span, Spans
from keyhole.core.syntax.symbols import extract_outline
from keyhole.core.types.choices import Role
from keyhole.core.types.syntax import Symbol

# Commits to these concern how the project is built, even though Keyhole reads them as code.
_NOT_WRITTEN = frozenset([Role.VENDORED, Role.BUILT, Role.GENERATED, Role.DATA, Role.LOCALE])
BUILD_LANGUAGES = frozenset(["make", "dockerfile", "cmake", "groovy", "starlark", "meson", "nix", "terraform", "hcl"])
LARGEST_PARSED = 300_000
# The kinds of definitions that a name with a capital letter usually means.
TYPES = frozenset(
    ["class", "enum", "interface", "module", "object", "protocol", "record", "struct", "trait", "type", "union"]
)
# Built output, declarations of types alone, and files that say how the project is built.
_BUILDS = re.compile(
    r"""(?:^|/)(?:dist|node_modules)/ | \.min\.\w+$ | \.d\.ts$ | \.sbt$ | \.gemspec$ | \.gradle\.kts$
    | \.config\.[cm]?[jt]s$
    | (?:^|/)(?:setup\.py|conf\.py|Gemfile|Rakefile|build\.rs|Package\.swift|mix\.exs|configure|gradlew)$""",
    re.VERBOSE,
)
# Where tests are, by more habits than Keyhole knows: here it is better to leave out too much.
_TEST_FOLDER = re.compile(
    r"(?:^|[._-])(?:unit|integration|functional|acceptance|e2e)?[._-]?(?:tests?|specs?)(?:$|[._-])"
    r"|test-?fixtures|(?-i:[a-z](?:Tests?|Specs?)$)",
    re.IGNORECASE,
)
_TEST_PART = re.compile(r"(?:^|[._])(?:tests?|specs?)(?:$|[._])|^test|(?-i:Tests?$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol with its file, and where its doc comment is.

    `may_answer` is false in tests, examples, vendored copies and files that Keyhole skips.
    """

    path: str
    language: str
    symbol: Symbol
    may_answer: bool = True
    doc: Span | None = None

    @property
    def owner(self) -> str:
        """The name of what encloses it; empty at the top level."""
        return re.split(r"\.|::", self.symbol.parent)[-1].partition("<")[0].strip()

    @property
    def lines(self) -> int:
        """The number of its lines."""
        return self.symbol.end_line - self.symbol.start_line + 1


def is_answer(path: str) -> bool:
    """Return whether a file may answer a query: code that people wrote for this project, and no tests."""
    language = detect_language(path, "")
    is_code = language.is_code and language.id not in BUILD_LANGUAGES
    return is_code and role_by_path(path) not in _NOT_WRITTEN and not is_test(path) and not _BUILDS.search(path)


def is_test(path: str) -> bool:
    """Return whether a file is a test or belongs to tests."""
    return role_by_path(path) in (Role.TEST, Role.FIXTURE) or any(map(_TEST_FOLDER.search, path.split("/")))


def is_example(path: str) -> bool:
    """Return whether a file shows how to use the project, so that only a query that says so means it."""
    return role_by_path(path) == Role.EXAMPLE


def answer_files(files: Mapping[str, bytes]) -> frozenset[str]:
    """Return the files of a tree that may answer a query and that Keyhole does not skip, as it does generated code."""
    return frozenset(
        path
        for path, content in files.items()
        if is_answer(path) and (text := decode(content)) and skip_reason_for(path, text[0]) is None
    )


def definitions_in(files: Mapping[str, bytes]) -> Iterator[Definition]:
    """Yield every definition in the code of a tree, tests included."""
    answers = answer_files(files)
    for path, content in files.items():
        language = detect_language(path, content[:200].decode("utf-8", "replace"))
        if language.id == "c" and path.endswith(".h"):
            language = detect_language(path, content.decode("utf-8", "replace"))
        if language.has_definitions and len(content) <= LARGEST_PARSED:
            for found in _definitions_of(path, language, content):
                in_test = _TEST_PART.search(found.symbol.parent) or _TEST_PART.search(found.symbol.name)
                yield replace(found, may_answer=path in answers and not in_test and not is_example(path))


def _definitions_of(path: str, language: Language, content: bytes) -> Iterator[Definition]:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return
    root = parse(language, content)
    if root is None:
        return
    trees = trees_of(language, root, content)
    symbols = list(extract_outline(language, trees, Source(content)).walk())
    comments = None
    for symbol in symbols:
        if symbol.doc and comments is None:
            comments = _Comments(Source(content), Captures(Source(content), find_matches(language, trees)))
        yield Definition(path, language.id, symbol, doc=comments.doc_of(symbol) if symbol.doc and comments else None)


class _Comments:
    """The comments of a file, to find the one that the doc of a symbol was read from."""

    def __init__(self, source: Source, captures: Captures) -> None:
        self._source = source
        self._docstrings = Spans(captures.docstrings.values())
        self._by_last_row = {source.last_row(span.start, span.end): span for span in Spans(captures.docs)}

    def doc_of(self, symbol: Symbol) -> Span | None:
        """Return the range of the doc comment, or None if no single comment gives this doc."""
        first, last = symbol.start_line - 1, symbol.end_line - 1
        for docstring in self._docstrings:
            if first <= self._source.row(docstring.start) <= last and self._is_doc_of(symbol, docstring):
                return docstring
        # Above the definition, or between its decorators and its name.
        for row in range(first - 1, symbol.name_line - 1):
            if (span := self._joined(row)) and read_comment(self._text(span)).sentence == symbol.doc:
                return span
        return None

    def _is_doc_of(self, symbol: Symbol, span: Span) -> bool:
        return read_docstring(self._text(span)).sentence == symbol.doc

    def _joined(self, last_row: int) -> Span | None:
        """Return the comment that ends on a row, with the lines of comment directly above it."""
        found = self._by_last_row.get(last_row)
        while found and not self._text(found).startswith("/**"):
            above = self._by_last_row.get(self._source.row(found.start) - 1)
            if above is None or not self._source.starts_line(above.start):
                break
            found = Span(above.start, found.end)
        return found

    def _text(self, span: Span) -> str:
        return self._source.text(span.start, span.end)
