"""Queries to try first, made from what a workspace itself defines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from keyhole.core.index.rows import SymbolPlace
from keyhole.core.index.words import parts_in
from keyhole.core.roles.file_roles import role_by_path
from keyhole.core.types.choices import Role

_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{3,29}")
# A question in words needs more than one, and more than four would not fit beside its label.
_FEWEST_WORDS, _MOST_WORDS = 2, 4
_MOST_PATHS = 2_000


@dataclass(frozen=True, slots=True)
class SampleQueries:
    """One query of each kind, and the file that defines the name; empty if there is none."""

    name: str = ""
    words: str = ""
    pattern: str = ""
    path: str = ""


def sample_queries(places: Sequence[SymbolPlace]) -> SampleQueries:
    """Return queries that find something, from definitions in the order of their size; those of tests come last."""
    plain = [place for place in places if _PLAIN_NAME.fullmatch(place.name)]
    source = [place for place in plain if role_by_path(place.path) == Role.SOURCE] or plain
    if not source:
        return SampleQueries()
    # Definitions of one file are often alike, so the largest one of each file comes first.
    largest = {place.path: place for place in reversed(source)}
    source.sort(key=lambda place: largest[place.path] is not place)
    first = source[0]
    worded = next((place for place in (*source[1:], first) if _is_question(place.name)), first)
    other = next((place.name for place in source if place.name not in (first.name, worded.name)), first.name)
    return SampleQueries(first.name, _question(worded.name), _pattern(other), first.path)


def sample_file_queries(paths: Iterable[str]) -> SampleQueries:
    """Return queries from the names of files, for the time before anything is indexed."""
    some = islice(paths, _MOST_PATHS)
    stems = [PurePosixPath(path).stem for path in some if role_by_path(path) == Role.SOURCE]
    named = sorted((stem for stem in stems if _PLAIN_NAME.fullmatch(stem)), key=lambda stem: (-len(stem), stem))
    if not named:
        return SampleQueries()
    worded = next(filter(_is_question, named), "")
    return SampleQueries(named[0], _question(worded), _pattern(named[-1]))


def _is_question(name: str) -> bool:
    return _FEWEST_WORDS <= len(_parts_of(name)) <= _MOST_WORDS


def _question(name: str) -> str:
    return " ".join(_parts_of(name)).lower()


def _pattern(name: str) -> str:
    return f"/{_parts_of(name)[0]}\\w*/"


def _parts_of(name: str) -> list[str]:
    """Return the words of a name, as they are written there."""
    return [name[start:end] for _, _, parts in parts_in(name) for start, end in parts]
