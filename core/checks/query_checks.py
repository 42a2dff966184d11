"""Checks of searches: which result shows a file, a symbol or lines."""

from collections.abc import Callable, Iterator
from functools import partial

from keyhole.core.checks.asked_answers import AskedAnswers, shown_hits, tokens_of
from keyhole.core.checks.check_result import CheckFinding, finding
from keyhole.core.checks.check_tables import QueryTable, split_lines
from keyhole.core.errors import KeyholeError
from keyhole.core.types.search_results import Hit
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.text import shorten

# Of a search without a limit, so that a check sees the page that agents get.
_DEFAULT_RESULTS = 10
_LONGEST_VERDICT = 100
Matches = Callable[[Hit], bool]


def query_rows(table: QueryTable, answers: AskedAnswers) -> Iterator[tuple[str, Callable[[], CheckFinding]]]:
    """Yield a row for each file, symbol or range of lines that a search must show."""
    for path in table.files:
        yield path, partial(_rank_finding, table, answers, partial(_is_in_file, path), path)
    for symbol in table.symbols:
        yield symbol, partial(_rank_finding, table, answers, partial(_is_symbol, symbol))
    for lines in table.lines:
        place = split_lines(lines)
        yield lines, partial(_rank_finding, table, answers, partial(_is_in_lines, *place), place[0])


def request_of(table: QueryTable) -> SearchRequest:
    """Return the search of a check, as an agent would send it."""
    return SearchRequest(
        table.query,
        mode=table.mode,
        path=table.path,
        language=table.language,
        kind=table.kind,
        role=table.role,
        include_tests=table.include_tests,
        limit=table.worst_rank if table.worst_rank > _DEFAULT_RESULTS else None,
    )


def _rank_finding(table: QueryTable, answers: AskedAnswers, matches: Matches, path: str = "") -> CheckFinding:
    request = request_of(table)
    found, view = answers.search(request)
    expected = f"rank {table.worst_rank} or better"
    tokens = tokens_of(view.text)
    for rank, hit in enumerate(shown_hits(found, view), 1):
        if any(map(matches, (hit, *hit.further))):
            return finding(rank <= table.worst_rank, expected, f"rank {rank}", tokens, rank)
    return finding(False, expected, _why_missing(answers, request, path), tokens)


def _why_missing(answers: AskedAnswers, request: SearchRequest, path: str) -> str:
    """Return where a file ranks that the answer does not show, or why it is not found at all."""
    if not path:
        return "not shown"
    try:
        explained = answers.service.explain(request, path)
    except KeyholeError as error:
        return shorten(error.problem, _LONGEST_VERDICT)
    if explained.rank:
        return f"not shown, rank {explained.rank}"
    return shorten(explained.verdict, _LONGEST_VERDICT)


def _is_in_file(path: str, hit: Hit) -> bool:
    return hit.path == path


def _is_symbol(symbol: str, hit: Hit) -> bool:
    named = hit.owner.qualified_name if hit.owner else hit.qualified_name
    return named == symbol or named.endswith(f".{symbol}")


def _is_in_lines(path: str, first: int, last: int, hit: Hit) -> bool:
    start, end = hit.named_lines if hit.named_lines[0] else (hit.start_line, hit.end_line)
    return hit.path == path and start <= last and first <= end
