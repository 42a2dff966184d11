"""What each MCP client does to an answer before its model sees it, from the profiles in assets/clients.toml.

`deliver(answer, profile)` is a pure function. The option `--as` and the explorer's lens show its result.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NotRequired, TypedDict

from keyhole.core.config import Settings
from keyhole.core.errors import AssetError, QueryError
from keyhole.core.suggest import suggest_name
from keyhole.core.view.budget.limits import CHARACTER_LIMIT, DEFAULT_TOKENS
from keyhole.core.view.budget.tokens import TOKENIZERS, estimate_tokens
from keyhole.core.view.text import human_size

RAW = "raw"
# A placeholder for a path that only the client knows.
_FILE = "FILE"
_BYTES_PER_TOKEN = 4


class Overflow(StrEnum):
    """What a client does to an answer over its limit."""

    SPILL = "spill"
    MIDDLE = "middle"
    HEAD = "head"


_EFFECTS = {
    Overflow.SPILL: "saves answers over {limit} to a file",
    Overflow.MIDDLE: "removes the middle of answers over {limit}",
    Overflow.HEAD: "silently truncates answers at {limit}",
}


@dataclass(frozen=True, slots=True)
class SourcedFigure:
    """A number with its source and the date of the lookup."""

    value: int
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """What happens to an answer over a limit in characters or bytes; a tool may declare its own limit."""

    overflow: Overflow
    limit: SourcedFigure
    unit: str
    message: str
    preview: SourcedFigure | None = None
    declared: SourcedFigure | None = None

    def limit_for(self, declared_chars: int) -> int:
        """Return the limit for a tool that declares `declared_chars`."""
        return min(declared_chars, self.declared.value) if self.declared else self.limit.value


@dataclass(frozen=True, slots=True)
class ConfigPlace:
    """Where a client's servers are configured: a file in the workspace, or one of the user, by platform.

    The environment variable, if set, names another folder for the user's file.
    """

    project: str
    user: Mapping[str, str]
    variable: str
    section: str
    arguments: tuple[str, ...]
    extra: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Profile:
    """A client: the names it sends, and its published limits; None if a limit is not published."""

    id: str
    title: str
    names: tuple[str, ...]
    tokenizer: str
    prefix: str
    max_tokens: SourcedFigure | None = None
    description: SourcedFigure | None = None
    answer: AnswerRule | None = None
    config: ConfigPlace | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a client's model sees of an answer."""

    text: str
    overflow: Overflow | None = None
    tokens: int = 0
    note: str = ""


class _FigureFacts(TypedDict):
    """A figure in the table."""

    value: int
    source: str
    date: str


class _RuleFacts(TypedDict):
    """What happens to an answer, in the table."""

    overflow: str
    limit: _FigureFacts
    unit: str
    message: str
    preview: NotRequired[_FigureFacts]
    declared: NotRequired[_FigureFacts]


class _PlaceFacts(TypedDict):
    """Where servers are configured, in the table."""

    project: str
    user: dict[str, str]
    variable: NotRequired[str]
    section: str
    arguments: list[str]
    extra: NotRequired[dict[str, object]]


class _ProfileFacts(TypedDict):
    """A client in the table."""

    title: str
    names: list[str]
    tokenizer: str
    prefix: str
    max_tokens: NotRequired[_FigureFacts]
    description: NotRequired[_FigureFacts]
    answer: NotRequired[_RuleFacts]
    config: NotRequired[_PlaceFacts]


