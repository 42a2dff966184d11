"""The imported names of a file in Rust."""

from functools import cached_property

from keyhole.core.index.rows import ImportRow
from keyhole.core.references.bindings import Binding, FileBindings
from keyhole.core.references.rust_paths import inner_modules, split_imports


class RustBindings(FileBindings):
    """The imported names of a file; the links of Rust have whole paths, so the last names are split off first."""

    @cached_property
    def _imports(self) -> list[ImportRow]:
        rows = self._store.imports(self._path)
        return split_imports(rows, lambda: inner_modules(self._store.definitions_in(self._path)))

    def _on_line(self, _: int, __: str, /) -> list[Binding]:
        return []
