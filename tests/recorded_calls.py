"""The calls of three agents in a journal, always the same."""

from collections.abc import Mapping

from keyhole.core.journal.writer import Ended, Journal, Started
from keyhole.core.service import Service
from keyhole.core.types.calls import ShownLines
from keyhole.core.types.completeness import CallStatus

NOON = 1_786_104_000.0
CLIENTS = ("claude-code", "Visual Studio Code", "codex-mcp-client")
TOOLS = ("search_code", "read_file", "map_file", "search_code")
FILE = "src/acme/retry.py"


def call(number: int, at: float | None = None, client: str = "") -> Started:
    tool = TOOLS[number % len(TOOLS)]
    arguments = {"query": "retry backoff", "limit": number % 9 + 1} if tool == "search_code" else {"path": FILE}
    moment = NOON + number * 7 if at is None else at
    return Started("stdio", client or CLIENTS[number % len(CLIENTS)], "2.1", tool, arguments, moment)


def outcome(number: int) -> Ended:
    tokens, ms = number * 431 % 9_000, 1.5 * (number % 7) ** 3 + 0.25
    if number % 13 == 3:
        return Ended(CallStatus.ERROR, f"{FILE} is not served", ms, tokens=9)
    if number % 5 == 1:
        cut = {"reason": "token_limit", "returned_count": 3, "original_count": 50, "next": "offset=3"}
        text = f"Results 1-3 of 50. Budget {tokens or 1_000:,} tokens: 4-50 left out. Next page: offset=3.\n"
        return Ended(CallStatus.LEFT_OUT, text, ms, tokens, tokens or 1_000, 0.97, "token_limit", cut)
    if TOOLS[number % len(TOOLS)] == "read_file" and number % 2:
        text = "Lines 1-500 of 2,735 (partial). Next page: start_line=501.\n"
        return Ended(CallStatus.PARTIAL, text, ms, tokens, 20_000, tokens / 20_000)
    return Ended(CallStatus.COMPLETE, f"Results 1-{number} of {number}.\n", ms, tokens, 20_000, tokens / 20_000)


def record(service: Service, count: int, first: int = 0, at: float | None = None) -> None:
    """Write calls that started and ended."""
    journal = open_journal(service)
    for number in range(first, first + count):
        started = call(number, at)
        journal.started(started)
        journal.ended(started, outcome(number))
        if number % 50 == 49:
            assert journal.flush()
    assert journal.flush()


def open_journal(service: Service) -> Journal:
    journal = service.journal()
    assert journal
    return journal


def record_talk(service: Service) -> None:
    """Write two conversations: one follows what it finds, repeats itself and makes a mistake; one has just begun."""
    other = "src/acme/client.py"
    search, more = {"query": "retry backoff", "limit": 2}, {"query": "how are events handled"}
    whole, part = {"path": FILE}, {"path": FILE, "start_line": 10, "max_lines": 11}
    steps: list[tuple[str, str, Mapping[str, object], Ended]] = [
        ("a", "search_code", more, _answer(640, CallStatus.MORE_PAGES, other, "src/acme/events.py")),
        ("a", "search_code", search, _answer(512, CallStatus.MORE_PAGES, FILE, "README.md")),
        ("b", "get_tree", {}, _answer(156, CallStatus.COMPLETE, "README.md")),
        ("a", "map_file", whole, _answer(310, CallStatus.COMPLETE, FILE)),
        ("a", "read_file", whole, _answer(1_240, CallStatus.COMPLETE, ShownLines(FILE, 1, 40, "v1"))),
        ("a", "read_file", part, _answer(420, CallStatus.PARTIAL, ShownLines(FILE, 10, 20, "v1"))),
        ("b", "search_code", {"query": "session", "detail_level": "rich"}, _answer(7_940, CallStatus.LEFT_OUT, other)),
        ("a", "search_code", search, _answer(512, CallStatus.MORE_PAGES, FILE, "README.md")),
        ("a", "search_code", {"query": "retry", "language": "pyhton"}, _WRONG),
    ]
    journal = open_journal(service)
    for number, (session, tool, arguments, ended) in enumerate(steps):
        client = {"a": "claude-code", "b": "codex-mcp-client"}[session]
        started = Started("stdio", client, "2.1", tool, arguments, NOON + number * 7, session)
        journal.started(started)
        journal.ended(started, ended)
    assert journal.flush()


_WRONG = Ended(CallStatus.ERROR, "unknown language 'pyhton'. Did you mean python?", 2.0, tokens=12)


def _answer(tokens: int, status: CallStatus, *shown: str | ShownLines) -> Ended:
    lines = [part if isinstance(part, ShownLines) else ShownLines(part) for part in shown]
    text = "".join(f"{part.path}:1:[function]\n" for part in lines)
    return Ended(status, text, tokens / 9, tokens, 8_000, tokens / 8_000, shown=lines)
