"""Talks to a server that is started for a question: on stdio, one JSON message per line."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, cast

from keyhole.core.errors import ServerError
from keyhole.core.masking import mask_text
from keyhole.core.processes import end_session
from keyhole.core.wrap.framing import CopiedLines

_PATIENCE = 2.0
_LONGEST_TOLD = 300


class ServerProcess:
    """A server on stdio. It leads a process group of its own, which ends with it."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._told = tempfile.TemporaryFile()  # noqa: SIM115  # until `close`
        self._name = command[0]
        # Windows has no process groups.
        group = 0 if hasattr(os, "killpg") else None
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the server that the user named
                command,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._told,
                process_group=group,
            )
        except (OSError, ValueError) as error:
            self._told.close()
            raise ServerError(f"cannot start {self._name} ({error})") from None
        self._in, self._out = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        threading.Thread(target=self._read, name="keyhole-server", daemon=True).start()

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message."""
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except OSError:
            raise self._gone() from None

    def receive(self, seconds: float) -> dict[str, Any]:
        """Return the next message of the server."""
        try:
            message = self._messages.get(timeout=seconds)
        except Empty:
            raise ServerError(f"{self._name} did not answer within {seconds:g} seconds{self._last_words()}") from None
        if message is None:
            raise self._gone()
        return message

    def close(self) -> None:
        """End the server: ask it first, then insist."""
        with suppress(OSError):
            self._in.close()
        for by_force in (False, True):
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                end_session(self._process, by_force=by_force)
        end_session(self._process, by_force=True)
        self._process.wait()
        self._out.close()
        self._told.close()

    def _read(self) -> None:
        lines = CopiedLines(self._take)
        with suppress(OSError, ValueError):
            while chunk := os.read(self._out.fileno(), 65_536):
                lines.feed(chunk, 0.0)
        self._messages.put(None)

    def _take(self, line: bytes, _: float) -> None:
        # Some servers print other things to stdout, which clients ignore too.
        with suppress(ValueError, RecursionError):
            message = json.loads(line)
            if isinstance(message, dict):
                self._messages.put(message)

    def _gone(self) -> ServerError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        return ServerError(f"{self._name} ended with exit code {self._process.returncode}{self._last_words()}")

    def _last_words(self) -> str:
        """Return the end of what the server wrote to stderr."""
        with suppress(OSError, ValueError):
            size = self._told.seek(0, os.SEEK_END)
            self._told.seek(max(0, size - 4_000))
            text = mask_text(self._told.read().decode("utf-8", "replace")).strip()
            return f": {text[-_LONGEST_TOLD:]}" if text else ""
        return ""
