"""What Keyhole changes in its process, and what it needs from the system."""

import os
import signal
import subprocess
import sys

import pytest

from keyhole.core import processes

IMPORT_AND_TELL = """
import json, os, subprocess, sys
from keyhole.mcp_server.import_fastmcp import import_fastmcp

import_fastmcp()
import fastmcp

tell = "import json, os; print(json.dumps({n: v for n, v in os.environ.items() if n.startswith('FASTMCP_')}))"
child = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True).stdout
print(json.loads(child) == json.loads(sys.argv[1]), fastmcp.settings.log_level, fastmcp.settings.log_enabled)
"""


def test_the_users_variables_of_fastmcp_are_not_ours_to_read_or_to_change() -> None:
    """Variables that the user set reach programs that Keyhole starts, such as an editor, but not the server."""
    told = subprocess.run(
        [sys.executable, "-c", IMPORT_AND_TELL, '{"FASTMCP_LOG_LEVEL": "BOGUS", "FASTMCP_ENV_FILE": "mine.env"}'],
        env={**os.environ, "FASTMCP_LOG_LEVEL": "BOGUS", "FASTMCP_ENV_FILE": "mine.env"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["True", "INFO", "False"]


def test_every_ending_signal_of_this_system_is_listened_to() -> None:
    assert set(processes.ENDING_SIGNALS) == {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}


def test_a_process_is_running_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert processes.is_running(process.pid)
        process.communicate(b"\n")
    assert not processes.is_running(process.pid)

    def kill(*_: int) -> None:
        raise AssertionError("on Windows this would end the process")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", kill)
    assert processes.is_running(process.pid)
