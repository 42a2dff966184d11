"""The signature and modifiers of a definition, read from its source."""

import re
from functools import lru_cache

from keyhole.core.syntax.captures import Definition
from keyhole.core.syntax.languages import Language
from keyhole.core.syntax.spans import Source, Spans

SIGNATURE_LIMIT = 2_000
CONSTANT_LIMIT = 120

_MODIFIERS = frozenset(
    """abstract actor actual async annotation case companion consteval constexpr convenience data declare default
    expect explicit export extern external fileprivate final friend get implicit indirect infix inline inner internal
    lateinit lazy local mutating native new nonisolated opaque open operator override partial private protected pub
    public readonly required sealed set static suspend synchronized tailrec transient transparent unsafe value virtual
    volatile""".split()  # noqa: SIM905  # a list of these would take sixty lines
)
_WORD = re.compile(r"\b[A-Za-z_]+\b")
_DECORATOR_NAME = re.compile(r"[\w.:\\]+")
_OPENING = ("(", "[", "<")
_CLOSING = (")", "]", ">")
_TAIL = re.compile(r"\s*(?:=>|[{:=;,\\]|(?<!\w)(?:do|begin|AS|with))$")
_LONGEST_TAIL = 20
# How much of a definition is read after its name, at most.
_LONGEST_READ = 4 * SIGNATURE_LIMIT


class SignatureReader:
    """Reads the signatures of one file, without comments and decorators."""

    def __init__(self, language: Language, source: Source, comments: Spans, decorators: Spans) -> None:
        self._source = source
        self._comments = comments
        self._decorators = decorators
        self._has_no_notes = not comments and not decorators
        self._modifiers = _MODIFIERS | language.private_words

    def modifier_words(self, definition: Definition) -> tuple[str, ...]:
        """Return the modifiers before the name of a definition."""
        return _words_among(self._modifiers, self._read(definition.start, definition.name_start, definition))

    def decorator_names(self, definition: Definition) -> tuple[str, ...]:
        """Return the names of the decorators of a definition, without arguments."""
        inside = self._decorators.between(definition.start, definition.name_start)
        if not inside:
            return ()
        names = [_DECORATOR_NAME.search(self._source.text(span.start, span.end)) for span in inside]
        return tuple(f"@{name.group()}" if name else "@" for name in names)

    def signature(self, definition: Definition) -> str:
        """Return a definition up to its body, on one line."""
        body = definition.body
        if body is None or not definition.start < body.start < definition.end:
            text = self._read(definition.start, definition.end, definition).strip()
        else:
            text = self._read(definition.start, body.start, definition).strip()
            if body.start < definition.name_start:
                text += " " + self._read(body.end, definition.end, definition).strip()
        if "\n" in text:
            text = _join_lines(text)
        text = definition.keyword + _without_tail(text, definition.name)
        if definition.bases:
            embedded = (self._read(base.start, base.end, definition) for base in definition.bases[:SIGNATURE_LIMIT])
            text += f" {{ {'; '.join(map(_join_lines, embedded))} }}"
        limit = CONSTANT_LIMIT if definition.kind == "constant" else SIGNATURE_LIMIT
        return text if len(text) <= limit else text[:limit].rstrip() + "…"

    def _read(self, start: int, end: int, definition: Definition) -> str:
        """Return a range of source without comments and without the decorators before the name."""
        end = min(end, max(start, definition.name_start) + _LONGEST_READ)
        if self._has_no_notes:
            return self._source.text(start, end)
        notes = self._comments.between(start, end)
        notes += self._decorators.between(start, min(end, definition.name_start))
        if not notes:
            return self._source.text(start, end)
        pieces, position = [], start
        for note in sorted(notes):
            pieces.append(self._source.text(position, max(position, note.start)))
            position = max(position, note.end)
        return "".join([*pieces, self._source.text(position, end)])


# Nearly all definitions of a file start with the same few words.
@lru_cache(1_000)
def _words_among(wanted: frozenset[str], text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text) if word in wanted)


def _join_lines(text: str) -> str:
    """Join the lines of a signature as if it were written on one line."""
    joined = ""
    for line in filter(None, (part.strip() for part in text.split("\n"))):
        if line.startswith(_CLOSING):
            joined = joined.removesuffix(",") + line
        elif not joined or joined.endswith(_OPENING):
            joined += line
        else:
            joined += " " + line
    return joined


def _without_tail(text: str, name: str) -> str:
    text = text.rstrip()
    tail = _TAIL.search(text, max(0, len(text) - _LONGEST_TAIL))
    # The name itself may look like a tail: `def begin`, `## What to do`.
    if tail is None or name not in text[: tail.start()]:
        return text
    return text[: tail.start()].rstrip()
