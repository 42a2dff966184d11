"""Parsing in another process: the end of the parsing worker that the explorer, the server and the commands hold.

Grammars are C code for untrusted input, and some crash on it. So no process that serves people or agents runs one: a
worker does, which is started when the first file needs it, and then kept. A crash costs one file its symbols, and the
worker is never used again.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
from functools import cache
from threading import BoundedSemaphore
from typing import Any, BinaryIO, cast

from keyhole.core.deadline import acquire_slot, paced, time_left
from keyhole.core.errors import ErrorKind, ParserError
from keyhole.core.syntax.chunks import cut_chunks
from keyhole.core.syntax.forked_parser import ForkedParser
from keyhole.core.syntax.languages import Language, detect_language
from keyhole.core.syntax.parser_worker import READY, read_frame, write_frame
from keyhole.core.syntax.plain_outline import plain_outline
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Analysis, Chunk, Import, Outline, Symbol

# `-P`: the current folder, which may be a hostile workspace, is not searched for modules.
_COMMAND = (sys.executable, "-P", "-m", "keyhole.core.syntax.parser_worker")
# A worker that is killed while it starts is started once more.
_STARTS = 2
_Worker = subprocess.Popen[bytes] | ForkedParser
_TOO_SLOW = getattr(signal, "SIGXCPU", None)


class _CrashError(Exception):
    """The worker ended while it parsed a file."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self._exit_code = exit_code

    def reason(self, language: Language) -> str:
        """Return what happened, for people."""
        if _TOO_SLOW is not None and self._exit_code == -_TOO_SLOW:
            return f"the {language.label} grammar took too much CPU time"
        # A signal ends a grammar that crashes; an error in our own code gives an exit code.
        is_signal = self._exit_code < 0
        return f"the {language.label} grammar crashed" if is_signal else f"parsing it as {language.label} failed"


class ParserProcess:
    """One parsing worker; several threads take turns."""

    # Only a process with one thread may set it, for the processes that it forks (core/cli/command_runner.py).
    forks = False

    def __init__(self, command: tuple[str, ...] = _COMMAND) -> None:
        self._command = command
        self._turns = BoundedSemaphore(1)
        self._worker: _Worker | None = None

    def outline_of(self, source: SourceFile) -> Outline:
        """Parse a file for its map only; `missed` says why if it cannot be parsed."""
        language = detect_language(source.path, source.text)
        known = plain_outline(source, language)
        if known is not None:
            return known
        try:
            return _outline(self._ask("outline", source)[0]["outline"])
        except _CrashError as crash:
            return Outline(language.id, missed=crash.reason(language))

    def analyse(self, source: SourceFile) -> Analysis:
        """Parse a file for its symbols, imports, names and chunks; one that cannot be parsed is split as plain text."""
        language = detect_language(source.path, source.text)
        if language.grammar is None:
            return without_parsing(source, Outline(language.id))
        try:
            reply, occurrences = self._ask("analysis", source)
        except _CrashError as crash:
            return without_parsing(source, Outline(language.id, missed=crash.reason(language)))
        chunks = tuple(_chunks(source.text, reply["chunks"]))
        return Analysis(source, _outline(reply["outline"]), chunks, occurrences)

    def close(self) -> None:
        """End the worker, if there is one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.wait()
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    pipe.close()

    def _ask(self, wants: str, source: SourceFile) -> tuple[dict[str, Any], bytes]:
        """Return the worker's reply, or raise _CrashError."""
        head = {"wants": wants, "path": source.path, "size": source.size}
        body = source.text.encode()
        with acquire_slot(self._turns):
            worker = self._running()
            try:
                write_frame(cast("BinaryIO", worker.stdin), head, body)
                reply = self._reply(worker)
            except (BrokenPipeError, ConnectionResetError):
                reply = None
            except BaseException:
                # The caller gave up. A reply that comes later must not be taken for the next one.
                self.close()
                raise
            if reply is None:
                exit_code = worker.wait()
                self.close()
                raise _CrashError(exit_code)
            return reply

    def _running(self) -> _Worker:
        if self._worker is None or self._worker.poll() is not None:
            self.close()
            self._worker = self._start()
        return self._worker

    def _start(self) -> _Worker:
        """Start a worker and wait until it is ready; one that is killed meanwhile says nothing about the next one."""
        for _ in range(_STARTS):
            worker = self._launch()
            if read_frame(cast("BinaryIO", worker.stdout)) == (READY, b""):
                return worker
            code = worker.wait()
            self.close()
            if code >= 0:
                break
        raise ParserError(f"the parser process could not start (exit code {code})", ErrorKind.NO_WORKER)

    def _launch(self) -> _Worker:
        try:
            worker: _Worker = ForkedParser() if self.forks else self._spawn()
        except OSError as error:
            raise ParserError(f"the parser process could not start ({error})", ErrorKind.NO_WORKER) from error
        # `close` must find it even if it never becomes ready.
        self._worker = worker
        return worker

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  # our own module
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def _reply(self, worker: _Worker) -> tuple[dict[str, Any], bytes] | None:
        """Wait for the reply as long as the caller has time."""
        pipe = cast("BinaryIO", worker.stdout)
        # Windows cannot wait for a pipe with a time limit.
        if os.name != "nt":
            while not select.select([pipe], [], [], time_left())[0]:
                pass
        return read_frame(pipe)


@cache
def shared_parser() -> ParserProcess:
    """Return the parsing worker of this process."""
    parser = ParserProcess()
    atexit.register(parser.close)
    return parser


def without_parsing(source: SourceFile, outline: Outline) -> Analysis:
    """Return the analysis of a file as plain text."""
    return Analysis(source, outline, cut_chunks(source.text.encode(), None, ()))


def _outline(facts: list[Any]) -> Outline:
    language, symbols, imports, has_errors, missed, references = facts
    return Outline(
        language,
        tuple(_symbol(facts) for text in symbols for facts in paced(json.loads(text))),
        tuple(Import(*one) for one in imports),
        has_errors,
        missed,
        tuple(Import(*one) for one in references),
    )


def _symbol(facts: list[Any]) -> Symbol:
    facts[-2:] = tuple(facts[-2]), tuple(map(_symbol, facts[-1]))
    return Symbol(*facts)


def _chunks(text: str, facts: list[Any]) -> "list[Chunk]":
    chunks, start = [], 0
    for first, last, length, definitions in facts:
        chunks.append(Chunk(first, last, text[start : start + length], tuple(definitions)))
        start += length
    return chunks
