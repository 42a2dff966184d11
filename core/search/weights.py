"""The learnt weights of the features, by the kind of question; bench/ranking says how they are learnt."""

import tomllib
from functools import cache
from importlib.resources import files

from keyhole.core.search.features import FEATURES
from keyhole.core.search.wanted import QuestionKind

# The tables for searches by words alone, in which nothing is known about meaning.
WORDS_ONLY = "words only"


@cache
def weights_for(kind: QuestionKind, *, has_vectors: bool) -> tuple[float, ...]:
    """Return a weight for each feature, in their order."""
    table = _tables()[str(kind) if has_vectors else f"{kind}, {WORDS_ONLY}"]
    return tuple(table.get(name, 0.0) for name in FEATURES)


@cache
def _tables() -> dict[str, dict[str, float]]:
    text = files("keyhole.assets").joinpath("ranking/weights.toml").read_text(encoding="utf-8")
    tables: dict[str, dict[str, float]] = tomllib.loads(text)
    return tables
