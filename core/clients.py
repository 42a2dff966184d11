"""What is known of each MCP client, from assets/clients.toml: its limits and its budget.

`delivery.py` shows what a client makes of an answer.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from keyhole.core.answer_rules import ANSWER, AnswerRule, RuleFacts, StructuredPlace, Unit, rule_from
from keyhole.core.errors import AssetError, ConfigError, QueryError
from keyhole.core.suggest import suggest_name
from keyhole.core.view.budget.limits import CHARACTER_LIMIT, DEFAULT_TOKENS
from keyhole.core.view.budget.room import Room
from keyhole.core.view.budget.tokens import TOKENIZERS

if TYPE_CHECKING:
    # Slow to import, and `keyhole wrap --budget CLIENT` needs only the profiles.
    from keyhole.core.config import ClientSettings, Settings

RAW = "raw"


@dataclass(frozen=True, slots=True)
class Profile:
    """A client: the names it sends, and its limits; None or 0 if a limit is not known.

    `source` says where the figures come from: the client lab with a version of the client, or an address.
    """

    id: str
    title: str
    names: tuple[str, ...]
    tokenizer: str
    prefix: str
    source: str = ""
    version: str = ""
    date: str = ""
    protocol: str = ""
    description: int = 0
    instructions: int = 0
    loads_tools_on_demand: bool = False
    # The text between the blocks of a result; None if the client keeps them apart.
    between_blocks: str | None = None
    structured_content: StructuredPlace = StructuredPlace.IGNORED
    # The other three are for answers that are treated differently.
    answer: AnswerRule | None = None
    error: AnswerRule | None = None
    structured: AnswerRule | None = None
    blocks: AnswerRule | None = None


class _ProfileFacts(TypedDict):
    """A client in the table."""

    title: str
    names: list[str]
    tokenizer: str
    prefix: str
    source: NotRequired[str]
    version: NotRequired[str]
    date: NotRequired[str]
    protocol: NotRequired[str]
    description: NotRequired[int]
    instructions: NotRequired[int]
    loads_tools_on_demand: NotRequired[bool]
    between_blocks: NotRequired[str]
    structured_content: NotRequired[str]
    answer: NotRequired[RuleFacts]
    error: NotRequired[RuleFacts]
    structured: NotRequired[RuleFacts]
    blocks: NotRequired[RuleFacts]


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


def profile_for(client: str, settings: "Settings | None" = None) -> Profile:
    """Return the profile for the name that a client sends; an unknown client gets `raw`, without limits.

    The settings may choose another one, because not everything that matters can be told from the name.
    """
    given = client.casefold()
    known = [(name, profile) for profile in profiles().values() for name in profile.names if given.startswith(name)]
    profile = max(known, key=lambda pair: len(pair[0]))[1] if known else profiles()[RAW]
    own = _own_settings(profile, client, settings) if settings else None
    return profile_named(own.profile) if own and own.profile else profile


def check_profiles(settings: "Settings") -> None:
    """Raise ConfigError if the settings choose a client that is not known."""
    for name, own in settings.clients.items():
        if own.profile and own.profile not in profiles():
            suggestion = suggest_name(own.profile, profiles())
            raise ConfigError(f"clients.{name}.profile: unknown client {own.profile!r}", suggestion=suggestion)


def budget_for(client: str, settings: "Settings") -> int:
    """Return the tokens of an answer to a client that asks for none; `client` is the name that it sends."""
    return _lowered(_tokens(profile_for(client, settings), client, settings), profile_for(client, settings))


def profile_budget(profile: Profile, settings: "Settings") -> int:
    """Return the tokens of an answer to a known client that asks for none."""
    return _lowered(profile_tokens(profile, settings), profile)


def profile_tokens(profile: Profile, settings: "Settings") -> int:
    """Return the tokens that are set for a known client, whatever it delivers."""
    return _tokens(profile, profile.names[0] if profile.names else profile.id, settings)


def _tokens(profile: Profile, client: str, settings: "Settings") -> int:
    """Return what is set for the client, or for all, or the default."""
    own = _own_settings(profile, client, settings)
    return (own.max_tokens if own else None) or settings.view.max_tokens or DEFAULT_TOKENS


def _lowered(tokens: int, profile: Profile) -> int:
    """Return a budget that is not more than the client delivers whole."""
    room = room_for(profile)
    return room.lower(tokens) if room else tokens


def _own_settings(profile: Profile, client: str, settings: "Settings") -> "ClientSettings | None":
    """Return what is set for a client, by the longest name that fits; our short name and title of it fit too."""
    names = (client.casefold(), profile.id, profile.title.casefold())
    matching = [own for own in settings.clients if any(name.startswith(own.casefold()) for name in names)]
    return settings.clients[max(matching, key=len)] if matching else None


def room_for(profile: Profile) -> Room | None:
    """Return how much of an answer of our tools a client delivers whole; None if that is not known."""
    rule = profile.answer
    if rule is None:
        return None
    limit = rule.limit_for(CHARACTER_LIMIT) - (len(rule.frame) - len(ANSWER))
    is_bytes = rule.unit == Unit.BYTES
    return Room(
        profile.title, bytes=limit if is_bytes else None, chars=None if is_bytes else limit, lines=rule.lines or None
    )


def truncate_description(text: str, profile: Profile) -> str:
    """Truncate a tool's description as a client does."""
    return text[: profile.description] if profile.description else text


