"""The words that a name is taken from in many files at once: `till` in `till.pay()`.

A word is a name in one file, so the same text in two files is two words.
"""

from collections.abc import Callable, Sequence

from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.references.by_language.shared_names import OWN
from keyhole.core.references.name_table import Flags, NameTable
from keyhole.core.references.names_in_file import Numbers
from keyhole.core.syntax.occurrences import ROLE_BITS, OccurrenceRole

with single_threaded():
    import numpy as np

# Stands for where a word leads that is not imported, or not in a way that files share.
UNCLEAR = -1
_OWN: Flags = np.frombuffer(OWN, np.uint8) > 0
_RECORDED = np.arange(len(OWN))
_ROLES = _RECORDED & ROLE_BITS
_IS_IMPORT = np.isin(_ROLES, [OccurrenceRole.IMPORT, OccurrenceRole.ALIAS])
_IS_PLAIN_IMPORT = np.isin(_RECORDED, [OccurrenceRole.IMPORT])
_IS_OUTER = _OWN & np.isin(_ROLES, [OccurrenceRole.OUTER])
_IS_LOCAL = _OWN & np.isin(_ROLES, [OccurrenceRole.LOCAL])


class SharedWords:
    """Some words, in the order of their numbers in the table; what is known about them is found for all at once."""

    def __init__(self, table: NameTable, numbers: Numbers) -> None:
        self._table = table
        self.numbers = numbers
        self.texts = table.texts(numbers)
        places = table.places_of(numbers)
        recorded = table.recorded_at(places)
        is_telling = _OWN[recorded] | _IS_IMPORT[recorded]
        self._places, self._recorded = places[is_telling], recorded[is_telling]
        self._words = self.positions_of(table.names_at(self._places))
        # A word that may be the file's own, whatever is imported.
        self.is_own = self._have(_OWN)

    def positions_of(self, numbers: Numbers) -> Numbers:
        """Return which word each of these numbers of the table is."""
        return np.searchsorted(self.numbers, numbers)

    def leads(self, leads_of: Callable[[Sequence[str], Numbers], list[int]], known: dict[object, int]) -> list[int]:
        """Return a number for where the imports of each word lead; `known` has the numbers for several imports."""
        is_import = _IS_IMPORT[self._recorded]
        words, places = self._words[is_import], self._places[is_import]
        is_plain = _IS_PLAIN_IMPORT[self._recorded[is_import]].tolist()
        imports: list[list[int]] = [[] for _ in self.texts]
        numbers = leads_of([self.texts[word] for word in words.tolist()], places)
        for word, number, plain in zip(words.tolist(), numbers, is_plain, strict=True):
            imports[word].append(number if plain else UNCLEAR)
        return [_lead(found, known) for found in imports]

    def are_of_unknown_type(self, places: Numbers, words: Numbers) -> Flags:
        """Return for which places their word is a variable that may hold anything.

        See `is_of_unknown_type` in shared_names.py.
        """
        is_local = _IS_LOCAL[self._recorded]
        starts, owners = self._places[is_local], self._words[is_local]
        if not len(starts):
            return np.zeros(len(places), bool)
        table = self._table
        # A word and the function in which it is a variable, as one number; a variable of a whole file is in none.
        scopes, step = np.array(table.scopes_of_variables(starts), np.int64), table.symbol_count + 1
        variables = owners * step + scopes + 1
        order = variables.argsort(kind="stable")
        firsts = np.flatnonzero(np.diff(variables[order], prepend=-1))
        known = variables[order][firsts]
        is_known_type: Flags = np.logical_or.reduceat(table.have_values(starts)[order], firsts)
        found = np.full(len(places), UNCLEAR)
        for numbers, functions in table.functions_around(places - 1):
            wanted = words[numbers] * step + functions + 1
            variable = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            is_here = (known[variable] == wanted) & (found[numbers] == UNCLEAR)
            found[numbers[is_here]] = variable[is_here]
        unknown: Flags = (found != UNCLEAR) & ~is_known_type[found] & ~self._have(_IS_OUTER)[words]
        return unknown

    def _have(self, roles: Flags) -> Flags:
        """Return which words have one of these roles anywhere in their files."""
        found = np.zeros(len(self.texts), bool)
        found[self._words[roles[self._recorded]]] = True
        return found


def _lead(imports: list[int], known: dict[object, int]) -> int:
    if not imports or UNCLEAR in imports:
        return UNCLEAR
    return imports[0] if len(imports) == 1 else known.setdefault(tuple(imports), len(known) + 2)
