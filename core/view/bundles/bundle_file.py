"""Bundles as files, in TOML or JSON. Such a file is not trusted: it only names places, which are checked when read."""

import json
import re
from collections.abc import Iterator, Mapping

from keyhole.core.errors import QueryError
from keyhole.core.types.bundle import Bundle, BundleItem
from keyhole.core.untrusted_toml import parse_toml
from keyhole.core.view.budget.limits import LARGEST
from keyhole.core.view.text import count_of, name_text

# More parts than this do not fit any budget.
MOST_ITEMS = 500
LARGEST_BUNDLE_FILE = 500_000
_LONGEST_TEXT = 4_096
_LINES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_KEYS = {"path", "lines", "symbol", "digest"}
_HEADING = "# Parts of this workspace for a model: `keyhole bundle FILE` writes them as one text.\n"


def parse_bundle(text: str, name: str) -> Bundle:
    """Return the bundle in a file; `name` is what errors call the file."""
    where = name_text(name, 80)
    if len(text) > LARGEST_BUNDLE_FILE:
        raise QueryError(f"{where} is too large for a bundle: over {LARGEST_BUNDLE_FILE:,} characters")
    try:
        content = json.loads(text) if text.lstrip().startswith("{") else parse_toml(text)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"{where} is not a bundle: {name_text(str(error), 120)}") from None
    try:
        return _bundle(content)
    except _InvalidBundleError as error:
        raise QueryError(f"{where} is not a bundle: {error}") from None


class _InvalidBundleError(Exception):
    """What is wrong with the content of a bundle."""


def _bundle(content: object) -> Bundle:
    if not isinstance(content, Mapping) or not isinstance(content.get("items"), list):
        raise _InvalidBundleError("it has no list of items, such as [[items]] with a path")
    items = content["items"]
    if len(items) > MOST_ITEMS:
        raise _InvalidBundleError(f"it has {count_of(len(items), 'item')}, more than {MOST_ITEMS:,}")
    tokens = content.get("max_tokens")
    if tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or not 0 < tokens < LARGEST):
        raise _InvalidBundleError("max_tokens is not a number")
    found = (_item(number, item) for number, item in enumerate(items, 1))
    return Bundle(tuple(dict.fromkeys(found)), tokens)


def _item(number: int, item: object) -> BundleItem:
    if not isinstance(item, Mapping):
        raise _InvalidBundleError(f"item {number:,} is not a table")
    if unknown := sorted(str(key) for key in item.keys() - _KEYS):
        raise _InvalidBundleError(f"item {number:,} has an unknown key {name_text(unknown[0], 40)!r}")
    path, symbol, digest = (_text(item, key, number) for key in ("path", "symbol", "digest"))
    if not path:
        raise _InvalidBundleError(f"item {number:,} has no path")
    lines = _text(item, "lines", number)
    if lines and symbol:
        raise _InvalidBundleError(f"item {number:,} has both lines and a symbol")
    return BundleItem(path, *_lines(lines, number), symbol, digest)


def _text(item: Mapping[str, object], key: str, number: int) -> str:
    value = item.get(key, "")
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or "\0" in value:
        raise _InvalidBundleError(
            f"{key} of item {number:,} is not a text" + (', such as "10-20"' if key == "lines" else "")
        )
    return value


def _lines(text: str, number: int) -> tuple[int, int]:
    if not text:
        return 0, 0
    found = _LINES.fullmatch(text)
    first = int(found[1]) if found else 0
    last = int(found[2] or found[1]) if found else 0
    if not 1 <= first <= last:
        raise _InvalidBundleError(f'lines of item {number:,} must be as in "10-20", not {name_text(text, 40)!r}')
    return first, last


def lines_text(item: BundleItem) -> str:
    """Return the lines of an item as a file has them; empty if it has none."""
    if not item.first_line:
        return ""
    return f"{item.first_line}" if item.first_line == item.last_line else f"{item.first_line}-{item.last_line}"


def bundle_toml(bundle: Bundle) -> str:
    """Return a bundle as TOML."""
    tokens = f"max_tokens = {bundle.max_tokens}\n" if bundle.max_tokens else ""
    if not bundle.items:
        return f"{_HEADING}{tokens}items = []\n"
    return _HEADING + tokens + "".join(f"\n[[items]]\n{''.join(_item_lines(item))}" for item in bundle.items)


def _item_lines(item: BundleItem) -> Iterator[str]:
    for key, value in (
        ("path", item.path),
        ("lines", lines_text(item)),
        ("symbol", item.symbol),
        ("digest", item.digest),
    ):
        if value:
            yield f"{key} = {_quoted(value)}\n"


def _quoted(text: str) -> str:
    # The escapes of JSON are those of TOML, which also wants this one.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
