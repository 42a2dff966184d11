"""How large an answer may be: a number of tokens, or what a client delivers whole, in the client's own unit."""

from dataclasses import dataclass, replace
from typing import Protocol

from keyhole.core.clients import AnswerRule, Profile
from keyhole.core.delivery import in_frame, is_over
from keyhole.core.view.budget.tokens import MILLI, estimate_tokens, most_weight

# Clients give images to a model as images. This is the most that a model is charged for one, and not their data.
IMAGE_TOKENS = 1_600


class AnswerBudget(Protocol):
    """Tells whether an answer is small enough."""

    @property
    def label(self) -> str:
        """The limit, as notes write it."""
        ...

    def fits(self, text: str, *, images: int, is_error: bool) -> bool:
        """Return whether a text and some images together fit."""
        ...

    def half(self) -> "AnswerBudget":
        """Return a budget of half the size."""
        ...


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """A number of tokens, as docs/tokens.md estimates them."""

    tokens: int

    @property
    def label(self) -> str:
        """The limit, as notes write it."""
        return f"{self.tokens:,} tokens"

    def fits(self, text: str, *, images: int, is_error: bool) -> bool:  # noqa: ARG002  # the same for errors
        """Return whether a text and some images together have at most as many tokens."""
        left = self.tokens - images * IMAGE_TOKENS
        return most_weight(text) <= left * MILLI or estimate_tokens(text) <= left

    def half(self) -> "TokenBudget":
        """Return a budget of half the size."""
        return TokenBudget(self.tokens // 2)


@dataclass(frozen=True, slots=True)
class ClientBudget:
    """What a client delivers whole of the answers, and of the errors, of a server that declares no limit of its own."""

    client: str
    answer: AnswerRule
    error: AnswerRule

    @property
    def label(self) -> str:
        """The limit, as notes write it."""
        return f"{self.answer.limit:,} {self.answer.unit}, the limit of {self.client}"

    def fits(self, text: str, *, images: int, is_error: bool) -> bool:  # noqa: ARG002  # limits are of text
        """Return whether the client delivers a text whole."""
        rule = self.error if is_error else self.answer
        return not is_over(in_frame(text, rule), rule, rule.limit)

    def half(self) -> "ClientBudget":
        """Return a budget of half the size."""
        return ClientBudget(self.client, _half_rule(self.answer), _half_rule(self.error))


def _half_rule(rule: AnswerRule) -> AnswerRule:
    return replace(rule, limit=rule.limit // 2, lines=rule.lines // 2)


def client_budget(profile: Profile) -> ClientBudget | None:
    """Return the budget of a client; None if its limit is not known."""
    if profile.answer is None or not profile.answer.limit:
        return None
    return ClientBudget(profile.title, profile.answer, profile.error or profile.answer)
