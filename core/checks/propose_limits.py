"""Proposals with figures: what facts and large maps may cost, answers that arrive whole, links and private keys."""

import re
from collections.abc import Iterator

from keyhole.core.checks.asked_answers import AskedAnswers, tokens_of
from keyhole.core.checks.check_result import CheckStatus
from keyhole.core.checks.check_tables import FactTable, ForbiddenTable
from keyhole.core.checks.content_checks import forbidden_finding
from keyhole.core.checks.fact_path import fact_finding
from keyhole.core.checks.written_checks import table_text
from keyhole.core.errors import KeyholeError
from keyhole.core.index.rows import SymbolPlace
from keyhole.core.links.requests import BrokenLinksRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Role
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.view_requests import MapRequest

# A name with a number or a short text, such as `MAX_RETRIES = 5`.
_SETTING = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b.{0,30}[=:]\s*[-\d\"'].{0,50}")
_MOST_MAPS = 3
_MOST_READ = 300
# What an answer may cost more than now before its check fails, and what limits are rounded up to.
_SPARE, _ROUNDED = 1.5, 100
_PRIVATE_KEY = "-----BEGIN [A-Z ]*PRIVATE KEY-----"


def proposed_facts(service: Service) -> Iterator[str]:
    """Yield settings that are written in the source, with a question for each, and a little more than it costs now."""
    answers = AskedAnswers(service)
    for place in _settings(service):
        line = _line_at(answers, place)
        if not _SETTING.fullmatch(line):
            continue
        values = {"fact": line, "query": place.name.lower().replace("_", " ")}
        try:
            found = fact_finding(FactTable.model_validate(values), answers)
        except KeyholeError:
            continue
        if found.status == CheckStatus.PASSED:
            yield table_text("fact", {**values, "max_tokens": _limit(found.tokens)})


def _settings(service: Service) -> list[SymbolPlace]:
    """Return the constants of sources, at most one of each file."""
    places = [place for place in service.symbol_places() if "_" in place.name.strip("_") and place.name.isupper()]
    with service.engines.lend() as engine, engine.store.snapshot():
        roles = engine.store.roles_of({place.path for place in places})
    by_file: dict[str, SymbolPlace] = {}
    for place in sorted(places, key=lambda place: (place.path.count("/"), place.path, place.line)):
        if roles.get(place.path) == Role.SOURCE and not place.name.startswith("_"):
            by_file.setdefault(place.path, place)
    return list(by_file.values())[:_MOST_READ]


def _line_at(answers: AskedAnswers, place: SymbolPlace) -> str:
    lines = answers.source(place.path).split("\n")
    return lines[place.line - 1].strip() if place.line <= len(lines) else ""


def proposed_limits(service: Service) -> Iterator[str]:
    """Yield what every workspace can have: maps of its largest sources, whole answers, links, no private keys."""
    largest = _largest_sources(service)
    yield from _maps(service, largest)
    for path in largest[:1]:
        yield table_text("answer", {"tool": "read_file", "arguments": {"path": path}})
    yield table_text("links", {"max_broken": service.relation_view(BrokenLinksRequest()).page.total})
    forbidden = {"name": "private keys", "pattern": _PRIVATE_KEY}
    if forbidden_finding(ForbiddenTable.model_validate(forbidden), AskedAnswers(service)).status == CheckStatus.PASSED:
        yield table_text("forbidden", forbidden)


def _largest_sources(service: Service) -> list[str]:
    files = service.inventory().files
    with service.engines.lend() as engine, engine.store.snapshot():
        roles = engine.store.roles_of({file.path for file in files})
    sources = [file for file in files if roles.get(file.path) == Role.SOURCE]
    return [file.path for file in sorted(sources, key=lambda file: (-file.lines, file.path))[:_MOST_MAPS]]


def _maps(service: Service, paths: list[str]) -> Iterator[str]:
    """Yield the complete maps of the largest source files: they are what grows until an agent gets only a part."""
    for path in paths:
        view = service.map_view(MapRequest(path))
        if view.completeness == Completeness.COMPLETE:
            limit = _limit(tokens_of(view.text))
            yield table_text("map", {"files": [path], "max_tokens": limit, "complete": True})


def _limit(tokens: int) -> int:
    return -(-int(tokens * _SPARE) // _ROUNDED) * _ROUNDED
