"""What the configuration files of clients say about Keyhole, without changing them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.errors import ConfigError
from keyhole.core.install.commands import NAME, ConfigTarget, installable, target
from keyhole.core.install.config_file import ConfigFile


@dataclass(frozen=True, slots=True)
class ConfiguredClient:
    """A configuration file that starts Keyhole: `command` is empty if its entry has none, such as one with an address.

    `own_command` is what `keyhole install` would write there. A file that can't be read has a problem instead.
    """

    client: str
    scope: str
    path: Path
    command: str = ""
    own_command: str = ""
    problem: str = ""


def configured_clients(root: Path, home: Path) -> Iterator[ConfiguredClient]:
    """Yield every file of a known client, in the workspace or of the user, that has an entry for Keyhole."""
    for client in installable():
        for scope in ("project", "user"):
            found = target(client, root, home, is_project=scope == "project")
            try:
                entry = _entry_in(found)
            except ConfigError as error:
                yield ConfiguredClient(client, scope, found.path, problem=error.problem)
                continue
            if entry is not None:
                yield ConfiguredClient(client, scope, found.path, command_in(entry), command_in(found.entry))


def _entry_in(found: ConfigTarget) -> Mapping[str, object] | None:
    file = ConfigFile(found.path, found.inside)
    try:
        section = found.format.parse(file.text).get(found.place.section)
    except ValueError as error:
        raise ConfigError(f"{found.path} can't be read ({error})") from None
    entry = section.get(NAME) if isinstance(section, Mapping) else None
    return entry if isinstance(entry, Mapping) else None


def command_in(entry: Mapping[str, object]) -> str:
    """Return the program that an entry starts; some clients write it as a list with its arguments, or as a table."""
    match entry.get("command"):
        case str(command) | [str(command), *_] | {"path": str(command)}:
            return command
    return ""
