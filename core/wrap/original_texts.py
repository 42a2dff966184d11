"""What `keyhole wrap --install` replaced in clients' files, so that `--uninstall` can put it back byte for byte.

It is kept in a file in the user's state folder that only its owner may read, because an entry may hold secrets.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path

from platformdirs import user_state_path

from keyhole.core.index.private_files import write_private_file

_FILE = "wrapped.json"


@dataclass(frozen=True, slots=True)
class Replaced:
    """A wrapped entry: the part of the file that changed, before and after; `url` and `port` if it has an address."""

    path: str
    section: str
    name: str
    before: str
    after: str
    url: str = ""
    port: int = 0


class OriginalTexts:
    """Remembers what was replaced; a file that is missing or damaged counts as empty."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = (folder or user_state_path("keyhole")) / _FILE

    def all(self) -> list[Replaced]:
        """Return every wrapped entry that is remembered."""
        with suppress(OSError, ValueError, TypeError):
            return [Replaced(**facts) for facts in json.loads(self._file.read_text("utf-8"))]
        return []

    def find(self, path: Path, section: str, name: str) -> Replaced | None:
        """Return what was replaced in an entry."""
        return next((each for each in self.all() if _key(each) == (str(path), section, name)), None)

    def remember(self, replaced: Replaced) -> None:
        """Remember a wrapped entry, instead of what was remembered of the same."""
        self._write([*(each for each in self.all() if _key(each) != _key(replaced)), replaced])

    def forget(self, replaced: Replaced) -> None:
        """Forget an entry that is as it was."""
        self._write([each for each in self.all() if _key(each) != _key(replaced)])

    def _write(self, kept: list[Replaced]) -> None:
        write_private_file(self._file, json.dumps([asdict(each) for each in kept], indent=1))


def changed_part(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ between two texts, in each of them."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = _same(old, new)
    end = _same(reversed(old[start:]), reversed(new[start:]))
    return "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end])


def _same(one: Iterable[str], other: Iterable[str]) -> int:
    """Return how many lines are the same before the first that differs."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def with_original(text: str, replaced: Replaced, is_right: Callable[[str], bool]) -> str | None:
    """Return the text with the original part put back where that gives the right facts; None if it does not."""
    if not replaced.after:
        return None
    return next((new for new in _replacements(text, replaced) if is_right(new)), None)


def _replacements(text: str, replaced: Replaced) -> Iterator[str]:
    at = text.find(replaced.after)
    while at >= 0:
        yield text[:at] + replaced.before + text[at + len(replaced.after) :]
        at = text.find(replaced.after, at + 1)


def _key(replaced: Replaced) -> tuple[str, str, str]:
    return replaced.path, replaced.section, replaced.name
