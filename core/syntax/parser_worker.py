"""The parsing worker: a process that runs grammars, so that one that crashes takes no other process with it.

It reads requests from stdin and writes replies to stdout; core/syntax/parser_process.py is the other end. A frame is
two lengths followed by a head in JSON and a body of source text, which is empty in replies.
"""

import gc
import json
import os
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Outline, Symbol

LENGTHS = struct.Struct("<QQ")
# What a worker says before its first reply: it has started.
READY = {"ready": True}
# The memory that one file may take. Trees of source take about thirty times its size.
MEMORY_BYTES = 2_000_000_000
STACK_BYTES = 64_000_000
# CPU time, unlike time on the clock, does not depend on what else the machine does: the same file always gets the same
# answer. A dense file of 6 MB takes ten seconds.
CPU_SECONDS = 5
CPU_SECONDS_PER_MB = 4
# Windows can't limit CPU time. There, time on the clock counts, and a busy machine needs more of it.
CLOCK_PER_CPU = 4
_SYMBOLS_TOGETHER = 500


def write_frame(stream: BinaryIO, head: object, body: bytes = b"") -> None:
    """Write one request or reply."""
    encoded = json.dumps(head).encode()
    stream.write(LENGTHS.pack(len(encoded), len(body)) + encoded)
    stream.write(body)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[Any, bytes] | None:
    """Read one request or reply; None at the end of the stream."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    head_length, body_length = LENGTHS.unpack(lengths)
    head, body = stream.read(head_length), stream.read(body_length)
    return (json.loads(head), body) if len(head) == head_length and len(body) == body_length else None


def limit_process() -> None:
    """Limit the memory and the stack of this process, and never write a core dump."""
    with suppress(ImportError):  # Windows has no such limits.
        import resource

        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_STACK, STACK_BYTES)
        # macOS reports this limit but does not accept every value.
        with suppress(ValueError, OSError):
            _lower(resource.RLIMIT_AS, MEMORY_BYTES)


@contextmanager
def limited_cpu(size: int) -> Iterator[None]:
    """Let this process use the CPU for one more file of this size; the system ends it when it uses more."""
    allowed = CPU_SECONDS + size * CPU_SECONDS_PER_MB // 1_000_000
    try:
        import resource
    except ImportError:  # Windows
        with _limited_time(allowed * CLOCK_PER_CPU):
            yield
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(usage.ru_utime + usage.ru_stime) + 1 + allowed
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if hard < 0 else min(seconds, hard), hard))
    yield


@contextmanager
def _limited_time(seconds: float) -> Iterator[None]:
    """End this process after a time on the clock, even while a grammar runs and no other thread gets a turn."""
    import faulthandler

    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123  # the name of a device
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _lower(limit: int, value: int) -> None:
    import resource

    _, hard = resource.getrlimit(limit)
    value = value if hard < 0 else min(value, hard)
    resource.setrlimit(limit, (value, hard))


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    # Imported here, so that the parent can use this module without loading a grammar.
    from keyhole.core.syntax.analyse import analyse, outline_of

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing else may write to the pipe of the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_process()
    # What is loaded now stays: looking through it for garbage would only take time.
    gc.freeze()
    write_frame(replies, READY)
    while (request := read_frame(sys.stdin.buffer)) is not None:
        head, body = request
        text = body.decode()
        source = SourceFile(head["path"], head["size"], 0, "", "", text)
        if head["wants"] == "outline":
            with limited_cpu(len(body)):
                outline = outline_of(source)
            write_frame(replies, {"outline": outline_facts(outline)})
        else:
            with limited_cpu(len(body)):
                analysis = analyse(source)
            chunks = [(c.start_line, c.end_line, len(c.text), c.definitions) for c in analysis.chunks]
            reply = {"outline": outline_facts(analysis.outline), "chunks": chunks}
            write_frame(replies, reply, analysis.occurrences)


def outline_facts(outline: Outline) -> list[object]:
    """Return an outline as JSON data, in the order of its fields."""
    imports, references = (
        [(one.target, one.text, one.line) for one in found] for found in (outline.imports, outline.references)
    )
    facts = [_symbol_facts(symbol) for symbol in outline.symbols]
    # In several texts: nothing else in the process that reads them runs while one is parsed.
    symbols = [
        json.dumps(facts[first : first + _SYMBOLS_TOGETHER]) for first in range(0, len(facts), _SYMBOLS_TOGETHER)
    ]
    return [outline.language, symbols, imports, outline.has_errors, outline.missed, references]


def _symbol_facts(symbol: Symbol) -> tuple[object, ...]:
    return (
        symbol.name,
        symbol.kind,
        symbol.signature,
        symbol.doc,
        symbol.returns,
        symbol.start_line,
        symbol.end_line,
        symbol.name_line,
        symbol.parent,
        symbol.exported,
        symbol.modifiers,
        [_symbol_facts(child) for child in symbol.children],
    )


if __name__ == "__main__":
    main()
