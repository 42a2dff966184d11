"""Building symbols and imports from the matches of a language's symbol query."""

from collections.abc import Sequence

from tree_sitter import Node

from keyhole.core.syntax.captures import Captures, Definition
from keyhole.core.syntax.docs import NO_DOC, Doc, read_comment, read_docstring
from keyhole.core.syntax.languages import Language
from keyhole.core.syntax.parse import find_matches, has_errors
from keyhole.core.syntax.signatures import SignatureReader
from keyhole.core.syntax.spans import Source, Span, Spans
from keyhole.core.syntax.visibility import Visibility
from keyhole.core.types.syntax import HOLDS_METHODS, Outline, Symbol

# Deeper nesting is generated or hostile, and would cost much: the name of a symbol lists all that enclose it.
_MAX_NESTING = 30
_NOT_LOCAL = frozenset(["prototype", "constant"])


def extract_outline(language: Language, trees: Sequence[Node], source: Source) -> Outline:
    """Return the symbols and imports of a file, given its tree and those of the parts that were parsed again."""
    captures = Captures(source, find_matches(language, trees))
    _unwrap(captures)
    _stretch_sections(captures)
    definitions = [d for d in captures.definitions.values() if _is_wanted(d, captures.exported)]
    decorators = Spans(captures.decorators)
    _Surroundings(source, captures, decorators).attach(definitions)
    imports = tuple(captures.imports[key] for key in sorted(captures.imports))
    references = tuple(captures.references[key] for key in sorted(captures.references.keys() - captures.imports.keys()))
    symbols = _Builder(language, captures, decorators).nest(definitions)
    return Outline(language.id, symbols, imports, has_errors(language, trees[0]), references=references)


def _is_wanted(definition: Definition, exported: set[str]) -> bool:
    # Every assignment matches as a constant; keep those with a name in capitals and those that are exported.
    if definition.kind != "constant":
        return True
    return definition.name.isupper() or definition.is_wrapped or definition.name in exported


def _unwrap(captures: Captures) -> None:
    """For each wrapper, extend the first definition that ends where it ends to the start of the wrapper."""
    by_end: dict[int, list[Definition]] = {}
    for definition in sorted(captures.definitions.values(), key=lambda d: d.start):
        by_end.setdefault(definition.end, []).append(definition)
    # Wrappers can be nested (export around decorated). Inner ones come first, so that the widest is applied last.
    for outer in sorted(captures.outers, key=lambda span: -span.start):
        has_semicolon = captures.source.content.endswith(b";", outer.start, outer.end)
        ends = (outer.end, outer.end - 1) if has_semicolon else (outer.end,)
        wrapped = next((d for end in ends for d in by_end.get(end, []) if outer.start <= d.start), None)
        if wrapped is not None:
            wrapped.start, wrapped.is_wrapped = outer.start, True


def _stretch_sections(captures: Captures) -> None:
    """Extend each unindented heading over its section, up to the next heading of its level or above."""
    content = captures.source.content
    headings = sorted((d for d in captures.definitions.values() if d.level), key=lambda d: d.start)
    open_ones: list[Definition] = []

    def end_section(heading: Definition, limit: int) -> None:
        heading.body = heading.body or Span(heading.end, heading.end)
        heading.end = heading.start + len(content[heading.start : limit].rstrip())

    for heading in headings:
        if not captures.source.starts_line(heading.start):
            captures.definitions.pop((heading.start, heading.end))  # in a quote or a list
            continue
        while open_ones and open_ones[-1].level >= heading.level:
            end_section(open_ones.pop(), heading.start)
        open_ones.append(heading)
    for heading in open_ones:
        end_section(heading, len(content))


