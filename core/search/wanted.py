"""What a query asks for: the kind of question, its words and names, and files of which role."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from keyhole.core.index.words import split_words, stem
from keyhole.core.search.query import is_identifier, letters_of, names_of, quoted_parts, words_of
from keyhole.core.types.choices import Role

# From this number of words on, a query describes something.
_LONG = 5
# A name that is written as several words has no more than this.
LONGEST_SPELLED = 12
_ASKING = frozenset(["how", "what", "which", "where", "who", "when", "why", "overview", "architecture", "design"])
# Words that ask for files of a role that code otherwise comes before.
_ROLE_WORDS = {
    Role.TEST: "test tests testing spec specs",
    Role.FIXTURE: "fixture fixtures mock mocks",
    Role.EXAMPLE: "example examples sample samples demo demos tutorial benchmark benchmarks",
    Role.DOCS: "doc docs documentation readme changelog guide manual license licence release releases",
    Role.CONFIG: "config configuration configure settings workflow pipeline",
    Role.LOCALE: "translation translations locale locales",
    Role.VENDORED: "vendor vendored",
    Role.GENERATED: "generated",
}
_ROLES_BY_STEM = {stem(word): role for role, words in _ROLE_WORDS.items() for word in words.split()}


class QuestionKind(StrEnum):
    """The kinds of questions that have their own weights."""

    NAME = "name"
    EXACT = "exact text"
    WORDS = "a few words"
    DESCRIPTION = "description"
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query in the forms that features compare."""

    kind: QuestionKind
    words: frozenset[str]
    stems: frozenset[str]
    # Names of definitions as written, and with letters only.
    written: frozenset[str]
    names: frozenset[str]
    # The whole query with letters only, if it may be a name that is written as several words.
    spelled: str = ""
    # Parts of the query in quotes.
    texts: tuple[str, ...] = ()
    # Code comes before files of another role, but not before these.
    roles: frozenset[Role] = frozenset()
    # How much the stem of each word counts: rare words count more, and together they count 1.
    worths: Mapping[str, float] = field(default_factory=dict)
    # The same in the order of the bits of `WordMatch.words`.
    by_bit: tuple[float, ...] = ()


def understand(text: str, worths: Mapping[str, float] = MappingProxyType({})) -> Wanted:
    """Return what a query asks for."""
    words = words_of(text)
    names = names_of(text)
    stems = frozenset(map(stem, words))
    total = sum(worths.values())
    by_stem: dict[str, float] = {}
    for word, worth in worths.items():
        by_stem[stem(word)] = by_stem.get(stem(word), 0.0) + worth / total
    return Wanted(
        kind=_kind_of(text, words),
        words=frozenset(words),
        stems=stems,
        written=frozenset(names),
        names=frozenset(map(letters_of, names)),
        spelled=letters_of("".join(text.split())) if 1 < len(text.split()) <= LONGEST_SPELLED else "",
        texts=tuple(quoted_parts(text)),
        roles=frozenset(role for word, role in _ROLES_BY_STEM.items() if word in stems),
        worths=by_stem,
        by_bit=tuple(worth / total for worth in worths.values()),
    )


def _kind_of(text: str, words: list[str]) -> QuestionKind:
    if is_identifier(text):
        return QuestionKind.NAME
    if quoted_parts(text):
        return QuestionKind.EXACT
    plain = split_words(text).split()
    if _ASKING.intersection(plain[:1]):
        return QuestionKind.QUESTION
    return QuestionKind.DESCRIPTION if len(words) >= _LONG else QuestionKind.WORDS
