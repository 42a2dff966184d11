"""How much a view may show: results on a page, tokens and characters in an answer."""

from dataclasses import dataclass

from keyhole.core.errors import ParameterError
from keyhole.core.notes import Note, NoteKind

# What a client accepts, and the share that a view uses, which leaves room for what the client adds.
CHARACTER_LIMIT = 100_000
MARGIN = 0.8
EFFECTIVE_CHARACTERS = int(CHARACTER_LIMIT * MARGIN)
# A character takes at most four bytes, so this limits nothing by itself; maps and reads set their own limit.
EFFECTIVE_BYTES = 4 * EFFECTIVE_CHARACTERS

# The largest number that SQLite stores.
LARGEST = 2**63 - 1

# Tokens as docs/tokens.md estimates them. The newest models may count a quarter more; the default leaves room for
# that in a client that accepts 25,000.
MIN_TOKENS = 1_000
DEFAULT_TOKENS = 20_000
MAX_TOKENS = 25_000


# How many steps callers, callees and classes are followed.
DEEPEST = 5
# Around a line that matches a pattern.
MAX_CONTEXT_LINES = 10


@dataclass(frozen=True, slots=True)
class Limit:
    """The default and the maximum number of results on a page."""

    default: int
    maximum: int


LIMITS = {
    "search_code": Limit(10, 50),
    "search_code at minimal": Limit(10, 200),
    "search_code by pattern": Limit(100, 500),
    "read_file": Limit(500, 2_000),
    "get_links": Limit(100, 500),
    "get_backlinks": Limit(100, 500),
    "find_broken_links": Limit(100, 500),
    "search_by_links": Limit(50, 200),
    "find_related": Limit(50, 200),
    "find_references": Limit(100, 500),
    "get_tree descendants": Limit(100, 500),
    "get_tree": Limit(100, 200),
}


def clamp_limit(
    view: str, asked: int | None, default: int | None = None, *, name: str = "limit"
) -> tuple[int, list[Note]]:
    """Return the number of results on a page, with a note if it differs from what was asked for."""
    limit = LIMITS[view]
    if asked is None:
        return min(default or limit.default, limit.maximum), []
    if asked < 1:
        raise ParameterError(name, f"must be from 1 to {limit.maximum:,}, not {asked:,}")
    if asked > limit.maximum:
        text = f"{name}={asked} is over the maximum; using {name}={limit.maximum}"
        return limit.maximum, [Note(NoteKind.LIMIT_LOWERED, text)]
    return asked, []


def clamp_context(asked: int) -> tuple[int, list[Note]]:
    """Return the number of lines around a match, with a note if it differs from what was asked for."""
    check_least("context_lines", asked, 0)
    if asked > MAX_CONTEXT_LINES:
        text = f"context_lines={asked} is over the maximum; using context_lines={MAX_CONTEXT_LINES}"
        return MAX_CONTEXT_LINES, [Note(NoteKind.CONTEXT_LOWERED, text)]
    return asked, []


def clamp_depth(asked: int) -> tuple[int, list[Note]]:
    """Return how many steps callers, callees and classes are followed, with a note if it is not what was asked for."""
    if asked < 1:
        raise ParameterError("depth", f"must be from 1 to {DEEPEST}, not {asked:,}")
    if asked > DEEPEST:
        return DEEPEST, [Note(NoteKind.LIMIT_LOWERED, f"depth={asked} is over the maximum; using depth={DEEPEST}")]
    return asked, []


def clamp_tokens(asked: int | None) -> tuple[int, list[Note]]:
    """Return the token budget, with a note if it differs from what was asked for."""
    if asked is None:
        return DEFAULT_TOKENS, []
    if asked < MIN_TOKENS:
        raise ParameterError("max_tokens", f"must be from {MIN_TOKENS:,} to {MAX_TOKENS:,}, not {asked:,}")
    if asked > MAX_TOKENS:
        text = f"max_tokens={asked} is over the maximum; using max_tokens={MAX_TOKENS}"
        return MAX_TOKENS, [Note(NoteKind.BUDGET_LOWERED, text)]
    return asked, []


def check_offset(offset: int) -> None:
    """Reject an invalid offset; one past the end is fine and gets an answer."""
    check_least("offset", offset, 0)


def check_least(name: str, value: int, least: int) -> None:
    """Reject a number that is too small, or too large for the index."""
    if value < least:
        raise ParameterError(name, f"must be {least} or more, not {value:,}")
    if value > LARGEST:
        raise ParameterError(name, f"must be {LARGEST:,} or less, not {value:,}")