class _Surroundings:
    """The decorators and doc comments of a file, looked up for the definitions they belong to."""

    def __init__(self, source: Source, captures: Captures, decorators: Spans) -> None:
        self._source = source
        self._docstrings = captures.docstrings
        self._decorators = decorators
        self._docs_by_last_row = {source.last_row(d.start, d.end): d for d in self._join_comments(captures.docs)}
        self._decorators_by_last_row = {
            source.last_row(span.start, span.end): span for span in decorators if self._ends_line(span)
        }

    def attach(self, definitions: list[Definition]) -> None:
        """Extend each definition over its decorators, and set its documentation."""
        # Many files have no decorators, and docstrings instead of comments.
        is_bare = not self._docs_by_last_row and not self._decorators
        first_in_row = {} if is_bare else self._first_in_row(definitions)
        for definition in definitions:
            above = None if is_bare else self._extend(definition, first_in_row)
            definition.doc = self._read_doc(definition, above)

    def _first_in_row(self, definitions: list[Definition]) -> dict[int, int]:
        """Return, by row, the start of the first definition that starts or has its name on the row."""
        first_in_row: dict[int, int] = {}
        for definition in definitions:
            for position in (definition.start, definition.name_start):
                row = self._source.row(position)
                first_in_row[row] = min(definition.start, first_in_row.get(row, definition.start))
        return first_in_row

    def _extend(self, definition: Definition, first_in_row: dict[int, int]) -> Span | None:
        """Extend a definition over its decorators, and return the doc comment between or above them."""
        row = self._source.row(definition.start)
        # Decorators and comments above a line belong to the first definition on it, not to those inside it.
        is_first = definition.start == first_in_row[row]
        self._extend_left(definition)
        return self._extend_up(definition, row) if is_first else None

    def _extend_left(self, definition: Definition) -> None:
        content = self._source.content
        for decorator in self._decorators.before(definition.start):
            # Check for a line feed first: the decorator may be far away, and the text in between long.
            if decorator.end > definition.start or content.rfind(b"\n", decorator.start, definition.start) >= 0:
                break
            if content[decorator.end : definition.start].strip():
                break
            definition.start = decorator.start

    def _extend_up(self, definition: Definition, row: int) -> Span | None:
        doc = None
        while True:
            decorator = self._decorators_by_last_row.get(row - 1)
            comment = self._docs_by_last_row.get(row - 1) if doc is None else None
            span = decorator or comment
            if span is None or span.end > definition.name_start:
                return doc
            row = self._source.row(span.start)
            if span is decorator:
                definition.start = span.start
            else:
                doc = span

    def _read_doc(self, definition: Definition, above: Span | None) -> Doc:
        docstring = self._docstrings.get(definition.body.start) if definition.body else None
        if docstring is not None:
            return read_docstring(self._source.text(docstring.start, docstring.end))
        return read_comment(self._source.text(above.start, above.end)) if above else NO_DOC

    def _join_comments(self, comments: list[Span]) -> list[Span]:
        """Join comments on consecutive lines; a comment after code on the same line is ignored."""
        joined: list[Span] = []
        last_row = -2
        for span in Spans(comments):
            if not self._source.starts_line(span.start):
                continue
            is_doc_block = self._source.content.startswith(b"/**", span.start)
            if last_row + 1 == self._source.row(span.start) and not is_doc_block:
                joined[-1] = Span(joined[-1].start, span.end)
            else:
                joined.append(span)
            last_row = self._source.last_row(span.start, span.end)
        return joined

    def _ends_line(self, span: Span) -> bool:
        rest = self._source.rest_of_line(span.end)
        return not rest or rest.startswith((b"#", b"//", b"/*"))


class _Builder:
    """Turns definitions into symbols, each nested in the one that encloses it."""

    def __init__(self, language: Language, captures: Captures, decorators: Spans) -> None:
        self._source = captures.source
        self._signatures = SignatureReader(
            language, captures.source, Spans(captures.comments + captures.docs), decorators
        )
        self._visibility = Visibility(language, captures)

    def nest(self, definitions: list[Definition]) -> tuple[Symbol, ...]:
        """Return the top-level symbols with their children, nested by their ranges."""
        top: list[Symbol] = []
        open_ones: list[Definition] = []

        def close() -> None:
            done = open_ones.pop()
            siblings = open_ones[-1].children if open_ones else top
            siblings.append(self._symbol(done, open_ones))

        for definition in sorted(definitions, key=lambda d: (d.start, -d.end)):
            while open_ones and open_ones[-1].end <= definition.start:
                close()
            if len(open_ones) < _MAX_NESTING and not (open_ones and _is_shadowed(definition, open_ones[-1])):
                open_ones.append(definition)
        while open_ones:
            close()
        return tuple(top)

    def _symbol(self, definition: Definition, enclosing: list[Definition]) -> Symbol:
        holder = enclosing[-1] if enclosing else None
        words = (*self._signatures.modifier_words(definition), *self._visibility.access_words(definition, holder))
        modifiers = (*self._signatures.decorator_names(definition), *dict.fromkeys(words))
        return Symbol(
            name=definition.name,
            kind=_final_kind(definition.kind, holder),
            signature=self._signatures.signature(definition),
            doc=definition.doc.sentence,
            returns=definition.doc.returns,
            start_line=self._source.row(definition.start) + 1,
            end_line=self._source.last_row(definition.start, definition.end) + 1,
            name_line=self._source.row(definition.name_start) + 1,
            parent=".".join([*[part for d in enclosing for part in (*d.owners, d.name)], *definition.owners])
            or definition.parent,
            exported=self._visibility.is_exported(definition.name, modifiers, holder),
            modifiers=modifiers,
            children=tuple(definition.children),
        )


def _is_shadowed(definition: Definition, holder: Definition) -> bool:
    if definition.kind in _NOT_LOCAL and holder.kind in ("function", "method"):
        return True
    # The same body with the same name twice: typedef struct A { } A.
    return definition.body is not None and definition.body == holder.body and definition.name == holder.name


def _final_kind(kind: str, holder: Definition | None) -> str:
    if kind == "prototype":
        kind = "function"
    return "method" if kind == "function" and holder is not None and holder.kind in HOLDS_METHODS else kind
