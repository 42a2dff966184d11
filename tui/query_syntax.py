"""The syntax of the search line: words, and filters such as `lang:py`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.suggester import Suggester

from keyhole.core.errors import QueryError
from keyhole.core.suggest import close_names, did_you_mean, suggest_name
from keyhole.core.types.choices import Mode, Role
from keyhole.core.types.inventory import Inventory

if TYPE_CHECKING:
    from keyhole.core.types.view_requests import SearchRequest

_FILTER = re.compile(r"(?<!\S)(lang|path|kind|role|mode|tests|changed|limit):(\S*)")
_QUOTED = re.compile(r'("[^"]+")')
_PATH_FILTER = re.compile(r"(?<!\S)path:\S*")
_OTHER_WORD = re.compile(r"(?<!\S)([a-z]+):([^\s:/]\S*)")
_YES_OR_NO = {"yes": True, "no": False}


def _is_language(name: str) -> bool:
    from keyhole.core.syntax.languages import language_named

    return language_named(name) is not None


# Which values each filter accepts; those of the open ones depend on the index.
_ACCEPTS: Mapping[str, Callable[[str], bool]] = {
    "lang": _is_language,
    "path": bool,
    "kind": bool,
    "role": lambda value: value.lstrip("-") in list(Role),
    "mode": lambda value: value in list(Mode),
    "tests": lambda value: value in _YES_OR_NO,
    "changed": lambda value: value in _YES_OR_NO,
    "limit": str.isdecimal,
}
_OPEN = ("path", "kind")
FILTERS = tuple(_ACCEPTS)


def read_query(line: str) -> "SearchRequest":
    """Parse a line into words and filters; a filter without a value yet, such as `lang:`, is ignored."""
    from keyhole.core.types.view_requests import SearchRequest

    plain = _QUOTED.sub(" ", line)
    given: dict[str, str] = {name: value for name, value in _FILTER.findall(plain) if value}
    for name, value in _OTHER_WORD.findall(plain):
        _check_no_misspelled_filter(name, value)
    return SearchRequest(
        _outside_quotes(_FILTER, line),
        mode=_mode(given["mode"]) if "mode" in given else None,
        path=given.get("path", ""),
        language=given.get("lang", ""),
        kind=given.get("kind", ""),
        role=given.get("role", ""),
        include_tests=_yes_or_no("tests", given.get("tests", "yes")),
        limit=_limit(given["limit"]) if "limit" in given else None,
        changed=_yes_or_no("changed", given["changed"]) if "changed" in given else None,
    )


def unknown_filters(line: str) -> list[str]:
    """Return the words that look like filters but are text, such as `author:ann`.

    Code such as `std::vector`, `http://a`, `a:b` or `{key:value}` does not look like one.
    """
    words = _OTHER_WORD.findall(_QUOTED.sub(" ", line))
    return [f"{name}:{value}" for name, value in words if name not in _ACCEPTS and len(name) > 1]


def _outside_quotes(unwanted: re.Pattern[str], line: str) -> str:
    """Return a line without what a pattern matches and with single spaces, except in its quoted parts."""
    parts = _QUOTED.split(line)
    for number in range(0, len(parts), 2):
        parts[number] = re.sub(r"\s+", " ", unwanted.sub("", parts[number]))
    return "".join(parts).strip()


def with_path(line: str, path: str) -> str:
    """Return a line that searches in one file only."""
    others = _outside_quotes(_PATH_FILTER, line)
    # A filter ends at a space, and the wildcard matches any character.
    written = re.sub(r"[\s*?\[\]{}]", "?", path)
    return f"{others} path:{written}"


def _check_no_misspelled_filter(name: str, value: str) -> None:
    """Raise QueryError for a word such as `lnag:py`; `node:fs` and `test:unit` are text to search for."""
    if name in _ACCEPTS:
        return
    for known in close_names(name, _ACCEPTS):
        # A value of another filter, or an unknown one, means that no filter was meant.
        if _ACCEPTS[known](value) and (known not in _OPEN or _is_typo(name, known)):
            suggestion = f"{did_you_mean([f'{known}:'])} To search for the text, use /{name}:{value}/"
            raise QueryError(f"unknown filter '{name}:'", suggestion=suggestion)


def _is_typo(name: str, known: str) -> bool:
    """Return whether letters were swapped, or one is missing or too many; another letter makes another word."""
    return abs(len(name) - len(known)) == 1 or sorted(name) == sorted(known)


def _mode(value: str) -> Mode:
    if value not in list(Mode):
        raise QueryError(f"unknown mode '{value}'", suggestion=suggest_name(value, Mode))
    return Mode(value)


def _yes_or_no(name: str, value: str) -> bool:
    if value not in _YES_OR_NO:
        raise QueryError(f"unknown value {name}:{value}; use {name}:yes or {name}:no")
    return _YES_OR_NO[value]


def _limit(value: str) -> int:
    if not value.isdecimal():
        raise QueryError(f"limit:{value} is not a number")
    return int(value)


@dataclass(frozen=True, slots=True)
class Words:
    """Holds the possible values of each filter, most likely first."""

    by_filter: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, inventory: Inventory) -> "Words":
        """Collect the values from an inventory of the index."""
        languages: dict[str, int] = {}
        folders: set[str] = set()
        for file in inventory.files:
            languages[file.language] = languages.get(file.language, 0) + 1
            parts = file.path.split("/")[:-1]
            folders.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        return cls(
            {
                "lang": tuple(sorted(languages, key=lambda name: (-languages[name], name))),
                "path": tuple(sorted(folders, key=lambda folder: (folder.count("/"), folder))),
                "kind": inventory.kinds,
                "role": tuple(map(str, Role)),
                "mode": tuple(map(str, Mode)),
                "tests": ("no", "yes"),
                "changed": ("yes", "no"),
                "limit": ("20", "50"),
            }
        )

    def complete(self, line: str) -> str | None:
        """Return the line with its last word completed, if that starts a filter or a value; otherwise None."""
        before, _, word = line.rpartition(" ")
        head = f"{before} " if before else ""
        name, colon, start = word.partition(":")
        if not colon:
            names = [known for known in self.by_filter if len(name) > 1 and known.startswith(name)]
            return f"{head}{names[0]}:" if names else None
        values = [value for value in self.by_filter.get(name, ()) if value.startswith(start) and value != start]
        return f"{head}{name}:{values[0]}" if values else None


class QuerySuggester(Suggester):
    """Suggests completions for filters."""

    def __init__(self) -> None:
        # The values change with the index, so suggestions are not cached.
        super().__init__(use_cache=False, case_sensitive=True)
        self.words = Words.of(Inventory())

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed line."""
        return self.words.complete(value)
