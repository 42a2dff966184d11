"""The clients that `keyhole install` knows: their files and entries, from assets/client_files.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import TypedDict

from keyhole.core.errors import AssetError, ConfigError
from keyhole.core.suggest import suggest_name

_PLAIN_ENTRY: dict[str, object] = {"command": "{command}", "args": ["{args}"]}
# Where `user` holds for every platform that has no list of its own.
_EVERY_OTHER = ""


class Scope(StrEnum):
    """Which configuration is changed: that of one workspace, or the user's for all workspaces."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """The section of a file where servers are listed, and a pattern of an entry."""

    section: str
    pattern: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class InstallableClient:
    """A client and where its servers are configured; `project` is empty if it has no file in the workspace."""

    id: str
    title: str
    project: str
    user: Mapping[str, tuple[str, ...]]
    places: Mapping[Scope, EntryPlace]
    folder: str
    reads_jsonc: bool
    instructions: str
    programs: tuple[str, ...]
    folders: tuple[str, ...]
    # Whether it asks its user before it starts a server that a file of the workspace names.
    asks_first: bool

    def user_paths(self, platform: str) -> tuple[str, ...]:
        """Return the possible paths of the user's file on a platform, most important first."""
        return self.user.get(platform, self.user[_EVERY_OTHER])

    def usual_scope(self) -> Scope:
        """Return the scope if none is given: this workspace, if the client has a file for it."""
        return Scope.PROJECT if self.project else Scope.USER


class _EntryFacts(TypedDict, total=False):
    """What differs in one of the files."""

    section: str
    entry: dict[str, object]


class _ClientFacts(TypedDict, total=False):
    """A client in the table."""

    title: str
    source: str
    project: str
    user: list[str]
    user_darwin: list[str]
    user_win32: list[str]
    section: str
    entry: dict[str, object]
    folder: str
    project_place: _EntryFacts
    user_place: _EntryFacts
    jsonc: bool
    instructions: str
    programs: list[str]
    folders: list[str]
    asks_first: bool


@cache
def installable_clients() -> Mapping[str, InstallableClient]:
    """Return the clients by short name; the table is read once."""
    text = files("keyhole.assets").joinpath("client_files.toml").read_text("utf-8")
    table: dict[str, _ClientFacts] = tomllib.loads(text)
    try:
        return {name: _client(name, facts) for name, facts in table.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise AssetError(f"assets/client_files.toml is broken ({error}); install keyhole again") from error


def client_named(name: str) -> InstallableClient:
    """Return a client by its short name."""
    client = installable_clients().get(name.casefold())
    if client is None:
        raise ConfigError(f"unknown client {name!r}", suggestion=suggest_name(name, installable_clients()))
    return client


def _client(name: str, facts: _ClientFacts) -> InstallableClient:
    usual = EntryPlace(facts["section"], facts.get("entry", _PLAIN_ENTRY))
    platforms = {"darwin": facts.get("user_darwin"), "win32": facts.get("user_win32")}
    return InstallableClient(
        id=name,
        title=facts["title"],
        project=facts.get("project", ""),
        user={
            _EVERY_OTHER: tuple(facts["user"]),
            **{platform: tuple(paths) for platform, paths in platforms.items() if paths},
        },
        places={
            Scope.PROJECT: _place(usual, facts.get("project_place", {})),
            Scope.USER: _place(usual, facts.get("user_place", {})),
        },
        folder=facts.get("folder", ""),
        reads_jsonc=facts.get("jsonc", False),
        instructions=facts.get("instructions", "AGENTS.md"),
        programs=tuple(facts.get("programs", ())),
        folders=tuple(facts.get("folders", ())),
        asks_first=facts.get("asks_first", False),
    )


def _place(usual: EntryPlace, facts: _EntryFacts) -> EntryPlace:
    return replace(usual, section=facts.get("section", usual.section), pattern=facts.get("entry", usual.pattern))
