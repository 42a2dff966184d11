"""The same checks on another revision, side by side: what got better, and what got worse."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keyhole.core.checks.check_columns import table_lines
from keyhole.core.checks.check_report import SIGNS, result_facts
from keyhole.core.checks.check_result import CheckResult, CheckStatus
from keyhole.core.untrusted_text import visible
from keyhole.core.view.text import count_of, one_line

_MEASURED = (CheckStatus.PASSED, CheckStatus.FAILED)


class CheckChange(StrEnum):
    """How a check differs between two revisions."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    # In one of both it was not run, or it measures nothing that can be compared.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ComparedCheck:
    """A check before, in the other revision, and now; None if there it has no such row."""

    before: CheckResult | None
    now: CheckResult | None

    @property
    def any(self) -> CheckResult:
        """One of both results, for what they have in common."""
        found = self.now or self.before
        assert found is not None  # noqa: S101  # one of both is always there
        return found

    @property
    def change(self) -> CheckChange:
        """What changed: passing counts first, then the figure."""
        if self.before is None or self.now is None:
            return CheckChange.UNKNOWN
        if self.before.status not in _MEASURED or self.now.status not in _MEASURED:
            return CheckChange.UNKNOWN
        passed = (self.before.status == CheckStatus.PASSED, self.now.status == CheckStatus.PASSED)
        if passed[0] != passed[1]:
            return CheckChange.BETTER if passed[1] else CheckChange.WORSE
        before, now = self.before.finding.figure, self.now.finding.figure
        if before == now:
            return CheckChange.SAME
        # Without a figure, nothing was found that could be measured.
        if before is None or now is None:
            return CheckChange.WORSE if now is None else CheckChange.BETTER
        return CheckChange.BETTER if now < before else CheckChange.WORSE

    @property
    def tokens(self) -> str:
        """What the answers cost before and now; one figure if it is the same."""
        costs = [f"{result.finding.tokens:,}" if result else "-" for result in (self.before, self.now)]
        return " → ".join(dict.fromkeys(costs)) if costs != ["0", "0"] else ""


def compare_results(before: Sequence[CheckResult], now: Sequence[CheckResult]) -> list[ComparedCheck]:
    """Pair the results of two runs by what they check; a row of only one of them comes last."""
    earlier = {_key(result): result for result in before}
    pairs = [ComparedCheck(earlier.pop(_key(result), None), result) for result in now]
    return [*pairs, *(ComparedCheck(result, None) for result in earlier.values())]


def _key(result: CheckResult) -> tuple[str, str, str]:
    return result.kind, result.name, result.place


def comparison_text(compared: Sequence[ComparedCheck], revision: str, width: int | None = None) -> str:
    """Return the table: each check in the other revision and now; without a width, nothing is cut."""
    rows = [("", "kind", "what", visible(revision), "now", "tokens")]
    signs = {CheckChange.BETTER: "▲", CheckChange.WORSE: "▼", CheckChange.SAME: " ", CheckChange.UNKNOWN: "?"}
    rows += [
        (
            f"{signs[pair.change]} {pair.change}",
            pair.any.kind,
            visible(one_line(pair.any.name)),
            _found(pair.before),
            _found(pair.now),
            pair.tokens,
        )
        for pair in compared
    ]
    lines = table_lines(rows, width)
    return "\n".join([*lines, "", comparison_summary(compared, revision)]) + "\n"


def comparison_summary(compared: Sequence[ComparedCheck], revision: str) -> str:
    """Return how many checks got better and worse."""
    counts = {change: sum(pair.change == change for pair in compared) for change in CheckChange}
    parts = [f"{counts[change]:,} {change}" for change in CheckChange if counts[change]]
    return f"{count_of(len(compared), 'check')} compared with {visible(revision)}: {', '.join(parts) or 'none'}"


def comparison_facts(compared: Iterable[ComparedCheck], revision: str) -> dict[str, object]:
    """Return the same as facts for JSON."""
    return {
        "revision": revision,
        "checks": [
            {
                "change": str(pair.change),
                "before": result_facts(pair.before) if pair.before else None,
                "now": result_facts(pair.now) if pair.now else None,
            }
            for pair in compared
        ],
    }


def _found(result: CheckResult | None) -> str:
    if result is None:
        return "-"
    return f"{SIGNS[result.status]} {visible(one_line(result.finding.found))}"
