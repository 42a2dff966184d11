"""Doc comments as queries for what they document, and a tree without those comments."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random

sys.path.append(str(Path(__file__).parent.parent / "model"))

from code_files import TYPES, Definition
from mine import clean
from subjects import telling_words

from keyhole.core.index.words import split_words
from keyhole.core.search.query import letters_of
from keyhole.core.syntax.spans import Span

FEWEST_WORDS, MOST_WORDS = 5, 30
FEWEST_TELLING_WORDS = 3
MOST_PER_FILE = 2
# So many letters of a sentence show that another text repeats it.
_SHOWS_COPY = 40
_KINDS = TYPES | {"function", "method", "macro", "table", "view"}
# The comment is about another text, or about itself.
_ABOUT_ITSELF = re.compile(
    r"https?:|@\w+|(?:copied|adapted|borrowed) from|inspired by|based on|^see\b|^note\b|^warning\b"
    r"|\b(?:xxx|hack|tests?)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(rb"[^a-z]+")
_QUOTES = re.compile(rb"^[rRuUbBfF]{0,2}(\"{3}|'{3}|\"|')")
_VERB_FIRST = re.compile(r"^(?:is|are|was|will be|can be|should be)\s+(?:the|an?|used to|used for)?\s*", re.IGNORECASE)


def choose_comments(
    definitions: Iterable[Definition], files: Mapping[str, bytes], random: Random
) -> Iterator[tuple[Definition, str]]:
    """Yield documented definitions in random order, each with its doc comment as a query that only it answers."""
    documented = [found for found in definitions if found.doc and found.symbol.kind in _KINDS and found.may_answer]
    random.shuffle(documented)
    letters: list[bytes] = []
    used: dict[str, int] = {}
    for found in documented:
        query = comment_query(found)
        if not query or found.lines < 3 or used.get(found.path, 0) >= MOST_PER_FILE:
            continue
        letters = letters or [_only_letters(content) for content in files.values()]
        # Interfaces, stubs, manuals and siblings often repeat a comment; then more than one place answers the query.
        if _times(_comment_of(found, files), letters) == 1 and _times(query.encode(), letters) <= 1:
            used[found.path] = used.get(found.path, 0) + 1
            yield found, query


def _times(text: bytes, letters: list[bytes]) -> int:
    """Return how often the start of a text occurs in others, which are given as letters only."""
    start = _only_letters(text)[:_SHOWS_COPY]
    return sum(other.count(start) for other in letters)


def _comment_of(found: Definition, files: Mapping[str, bytes]) -> bytes:
    return files[found.path][found.doc.start : found.doc.end] if found.doc else b""


def comment_query(found: Definition) -> str:
    """Return the first sentence of a doc comment as a query; empty if it says little more than the name."""
    name = found.symbol.name
    if _ABOUT_ITSELF.search(found.symbol.doc):
        return ""
    text = clean(re.sub(r"\[([^\[\]()]*)\](?!\()", r"\1", found.symbol.doc))
    # In Go, comments start with the name.
    if text.startswith(f"{name} "):
        text = _VERB_FIRST.sub("", text[len(name) + 1 :])
    text = text.strip(" .:;-")
    words = text.split()
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS or _names(text, name):
        return ""
    own = set(split_words(name).split())
    return text if len(telling_words(text) - own) >= FEWEST_TELLING_WORDS else ""


def _names(text: str, name: str) -> bool:
    """Return whether a text contains a name that is no ordinary word."""
    is_word = name.islower() and name.isalpha()
    return not is_word and letters_of(name) in (letters_of(word) for word in re.findall(r"\w+", text))


def blank(content: bytes, spans: Iterable[Span]) -> bytes:
    """Replace comments by spaces, so that all else stays on its line; of a docstring, the quotes stay."""
    for span in spans:
        start, end = span
        if quotes := _QUOTES.match(content[start:end]):
            start, end = start + quotes.end(), end - len(quotes[1])
        content = content[:start] + re.sub(rb"[^\n\r]", b" ", content[start:end]) + content[end:]
    return content


def _only_letters(content: bytes) -> bytes:
    return _LETTERS.sub(b"", content.lower())
