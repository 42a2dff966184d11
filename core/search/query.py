"""Parses a query: its words, its names, and the mode that fits it."""

import re

from keyhole.core.errors import QueryError
from keyhole.core.index.words import split_words
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

MAX_QUERY_LENGTH = 10_000

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|->|#|/)[^\W\d]\w*)*(?:\(\))?\Z")
_REGEX = re.compile(r"/(.+)/\Z", re.DOTALL)
# A part in quotes stands alone: `app.get("/users")` is code, and its quotes are part of it.
_QUOTED = re.compile(r'(?<!\S)"([^"]+)"(?!\S)')
_NAME = re.compile(r"[^\W\d]\w*")
# Words that are common in questions and say nothing about the code.
_STOP_WORDS = frozenset(
    """a about an and any are as at be been being but by can could do does doing done for from get gets got had has have
    having here how i if in into is it its itself just let like made make makes may me might more most must my no not of
    off on once only or our out over own same shall she should so some such than that the their them then there these
    they this those through to too under until up us use used uses using very was we were what when where which while
    who whom why will with would you your place code find show""".split()  # noqa: SIM905  # a list would be a page
)


def check_query(query: Query) -> None:
    """Raise QueryError for a query that cannot be searched for."""
    if not query.text.strip():
        raise QueryError('the query is empty; use a name, a few words, "exact text" or /a regular expression/')
    if len(query.text) > MAX_QUERY_LENGTH:
        raise QueryError(f"the query has {len(query.text):,} characters; the limit is {MAX_QUERY_LENGTH:,}")
    if query.limit < 1:
        raise QueryError(f"limit must be at least 1, not {query.limit}")
    if query.offset < 0:
        raise QueryError(f"offset must be 0 or more, not {query.offset}")


def choose_mode(query: Query) -> Mode:
    """Return the mode of a query; `auto` becomes regex or hybrid."""
    if query.mode != Mode.AUTO:
        return query.mode
    return Mode.REGEX if _REGEX.match(query.text.strip()) or is_quoted(query.text) else Mode.HYBRID


def quoted_parts(text: str) -> list[str]:
    """Return the parts of a query that are to be found as written."""
    return list(dict.fromkeys(_QUOTED.findall(text)))


def name_part(text: str) -> str:
    """Return what is not quoted in a query for a name, or what is quoted if that is all."""
    return _QUOTED.sub("", text).strip() or " ".join(quoted_parts(text))


def is_quoted(text: str) -> bool:
    """Return whether a whole query is one quoted text."""
    return _QUOTED.fullmatch(text.strip()) is not None


def is_identifier(text: str) -> bool:
    """Return whether a text is a single name and not a sentence."""
    return _IDENTIFIER.match(text.strip()) is not None


def pattern_of(text: str) -> str:
    """Return the pattern inside the slashes, one that matches a quoted text as written, or the text itself."""
    if quoted := _QUOTED.fullmatch(text.strip()):
        return re.escape(quoted.group(1))
    match = _REGEX.match(text.strip())
    return match.group(1) if match else text


def words_of(text: str) -> list[str]:
    """Return the words to search for, in order and without duplicates; stop words only if there are no others."""
    words = list(dict.fromkeys(split_words(text).split()))
    useful = [word for word in words if word not in _STOP_WORDS and (len(word) > 1 or not word.isascii())]
    return useful or words


def names_of(text: str) -> list[str]:
    """Return what may be names of definitions: the last part of a dotted name, or words that look like code."""
    names = _NAME.findall(text)
    if is_identifier(text):
        return [names[-1]] if names else []
    return [name for name in names if "_" in name.strip("_") or not (name.islower() or name.istitle())]


def letters_of(name: str) -> str:
    """Return a name in lower case without underscores, so that all its spellings are equal."""
    return name.replace("_", "").lower()
