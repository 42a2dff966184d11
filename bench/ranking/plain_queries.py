"""Queries of people who don't know the names: without the words that the answer is called by."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from subjects import telling_words

from keyhole.core.index.words import split_words, stem

FEWEST_TELLING_WORDS = 4
# Only the kind of question depends on it: search ignores such words.
_ASKING = "how "


def plain_queries(known: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    """Yield queries without the names that answer each; every second one as a question. Empty if too little is left."""
    for number, (query, names) in enumerate(known):
        plain = without_names(query, names)
        yield f"{_ASKING if number % 2 else ''}{plain}" if plain else ""


def without_names(query: str, names: Iterable[str]) -> str:
    """Return a query without the words of some names; empty if too little is left."""
    called = {stem(word) for name in names for word in split_words(name).split()}
    kept = [word for word in query.split() if called.isdisjoint(map(stem, split_words(word).split()))]
    plain = " ".join(kept)
    return plain if len(telling_words(plain)) >= FEWEST_TELLING_WORDS else ""


def name_of_file(path: str) -> str:
    """Return the name of a file without its endings, or of its folder if that is what it stands for."""
    place = PurePosixPath(path)
    name = place.name.partition(".")[0]
    return (
        f"{place.parent.name} {name}" if name.lower() in {"index", "mod", "lib", "main", "__init__", "init"} else name
    )