def _profile(name: str, facts: _ProfileFacts) -> Profile:
    if facts["tokenizer"] not in TOKENIZERS:
        raise ValueError(f"{name}: tokenizer {facts['tokenizer']!r}")
    return Profile(
        id=name,
        title=facts["title"],
        names=tuple(facts["names"]),
        tokenizer=facts["tokenizer"],
        prefix=facts["prefix"],
        source=facts.get("source", ""),
        version=facts.get("version", ""),
        date=facts.get("date", ""),
        protocol=facts.get("protocol", ""),
        description=facts.get("description", 0),
        instructions=facts.get("instructions", 0),
        loads_tools_on_demand=facts.get("loads_tools_on_demand", False),
        between_blocks=facts.get("between_blocks"),
        structured_content=StructuredPlace(facts.get("structured_content", StructuredPlace.IGNORED)),
        answer=_rule(facts, "answer"),
        error=_rule(facts, "error"),
        structured=_rule(facts, "structured"),
        blocks=_rule(facts, "blocks"),
    )


def _rule(facts: _ProfileFacts, kind: Literal["answer", "error", "structured", "blocks"]) -> AnswerRule | None:
    """Return the rule for one kind of answer; the table has only what differs from `answer`."""
    return rule_from({**facts["answer"], **facts[kind]}) if kind in facts else None


def clients_text(costs: Mapping[str, int], settings: "Settings") -> str:
    """Return a table of the clients: budget, tokens of our tool definitions, and how they truncate answers."""
    lines = [f"{'client':<15}{'title':<22}{'budget of an answer':<42}{'tools':>5}  answers"]
    for profile in profiles().values():
        room = room_for(profile)
        budget = ", ".join([f"{profile_tokens(profile, settings):,} tokens", *(room.limit_texts if room else [])])
        lines.append(f"{profile.id:<15}{profile.title:<22}{budget:<42}{costs[profile.id]:>5,}  {_rule_text(profile)}")
    return "\n".join(lines) + "\n"


def _rule_text(profile: Profile) -> str:
    rule = profile.answer
    if rule is None:
        return "unchanged" if profile.id == RAW else "no known limit"
    ours = f"; from keyhole's tools, over {rule.limit_for(CHARACTER_LIMIT):,}" if rule.declared else ""
    version = f"{profile.version}, " if profile.version else ""
    return f"{rule.effect(rule.limit)}{ours} ({version}{profile.date})"
