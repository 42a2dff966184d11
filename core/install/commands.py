"""The commands `keyhole install` and `keyhole uninstall`."""

import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from keyhole.core.clients import ConfigPlace, Profile, profiles
from keyhole.core.errors import ConfigError
from keyhole.core.install import json_text
from keyhole.core.install.config_file import ConfigFile
from keyhole.core.suggest import suggest_name
from keyhole.core.types.choices import ToolSet

NAME = "keyhole"


class ConfigFormat(Protocol):
    """The functions of a module that edits files of one format; each raises ValueError for a file it cannot read."""

    def parse(self, text: str) -> dict[str, object]:
        """Parse a text."""

    def set_entry(self, text: str, section: str, name: str, entry: dict[str, object]) -> str:
        """Return the text with an entry added to a section."""

    def remove_entry(self, text: str, section: str, name: str) -> str:
        """Return the text without an entry."""


@dataclass(frozen=True, slots=True)
class ConfigTarget:
    """A client's configuration file, and the entry for Keyhole in it."""

    profile: Profile
    place: ConfigPlace
    path: Path
    entry: dict[str, object]
    inside: Path | None

    @property
    def format(self) -> ConfigFormat:
        """The module that edits files of this format."""
        if self.path.suffix == ".toml":
            # Imported only here because tomlkit is slow to import.
            from keyhole.core.install import toml_text

            return toml_text
        return json_text


def installable() -> list[str]:
    """Return the clients that Keyhole can configure."""
    return [name for name, profile in profiles().items() if profile.config]


def target(client: str, root: Path, home: Path, *, is_project: bool, tools: str | None = None) -> ConfigTarget:
    """Return the file and the entry of a client, for one workspace or for all workspaces of the user.

    `tools` is the set of tools that the server is started with, if not the one of the settings.
    """
    profile = profiles().get(client)
    if profile is None or profile.config is None:
        raise ConfigError(f"unknown client {client!r}", suggestion=suggest_name(client, installable()))
    place = profile.config
    # A configuration shared by a team must not contain a path of one machine; the user's own must not depend on PATH.
    command = NAME if is_project else _own_script()
    entry: dict[str, object] = {**place.extra, "command": command, "args": _arguments(place, tools)}
    path = root / place.project if is_project else _user_file(place, home)
    return ConfigTarget(profile, place, path, entry, root if is_project else None)


def _arguments(place: ConfigPlace, tools: str | None) -> list[str]:
    return [*place.arguments, *(["--tools", tools] if tools else [])]


def _user_file(place: ConfigPlace, home: Path) -> Path:
    relative = Path(place.user.get(sys.platform, place.user["linux"]))
    folder = os.environ.get(place.variable)
    return Path(folder) / relative.name if folder else home / relative


def _own_script() -> str:
    """Return the path of this installation's `keyhole` command."""
    beside = Path(sys.executable).with_name(NAME)
    return str(beside) if beside.exists() else shutil.which(NAME) or NAME


def snippet(found: ConfigTarget) -> str:
    """Return the text to add to the file."""
    text = found.format.set_entry("", found.place.section, NAME, found.entry)
    return text if text.endswith("\n") else f"{text}\n"


def install(found: ConfigTarget) -> str:
    """Add Keyhole to the configuration, and return a message about what changed."""
    file = ConfigFile(found.path, found.inside)
    new = _edited(found, file.text, is_removal=False)
    if new == file.text and file.exists:
        return f"{found.profile.title} already has keyhole ({found.path})\n"
    has_backup = file.replace(new)
    backup = f"; backup: {file.backup}" if has_backup else ""
    return f"Added keyhole to {found.profile.title} ({found.path}{backup})\n"


def uninstall(found: ConfigTarget) -> str:
    """Remove Keyhole from the configuration, and return a message about what changed.

    If nothing but `install` changed the file, it is restored from the backup.
    """
    file = ConfigFile(found.path, found.inside)
    new = _edited(found, file.text, is_removal=True) if file.exists else file.text
    if new == file.text:
        return f"{found.profile.title} does not have keyhole ({found.path})\n"
    before = file.before()
    if file.text in _texts_after_install(found, before or "") and _has_none(found, before or ""):
        file.restore()
        return f"Removed keyhole from {found.profile.title} (restored {found.path})\n"
    file.replace(new)
    return f"Removed keyhole from {found.profile.title} ({found.path}; backup: {file.backup})\n"


def _texts_after_install(found: ConfigTarget, text: str) -> list[str]:
    """Return what `install` makes of a text, with any of its options."""
    entries = [{**found.entry, "args": _arguments(found.place, tools)} for tools in (None, *ToolSet)]
    return [_edited(replace(found, entry=entry), text, is_removal=False) for entry in entries]


def _has_none(found: ConfigTarget, text: str) -> bool:
    return _edited(found, text, is_removal=True) == text


def _edited(found: ConfigTarget, text: str, *, is_removal: bool) -> str:
    """Return the text with our entry added or removed, after checking that nothing else changes."""
    section, form = found.place.section, found.format
    advice = f"the file was not changed; keyhole install {found.profile.id} --print shows what to add"
    try:
        before = form.parse(text)
        new = form.remove_entry(text, section, NAME) if is_removal else form.set_entry(text, section, NAME, found.entry)
        after = form.parse(new)
    except ValueError as error:
        raise ConfigError(f"cannot edit {found.path} safely ({error}); {advice}") from None
    if _without_empty(found, after) != _without_empty(found, _expected(found, before, is_removal=is_removal)):
        raise ConfigError(f"cannot edit {found.path} safely because of its layout; {advice}")
    return new


def _expected(found: ConfigTarget, before: dict[str, object], *, is_removal: bool) -> dict[str, object]:
    """Return the facts that a file must contain after the change."""
    wanted = dict(before)
    section = wanted.get(found.place.section, {})
    inside = dict(section) if isinstance(section, dict) else {}
    old = inside.pop(NAME, {})
    if not is_removal:
        inside[NAME] = (old if isinstance(old, dict) else {}) | found.entry
    return {**wanted, found.place.section: inside}


def _without_empty(found: ConfigTarget, facts: dict[str, object]) -> dict[str, object]:
    """Return the facts without the section if it is empty, so that a comparison ignores it."""
    return {name: value for name, value in facts.items() if name != found.place.section or value != {}}
