"""What the configuration files of clients say about Keyhole, without changing them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from keyhole.core.errors import ConfigError
from keyhole.core.install.client_table import Scope, installable_clients
from keyhole.core.install.commands import config_target
from keyhole.core.install.machine import Machine


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


def configured_clients(root: Path, machine: Machine) -> Iterator[ConfiguredClient]:
    """Yield every file of a known client, in the workspace or of the user, that has an entry for Keyhole."""
    for client in installable_clients().values():
        for scope in (Scope.PROJECT, Scope.USER) if client.project else (Scope.USER,):
            found = config_target(client, root, machine, scope)
            try:
                entry = found.editor.current(found.file().text)
            except ConfigError as error:
                yield ConfiguredClient(client.id, scope, found.path, problem=error.problem)
                continue
            if entry is not None:
                yield ConfiguredClient(client.id, scope, found.path, command_in(entry), command_in(found.entry))


def own_command(root: Path, machine: Machine) -> str:
    """Return the program of this installation: what `keyhole install` writes for the user."""
    client = next(iter(installable_clients().values()))
    return command_in(config_target(client, root, machine, Scope.USER).entry)


def command_in(entry: Mapping[str, object]) -> str:
    """Return the program that an entry starts; some clients write it as a list with its arguments, or as a table."""
    match entry.get("command", entry.get("cmd")):
        case str(command) | [str(command), *_] | {"path": str(command)}:
            return command
    return ""
