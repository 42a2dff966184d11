"""Shell scripts: they source others, and what they call may also be a command."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.common_members import is_common_member
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import CALLED, NameMeaning, by_name, by_number, certain
from keyhole.core.references.shell_sources import sourced
from keyhole.core.syntax.occurrences import OccurrenceRole


class ShellNames(FileNames):
    """Names in shell scripts."""

    def _in_code(self, place: int, receiver: str, candidates: list[DefinitionRow]) -> NameMeaning:
        # A variable can have the name of a function.
        is_call = self._names.role_at(place) is OccurrenceRole.CALL
        return super()._in_code(place, receiver, [row for row in candidates if (row.kind in CALLED) == is_call])

    def _unreached(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning:
        return self._in_scripts(place, [row for row in candidates if not self._resolver.is_member(row)])

    def _in_scripts(self, place: int, functions: list[DefinitionRow]) -> NameMeaning:
        """Return a function or variable of other scripts: those that this one sources come first."""
        near = sourced(self._path, self._names, functions)
        if len({row.path for row in near}) == 1:
            return certain(near)
        is_command = is_common_member(self._language, self._names.name_at(place))
        # Scripts that have nothing to do with each other have variables of the same name.
        is_variable = self._names.role_at(place) is not OccurrenceRole.CALL
        if is_command or is_variable:
            return by_name(functions)
        return by_number(near or functions)
