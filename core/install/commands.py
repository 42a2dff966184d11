"""What `keyhole install` and `keyhole uninstall` do."""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from keyhole.core.clients import ConfigPlace, Profile, profiles
from keyhole.core.errors import ConfigError
from keyhole.core.install import json_text
from keyhole.core.install.config_file import ConfigFile
from keyhole.core.suggest import suggest_name

NAME = "keyhole"


class ConfigFormat(Protocol):
    """What a module does that changes files of one format; each raises ValueError about a file it cannot read."""

    def parse(self, text: str) -> dict[str, object]:
        """Read a text."""

    def set_entry(self, text: str, section: str, name: str, entry: dict[str, object]) -> str:
        """Put an entry into a section of the file."""

    def remove_entry(self, text: str, section: str, name: str) -> str:
        """Take an entry out."""


@dataclass(frozen=True, slots=True)
class ConfigTarget:
    """Where a client's configuration is, and what goes into it."""

    profile: Profile
    place: ConfigPlace
    path: Path
    entry: dict[str, object]
    inside: Path | None

    @property
    def format(self) -> ConfigFormat:
        """How the file is written."""
        if self.path.suffix == ".toml":
            # Only here, since tomlkit takes time to import.
            from keyhole.core.install import toml_text

            return toml_text
        return json_text


def installable() -> list[str]:
    """List the clients whose configuration is known."""
    return [name for name, profile in profiles().items() if profile.config]


def target(client: str, root: Path, home: Path, *, is_project: bool) -> ConfigTarget:
    """Find the file and the entry of a client, for one workspace or for all of the user's."""
    profile = profiles().get(client)
    if profile is None or profile.config is None:
        raise ConfigError(f"unknown client {client!r}", suggestion=suggest_name(client, installable()))
    place = profile.config
    # What a team shares must not name a folder of one machine; what is only the user's must not depend on a PATH.
    command = NAME if is_project else _own_script()
    entry: dict[str, object] = {**place.extra, "command": command, "args": list(place.arguments)}
    path = root / place.project if is_project else _user_file(place, home)
    return ConfigTarget(profile, place, path, entry, root if is_project else None)


def _user_file(place: ConfigPlace, home: Path) -> Path:
    relative = Path(place.user.get(sys.platform, place.user["linux"]))
    folder = os.environ.get(place.variable)
    return Path(folder) / relative.name if folder else home / relative


def _own_script() -> str:
    """Find the command of this very installation."""
    beside = Path(sys.executable).with_name(NAME)
    return str(beside) if beside.exists() else shutil.which(NAME) or NAME


def snippet(found: ConfigTarget) -> str:
    """Write what goes into the file."""
    text = found.format.set_entry("", found.place.section, NAME, found.entry)
    return text if text.endswith("\n") else f"{text}\n"


def install(found: ConfigTarget) -> str:
    """Put Keyhole in, and say what was done."""
    file = ConfigFile(found.path, found.inside)
    new = _edited(found, file.text, is_removal=False)
    if new == file.text and file.exists:
        return f"{found.profile.title} has keyhole already, in {found.path}\n"
    had_backup = file.replace(new)
    kept = f"; what was there is in {file.backup}" if had_backup else ""
    return f"{found.profile.title} has keyhole now, in {found.path}{kept}\n"


def uninstall(found: ConfigTarget) -> str:
    """Take Keyhole out, and say what was done; a file that only install changed is as it was before."""
    file = ConfigFile(found.path, found.inside)
    new = _edited(found, file.text, is_removal=True) if file.exists else file.text
    if new == file.text:
        return f"{found.profile.title} has no keyhole, in {found.path}\n"
    before = file.before()
    if file.text == _edited(found, before or "", is_removal=False) and _has_none(found, before or ""):
        file.restore()
        return f"{found.path} is as it was before\n"
    file.replace(new)
    return f"{found.profile.title} has no keyhole any more, in {found.path}; what was there is in {file.backup}\n"


def _has_none(found: ConfigTarget, text: str) -> bool:
    return _edited(found, text, is_removal=True) == text


def _edited(found: ConfigTarget, text: str, *, is_removal: bool) -> str:
    """Change a text, and make sure that nothing but our entry is different."""
    section, form = found.place.section, found.format
    advice = f"it is left alone; keyhole install {found.profile.id} --print shows what to put in"
    try:
        before = form.parse(text)
        new = form.remove_entry(text, section, NAME) if is_removal else form.set_entry(text, section, NAME, found.entry)
        after = form.parse(new)
    except ValueError as error:
        raise ConfigError(f"{found.path} cannot be changed safely ({error}); {advice}") from None
    if _without_empty(found, after) != _without_empty(found, _expected(found, before, is_removal=is_removal)):
        raise ConfigError(f"{found.path} is written in a way that cannot be changed safely; {advice}")
    return new


def _expected(found: ConfigTarget, before: dict[str, object], *, is_removal: bool) -> dict[str, object]:
    """Return what a file must say after a change."""
    wanted = dict(before)
    section = wanted.get(found.place.section, {})
    inside = dict(section) if isinstance(section, dict) else {}
    old = inside.pop(NAME, {})
    if not is_removal:
        inside[NAME] = (old if isinstance(old, dict) else {}) | found.entry
    return {**wanted, found.place.section: inside}


def _without_empty(found: ConfigTarget, facts: dict[str, object]) -> dict[str, object]:
    """Leave a section that says nothing out of a comparison."""
    return {name: value for name, value in facts.items() if name != found.place.section or value != {}}
