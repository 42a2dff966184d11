"""An answer without results: what was looked for, in how many files, and what exists instead."""

from collections.abc import Iterator

from keyhole.core.masking import mask_text
from keyhole.core.notes import Note, NoteKind
from keyhole.core.types.missing import NothingFound
from keyhole.core.view.text import count_of, name_text

_LONGEST_SUBJECT = 90
_LONGEST_VALUE = 40
_LONGEST_NAME = 60


def nothing_banner(nothing: NothingFound | None) -> str:
    """Return the first line of an answer without results."""
    return f"Nothing found: {nothing_sentence(nothing)}." if nothing else "Nothing found."


def nothing_sentence(nothing: NothingFound) -> str:
    """Return what was looked for and where: `no links to a.md in 14 files (path=docs)`."""
    filters = ", ".join(f"{name}={_shown(value, _LONGEST_VALUE)}" for name, value in nothing.filters)
    if filters and not nothing.files:
        looked_for = _shown(nothing.looked_for, _LONGEST_SUBJECT)
        return f"no {looked_for}: none of {count_of(nothing.of_files, 'file')} matches {filters}"
    where = _shown(nothing.place, _LONGEST_NAME) if nothing.place else count_of(nothing.files, "file")
    return f"no {_shown(nothing.looked_for, _LONGEST_SUBJECT)} in {where}" + (f" ({filters})" if filters else "")


def nothing_notes(nothing: NothingFound | None) -> Iterator[Note]:
    """Yield what exists instead, the closest first."""
    if nothing is None:
        return
    for filters, count in nothing.without:
        yield Note(NoteKind.NOTHING_FOUND, f"without {_listed(filters)}: {count_of(count, 'result')}")
    if nothing.closest:
        names = ", ".join(_shown(name, _LONGEST_VALUE) for name in nothing.closest)
        yield Note(NoteKind.NOTHING_FOUND, f"closest: {names}")
    for hint in nothing.hints:
        yield Note(NoteKind.NOTHING_FOUND, mask_text(hint))
    if not (nothing.without or nothing.closest or nothing.hints):
        yield Note(NoteKind.NOTHING_FOUND, "nothing similar exists")


def nothing_facts(nothing: NothingFound | None) -> dict[str, object]:
    """Return the same as JSON facts; none if something was found."""
    if nothing is None:
        return {}
    facts: dict[str, object] = {
        "looked_for": _shown(nothing.looked_for, _LONGEST_SUBJECT),
        "files": nothing.files,
        "filters": {name: _shown(value, _LONGEST_VALUE) for name, value in nothing.filters},
        "without": [{"filters": list(filters), "total_count": count} for filters, count in nothing.without],
        "closest": [_shown(name, _LONGEST_NAME) for name in nothing.closest],
    }
    return {"nothing_found": facts}


def _shown(text: str, longest: int) -> str:
    # A request may contain a secret, and it is masked before it is clipped: half a secret would not be recognized.
    return name_text(mask_text(text), longest)


def _listed(filters: tuple[str, ...]) -> str:
    *first, last = filters
    return f"{', '.join(first)} and {last}" if first else last