@cache
def profiles() -> Mapping[str, Profile]:
    """Return the profiles by short name; the table is read once."""
    table: dict[str, _ProfileFacts] = tomllib.loads(files("keyhole.assets").joinpath("clients.toml").read_text("utf-8"))
    try:
        return {name: _profile(name, facts) for name, facts in table.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise AssetError(f"assets/clients.toml is broken ({error}); install keyhole again") from error


def profile_named(name: str) -> Profile:
    """Return a profile by its short name or title."""
    for profile in profiles().values():
        if name.casefold() in (profile.id, profile.title.casefold()):
            return profile
    raise QueryError(f"unknown client {name!r}", suggestion=suggest_name(name, profiles()))


def profile_for(client: str) -> Profile:
    """Return the profile for the name that a client sends; an unknown client gets `raw`, without limits."""
    given = client.casefold()
    known = [(name, profile) for profile in profiles().values() for name in profile.names if given.startswith(name)]
    return max(known, key=lambda pair: len(pair[0]))[1] if known else profiles()[RAW]


def budget_for(client: str, settings: Settings) -> int:
    """Return the budget of an answer to a client that asks for none; `client` is the name that it sends.

    The setting of the client goes first, then the setting for all, then what is known of the client.
    """
    known = profile_for(client).max_tokens
    return _own_budget(client, settings) or settings.view.max_tokens or (known.value if known else DEFAULT_TOKENS)


def profile_budget(profile: Profile, settings: Settings) -> int:
    """Return the budget of an answer to a known client that asks for none."""
    return budget_for(profile.names[0] if profile.names else profile.id, settings)


def _own_budget(client: str, settings: Settings) -> int | None:
    """Return what is set for a client, by the longest name that fits; our short name and title of it fit too."""
    profile = profile_for(client)
    names = (client.casefold(), profile.id, profile.title.casefold())
    matching = [own for own in settings.clients if any(name.startswith(own.casefold()) for name in names)]
    return settings.clients[max(matching, key=len)].max_tokens if matching else None


def deliver(answer: str, profile: Profile, *, declared_chars: int = CHARACTER_LIMIT) -> Delivery:
    """Return what a client delivers of an answer; `declared_chars` is the limit that our tools declare."""
    rule = profile.answer
    limit = rule.limit_for(declared_chars) if rule else 0
    if rule is None or _size(answer, rule.unit) <= limit:
        return Delivery(answer, tokens=estimate_tokens(answer, profile.tokenizer))
    before, after = _kept(answer, rule, limit)
    text = _assembled(answer, before, after, rule)
    seen = len(before) + len(after)
    effect = _EFFECTS[rule.overflow].format(limit=f"{limit:,} {rule.unit}")
    return Delivery(
        text=text,
        overflow=rule.overflow,
        tokens=estimate_tokens(text, profile.tokenizer),
        note=f"{profile.title} {effect}: its model sees {seen:,} of {len(answer):,} characters",
    )


def truncate_description(text: str, profile: Profile) -> str:
    """Truncate a tool's description as a client does."""
    return text[: profile.description.value] if profile.description else text


def _size(text: str, unit: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) if unit == "bytes" else len(text)


def _kept(answer: str, rule: AnswerRule, limit: int) -> tuple[str, str]:
    """Return what a client keeps of an answer: its beginning and its end."""
    if rule.overflow == Overflow.SPILL:
        return answer[: rule.preview.value if rule.preview else 0], ""
    if rule.overflow == Overflow.HEAD:
        return answer[:limit], ""
    encoded = answer.encode("utf-8", "surrogatepass")
    half = limit // 2
    # A character that is split at the limit is lost.
    return encoded[:half].decode("utf-8", "ignore"), encoded[len(encoded) - (limit - half) :].decode("utf-8", "ignore")


def _assembled(answer: str, before: str, after: str, rule: AnswerRule) -> str:
    size = _size(answer, "bytes")
    lost = size - _size(before + after, "bytes")
    # The preview is filled in last, because its text may contain what looks like a field.
    values = {
        "{size}": human_size(size),
        "{kilobytes}": str(round(len(answer) / 1_024)),
        "{file}": _FILE,
        "{tokens}": str(-(-lost // _BYTES_PER_TOKEN)),
        "{preview}": before,
    }
    message = rule.message.removeprefix("\n")
    for name, value in values.items():
        message = message.replace(name, value)
    return message if rule.overflow == Overflow.SPILL else before + message + after


def _profile(name: str, facts: _ProfileFacts) -> Profile:
    if facts["tokenizer"] not in TOKENIZERS:
        raise ValueError(f"{name}: tokenizer {facts['tokenizer']!r}")
    return Profile(
        id=name,
        title=facts["title"],
        names=tuple(facts["names"]),
        tokenizer=facts["tokenizer"],
        prefix=facts["prefix"],
        max_tokens=_figure(facts.get("max_tokens")),
        description=_figure(facts.get("description")),
        answer=_rule(facts["answer"]) if "answer" in facts else None,
        config=_place(facts["config"]) if "config" in facts else None,
    )


def _rule(facts: _RuleFacts) -> AnswerRule:
    return AnswerRule(
        overflow=Overflow(facts["overflow"]),
        limit=SourcedFigure(**facts["limit"]),
        unit=facts["unit"],
        message=facts["message"],
        preview=_figure(facts.get("preview")),
        declared=_figure(facts.get("declared")),
    )


def _place(facts: _PlaceFacts) -> ConfigPlace:
    return ConfigPlace(
        project=facts["project"],
        user=facts["user"],
        variable=facts.get("variable", ""),
        section=facts["section"],
        arguments=tuple(facts["arguments"]),
        extra=facts.get("extra", {}),
    )


def _figure(facts: _FigureFacts | None) -> SourcedFigure | None:
    return SourcedFigure(**facts) if facts else None


def clients_text(costs: Mapping[str, int], settings: Settings) -> str:
    """Return a table of the clients: budget, tokens of our tool definitions, and how they truncate answers."""
    lines = [f"{'client':<9}{'title':<13}{'budget':>8}{'tools':>7}  answers"]
    for profile in profiles().values():
        budget, cost = profile_budget(profile, settings), costs[profile.id]
        lines.append(f"{profile.id:<9}{profile.title:<13}{budget:>8,}{cost:>7,}  {_rule_text(profile)}")
    return "\n".join(lines) + "\n"


def _rule_text(profile: Profile) -> str:
    rule = profile.answer
    if rule is None:
        return "unchanged" if profile.id == RAW else "no published limit"
    text = _EFFECTS[rule.overflow].format(limit=f"{rule.limit.value:,} {rule.unit}")
    ours = f"; from keyhole's tools, over {rule.limit_for(CHARACTER_LIMIT):,}" if rule.declared else ""
    return f"{text}{ours} ({rule.limit.date})"
