"""Checks for tests: what the fixture `keyhole_check` returns."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from keyhole.core.checks.check_report import report_text
from keyhole.core.checks.check_result import CheckResult, CheckStatus
from keyhole.core.checks.checks_file import ChecksFile, WrittenCheck, check_table, read_checks
from keyhole.core.checks.run_checks import CheckRun, run_checks
from keyhole.core.checks.trusted_files import why_not_run
from keyhole.core.service import Service

_IN_TEST = "keyhole_check"


class ContextChecker:
    """Runs checks on a workspace, and fails the test if one fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._services: dict[Path, Service] = {}

    def __call__(
        self,
        *,
        root: Path | None = None,
        only: str = "",
        allow_commands: bool = False,
        **tables: Mapping[str, object],
    ) -> list[CheckResult]:
        """Run the checks files, or only checks that are given: `query={"query": "retries", "files": ["retry.py"]}`."""
        service = self._service(root or self._root)
        files = [_file_of(tables)] if tables else read_checks(service.root)
        return self._run(service, files, only=only, allow_commands=allow_commands)

    def _run(self, service: Service, files: list[ChecksFile], *, only: str, allow_commands: bool) -> list[CheckResult]:
        from keyhole.mcp_server.checked_tools import CheckedTools

        skip_reason = partial(why_not_run, service.root, is_allowed=allow_commands)
        results = run_checks(CheckRun(service, CheckedTools(service), skip_reason, only=only), files)
        if not results:
            pytest.fail(f"no check has a kind or name with {only!r}", pytrace=False)
        bad = [result for result in results if result.status != CheckStatus.PASSED]
        if any(result.status != CheckStatus.SKIPPED for result in bad):
            pytest.fail(report_text(bad), pytrace=False)
        if bad:
            pytest.skip(bad[0].finding.found)
        return results

    def _service(self, root: Path) -> Service:
        """Open a workspace once and bring its index up to date."""
        if root not in self._services:
            service = Service.open(root)
            service.index(renew=False)
            self._services[root] = service
        return self._services[root]


def _file_of(tables: Mapping[str, Mapping[str, object]]) -> ChecksFile:
    checks = [WrittenCheck(kind, check_table(kind, table, _IN_TEST), _IN_TEST) for kind, table in tables.items()]
    return ChecksFile(_IN_TEST, "", tuple(checks))
