"""The calls of three agents in a journal, always the same."""

from keyhole.core.journal.writer import Ended, Journal, Started
from keyhole.core.service import Service
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
