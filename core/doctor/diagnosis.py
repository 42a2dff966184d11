"""The table of checks, and running them so that none takes down the others."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from keyhole.core.config import Settings, load_settings
from keyhole.core.doctor.findings import Check, CheckedPart, DoctorFinding, Examined, Level, problem
from keyhole.core.doctor.installation_checks import (
    check_grammars,
    check_model,
    check_packages,
    check_python,
    check_sqlite,
)
from keyhole.core.doctor.setup_checks import check_clients, check_ports, check_settings, check_sharing
from keyhole.core.doctor.workspace_checks import (
    check_cache,
    check_ignore_rules,
    check_index,
    check_journal,
    check_workspace,
)
from keyhole.core.errors import ConfigError, NextSteps
from keyhole.core.files.workspace import open_workspace

# In the order of the report. The terminal is checked by the command line, which knows the explorer.
CHECKS: tuple[Check, ...] = (
    Check("python", check_python),
    Check("packages", check_packages),
    Check("sqlite", check_sqlite),
    Check("grammars", check_grammars),
    Check("model", check_model),
    Check("workspace", check_workspace),
    Check("cache", check_cache),
    Check("index", check_index),
    Check("journal", check_journal),
    Check("ignore-rules", check_ignore_rules),
    Check("settings", check_settings),
    Check("clients", check_clients),
    Check("sharing", check_sharing),
    Check("ports", check_ports),
)


def examined_at(path: Path, steps: NextSteps) -> Examined:
    """Return what to look at for a folder, which may be one that Keyhole refuses to index."""
    root = open_workspace(path, force=True)
    try:
        settings = load_settings(root)
    except ConfigError:
        # The check of the settings reports it.
        settings = Settings()
    return Examined(root, Path.home(), settings, os.environ, steps)


def run_checks(examined: Examined, checks: Sequence[Check] = CHECKS) -> Iterator[CheckedPart]:
    """Run the checks one after another; one that fails is a problem of its own."""
    for check in checks:
        yield CheckedPart(check.name, tuple(_findings(check, examined)))


def _findings(check: Check, examined: Examined) -> Iterator[DoctorFinding]:
    try:
        yield from check.run(examined)
    except Exception as error:  # noqa: BLE001  # whatever is broken, the other checks are wanted all the more
        text = f"this check failed ({type(error).__name__}: {error})"
        yield problem(check.name, text, "report it with the file that keyhole doctor --bundle FILE writes")


def count_problems(parts: Sequence[CheckedPart]) -> int:
    """Count what needs repair."""
    return sum(finding.level == Level.PROBLEM for part in parts for finding in part.findings)
