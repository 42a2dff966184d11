"""Go: the files of a folder are one package, and methods name their receiver."""

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.references.file_names import FileNames
from keyhole.core.references.name_meaning import NameMeaning, certain, folder_of, is_in_module


class GoNames(FileNames):
    """Names in Go."""

    def _elsewhere(self, place: int, candidates: list[DefinitionRow]) -> NameMeaning | None:
        found = super()._elsewhere(place, candidates)
        return self._in_folder(candidates) if found is None else found

    def _in_folder(self, candidates: list[DefinitionRow]) -> NameMeaning | None:
        rows = [row for row in candidates if is_in_module(row.path, folder_of(self._path))]
        rows = [row for row in rows if not self._resolver.is_member(row)]
        return certain(rows) if rows else None

    def _is_self(self, place: int, receiver: str) -> bool:
        """Return whether the receiver is the variable that a method is defined with: `func (s *Server) …`."""
        around = list(self._names.functions_around(place))
        return bool(around) and self._names.local_before_name(around[-1]) == receiver

    def _modules(self, place: int, receiver: str) -> list[str]:
        paths = super()._modules(place, receiver)
        bindings = self._resolver.bindings(self._path)
        is_first = bindings is not None and not self._names.receiver_at(place - 1)
        return paths or (bindings.packages(receiver) if is_first and bindings else [])
