"""The names of many files as one table, so that a question about a name looks at all its files at once.

`NamesInFile` reads one record; this reads the same columns of many. Places, names and symbols are numbered through all
files, in the order of the table.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise

from keyhole.core.index.single_threaded import single_threaded
from keyhole.core.references.names_in_file import FUNCTIONS, LONGEST_VALUE, NO_SYMBOL, STARTS_OTHER, Numbers
from keyhole.core.syntax.occurrences import (
    HAS_RECEIVER,
    HEADER,
    HOLDER,
    IS_ENTERED,
    IS_RETURNED,
    IS_VALUE,
    MARK_BITS,
    ROLE_BITS,
    UNNAMED,
)

with single_threaded():
    import numpy as np
    from numpy.typing import NDArray

Flags = NDArray[np.bool_]

# How many bytes the numbers of a column have, by their code.
_SIZE_OF = np.zeros(256, np.int64)
_SIZE_OF[list(b"BHI")] = 1, 2, 4
_HEADER = np.dtype([("format", "u1"), ("codes", "S4"), ("sizes", "<u4", 4)])
_LINE_END = ord("\n")
_IS_FUNCTION = np.isin(np.arange(256), list(FUNCTIONS))
# The distances at which something says what a variable holds, and which recorded roles do or end the search.
_NEAR = np.arange(1, LONGEST_VALUE + 1)
_MARKS, _ROLES = np.arange(256) & MARK_BITS, np.arange(256) & ROLE_BITS
_STARTS = np.isin(_ROLES, list(STARTS_OTHER))
_TELLS_VALUE, _ENTERED = np.isin(_MARKS, [IS_VALUE]), np.isin(_MARKS, [IS_ENTERED])
_ENDS_VALUES = ~_TELLS_VALUE & (_STARTS | np.isin(_MARKS, [IS_RETURNED]))
# What a name is taken from, if that is no name.
NO_NAME = -1
UNCLEAR = -2


class NameTable:
    """The names of at least one file; `order` has the number of the record at each position of the table."""

    def __init__(self, records: Sequence[bytes]) -> None:
        headers = np.frombuffer(b"".join([record[: HEADER.size] for record in records]), _HEADER)
        # Files with numbers of the same size are next to each other, and read together.
        order = headers["codes"].argsort(kind="stable")
        self.order: list[int] = order.tolist()
        self._records = [records[number] for number in self.order]
        headers = headers[order]
        self._codes: list[bytes] = headers["codes"].tolist()
        size, places, receivers, symbols = headers["sizes"].astype(np.int64).T
        names, steps, spans, outward = (_SIZE_OF[np.frombuffer(b"".join(self._codes), np.uint8)].reshape(-1, 4)).T
        self._first_places = _starts(places)
        self._place_ends: list[int] = self._first_places.tolist()
        self._first_symbols = _starts(symbols)
        lengths = [
            np.full_like(size, HEADER.size), size, places, places, symbols,
            names * places, names * receivers, steps * places, spans * symbols, spans * symbols, outward * symbols,
        ]  # fmt: skip
        self._ends = np.cumsum(lengths, axis=0).tolist()
        self._names = b"".join(self._slices(0))
        # Each list of names starts with a line end, and each name is followed by one.
        self._line_ends = (np.frombuffer(self._names, np.uint8) == _LINE_END).nonzero()[0]
        self._first_bytes = _starts(size)
        self._first_names = np.searchsorted(self._line_ends, self._first_bytes[:-1])
        self.roles = b"".join(self._slices(1))
        self._columns = np.frombuffer(b"".join(self._slices(2)), np.uint8)
        self._recorded = np.frombuffer(self.roles, np.uint8)
        self._name_of = self._column(4, 0)
        self._name_of += self._first_names.astype(np.int32).repeat(places)
        self._receivers = self._column(5, 0)
        steps_down = self._column(6, 1)
        self._rows = steps_down.cumsum(dtype=np.int32, out=steps_down)
        self._symbols = symbols

    # Most questions are not about members of variables, and don't look at symbols.

    @cached_property
    def _scopes(self) -> NDArray[np.uint8]:
        return np.frombuffer(b"".join(self._slices(3)), np.uint8)

    @cached_property
    def _firsts(self) -> Numbers:
        return self._column(7, 2) + self._first_places[:-1].repeat(self._symbols)

    @cached_property
    def _lasts(self) -> Numbers:
        return self._column(8, 2) + self._first_places[:-1].repeat(self._symbols)

    @cached_property
    def _outward(self) -> Numbers:
        return self._column(9, 3)

    def _slices(self, number: int) -> list[bytes]:
        starts, ends = self._ends[number], self._ends[number + 1]
        return [record[start:end] for record, start, end in zip(self._records, starts, ends, strict=True)]

    def _column(self, number: int, code: int) -> Numbers:
        """Return a column whose numbers have the size that one of the codes says."""
        slices, parts, start = self._slices(number), [], 0
        for kind, group in groupby(codes[code] for codes in self._codes):
            end = start + len(list(group))
            parts.append(np.frombuffer(b"".join(slices[start:end]), f"u{_SIZE_OF[kind]}"))
            start = end
        # Numbers of eight bytes would take twice as long.
        return np.concatenate(parts, dtype=np.int32, casting="unsafe")

    # Names

    def numbers_of(self, name: str) -> Numbers:
        """Return the numbers that a name has in the files that contain it."""
        text = f"\n{name}\n".encode()
        found, start = [], self._names.find(text)
        while start >= 0:
            found.append(start)
            start = self._names.find(text, start + len(text) - 1)
        return np.searchsorted(self._line_ends, np.array(found, np.int64))

    def files_of_names(self, numbers: Numbers) -> list[int]:
        """Return the positions of the files that have the names with these numbers."""
        files: list[int] = (np.searchsorted(self._first_names, numbers, "right") - 1).tolist()
        return files

    def texts(self, numbers: Numbers) -> list[str]:
        """Return the names with these numbers."""
        starts, ends = self._line_ends[numbers] + 1, self._line_ends[numbers + 1]
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self._names[start:end].decode("utf-8", "replace") for start, end in spans]

    # Places

    def places_of(self, numbers: Numbers) -> Numbers:
        """Return where names stand, in order."""
        is_wanted = np.zeros(len(self._line_ends), bool)
        is_wanted[numbers] = True
        places: Numbers = is_wanted[self._name_of].nonzero()[0]
        return places

    def names_at(self, places: Numbers) -> Numbers:
        """Return the numbers of the names at places."""
        return self._name_of[places]

    def files_at(self, places: Numbers) -> Numbers:
        """Return the positions of the files that places are in."""
        return np.searchsorted(self._first_places, places, "right") - 1

    def lines_at(self, places: Numbers) -> list[int]:
        """Return the lines of places."""
        first = self._first_places[self.files_at(places)]
        before = np.where(first > 0, self._rows[first - 1], 0)
        lines: list[int] = (self._rows[places] - before + 1).tolist()
        return lines

    def recorded_at(self, places: Numbers) -> NDArray[np.uint8]:
        """Return what is recorded as the roles of places."""
        return self._recorded[places]

    def roles_at(self, places: Numbers) -> bytes:
        """Return the same as bytes."""
        return self._recorded[places].tobytes()

    def columns_at(self, places: Numbers) -> bytes:
        """Return the columns of places in bytes, from 0; LAST_COLUMN stands for all beyond."""
        return self._columns[places].tobytes()

    def spans_of_files(self, places: Numbers) -> list[tuple[int, int]]:
        """Return which of some places, in order, are in each file."""
        return list(pairwise(np.searchsorted(places, self._first_places).tolist()))

    def receivers_at(self, places: Numbers) -> Numbers:
        """Return the number of the single name that each name is taken from.

        NO_NAME if that is no name, and UNCLEAR if there is more before it, or nothing.
        """
        # Without a type, this takes ten times as long.
        count = (self._recorded >= HAS_RECEIVER).cumsum(dtype=np.int32)
        is_taken, before, files = self._recorded[places] >= HAS_RECEIVER, places - 1, self.files_at(places)
        receivers = self._receivers[count[places] - 1] if len(self._receivers) else np.zeros_like(places)
        numbers = receivers - 1 + self._first_names[files]
        is_single = (self._name_of[before] == numbers) & (self._recorded[before] < HAS_RECEIVER)
        is_single &= is_taken & (places > self._first_places[files])
        return np.where(is_taken & (receivers == UNNAMED), NO_NAME, np.where(is_single, numbers, UNCLEAR))

    def are_followed_by(self, places: Numbers, role: int) -> Flags:
        """Return whether the name after each place has a role; the last one of a file may count as followed by it."""
        after = np.minimum(places + 1, len(self._recorded) - 1)
        is_followed: Flags = (after > places) & (self._recorded[after] & ROLE_BITS == role)
        return is_followed

    def have_values(self, places: Numbers) -> Flags:
        """Return whether names say what the variable at each place holds; see `value_distances`."""
        files = self.files_at(places)
        after, before = places[:, None] + _NEAR, places[:, None] - _NEAR
        end, start = self._first_places[files + 1][:, None], self._first_places[files][:, None]
        is_value, is_last = self._near(after, _TELLS_VALUE, after < end), self._near(after, _ENDS_VALUES, after < end)
        is_entered, starts_other = (
            self._near(before, _ENTERED, before >= start),
            self._near(before, _STARTS, before >= start),
        )
        # What ends the values after a variable is none of them; what starts something else before it may be entered.
        has_after = (is_value & (is_last.cumsum(axis=1) == 0)).any(axis=1)
        has_before = (is_entered & (starts_other.cumsum(axis=1) - starts_other == 0)).any(axis=1)
        has_values: Flags = has_after | has_before
        return has_values

    def _near(self, places: Numbers, roles: Flags, is_there: Flags) -> Flags:
        """Return which of some places, as far as they are there, have one of these roles."""
        is_near: Flags = is_there & roles[self._recorded[np.where(is_there, places, 0)]]
        return is_near

    # Symbols

    @property
    def symbol_count(self) -> int:
        """How many symbols all files have."""
        return len(self._scopes)

    def functions_around(self, places: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield the numbers of places, each with a function around it; going outward, so the innermost come first."""
        for numbers, symbols, _ in self._outward_from(places):
            is_function = _IS_FUNCTION[self._scopes[symbols]]
            yield numbers[is_function], symbols[is_function]

    def scopes_of_variables(self, places: Numbers) -> list[int]:
        """Return the class whose body each place is in, or else the innermost function around it."""
        found = np.full(len(places), NO_SYMBOL, np.int64)
        for numbers, symbols, is_innermost in self._outward_from(places):
            scopes = self._scopes[symbols]
            is_scope = (_IS_FUNCTION[scopes] | ((scopes == HOLDER) & is_innermost)) & (found[numbers] == NO_SYMBOL)
            found[numbers[is_scope]] = symbols[is_scope]
        scopes_found: list[int] = found.tolist()
        return scopes_found

    def _outward_from(self, places: Numbers) -> Iterator[tuple[Numbers, Numbers, Flags]]:
        """Yield symbols around places, going outward from all places at once.

        Each step has the numbers of places, for each of them a symbol around it, and whether that is the innermost one.
        """
        numbers = np.arange(len(places))
        symbols = np.searchsorted(self._firsts, places, "right") - 1
        first = self._first_symbols[self.files_at(places)]
        is_innermost = np.ones(len(places), bool)
        while (is_left := symbols >= first[numbers]).any():
            numbers, symbols = numbers[is_left], symbols[is_left]
            is_around = self._lasts[symbols] > places[numbers]
            yield numbers[is_around], symbols[is_around], is_innermost[numbers[is_around]]
            is_innermost[numbers[is_around]] = False
            outward = self._outward[symbols]
            has_outer = outward > 0
            numbers, symbols = numbers[has_outer], (symbols - outward)[has_outer]


def _starts(lengths: Numbers) -> Numbers:
    """Return where each part starts in a whole of parts with these lengths, and where the last one ends."""
    return np.concatenate([[0], lengths.cumsum()])
