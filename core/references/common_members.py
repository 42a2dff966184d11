"""Members that many types outside any workspace have: a receiver of unknown type may be one of these.

So `value.items()` is not taken for the only `items` that the workspace defines.
"""

from functools import cache
from importlib.resources import files


def is_common_member(family: str, name: str) -> bool:
    """Return whether the standard types of a language have a member of this name."""
    return name in _common_members().get(family, frozenset())


@cache
def _common_members() -> dict[str, frozenset[str]]:
    import tomllib

    text = files("keyhole.assets").joinpath("references", "common_members.toml").read_text("utf-8")
    return {family: frozenset(names.split()) for family, names in tomllib.loads(text).items()}
