"""Files that a shell script sources, as far as their names are written out."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.names_in_file import NamesInFile
from keyhole.core.syntax.occurrences import OccurrenceRole


def sourced(names: NamesInFile, rows: list[DefinitionRow]) -> list[DefinitionRow]:
    """Return the definitions in files that a script sources; folders are often variables, so only the name counts."""
    files = {names.name_at(place).strip("'\"") for place in names.places_in_role(OccurrenceRole.IMPORT)}
    return [row for row in rows if row.path.rpartition("/")[2] in files]
