"""How large an answer may be: a number of tokens, or what a client delivers whole, in the client's own unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from keyhole.core.answer_rules import AnswerRule
from keyhole.core.clients import Profile
from keyhole.core.delivery import ToolResult, is_cut
from keyhole.core.view.budget.tokens import MILLI, estimate_tokens, most_weight
from keyhole.core.wrap.shortening.answer_blocks import BETWEEN_BLOCKS, compact_json, count_media, shown_text

# Clients give images to a model as images. This is the most that a model is charged for one, and not their data.
IMAGE_TOKENS = 1_600


class AnswerBudget(Protocol):
    """Tells whether an answer is small enough."""

    @property
    def label(self) -> str:
        """The limit, as notes write it."""
        ...

    def fits(self, blocks: Sequence[Mapping[str, Any]], structured: object = None, *, is_error: bool = False) -> bool:
        """Return whether an answer is small enough: its content blocks and its structured content together."""
        ...

    def half(self) -> "AnswerBudget":
        """Return a budget of half the size."""
        ...


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """A number of tokens, as docs/tokens.md estimates them. Everything counts: some clients show all of it."""

    tokens: int

    @property
    def label(self) -> str:
        """The limit, as notes write it."""
        return f"{self.tokens:,} tokens"

    def fits(self, blocks: Sequence[Mapping[str, Any]], structured: object = None, *, is_error: bool = False) -> bool:  # noqa: ARG002  # the same for errors
        """Return whether an answer has at most as many tokens."""
        texts = [*map(shown_text, blocks), *([] if structured is None else [compact_json(structured)])]
        text, left = BETWEEN_BLOCKS.join(texts), self.tokens - count_media(blocks) * IMAGE_TOKENS
        return most_weight(text) <= left * MILLI or estimate_tokens(text) <= left

    def half(self) -> "TokenBudget":
        """Return a budget of half the size."""
        return TokenBudget(self.tokens // 2)


@dataclass(frozen=True, slots=True)
class ClientAnswerBudget:
    """What a client delivers whole, of a tool that declares no limit of its own. Images have no size there."""

    profile: Profile
    limit: AnswerRule

    @property
    def label(self) -> str:
        """The limit, as notes write it."""
        return f"{self.limit.limit:,} {self.limit.unit}, the limit of {self.profile.title}"

    def fits(self, blocks: Sequence[Mapping[str, Any]], structured: object = None, *, is_error: bool = False) -> bool:
        """Return whether the client delivers an answer whole."""
        texts = tuple(text for block in blocks if (text := shown_text(block)))
        return not is_cut(ToolResult(texts, structured, is_error), self.profile, declared_chars=0)

    def half(self) -> "ClientAnswerBudget":
        """Return a budget of half the size."""
        profile = self.profile
        rules = [_half(rule) for rule in (profile.answer, profile.error, profile.structured, profile.blocks)]
        answer, error, structured, blocks = rules
        halved = replace(profile, answer=answer, error=error, structured=structured, blocks=blocks)
        return ClientAnswerBudget(halved, replace(self.limit, limit=self.limit.limit // 2))


def _half(rule: AnswerRule | None) -> AnswerRule | None:
    return rule and replace(rule, limit=rule.limit // 2, lines=rule.lines // 2)


def client_budget(profile: Profile) -> ClientAnswerBudget | None:
    """Return the budget of a client; None if its limit is not known."""
    if profile.answer is None or not profile.answer.limit:
        return None
    # Some clients never cut several blocks. The note is a block, so what holds for one block must hold here too.
    blocks = profile.blocks if profile.blocks and profile.blocks.limit else None
    return ClientAnswerBudget(replace(profile, blocks=blocks), profile.answer)
