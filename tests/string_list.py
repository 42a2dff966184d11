"""List everything a person or a model reads: `python tests/string_list.py [FOLDER …]`.

Prints the strings, docstrings and comments of the source, and the lines of the docs, one per line with its place.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ("core", "tui", "mcp_server", "web_server")
TEXTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/*.md",
    "assets/clients.toml",
    "assets/skip.gitignore",
    "assets/secrets.gitignore",
)


class Kind(StrEnum):
    """What a text is for."""

    STRING = "string"
    DOCSTRING = "docstring"
    COMMENT = "comment"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text and its place."""

    path: str
    line: int
    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}: {self.text!r}"


def all_texts(*folders: str) -> Iterator[ReadText]:
    """Yield the texts of some folders or files, or of the whole project."""
    for folder in folders or SOURCES:
        for file in sorted((ROOT / folder).rglob("*.py") if (ROOT / folder).is_dir() else [ROOT / folder]):
            yield from texts_of_source(file.read_text(), str(file.relative_to(ROOT)))
    for pattern in () if folders else TEXTS:
        for file in sorted(ROOT.glob(pattern)):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if line.strip():
                    yield ReadText(str(file.relative_to(ROOT)), number, Kind.TEXT, line)


def texts_of_source(source: str, path: str) -> Iterator[ReadText]:
    """Yield the strings, docstrings and comments of a module, in line order."""
    found = [
        ReadText(path, line, kind, text) for line, kind, text in (*_strings(ast.parse(source)), *_comments(source))
    ]
    yield from sorted(found, key=lambda one: one.line)


def _strings(tree: ast.Module) -> Iterator[tuple[int, Kind, str]]:
    nodes = list(ast.walk(tree))
    docstrings = {id(value) for node in nodes if (value := _docstring(node))}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            text = "".join(_part_text(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            text = node.value
        else:
            continue
        # A single word is usually a key or a name, unless it is capitalised like a label.
        if id(node) in docstrings:
            yield node.lineno, Kind.DOCSTRING, text
        elif " " in text.strip() or (text[:1].isupper() and text[1:2].islower()):
            yield node.lineno, Kind.STRING, text


def _docstring(node: ast.AST) -> ast.expr | None:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
        return None
    first = node.body[0]
    return first.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None


def _part_text(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part)}}}"


def _comments(source: str) -> Iterator[tuple[int, Kind, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], Kind.COMMENT, token.string


if __name__ == "__main__":
    for found in all_texts(*sys.argv[1:]):
        print(found)
