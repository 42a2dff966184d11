"""Python: an import may bring a module, and the path before it is written with names."""

from collections.abc import Sequence

from keyhole.core.references.bindings import Binding
from keyhole.core.references.by_language.shared_names import SharedNames
from keyhole.core.references.name_meaning import NameMeaning
from keyhole.core.syntax.occurrences import OccurrenceRole


class PythonNames(SharedNames):
    """Names in Python."""

    # In `from shop.items import items`, the first two are no definitions.
    _never_uses = frozenset([OccurrenceRole.DEFINITION, OccurrenceRole.ARGUMENT])

    def _through(self, bindings: Sequence[Binding], name: str) -> NameMeaning:
        # A module may define something with its own name, but that is not what the name of the module means.
        return super()._through([binding for binding in bindings if binding.name], name)
