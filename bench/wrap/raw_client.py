"""A client that sends the given bytes, unchanged, and waits for the answer to each request."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any


class RawClient:
    """Talks to one server on stdio, line by line."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(20)
        self.process.stdout.close()

    def introduce(self) -> dict[str, Any]:
        """Connect as a client does first."""
        info = {"name": "claude-code", "version": "2.1"}
        answer = self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        return answer

    def send(self, line: bytes) -> None:
        """Send a line of any bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, given: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return its response."""
        assert self.process.stdout is not None
        self._number += 1
        sent = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": given}
        self.send(json.dumps(sent, ensure_ascii=self._number % 2 == 0).encode())
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._number and "method" not in message:
                assert isinstance(message, dict)
                return message
        raise EOFError(f"the server ended before it answered {method}")

    def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Call a tool."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})
