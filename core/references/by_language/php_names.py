"""PHP: names have full names, from the namespace of a file and its `use`."""

from keyhole.core.references.certainty import Certainty
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import MEMBERS, NOTHING, NameMeaning, by_number, certain
from keyhole.core.references.php_namespaces import SEPARATOR, is_prefix
from keyhole.core.syntax.occurrences import OUTERMOST, OccurrenceRole


class PhpNames(FileNames):
    """Names in PHP."""

    def _by_full_name(self, place: int) -> NameMeaning | None:
        """Return what has the full name of this one; None if the name may be that of a member or in a text."""
        role, receiver = self._names.role_at(place), self._names.receiver_at(place)
        if role is OccurrenceRole.STRING:
            return None
        if role is OccurrenceRole.ARGUMENT or (role is OccurrenceRole.IMPORT and is_prefix(self._names, place)):
            return NOTHING  # a namespace
        spaces = self._resolver.namespaces
        for full_name in spaces.full_names(self._path, self._names, place):
            rows = self._resolver.known.definitions(full_name.rpartition(SEPARATOR)[2], self._family)
            rows = [row for row in rows if row.kind not in MEMBERS]
            self._resolver.known.read_holders({row.path for row in rows})
            rows = [row for row in rows if spaces.full_name(row) == full_name and not self._resolver.is_member(row)]
            if rows:
                # Outside namespaces, other programs in the workspace may define the same name.
                is_sure = SEPARATOR in full_name or all(row.path == self._path for row in rows)
                found = by_number(rows)
                return certain(rows) if is_sure and found.certainty is Certainty.LIKELY else found
        is_member = receiver not in OUTERMOST | {""} and role is not OccurrenceRole.IMPORT
        return None if is_member else NOTHING

    def _is_class_from_outside(self, place: int) -> bool:
        is_mention = self._names.role_at(place) is OccurrenceRole.MENTION
        return is_mention and not self._names.name_at(place).startswith("$")
