"""Running a command to which the modes of files apply, even if the tests run as root."""

import os
import shutil

import pytest

_CAPABILITIES = "-dac_override,-dac_read_search"


def bound_by_modes(*command: str) -> list[str]:
    """Return a command that runs without root's right to open every file."""
    if os.geteuid() != 0:
        return list(command)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root ignores the modes of files, and there is no setpriv")
    return [setpriv, f"--bounding-set={_CAPABILITIES}", f"--inh-caps={_CAPABILITIES}", *command]
