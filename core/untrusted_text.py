r"""Text from files and requests, made safe to show: hidden characters as escapes, long values clipped in the middle.

A file can contain characters that nobody sees but that act on a terminal, reorder a line, or carry a message that only
a model reads: controls, bidirectional marks, zero-width characters, tag characters. They are shown as escapes such as
`\x1b`.

Some invisible characters are part of ordinary writing. They stay as they are where they have that job, because an
escape would break the text and hides nothing that could not be seen:
- a zero-width joiner between two emoji (a family, a profession), and a variation selector right after a symbol;
- a joiner or non-joiner between two letters of a script that needs it, such as Persian or Hindi.
Elsewhere, such as in an identifier or in a run of several, they are escaped. Tag characters are always escaped, also in
the three flags that use them, because a run of them can spell any sentence.
"""

import re
from collections.abc import Callable
from functools import cache

# An error of any front end is at most this long.
LONGEST_ERROR = 500

_ALWAYS_HIDDEN = (
    # Controls of terminals, line and paragraph separators, and halves of characters
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
    # Marks, embeddings, overrides and isolates of bidirectional text
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    # Characters without width, fillers that look like nothing, and controls that no program uses any more
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    # Variation selectors that no emoji uses, tag characters and the rest of their plane
    "\ufe00-\ufe0d\U000e0000-\U000e0fff"
)
_SYMBOL = "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_SKIN_TONE = "\U0001f3fb-\U0001f3ff"
_JOINED_LETTER = "\u0620-\u06ff\u0710-\u077f\u0840-\u109f\u1780-\u17b3\u17b6-\u17dd\u1820-\u18aa"
_HIDDEN = (
    f"[{_ALWAYS_HIDDEN}]"
    f"|\u200c(?:(?<![{_JOINED_LETTER}].)|(?![{_JOINED_LETTER}]))"
    f"|\u200d(?:(?<![{_JOINED_LETTER}{_SYMBOL}].)(?<![{_SYMBOL}]\ufe0f.)"
    f"|(?![{_JOINED_LETTER}{_SYMBOL}])|(?=[{_SKIN_TONE}]))"
    f"|[\ufe0e\ufe0f](?<![{_SYMBOL}].)(?<![0-9#*].(?=\u20e3))"
)
# A cut next to one of these would take away the neighbour that makes it ordinary.
JOINERS = "\u200c\u200d\ufe0e\ufe0f"
_PLAIN = bytes([*b"\t\n", *range(0x20, 0x7F)])


def escape_hidden(text: str, escape: Callable[[str], str]) -> str:
    """Replace each hidden character by its escape."""
    return text if _is_plain(text) else _hidden().sub(lambda match: escape(match.group()), text)


@cache
def _hidden() -> re.Pattern[str]:
    """Return the expression for hidden characters; most processes never need it."""
    return re.compile(_HIDDEN)


def visible(text: str) -> str:
    r"""Show hidden characters as escapes such as `\x1b`, so that content cannot act on a terminal or go unseen."""
    return escape_hidden(text, lambda character: character.encode("unicode_escape").decode())


def middle_cut(text: str, longest: int) -> str:
    """Clip a very long text in the middle."""
    if len(text) <= longest:
        return text
    start = longest // 2
    return f"{text[:start].rstrip(JOINERS)}…{text[start + 1 - longest :].lstrip(JOINERS)}"


def error_text(text: str) -> str:
    """Return an error as any front end shows it: secrets masked, hidden characters as escapes, and never too long."""
    from keyhole.core.masking import mask_text

    # Clipped twice, because the text may be a megabyte, and escapes make it longer.
    return middle_cut(visible(middle_cut(mask_text(text), LONGEST_ERROR)), LONGEST_ERROR)


def _is_plain(text: str) -> bool:
    """Return whether a text has no hidden characters: five times as fast as searching for them."""
    return text.isascii() and not text.encode().translate(None, _PLAIN)
