"""Files that a shell script sources, as far as their names are written out."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.syntax.occurrences import OccurrenceRole

# `load` of Bats adds the ending.
_ENDINGS = ("", ".bash", ".sh")


def sourced(path: str, names: NamesInFile, rows: list[DefinitionRow]) -> list[DefinitionRow]:
    """Return the definitions in files that a script sources; folders are often variables, so only the name counts."""
    written = [names.name_at(place).strip("'\"") for place in names.places_in_role(OccurrenceRole.IMPORT)]
    files = {f"{name}{ending}" for name in written for ending in _ENDINGS}
    found = [row for row in rows if row.path.rpartition("/")[2] in files]
    folder = path.rpartition("/")[0]
    return [row for row in found if row.path.rpartition("/")[0] == folder] or found
