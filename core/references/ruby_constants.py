"""Names in Ruby: constants are looked for in the modules around them, and classes declare attributes by symbols."""

from collections.abc import Iterator, Sequence

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.syntax.occurrences import OUTERMOST, OccurrenceRole

# They make methods with the names that follow: `attr_reader :name, :cost`.
_DECLARE = frozenset(
    [
        "attr",
        "attr_accessor",
        "attr_reader",
        "attr_writer",
        "attribute",
        "belongs_to",
        "class_attribute",
        "def_delegators",
        "define_method",
        "delegate",
        "has_many",
        "has_one",
        "let",
        "let!",
        "scope",
        "subject",
    ]
)


def full_names(names: NamesInFile, place: int, holders: Sequence[DefinitionRow]) -> Iterator[str]:
    """Yield the full names that a constant may have, the first choice first; `holders` are the modules around it."""
    written = full_name_as_written(names, place)
    if written[0] in OUTERMOST:
        yield ".".join(written[1:])
        return
    yield from (".".join((holder.qualified_name, *written)) for holder in holders)
    yield ".".join(written)


def full_name_as_written(names: NamesInFile, place: int) -> list[str]:
    """Return the parts of a name, such as `Shop` and `Item`."""
    parts = [names.name_at(place)]
    while receiver := names.receiver_at(place):
        parts.append(receiver)
        place -= 1
        if place < 0 or names.name_at(place) != receiver:
            break
    return parts[::-1]


def declarations(names: NamesInFile, name: str) -> list[int]:
    """Return the places that declare an attribute or the like, which makes a method of this name."""
    texts = [place for place in names.places(name) if names.role_at(place) is OccurrenceRole.STRING]
    return [place for place in texts if _first_in_list(names, place) in _DECLARE]


def _first_in_list(names: NamesInFile, place: int) -> str:
    """Return what is called with the texts around a place."""
    while place and names.role_at(place) is OccurrenceRole.STRING:
        place -= 1
    return names.name_at(place) if names.role_at(place) is OccurrenceRole.CALL else ""
