"""Whether a file can use a definition of another one at all, as far as names, words and folders tell."""

import re

from keyhole.core.index.rows import DefinitionRow

_JVM = frozenset(["java", "kotlin", "scala"])
# The families of languages in which a file can't use every definition; in all others, `can_reach` is always true.
HIDES_DEFINITIONS = frozenset(["go", "jvm"])
# The folders that build tools of Java, Kotlin and Scala keep tests in; other code does not see these.
_TEST_SOURCES = re.compile(r"(?:^|/)src/(?:it|\w*[tT]est\w*)/")
_GO_TEST = "_test.go"


def can_reach(path: str, row: DefinitionRow) -> bool:
    """Return whether a file can use a definition."""
    if row.path == path:
        return True
    if row.language == "go":
        is_same_package = row.path.rpartition("/")[0] == path.rpartition("/")[0]
        if row.path.endswith(_GO_TEST):
            return is_same_package and path.endswith(_GO_TEST)
        return is_same_package or row.name[:1].isupper()
    if row.language in _JVM:
        # `private[shop]` in Scala is for the whole package.
        is_private = "private" in row.modifiers.split() and "private[" not in row.signature
        return not is_private and (not _TEST_SOURCES.search(row.path) or bool(_TEST_SOURCES.search(path)))
    return True


def is_override(row: DefinitionRow) -> bool:
    """Return whether a method says that it overrides one of a base class or interface."""
    return not {"override", "@Override"}.isdisjoint(row.modifiers.split())
