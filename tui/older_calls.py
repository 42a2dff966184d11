"""Calls of the journal that Traffic no longer keeps, but that a filter asks for."""

from contextlib import suppress
from typing import TYPE_CHECKING

from keyhole.core.errors import KeyholeError
from keyhole.core.journal.reader import Changes, Mark
from keyhole.tui.call_filter_line import read_filter
from keyhole.tui.call_log import CallLog

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.types.calls import Call

# Journals are limited in size, and most are far smaller.
_MOST_SEARCHED = 1_000_000


def older_calls(service: "Service", line: str, oldest: int) -> "list[Call]":
    """Return the calls before a number that a filter admits, with the rest of their conversations; slow."""
    reader = service.journal_reader()
    try:
        # Traffic shows the problems of the journal itself.
        with suppress(KeyholeError):
            if reader.calls(before=oldest, limit=1):
                log = CallLog(_MOST_SEARCHED)
                log.apply(Changes(tuple(reader.each()), Mark()))
                log.show_only(read_filter(line, log.words))
                return log.whole_conversations(before=oldest)
        return []
    finally:
        reader.close()
