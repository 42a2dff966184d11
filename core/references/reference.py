"""A place that refers to a definition."""

from typing import NamedTuple

from keyhole.core.references.certainty import Certainty
from keyhole.core.syntax.occurrences import OccurrenceRole

# The roles as people read them; an outer name is the same as any other mention.
ROLE_WORDS = {
    OccurrenceRole.CALL: "call",
    OccurrenceRole.IMPORT: "import",
    OccurrenceRole.TYPE: "type use",
    OccurrenceRole.BASE: "inheritance",
    OccurrenceRole.ASSIGNMENT: "assignment",
    OccurrenceRole.ATTRIBUTE: "attribute access",
    OccurrenceRole.DECORATOR: "decorator",
    OccurrenceRole.STRING: "string mention",
    OccurrenceRole.MENTION: "mention",
    # The only definitions that refer to something name the type that they belong to: `impl Circle`.
    OccurrenceRole.DEFINITION: "type use",
}
# By the number of the role.
WORDS_OF_ROLES = [ROLE_WORDS.get(role, ROLE_WORDS[OccurrenceRole.MENTION]) for role in OccurrenceRole]


class Reference(NamedTuple):
    """A place that means, or may mean, a definition."""

    path: str
    line: int
    column: int
    role: OccurrenceRole
    certainty: Certainty

    @property
    def role_words(self) -> str:
        """The role as people read it."""
        return WORDS_OF_ROLES[self.role]
