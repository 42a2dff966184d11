"""Plans the rows of a report from checks files, and runs them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from keyhole.core.checks import check_tables as tables
from keyhole.core.checks.asked_answers import AskedAnswers
from keyhole.core.checks.check_result import (
    CheckFinding,
    CheckResult,
    CheckStatus,
    PlannedCheck,
    ToolSource,
    finding,
)
from keyhole.core.checks.checks_file import ChecksFile, WrittenCheck
from keyhole.core.checks.content_checks import forbidden_finding, links_finding, map_rows
from keyhole.core.checks.fact_path import fact_finding
from keyhole.core.checks.query_checks import query_rows
from keyhole.core.checks.tool_checks import ServerRun, answer_rows, tool_list_rows
from keyhole.core.errors import KeyholeError, QueryError
from keyhole.core.masking import mask_text
from keyhole.core.service import Service

Rows = Iterator[tuple[str, Callable[[], CheckFinding]]]
OnProgress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What a run needs: the workspace, who asks servers, and what is allowed.

    `skip_reason` says why the commands of a file are not run; it returns nothing if they may be.
    """

    service: Service
    source: ToolSource
    skip_reason: Callable[[ChecksFile], str]
    updates: bool = False
    # Only rows whose kind and name contain this.
    only: str = ""


def run_checks(
    run: CheckRun, files: Sequence[ChecksFile], on_progress: OnProgress = lambda *_: None
) -> list[CheckResult]:
    """Run all checks and return a result for each row, in the order of the files."""
    answers = AskedAnswers(run.service)
    planned = [row for file in files for row in _planned(run, file, answers) if run.only in f"{row.kind} {row.name}"]
    results: dict[int, CheckResult] = {}
    # What is forbidden is looked for in the answers of all other checks, so those come first.
    for done, number in enumerate(sorted(range(len(planned)), key=lambda row: planned[row].kind == "forbidden")):
        row = planned[number]
        on_progress(done, len(planned), row.name)
        results[number] = CheckResult(row.kind, row.name, row.place, _found(row))
    return [results[number] for number in range(len(planned))]


def _found(row: PlannedCheck) -> CheckFinding:
    """Run a row; a problem of one check is its result, and the others continue.

    A request that is invalid is a mistake in the check, such as an unknown tool or language, not a finding about files.
    What is found may quote an answer of another server, which masks nothing, and reports end up in logs.
    """
    try:
        found = row.run()
    except QueryError as error:
        found = CheckFinding(CheckStatus.ERROR, "", str(error))
    except KeyholeError as error:
        found = finding(False, "an answer", str(error))
    return replace(found, found=mask_text(found.found))


def _planned(run: CheckRun, file: ChecksFile, answers: AskedAnswers) -> Iterator[PlannedCheck]:
    for check in file.checks:
        title = check.table.title
        for part, row in _rows(run, file, check, answers):
            name = f"{title} → {part}" if title and part else title or part
            yield PlannedCheck(check.kind, name, check.place, row)


def _rows(run: CheckRun, file: ChecksFile, check: WrittenCheck, answers: AskedAnswers) -> Rows:
    match check.table:
        case tables.QueryTable() as table:
            yield from query_rows(table, answers)
        case tables.FactTable() as table:
            yield "", partial(fact_finding, table, answers)
        case tables.MapTable() as table:
            yield from map_rows(table, answers)
        case tables.ToolListTable() as table:
            yield from tool_list_rows(table, run.source)
        case tables.AnswerTable() as table:
            yield from answer_rows(table, answers, run.source)
        case tables.ForbiddenTable() as table:
            yield "", partial(forbidden_finding, table, answers)
        case tables.LinksTable() as table:
            yield "", partial(links_finding, table, answers)
        case tables.ServerTable() as table:
            yield from _server_rows(run, file, table, answers)


def _server_rows(run: CheckRun, file: ChecksFile, table: tables.ServerTable, answers: AskedAnswers) -> Rows:
    """Yield the rows of a server; if its command may not run, each says why."""
    reason = run.skip_reason(file)
    server = ServerRun(table, run.source, answers, run.service.root, run.updates)
    for part, row in server.rows():
        yield part, partial(CheckFinding, CheckStatus.SKIPPED, "", reason) if reason else row
