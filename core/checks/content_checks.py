"""Checks of maps, broken links and forbidden content."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest

from keyhole.core.checks.asked_answers import AskedAnswers, tokens_of
from keyhole.core.checks.check_result import CheckFinding, facts_finding, finding
from keyhole.core.checks.check_tables import ForbiddenTable, LinksTable, MapTable
from keyhole.core.files.globs import glob_test
from keyhole.core.links.requests import BrokenLinksRequest
from keyhole.core.types.choices import Mode, Output
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.source_files import SkipReason
from keyhole.core.types.view_requests import MapRequest, SearchRequest
from keyhole.core.view.text import name_text

_GLOB_CHARACTERS = frozenset("*?[{")
# These are not indexed, so no search finds what they contain, but agents can read them.
_SERVED_SKIPS = (SkipReason.TOO_LARGE, SkipReason.PICTURE)
_MOST_NAMED = 3


def map_rows(table: MapTable, answers: AskedAnswers) -> Iterator[tuple[str, Callable[[], CheckFinding]]]:
    """Yield a row for each file; a glob stands for the indexed files that it matches."""
    for given in table.files:
        paths = _matching(given, answers)
        if not paths:
            yield given, partial(finding, False, "a file", "no file matches")
        for path in paths:
            yield path, partial(_map_finding, table, path, answers)


def _matching(given: str, answers: AskedAnswers) -> list[str]:
    if not _GLOB_CHARACTERS & set(given):
        return [given]
    matches = glob_test(given)
    return sorted(file.path for file in answers.service.inventory().files if matches(file.path))


def _map_finding(table: MapTable, path: str, answers: AskedAnswers) -> CheckFinding:
    view = answers.map(MapRequest(path))
    tokens = tokens_of(view.text)
    facts = []
    if table.max_tokens:
        facts.append((f"at most {table.max_tokens:,} tokens", f"{tokens:,} tokens" * (tokens > table.max_tokens)))
    if table.complete:
        is_complete = view.completeness == Completeness.COMPLETE
        facts.append(("complete", "" if is_complete else view.banner))
    if table.shows:
        facts.append((f"shows {', '.join(map(repr, table.shows))}", missing_text(table.shows, view.text)))
    return facts_finding(facts, tokens)


def missing_text(expected: list[str], text: str) -> str:
    """Return which of the expected texts an answer lacks; empty if it has all."""
    lacking = [repr(part) for part in expected if part not in text]
    return f"does not show {', '.join(lacking)}" if lacking else ""


def links_finding(table: LinksTable, answers: AskedAnswers) -> CheckFinding:
    """Count broken links as find_broken_links does."""
    view = answers.service.relation_view(BrokenLinksRequest(path=table.path))
    answers.keep("broken links", view.text)
    broken = view.page.total
    expected = f"at most {table.max_broken:,} broken"
    is_good, text = broken <= table.max_broken, f"{broken:,} broken"
    if not is_good:
        _, *rows = view.text.splitlines()
        text += f": {'; '.join(row.strip() for row in rows[:_MOST_NAMED])}; keyhole broken lists all"
    return finding(is_good, expected, text, tokens_of(view.text), broken)


def forbidden_finding(table: ForbiddenTable, answers: AskedAnswers) -> CheckFinding:
    """Look for a text in all that agents can get: indexed files, other files that are served, paths, and all answers.

    It runs after all other checks, so that it sees their answers.
    """
    pattern = table.pattern or re.escape(table.text)
    found, view = answers.service.search_page(SearchRequest(f"/{pattern}/", mode=Mode.REGEX, output=Output.FILES))
    expression = _test_of(pattern)
    places = [count.path for count in found.counts]
    inventory = answers.service.inventory()
    served = [skip.path for skip in inventory.skips if skip.reason in _SERVED_SKIPS and not skip.is_dir]
    places += [path for path in served if expression(answers.source(path))]
    in_text = len(places)
    places += [file.path for file in inventory.files if expression(file.path)]
    places += [f"the answer to {asked}" for asked, text in answers.texts.items() if not places and expression(text)]
    lines = [f":{_first_line(path, expression, answers)}" for path in places[: min(in_text, _MOST_NAMED)]]
    named = ", ".join(
        f"{name_text(place)}{line}" for place, line in zip_longest(places[:_MOST_NAMED], lines, fillvalue="")
    )
    text = f"in {named}" + (f" and {len(places) - _MOST_NAMED:,} more" if len(places) > _MOST_NAMED else "")
    total = max(found.total, len(places))
    return finding(not places, "in no answer", text if places else "in no answer", tokens_of(view.text), total)


def _first_line(path: str, expression: Callable[[str], bool], answers: AskedAnswers) -> int:
    """Return the first line of a file that contains what is forbidden."""
    lines = answers.source(path).split("\n")
    return next((number for number, line in enumerate(lines, 1) if expression(line)), 1)


def _test_of(pattern: str) -> Callable[[str], bool]:
    """Return a test with the same rules as searches by pattern."""
    from keyhole.core.search.regex import compile_pattern

    compiled = compile_pattern(pattern, within_lines=True)
    return lambda text: next(compiled.finditer(text), None) is not None
