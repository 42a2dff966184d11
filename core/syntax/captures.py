"""The matches of a language's symbol query in one file, sorted by meaning.

The captures of `assets/queries/*.scm`:

    @name @body @parent          parts of a definition; the signature ends where the body starts
    @function @class @enum …     any other name: the definition itself, and its kind
    @qualified                   a name with its owners, such as `Owner::name`
    @heir @base                  a definition again, and a type that its body embeds: becomes part of the signature
    @keyword                     a word before the definition that its signature starts with
    @prototype                   a function that is only declared; ignored inside a function
    @outer                       a wrapper (export, template) that extends the range of the definition inside it
    @decorator                   extends the range of the definition that follows it
    @docstring @doc @comment     documentation inside, documentation above, and other comments
    @import @target              an import statement, and what it imports
    @reference @target           an import inside another statement: counts as a link, but is not listed as an import
    @exported                    a name that another statement exports
    @access                      a word on its own such as `private`: applies to what follows in the same body
    @level                       the mark of a heading: the number in its type is the level of the section
    @_anything                   used only by the conditions of its pattern
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from keyhole.core.syntax.docs import NO_DOC, Doc
from keyhole.core.syntax.parse import Match
from keyhole.core.syntax.spans import Source, Span
from keyhole.core.types.syntax import Import, Symbol

_PARTS_OF_OTHERS = frozenset(["name", "body", "parent", "qualified", "keyword", "target", "level", "base"])
_QUOTES = ('"', "'", "<", "`")
_LEVEL = re.compile(r"\d+")
_QUOTED = re.compile(r"""(["'`])([^"'`]+)\1""")


@dataclass(slots=True)
class Definition:
    """A definition whose range, docs and children are still being collected."""

    kind: str
    name: str
    start: int
    end: int
    name_start: int
    body: Span | None
    parent: str = ""
    keyword: str = ""
    owners: tuple[str, ...] = ()
    level: int = 0
    bases: list[Span] = field(default_factory=list)
    is_wrapped: bool = False
    doc: Doc = NO_DOC
    children: list[Symbol] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Access:
    """A word on its own such as `private`, and where its scope ends."""

    start: int
    scope_end: int
    word: str


class Captures:
    """Collects the matches of one file."""

    def __init__(self, source: Source, matches: Iterable[Match]) -> None:
        self.source = source
        self.definitions: dict[tuple[int, int], Definition] = {}
        self.imports: dict[tuple[int, str], Import] = {}
        self.references: dict[tuple[int, str], Import] = {}
        self.outers: list[Span] = []
        self.decorators: list[Span] = []
        self.comments: list[Span] = []
        self.docs: list[Span] = []
        self.docstrings: dict[int, Span] = {}
        self.exported: set[str] = set()
        self.access: list[Access] = []
        self._bases: dict[tuple[int, int], list[Span]] = {}
        handlers: dict[str, Callable[[Node, Match], None]] = {
            "import": lambda node, match: self._add_import(node, match, self.imports),
            "reference": lambda node, match: self._add_import(node, match, self.references),
            "outer": lambda node, _: self.outers.append(Span.of(node)),
            "decorator": lambda node, _: self.decorators.append(Span.of(node)),
            "comment": lambda node, _: self.comments.append(Span.of(node)),
            "doc": lambda node, _: self.docs.append(Span.of(node)),
            "docstring": lambda node, _: self.docstrings.update({node.start_byte: Span.of(node)}),
            "exported": lambda node, _: self.exported.add(source.node_text(node)),
            "access": self._add_access,
            "heir": self._add_bases,
        }
        for match in matches:
            for capture, nodes in match.items():
                if capture in _PARTS_OF_OTHERS:
                    continue
                if handle := handlers.get(capture):
                    for node in nodes:
                        handle(node, match)
                elif not capture.startswith("_"):
                    self._add_definition(capture, nodes, match)
        for place, bases in self._bases.items():
            if place in self.definitions:
                self.definitions[place].bases = sorted(set(bases))

    def _add_definition(self, kind: str, nodes: list[Node], match: Match) -> None:
        start, end = nodes[0].start_byte, nodes[-1].end_byte
        names = match.get("name")
        owners: list[Node] = []
        if qualified := match.get("qualified"):
            names, owners = _split_qualified(qualified[0])
        # If two patterns match a node, the first one wins: queries list the more specific pattern first.
        if not names or names[0].start_byte == names[0].end_byte or (start, end) in self.definitions:
            return
        body, keyword, level = match.get("body"), match.get("keyword"), match.get("level")
        definition = self.definitions[start, end] = Definition(
            kind=kind,
            name=_bare_name(self.source.text(names[0].start_byte, names[-1].end_byte)),
            start=start,
            end=end,
            name_start=names[0].start_byte,
            body=Span(body[0].start_byte, body[-1].end_byte) if body else None,
        )
        if parents := match.get("parent"):
            definition.parent = one_line(" ".join(map(self.source.node_text, parents)))
        if keyword:
            definition.keyword = self.source.node_text(keyword[0]) + " "
        if owners:
            definition.owners = tuple(map(self.source.node_text, owners))
        if level and (depth := _LEVEL.search(level[0].type)):
            definition.level = int(depth.group())

    def _add_import(self, node: Node, match: Match, found: dict[tuple[int, str], Import]) -> None:
        targets = match.get("target")
        text = one_line(self.source.node_text(node)).rstrip(";")
        target, start = text, node.start_byte
        if targets:
            start = targets[0].start_byte
            target = self.source.text(start, targets[-1].end_byte)
        if target.startswith(_QUOTES):
            target = target.strip("\"'<>`")
        found.setdefault((start, target), Import(target, text, self.source.row(node.start_byte) + 1))

    def _add_bases(self, node: Node, match: Match) -> None:
        self._bases.setdefault((node.start_byte, node.end_byte), []).extend(map(Span.of, match.get("base", [])))

    def _add_access(self, node: Node, _: Match) -> None:
        scope = node.parent or node
        if scope.type == "labeled_statement":  # in a C++ class that was parsed as a function
            scope = scope.parent or scope
        self.access.append(Access(node.start_byte, scope.end_byte, self.source.node_text(node)))


def one_line(text: str) -> str:
    """Join lines with single spaces; spaces within a line are kept, since they may be in a string."""
    text = text.strip()
    return " ".join(line for part in text.split("\n") if (line := part.strip())) if "\n" in text else text


def _bare_name(text: str) -> str:
    """Return a name on one line, without quotes around it or the closing marks of a heading."""
    name = one_line(text)
    if name.endswith("#") and (bare := name.rstrip("#")) != bare.rstrip():
        name = bare.rstrip()
    quoted = _QUOTED.fullmatch(name) if name.startswith(_QUOTES) else None
    return quoted.group(2) if quoted else name


def _split_qualified(node: Node) -> tuple[list[Node], list[Node]]:
    """Split `a::B<T>::name` into the name and the bare names of its owners."""
    owners: list[Node] = []
    while (name := node.child_by_field_name("name")) and (
        (scope := node.child_by_field_name("scope")) or node.type == "scope_resolution"
    ):
        owners += _scope_names(scope) if scope else ()
        node = name
    # The name of `operator bool() const` ends with the type.
    kind = node.child_by_field_name("type")
    return ([node.children[0], kind] if kind else [node]), owners


def _scope_names(scope: Node) -> list[Node]:
    """Return the bare names of a scope, which contains the outer ones in Ruby: `A::B` of `A::B::C`."""
    outer = scope.child_by_field_name("scope")
    return [*(_scope_names(outer) if outer else ()), scope.child_by_field_name("name") or scope]
