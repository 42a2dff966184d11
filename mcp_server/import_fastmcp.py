"""Imports fastmcp with our settings instead of those from the user's environment or from the current folder."""

import os
import sys
from threading import Lock

_PREFIX = "FASTMCP_"
_OURS = {
    # The current folder is not trusted, so a settings file in it is not read.
    "FASTMCP_ENV_FILE": os.devnull,
    "FASTMCP_LOG_ENABLED": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    # Nothing collects the spans, and creating them takes a tenth of the time of a short call.
    "FASTMCP_TELEMETRY_MODE": "propagation_only",
}
_lock = Lock()


def import_fastmcp() -> None:
    """Import fastmcp, which reads its settings once, and restore the user's environment variables afterwards."""
    with _lock:
        if "fastmcp" in sys.modules:
            return
        theirs = {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}
        _replace_variables(_OURS)
        try:
            import fastmcp  # noqa: F401  # the import reads the settings
        finally:
            _replace_variables(theirs)


def _replace_variables(variables: dict[str, str]) -> None:
    for name in [name for name in os.environ if name.startswith(_PREFIX)]:
        del os.environ[name]
    os.environ.update(variables)
