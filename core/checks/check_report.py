"""Reports of a run: a table for people, JSON, and JUnit XML. Without times, so that two runs can be compared."""

from collections import Counter
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import quoteattr

from keyhole.core.checks.check_columns import table_lines
from keyhole.core.checks.check_result import CheckFinding, CheckResult, CheckStatus
from keyhole.core.checks.checks_file import CHECKS_FILE
from keyhole.core.untrusted_text import visible
from keyhole.core.view.text import count_of, one_line

SIGNS = {CheckStatus.PASSED: "✓", CheckStatus.FAILED: "✗", CheckStatus.ERROR: "!", CheckStatus.SKIPPED: "○"}
_TAGS = {CheckStatus.FAILED: "failure", CheckStatus.ERROR: "error", CheckStatus.SKIPPED: "skipped"}
EXIT_PASSED, EXIT_FAILED, EXIT_NOT_RUN = 0, 1, 2


def exit_code(results: Iterable[CheckResult]) -> int:
    """Return 1 if a check failed, 2 if none failed but some have a mistake or were skipped."""
    statuses = {result.status for result in results}
    if CheckStatus.FAILED in statuses:
        return EXIT_FAILED
    return EXIT_NOT_RUN if statuses - {CheckStatus.PASSED} else EXIT_PASSED


def report_text(results: Sequence[CheckResult], width: int | None = None) -> str:
    """Return the table, the details of what did not pass, and a summary; without a width, nothing is cut."""
    rows = [("", "kind", "what", "expected", "found", "tokens")]
    rows += [
        (
            SIGNS[result.status],
            result.kind,
            _line(result.name),
            _line(result.finding.expected),
            _line(result.finding.found),
            f"{result.finding.tokens:,}" if result.finding.tokens else "",
        )
        for result in results
    ]
    lines = table_lines(rows, width, right=len(rows[0]) - 1)
    return "\n".join([*lines, *_details(results), "", summary_text(results)]) + "\n"


def _details(results: Iterable[CheckResult]) -> Iterable[str]:
    """Return all of what the columns have no room for, with the place to change."""
    for result in results:
        if result.status != CheckStatus.PASSED:
            yield ""
            yield f"{SIGNS[result.status]} {result.place}: {_line(result.name)}"
            if result.finding.expected:
                yield f"    expected: {_line(result.finding.expected)}"
            yield f"    {'found' if result.finding.expected else result.status}: {_line(result.finding.found)}"


def summary_text(results: Sequence[CheckResult]) -> str:
    """Return how many checks passed, failed and were skipped."""
    counts = Counter(result.status for result in results)
    parts = [_counted(status, counts[status]) for status in CheckStatus if counts[status]]
    return f"{count_of(len(results), 'check')}: {', '.join(parts) or 'none'}"


def _counted(status: CheckStatus, count: int) -> str:
    return count_of(count, "error") if status == CheckStatus.ERROR else f"{count:,} {status}"


def report_facts(results: Sequence[CheckResult]) -> dict[str, object]:
    """Return the same as facts for JSON."""
    counts = Counter(result.status for result in results)
    return {
        "checks": [result_facts(result) for result in results],
        "total": len(results),
        **{str(status): counts[status] for status in CheckStatus},
    }


def result_facts(result: CheckResult) -> dict[str, object]:
    """Return one result as facts."""
    found = result.finding
    return {
        "kind": result.kind,
        "name": result.name,
        "place": result.place,
        "status": str(result.status),
        "expected": found.expected,
        "found": found.found,
        "tokens": found.tokens,
        "figure": found.figure,
    }


def junit_of_error(message: str) -> str:
    """Return JUnit XML for a run that could not start, so that CI servers show why."""
    found = CheckFinding(CheckStatus.ERROR, "", message)
    return junit_text([CheckResult("run", "the checks can run", CHECKS_FILE, found)])


def junit_text(results: Sequence[CheckResult]) -> str:
    """Return JUnit XML, which CI servers show as tests."""
    counts = Counter(result.status for result in results)
    numbers = (
        f'tests="{len(results)}" failures="{counts[CheckStatus.FAILED]}" errors="{counts[CheckStatus.ERROR]}" '
        f'skipped="{counts[CheckStatus.SKIPPED]}"'
    )
    cases = "".join(map(_case, results))
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {numbers}>\n'
        f'<testsuite name="keyhole check" {numbers}>\n{cases}</testsuite>\n</testsuites>\n'
    )


def _case(result: CheckResult) -> str:
    found = result.finding
    file, _, line = result.place.rpartition(":")
    place = f" file={_attribute(file or line)}" + (f" line={_attribute(line)}" if file else "")
    head = f"<testcase classname={_attribute(f'keyhole.{result.kind}')} name={_attribute(result.name)}{place}"
    if result.status == CheckStatus.PASSED:
        return f"{head}/>\n"
    message = f"expected {found.expected}; found {found.found}" if found.expected else found.found
    tag = _TAGS[result.status]
    return f"{head}><{tag} message={_attribute(message)}/></testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_line(text))


def _line(text: str) -> str:
    return visible(one_line(text))
