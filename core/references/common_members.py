"""Members that many types outside any workspace have: a receiver of unknown type may be one of these.

So `value.items()` is not taken for the only `items` that the workspace defines.
"""

from functools import cache
from importlib.resources import files

from keyhole.core.references.language_rules import family_of

# Languages whose programs use the standard types of Java too.
_WITH_JAVA = frozenset(["kotlin", "scala"])


def is_common_member(language: str, name: str) -> bool:
    """Return whether the standard types of a language, or of its family, have a member of this name."""
    members = _common_members()
    if language in _WITH_JAVA and name in members["java"]:
        return True
    return name in members.get(language, members.get(family_of(language), frozenset()))


@cache
def _common_members() -> dict[str, frozenset[str]]:
    import tomllib

    text = files("keyhole.assets").joinpath("references", "common_members.toml").read_text("utf-8")
    return {family: frozenset(names.split()) for family, names in tomllib.loads(text).items()}
