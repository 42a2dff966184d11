"""JavaScript and TypeScript: a name can stand for a whole module that `require` returns."""

from collections.abc import Sequence

from keyhole.core.references.bindings import Binding
from keyhole.core.references.by_language.shared_names import SharedNames


class JavascriptNames(SharedNames):
    """Names in JavaScript and TypeScript."""

    def _modules(self, place: int, receiver: str) -> list[str]:
        paths = super()._modules(place, receiver)
        bindings = self._resolver.bindings(self._path)
        is_first = bindings is not None and not self._names.receiver_at(place - 1)
        return paths or (self._whole_modules(bindings.of(receiver), receiver) if is_first and bindings else [])

    def _whole_modules(self, bindings: Sequence[Binding], name: str) -> list[str]:
        """Return the modules that a name stands for as a whole: `const shapes = require("./lib/shapes.js")`."""
        paths = [one.path for one in bindings]
        return [path for path in paths if not path or not self._resolver.provided(path, name, self._family)]
