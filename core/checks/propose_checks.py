"""Proposes a first checks file: what agents can find today, so that tomorrow's changes are noticed.

Queries come from recorded traffic, from the headings of the README and from what public symbols are documented to do;
in a workspace with few of those, names of symbols are queries too. Only what passes now is proposed.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import PurePosixPath

from pydantic import ValidationError

from keyhole.core.checks.check_snapshots import write_inside
from keyhole.core.checks.check_tables import QueryTable
from keyhole.core.checks.checks_file import CHECKS_FILE, parse_checks
from keyhole.core.checks.propose_limits import proposed_facts, proposed_limits
from keyhole.core.checks.query_checks import request_of
from keyhole.core.checks.traffic_queries import AnsweredQuery, answered_queries
from keyhole.core.checks.written_checks import HEADING, query_values, table_text
from keyhole.core.errors import ConfigError, KeyholeError
from keyhole.core.index.rows import SymbolPlace
from keyhole.core.service import Service
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.choices import Mode, Role
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.text import count_of, one_line

_MOST_OF_TRAFFIC, _MOST_HEADINGS, _MOST_PURPOSES, _MOST_FACTS, _MOST_NAMES = 20, 12, 10, 5, 5
# With fewer queries in words, names of symbols are queries too.
_ENOUGH_QUERIES = 5
# What is found only further down is not worth a check.
_WORST_RANK = 10
_SECTION = "section"
_PUBLIC_KINDS = frozenset(["class", "function", "interface", "struct", "trait", "enum", "type"])
# Shorter names are in too many places.
_SHORTEST_NAME = 4
# Of the documentation: fewer words say too little.
_FEWEST_WORDS, _LONGEST_SENTENCE = 4, 100
_MOST_LOOKED_AT = 200
_MOST_LIMITS = 10


def write_proposal(service: Service) -> str:
    """Write a first checks file and return a message about it; an existing one is not changed."""
    if os.path.lexists(service.root / CHECKS_FILE):
        raise ConfigError(f"{CHECKS_FILE} already exists; it was not changed. Delete it first for new proposals")
    text = proposal_text(service)
    checks = parse_checks(text.encode(), CHECKS_FILE).checks
    write_inside(service.root, CHECKS_FILE, text)
    return f"wrote {CHECKS_FILE} with {count_of(len(checks), 'proposal')}; read it, and delete what does not matter"


def proposal_text(service: Service) -> str:
    """Return the text of a first checks file."""
    known: set[str] = set()
    parts = [
        _section("Searches of agents that ended in a read", _MOST_OF_TRAFFIC, _of_traffic(service, known)),
        _section("Headings of the README", _MOST_HEADINGS, _of_headings(service, known)),
        _section("What code is for, as its documentation says", _MOST_PURPOSES, _of_purposes(service, known)),
    ]
    if len(known) < _ENOUGH_QUERIES:
        parts.append(_section("Public symbols", _MOST_NAMES, _of_names(service, known)))
    parts.append(_section("Facts, and what an agent may spend to find them", _MOST_FACTS, proposed_facts(service)))
    parts.append(_section("Limits", _MOST_LIMITS, proposed_limits(service)))
    return HEADING + "".join(part for part in parts if part)


def _section(title: str, most: int, proposals: Iterable[str]) -> str:
    tables = list(islice(proposals, most))
    return f"\n# {title}.\n\n" + "\n".join(tables) if tables else ""


def _of_traffic(service: Service, known: set[str]) -> Iterator[str]:
    with_files = answered_queries(service.journal_reader().each())
    for asked in reversed(with_files):
        yield from _proposed(service, asked, known)


def _of_headings(service: Service, known: set[str]) -> Iterator[str]:
    """Yield headings of the README, each with the file that is found first for it, besides prose.

    A single word, such as "Installation", says too little.
    """
    places = service.symbol_places()
    headings = [it for it in places if it.kind == _SECTION and _is_readme(it.path) and len(it.name.split()) > 1]
    # The first line is the title.
    for heading in sorted((it for it in headings if it.line > 1), key=lambda place: (place.path, place.line)):
        if found := _best_file(service, heading.name):
            yield from _proposed(service, AnsweredQuery(heading.name, (found,), {}, 0), known)


def _of_purposes(service: Service, known: set[str]) -> Iterator[str]:
    """Yield the first sentences of the documentation of public symbols, each with its file."""
    for place in islice(_public_symbols(service), _MOST_LOOKED_AT):
        if sentence := _purpose(service, place):
            yield from _proposed(service, AnsweredQuery(sentence, (place.path,), {}, 0), known)


def _purpose(service: Service, place: SymbolPlace) -> str:
    """Return the first sentence of a symbol's documentation; empty if it says too little, or too much, for a query."""
    hits = service.search_page(SearchRequest(place.name, mode=Mode.SYMBOL, path=place.path))[0].hits
    doc = next((hit.doc for hit in hits if hit.name == place.name), "")
    sentence = one_line(doc).partition(". ")[0].rstrip(".: ")
    is_usable = len(sentence.split()) >= _FEWEST_WORDS and len(sentence) <= _LONGEST_SENTENCE
    return sentence if is_usable else ""


def _of_names(service: Service, known: set[str]) -> Iterator[str]:
    for place in _public_symbols(service):
        yield from _proposed(service, AnsweredQuery(place.name, (place.path,), {}, 0), known)


def _public_symbols(service: Service) -> list[SymbolPlace]:
    """Return top-level symbols of sources that are not private and defined once; the first of each file comes first."""
    places = [place for place in service.symbol_places() if _is_public(place)]
    counts = Counter(place.name for place in places)
    with service.engines.lend() as engine, engine.store.snapshot():
        roles = engine.store.roles_of({place.path for place in places})
    unique = [place for place in places if counts[place.name] == 1 and roles.get(place.path) == Role.SOURCE]
    by_file: dict[str, list[SymbolPlace]] = {}
    for place in sorted(unique, key=lambda place: (place.path.count("/"), place.path, place.line)):
        by_file.setdefault(place.path, []).append(place)
    # Many files are covered before a second symbol of one is.
    rounds = zip_longest(*by_file.values())
    return [place for turn in rounds for place in turn if place]


def _is_public(place: SymbolPlace) -> bool:
    is_named = len(place.name) >= _SHORTEST_NAME and not place.name.startswith("_")
    return is_named and place.kind in _PUBLIC_KINDS and not place.parent


def _is_readme(path: str) -> bool:
    return "/" not in path and PurePosixPath(path).stem.casefold() == "readme"


def _best_file(service: Service, query: str) -> str:
    """Return the first source file that a search finds; empty if there is none."""
    try:
        hits = service.search_page(SearchRequest(query))[0].hits
    except KeyholeError:
        return ""
    return next((hit.path for hit in hits if detect_language(hit.path, "").has_definitions), "")


def _proposed(service: Service, asked: AnsweredQuery, known: set[str]) -> Iterator[str]:
    """Yield a check if all its files are found now, and no other proposal asks the same."""
    if asked.query in known:
        return
    values = query_values(asked)
    try:
        request = request_of(QueryTable.model_validate(values))
        paths = [hit.path for hit in service.search_page(request)[0].hits]
    except (KeyholeError, ValidationError):
        # Filters may name what is gone by now.
        return
    if not all(path in paths[:_WORST_RANK] for path in asked.files):
        return
    known.add(asked.query)
    yield table_text("query", query_values(replace(asked, rank=max(paths.index(path) + 1 for path in asked.files))))
