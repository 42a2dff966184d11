"""How sure it is that an occurrence of a name means a definition."""

from enum import StrEnum


class Certainty(StrEnum):
    """The levels, the surest first.

    `certain`: the same scope, an import that is resolved, `self` inside the class or its known bases, or a module or
    class before the name. `likely`: the only definition of that name that the file can reach, or one in the class
    that a variable or result holds as far as names show. `by name`: several definitions have the name.
    """

    CERTAIN = "certain"
    LIKELY = "likely"
    BY_NAME = "by name"
