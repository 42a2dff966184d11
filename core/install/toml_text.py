"""Editing one table of a TOML file, so that comments, order and layout of the rest do not change.

tomlkit preserves them, but treats the lines between two tables as part of the first. This module treats comments and
empty lines after the last key of our table as outside it: a new key is added before them, and removing the table keeps
them.
"""

import re
from collections.abc import Iterator

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, AoT, Array, InlineTable, Item, Key, Table, Whitespace

from keyhole.core.untrusted_toml import parse_toml

_LONE_NEWLINE = re.compile(r"(?<!\r)\n")
_EMPTY_LINE = re.compile(r"\A[ \t]*\r?\n")

# The items of a table, in order; comments and empty lines have no key.
Body = list[tuple[Key | None, Item]]


def parse(text: str) -> dict[str, object]:
    """Parse a text."""
    return parse_toml(text)


def set_entry(text: str, section: str, name: str, entry: dict[str, object]) -> str:
    """Return the text with a table added to a section; other keys of an existing table are kept."""
    document = _document(text)
    for body, index in _places(document, section, name):
        found = body[index][1]
        # A table that exists only in the headers of its subtables has no lines of its own where keys could go.
        if not isinstance(found, AbstractTable) or (isinstance(found, Table) and found.is_super_table()):
            raise ValueError(f"{section}.{name} is not a table with its own header")
        _update(found, entry)
        return _with_line_ends(text, tomlkit.dumps(document))
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    return _with_line_ends(text, text + gap + tomlkit.dumps({section: {name: entry}}))


def remove_entry(text: str, section: str, name: str) -> str:
    """Return the text without a table and its subtables."""
    document = _document(text)
    for body, index in _places(document, section, name):
        trailing = "".join(item.as_string() for _, item in _cut_trailing(_last_body(body[index][1])))
        # Remove one empty line with the table.
        body[index] = (None, Whitespace(_EMPTY_LINE.sub("", trailing)))
    return tomlkit.dumps(document)


def _document(text: str) -> tomlkit.TOMLDocument:
    parse(text)
    try:
        document = tomlkit.parse(text)
        is_same = tomlkit.dumps(document) == text
    except (TOMLKitError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not is_same:
        raise ValueError("its layout cannot be preserved")
    return document


def _places(document: tomlkit.TOMLDocument, section: str, name: str) -> Iterator[tuple[Body, int]]:
    """Yield the positions of an entry; a file may define one table in several places."""
    for key, item in document.body:
        if key is not None and key.key == section and isinstance(item, Table):
            body = item.value.body
            yield from ((body, index) for index, (own, _) in enumerate(body) if own is not None and own.key == name)


def _update(table: AbstractTable, entry: dict[str, object]) -> None:
    body = table.value.body
    trailing = [] if isinstance(table, InlineTable) else _cut_trailing(body)
    for key, value in entry.items():
        old = table.get(key)
        if isinstance(old, Array) and old != value and "#" in old.as_string():
            raise ValueError(f"{key} has comments, which would be lost")
        if old != value:
            table[key] = value
    body.extend(trailing)


def _last_body(item: Item) -> Body:
    """Return the items of the last subtable of a table, at any depth."""
    if isinstance(item, AoT):
        return _last_body(item.body[-1])
    if not isinstance(item, Table):
        return []
    body = item.value.body
    return _last_body(body[-1][1]) if body and isinstance(body[-1][1], Table | AoT) else body


def _cut_trailing(body: Body) -> Body:
    """Remove comments and empty lines from the end, and return them."""
    start = len(body)
    while start and body[start - 1][0] is None:
        start -= 1
    trailing = body[start:]
    del body[start:]
    return trailing


def _with_line_ends(text: str, new: str) -> str:
    """Return the new text with the line ends of the old one."""
    return _LONE_NEWLINE.sub("\r\n", new) if "\r\n" in text and not _LONE_NEWLINE.search(text) else new
