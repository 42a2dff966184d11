"""The budget of `keyhole wrap --budget`: a number of tokens, or the name of a client, whose own limit it then is."""

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyhole.core.wrap.shortening.answer_budget import AnswerBudget

# Room for a note, the frame of a page, and a record or a part of one.
FEWEST_TOKENS = 1_000


def is_certain_budget(text: str) -> bool:
    """Return whether a budget is valid, as far as that can be told without slow imports."""
    if text.isdecimal():
        return len(text) < 12 and int(text) >= FEWEST_TOKENS
    table = resources.files("keyhole.assets").joinpath("clients.toml").read_text("utf-8")
    return text.isidentifier() and f"\n[{text}.answer]\n" in table


def answer_budget(text: str) -> "AnswerBudget":
    """Return the budget; raise QueryError if there is none such."""
    from keyhole.core.clients import profile_named
    from keyhole.core.errors import QueryError
    from keyhole.core.wrap.shortening.answer_budget import TokenBudget, client_budget

    if text.isdecimal():
        if not is_certain_budget(text):
            raise QueryError(f"the budget must be {FEWEST_TOKENS:,} tokens or more, not {text[:20]}")
        return TokenBudget(int(text))
    profile = profile_named(text)
    budget = client_budget(profile)
    if budget is None:
        raise QueryError(f"the limit of {profile.title} is not known; give a number of tokens, such as 10000")
    return budget
