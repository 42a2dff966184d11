"""From a syntax tree to symbols and imports, by walking a language's table of captures.

What the captures of `assets/queries/*.scm` mean:

    @name @body @parent          parts of a definition; a signature ends where the body starts
    @function @class @enum …     any other name: the definition itself, and its kind
    @outer                       a wrapper (export, template) whose range the definition takes over
    @decorator                   extends the range of the definition it stands before
    @docstring @doc @comment     documentation inside, documentation above, and just a comment
    @import @target              an import statement and what it names
    @exported                    a name that another statement exports
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from keyhole.core.syntax.docs import NO_DOC, Doc, read_comment, read_docstring
from keyhole.core.syntax.languages import Language
from keyhole.core.syntax.parse import Match, find_matches
from keyhole.core.types import Import, Outline, Symbol

SIGNATURE_LIMIT = 2_000

_PARTS = frozenset(
    ["name", "body", "parent", "outer", "decorator", "docstring", "doc", "comment", "import", "target", "exported"]
)
_HOLDS_METHODS = frozenset(
    ["class", "struct", "interface", "trait", "impl", "enum", "object", "protocol", "extension", "record", "union"]
)
_MEMBERS_ARE_PUBLIC = frozenset(["interface", "trait", "protocol"])
_MODIFIERS = frozenset(
    """abstract actor async async* annotation case companion constexpr data declare default export extern external
    fileprivate final friend get implicit infix inline inner internal lateinit lazy local mutating native new open
    operator override partial private protected pub public readonly required sealed set static suspend synchronized
    tailrec transient unsafe value virtual volatile""".split()
)
_WORD = re.compile(r"[A-Za-z]+")
_DECORATOR_NAME = re.compile(r"[\w.:\\]+")
_LINE_BREAK = re.compile(r"[ \t]*\r?\n\s*")
_OPENING_GAP = re.compile(r"([(\[{<])[ \t]*\r?\n\s*")
_CLOSING_GAP = re.compile(r",?[ \t]*\r?\n\s*([)\]>])")
_SIGNATURE_TAIL = re.compile(r"\s*(?:=>|[{:=;]|\bdo|\bbegin|\bAS)?\s*$")


@dataclass(slots=True)
class _Definition:
    """A definition while its range, docs and children are being put together."""

    kind: str
    name: str
    parent: str
    start: int
    end: int
    start_row: int
    end_row: int
    name_row: int
    name_start: int
    body_start: int
    is_wrapped: bool = False
    doc: Doc = NO_DOC
    decorators: list[str] = field(default_factory=list)
    children: list[Symbol] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Span:
    """A comment or decorator, in bytes and rows."""

    start: int
    end: int
    start_row: int
    end_row: int


def extract_outline(language: Language, root: Node, source: bytes) -> Outline:
    """Collect the symbols and imports of a parsed file."""
    reader = _Reader(language, source)
    for match in find_matches(language, root, source):
        reader.take(match)
    return Outline(language.id, reader.symbols(), reader.imports(), root.has_error)


class _Reader:
    """Gathers the matches of one file, then relates them to each other."""

    def __init__(self, language: Language, source: bytes) -> None:
        self._language = language
        self._source = source
        self._definitions: dict[tuple[int, int], _Definition] = {}
        self._outers: list[tuple[int, int]] = []
        self._imports: dict[tuple[int, str], Import] = {}
        self._decorators: list[_Span] = []
        self._comments: list[_Span] = []
        self._doc_comments: list[_Span] = []
        self._docstrings: dict[int, Node] = {}
        self._exported: set[str] = set()

    def take(self, match: Match) -> None:
        """File one match of the table under what it is."""
        for capture, nodes in match.items():
            if capture not in _PARTS:
                self._take_definition(capture, nodes[0], match)
            elif capture == "import":
                self._take_import(nodes[0], match.get("target", []))
            elif capture == "comment":
                self._comments.append(_span(nodes[0]))
            elif capture == "doc":
                self._doc_comments.append(_span(nodes[0]))
            elif capture == "decorator":
                self._decorators.append(_span(nodes[0]))
            elif capture == "outer":
                self._outers.append((nodes[0].start_byte, nodes[0].end_byte))
            elif capture == "docstring":
                self._docstrings[nodes[0].start_byte] = nodes[0]
            elif capture == "exported":
                self._exported.update(self._text(node.start_byte, node.end_byte) for node in nodes)

    def imports(self) -> tuple[Import, ...]:
        """Return the imports in source order."""
        return tuple(sorted(self._imports.values(), key=lambda imported: imported.line))

    def symbols(self) -> tuple[Symbol, ...]:
        """Return the top-level symbols, their children inside them."""
        self._decorators.sort(key=lambda span: span.start)
        notes = _join_lines(self._source, self._doc_comments)
        docs_by_end = {span.end_row: span for span in notes}
        decorators_by_end = {span.end_row: span for span in self._decorators}
        self._comments = sorted(self._comments + self._doc_comments, key=lambda span: span.start)
        self._unwrap()
        definitions = [d for d in self._definitions.values() if self._is_wanted(d)]
        for definition in definitions:
            self._widen(definition, docs_by_end, decorators_by_end)
        return self._nest(definitions)

    def _take_definition(self, kind: str, node: Node, match: Match) -> None:
        names = match.get("name")
        if not names or names[0].start_byte == names[0].end_byte:
            return
        key = (node.start_byte, node.end_byte)
        # Tables list the more telling pattern first: it wins when two match one node.
        if key in self._definitions:
            return
        name, body = names[0], match.get("body")
        span = _span(node)
        self._definitions[key] = _Definition(
            kind=kind,
            name=_one_line(self._text(name.start_byte, names[-1].end_byte)),
            parent=_one_line(" ".join(self._text(n.start_byte, n.end_byte) for n in match.get("parent", []))),
            start=span.start,
            end=span.end,
            start_row=span.start_row,
            end_row=span.end_row,
            name_row=name.start_point[0],
            name_start=name.start_byte,
            body_start=body[0].start_byte if body else -1,
        )

    def _take_import(self, node: Node, targets: list[Node]) -> None:
        text = _one_line(self._text(node.start_byte, node.end_byte)).rstrip(";")
        target = self._text(targets[0].start_byte, targets[-1].end_byte).strip("\"'<>`") if targets else text
        self._imports.setdefault((node.start_byte, target), Import(target, text, node.start_point[0] + 1))

    def _is_wanted(self, definition: _Definition) -> bool:
        # Every assignment matches as a constant; only what reads as one, or is exported, is.
        if definition.kind != "constant":
            return True
        return definition.name.isupper() or definition.is_wrapped or definition.name in self._exported

    def _unwrap(self) -> None:
        """Give each wrapper's range to the definition it wraps: the first that ends where it ends."""
        by_end: dict[int, list[_Definition]] = {}
        for definition in sorted(self._definitions.values(), key=lambda d: d.start):
            by_end.setdefault(definition.end, []).append(definition)
        # Wrappers nest (export around decorated): inner ones first, so that the widest counts.
        for start, end in sorted(self._outers, reverse=True):
            wrapped = next((d for d in by_end.get(end, []) if start <= d.start), None)
            if wrapped is not None:
                wrapped.start_row -= self._source.count(b"\n", start, wrapped.start)
                wrapped.start, wrapped.is_wrapped = start, True

    def _widen(self, definition: _Definition, docs: dict[int, _Span], decorators: dict[int, _Span]) -> None:
        """Take in the decorators above, and find the documentation."""
        row, doc = definition.start_row, None
        while span := decorators.get(row - 1) or (docs.get(row - 1) if doc is None else None):
            if span.end > definition.name_start or span.start_row >= row:
                break
            row = span.start_row
            if span is docs.get(span.end_row) and doc is None:
                doc = span
            else:
                definition.start, definition.start_row = span.start, span.start_row
        inside = _between(self._decorators, definition.start, definition.name_start)
        definition.decorators = [self._decorator_name(span) for span in inside]
        definition.doc = self._read_doc(definition, doc)

    def _read_doc(self, definition: _Definition, above: _Span | None) -> Doc:
        docstring = self._docstrings.get(definition.body_start)
        if docstring is not None:
            return read_docstring(self._text(docstring.start_byte, docstring.end_byte))
        return read_comment(self._text(above.start, above.end)) if above else NO_DOC

    def _nest(self, definitions: list[_Definition]) -> tuple[Symbol, ...]:
        """Put each definition inside the one that encloses it; ranges decide."""
        top: list[Symbol] = []
        open_ones: list[_Definition] = []

        def close() -> None:
            done = open_ones.pop()
            siblings = open_ones[-1].children if open_ones else top
            siblings.append(self._symbol(done, open_ones))

        for definition in sorted(definitions, key=lambda d: (d.start, -d.end)):
            while open_ones and open_ones[-1].end <= definition.start:
                close()
            open_ones.append(definition)
        while open_ones:
            close()
        return tuple(top)

    def _symbol(self, definition: _Definition, enclosing: list[_Definition]) -> Symbol:
        holder = enclosing[-1] if enclosing else None
        kind = definition.kind
        if kind == "function" and holder is not None and holder.kind in _HOLDS_METHODS:
            kind = "method"
        modifiers = (*definition.decorators, *self._modifier_words(definition))
        return Symbol(
            name=definition.name,
            kind=kind,
            signature=self._signature(definition),
            doc=definition.doc.sentence,
            returns=definition.doc.returns,
            start_line=definition.start_row + 1,
            end_line=definition.end_row + 1,
            name_line=definition.name_row + 1,
            parent=".".join(d.name for d in enclosing) or definition.parent,
            exported=self._is_exported(definition.name, modifiers, holder),
            modifiers=modifiers,
            children=tuple(definition.children),
        )

    def _is_exported(self, name: str, modifiers: Iterable[str], holder: _Definition | None) -> bool:
        language, words = self._language, frozenset(modifiers)
        if holder is not None and holder.kind in ("function", "method"):
            return False
        if language.exported_if_capital:
            return name[:1].isupper()
        if language.private_prefix and name.startswith(language.private_prefix) and not name.endswith("__"):
            return False
        if words & language.private_words:
            return False
        if holder is not None and (holder.kind in _MEMBERS_ARE_PUBLIC or not language.members_need_export_word):
            return True
        return not language.export_words or bool(words & language.export_words) or name in self._exported

    def _modifier_words(self, definition: _Definition) -> list[str]:
        before_name = self._without_notes(definition.start, definition.name_start, definition.name_start)
        return [word for word in _WORD.findall(before_name) if word in _MODIFIERS]

    def _signature(self, definition: _Definition) -> str:
        has_body = definition.start < definition.body_start < definition.end
        end = definition.body_start if has_body else definition.end
        text = self._without_notes(definition.start, end, definition.name_start).strip()
        text = _CLOSING_GAP.sub(r"\1", _OPENING_GAP.sub(r"\1", text))
        text = _one_line(_SIGNATURE_TAIL.sub("", text, count=1))
        return text if len(text) <= SIGNATURE_LIMIT else text[:SIGNATURE_LIMIT] + "…"

    def _without_notes(self, start: int, end: int, name_start: int) -> str:
        """Read source without its comments, and without the decorators before the name."""
        notes = _between(self._comments, start, end)
        notes += _between(self._decorators, start, min(end, name_start))
        pieces, position = [], start
        for span in sorted(notes, key=lambda note: note.start):
            pieces.append(self._source[position : max(position, span.start)])
            position = max(position, span.end)
        pieces.append(self._source[position:end])
        return b"".join(pieces).decode("utf-8", "replace")

    def _decorator_name(self, span: _Span) -> str:
        found = _DECORATOR_NAME.search(self._text(span.start, span.end))
        return f"@{found.group()}" if found else "@"

    def _text(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", "replace")


def _span(node: Node) -> _Span:
    start_row, _ = node.start_point
    end_row, end_column = node.end_point
    # A node that takes in its line break ends at column 0 of the next row.
    if end_column == 0 and end_row > start_row:
        end_row -= 1
    return _Span(node.start_byte, node.end_byte, start_row, end_row)


def _join_lines(source: bytes, comments: list[_Span]) -> list[_Span]:
    """Join comments on successive lines; one that follows code on its line stands alone."""
    joined: list[_Span] = []
    for span in sorted(comments, key=lambda comment: comment.start):
        line_start = source.rfind(b"\n", 0, span.start) + 1
        if source[line_start : span.start].strip():
            continue
        if joined and joined[-1].end_row + 1 == span.start_row:
            span = replace(span, start=joined[-1].start, start_row=joined[-1].start_row)
            joined.pop()
        joined.append(span)
    return joined


def _between(spans: list[_Span], start: int, end: int) -> list[_Span]:
    first = bisect_left(spans, start, key=lambda span: span.start)
    last = bisect_right(spans, end, key=lambda span: span.start)
    return [span for span in spans[first:last] if span.end <= end]


def _one_line(text: str) -> str:
    return _LINE_BREAK.sub(" ", text.strip())
