"""Resolving links of Markdown: relative to their file, from the root of the workspace, or by the name of a note."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from keyhole.core.links.link_types import LinkState, Origin, Reason, Resolution, internal, unresolved
from keyhole.core.links.markdown import slug
from keyhole.core.links.paths import NOTE_ENDINGS, Paths, join

_LETTERS = re.compile(r"[\W_]+")

# Returns the headings and other anchors of a note; None for a file that is not a note.
Anchors = Callable[[str], "tuple[str, ...] | None"]


class ProseLinks:
    """Resolves links and wikilinks, down to the heading."""

    def __init__(self, paths: Paths, anchors: Anchors) -> None:
        self._paths = paths
        self._anchors = anchors
        self._known: dict[str, AnchorNames | None] = {}

    def link(self, origin: Origin, target: str, anchor: str) -> Resolution:
        """Resolve a link written as a path."""
        if not target:
            return self._at_anchor(internal(origin.path), anchor)
        folder = "" if target.startswith("/") else origin.folder
        path = join(folder, target.lstrip("/"))
        if path is None:
            return unresolved(Reason.OUTSIDE)
        found = path if path in self._paths else self._paths.first(path + ending for ending in NOTE_ENDINGS)
        place = internal(found) if found else self._paths.place(path)
        return self._at_anchor(place, anchor) if place else unresolved(Reason.MISSING_FILE)

    def wikilink(self, origin: Origin, target: str, anchor: str) -> Resolution:
        """Resolve a link written as the name of a note."""
        if not target:
            return self._at_anchor(internal(origin.path), anchor)
        if target.startswith("."):
            return self.link(origin, target, anchor)
        name = target.lstrip("/")
        found = self._paths.noted(name)
        if len(found) > 1:
            # A full path takes precedence over the end of a path, and a note in the same folder over other notes.
            for place in (name, f"{origin.folder}/{name}".lstrip("/")):
                spellings = {place.lower(), *(f"{place}{ending}".lower() for ending in NOTE_ENDINGS)}
                if exact := [path for path in found if path.lower() in spellings]:
                    found = exact
                    break
        if len(found) == 1:
            return self._at_anchor(internal(found[0]), anchor)
        return unresolved(Reason.AMBIGUOUS if found else Reason.MISSING_FILE)

    def _at_anchor(self, place: Resolution, anchor: str) -> Resolution:
        if not anchor or place.state != LinkState.INTERNAL or self._has_anchor(place.path, anchor):
            return place
        return Resolution(LinkState.INTERNAL, place.path, Reason.MISSING_ANCHOR)

    def _has_anchor(self, path: str, anchor: str) -> bool:
        if path not in self._known:
            names = self._anchors(path)
            self._known[path] = None if names is None else AnchorNames(names)
        known = self._known[path]
        return known is None or anchor.lower() == "top" or known.find(anchor) is not None


class AnchorNames:
    """The names of the headings and other anchors of a note; if two have the same name, the first one counts."""

    def __init__(self, names: Sequence[str]) -> None:
        self._spellings = (*_slugs(names), *names)
        self._count = len(names)

    def find(self, anchor: str) -> int | None:
        """Return the index of the name that an anchor refers to."""
        wanted = (anchor, slug(anchor))
        for name in wanted:
            if name in self._exact:
                return self._exact[name]
        # Sites treat punctuation differently, so a heading with the same letters matches too.
        found = map(self._by_letters.get, map(_letters, wanted))
        return next((number for number in found if number is not None), None)

    @cached_property
    def _exact(self) -> dict[str, int]:
        return self._numbered(self._spellings)

    @cached_property
    def _by_letters(self) -> dict[str, int]:
        return self._numbered(map(_letters, self._spellings))

    def _numbered(self, spellings: Iterable[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for number, name in enumerate(spellings):
            found.setdefault(name, number % self._count)
        return found


def _slugs(headings: Iterable[str]) -> Iterator[str]:
    """Yield the anchors of headings; a repeated one gets a number."""
    seen: dict[str, int] = {}
    for name in map(slug, headings):
        times = seen.get(name, 0)
        yield f"{name}-{times}" if times else name
        seen[name] = times + 1


def _letters(text: str) -> str:
    # The name of a block never matches a heading.
    return text if text.startswith("^") else _LETTERS.sub("", text).lower()
