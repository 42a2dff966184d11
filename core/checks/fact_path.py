"""The cheapest way for an agent from a question to a fact: search, then map, then read, as few of them as needed.

An agent knows only what answers show. So after a search it can open a file that the answer names: its map, its first
page, or some lines from the line that a result names. A map names the lines of each symbol, so after it an agent can
read exactly those.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keyhole.core.checks.asked_answers import AskedAnswers, shown_hits, tokens_of
from keyhole.core.checks.check_result import CheckFinding, finding
from keyhole.core.checks.check_tables import FactTable
from keyhole.core.errors import KeyholeError
from keyhole.core.types.choices import Mode, Output
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.core.view.text import count_of

# What an agent reads around a result, if the answer does not tell where it ends.
_LINES_FROM_RESULT = 60
_RANGE = re.compile(r"\[(\d+)-(\d+)\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FactPath:
    """Calls that end with an answer that contains the fact, and what their answers cost together."""

    calls: tuple[str, ...]
    tokens: int

    def __str__(self) -> str:
        return f"{' → '.join(self.calls)}: {self.tokens:,} tokens"


def fact_finding(table: FactTable, answers: AskedAnswers) -> CheckFinding:
    """Check that a fact can be reached within its limits."""
    expected = f"{count_of(table.max_calls, 'call')}, {table.max_tokens:,} tokens"
    paths = list(fact_paths(table, answers))
    if not paths:
        return finding(False, expected, _why_unreachable(table, answers))
    allowed = [path for path in paths if len(path.calls) <= table.max_calls]
    best = min(allowed or paths, key=lambda path: (path.tokens, path.calls))
    is_good = bool(allowed) and best.tokens <= table.max_tokens
    return finding(is_good, expected, str(best), best.tokens, best.tokens)


def fact_paths(table: FactTable, answers: AskedAnswers) -> Iterator[FactPath]:
    """Yield the ways to a fact."""
    found, view = answers.search(SearchRequest(table.query))
    searched = tokens_of(view.text)
    if table.fact in view.text:
        yield FactPath(("search",), searched)
        return
    hits = shown_hits(found, view)
    for path in dict.fromkeys(hit.path for hit in hits):
        lines = [number for number, line in enumerate(answers.source(path).split("\n"), 1) if table.fact in line]
        if not lines:
            continue
        starts = [hit.line or hit.start_line for own in hits if own.path == path for hit in (own, *own.further)]
        for step in _steps_in_file(path, lines[0], starts, table.fact, answers):
            yield FactPath(("search", *step.calls), searched + step.tokens)


def _steps_in_file(path: str, line: int, starts: list[int], fact: str, answers: AskedAnswers) -> Iterator[FactPath]:
    """Yield the ways from a search to a line of one of its files."""
    reads = [ReadRequest((path,))]
    reads += [
        ReadRequest((path,), start, max_lines=_LINES_FROM_RESULT)
        for start in dict.fromkeys(starts)
        if start <= line < start + _LINES_FROM_RESULT
    ]
    for request in reads:
        text = answers.read(request)
        if fact in text:
            yield FactPath((_read_text(request),), tokens_of(text))
    try:
        mapped = answers.map(MapRequest(path)).text
    except KeyholeError:
        return
    cost = tokens_of(mapped)
    if fact in mapped:
        yield FactPath((f"map {path}",), cost)
        return
    if (around := _smallest_range(mapped, line)) is not None:
        first, last = around
        request = ReadRequest((path,), first, max_lines=last - first + 1)
        text = answers.read(request)
        if fact in text:
            yield FactPath((f"map {path}", f"read lines {first}-{last}"), cost + tokens_of(text))


def _read_text(request: ReadRequest) -> str:
    return f"read {request.paths[0]}" + (f" from line {request.start_line}" if request.start_line > 1 else "")


def _smallest_range(mapped: str, line: int) -> tuple[int, int] | None:
    """Return the lines of the smallest symbol around a line, of those that a map shows."""
    ranges = [(int(first), int(last)) for first, last in _RANGE.findall(mapped)]
    around = [(first, last) for first, last in ranges if first <= line <= last]
    return min(around, key=lambda lines: (lines[1] - lines[0], lines[0]), default=None)


def _why_unreachable(table: FactTable, answers: AskedAnswers) -> str:
    """Return which files contain the fact, if any do: the search shows none of them."""
    # A list of files: the lines of a common text would take longer than all other checks.
    pattern = SearchRequest(f"/{re.escape(table.fact)}/", mode=Mode.REGEX, output=Output.FILES)
    paths = [count.path for count in answers.search(pattern)[0].counts]
    if not paths:
        return "no file contains it"
    return f"not reached: the search does not show {paths[0]}" + (f" or {len(paths) - 1:,} more" if paths[1:] else "")
