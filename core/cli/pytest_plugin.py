"""A plugin for pytest with the fixture `keyhole_check`. pytest loads it at every start, so it imports nothing else."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from keyhole.core.cli.context_checker import ContextChecker


@pytest.fixture(scope="session")
def keyhole_check(pytestconfig: pytest.Config) -> "ContextChecker":
    """Run checks of what agents can see; see docs/check.md."""
    from keyhole.core.cli.context_checker import ContextChecker

    return ContextChecker(pytestconfig.rootpath)
