"""The entry of a server in a client's configuration, as it was and as it goes through the wrap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import urlsplit

# How clients name the program of a server, and its address.
_COMMAND_KEYS = ("command", "cmd")
_URL_KEYS = ("url", "serverUrl", "httpUrl", "uri")
_ENVIRONMENT_KEYS = ("env", "environment", "envs")
_WRAP = "wrap"
_END_OF_OPTIONS = "--"


@dataclass(frozen=True, slots=True)
class StartedServer:
    """What an entry starts: a command, or nothing if the server has an address."""

    command: tuple[str, ...] = ()
    url: str = ""

    @property
    def is_wrapped(self) -> bool:
        """Whether the entry starts `keyhole wrap`."""
        return _is_keyhole(self.command) and self.command[1:2] == (_WRAP,) and _END_OF_OPTIONS in self.command

    @property
    def is_keyhole(self) -> bool:
        """Whether the entry starts Keyhole's own server."""
        return _is_keyhole(self.command) and not self.is_wrapped

    @property
    def inside(self) -> tuple[str, ...]:
        """The command that is wrapped."""
        return self.command[self.command.index(_END_OF_OPTIONS) + 1 :] if self.is_wrapped else self.command


def _is_keyhole(command: Sequence[str]) -> bool:
    return bool(command) and PurePath(command[0]).stem == "keyhole"


def started_by(entry: Mapping[str, object]) -> StartedServer | None:
    """Return what an entry starts; None if it is not written in a way that is known here."""
    for key in _COMMAND_KEYS:
        match entry.get(key):
            case str(program):
                return StartedServer(_words([program, *_arguments(entry)]))
            case [str(), *_] as words:
                return StartedServer(_words(words))
            case {"path": str(program), "args": list(arguments)}:
                return StartedServer(_words([program, *arguments]))
    url = next((value for key in _URL_KEYS if isinstance(value := entry.get(key), str)), "")
    return StartedServer(url=url) if urlsplit(url).scheme in ("http", "https") else None


def environment_in(entry: Mapping[str, object]) -> dict[str, str]:
    """Return the variables that an entry sets for its server."""
    found = next((value for key in _ENVIRONMENT_KEYS if isinstance(value := entry.get(key), dict)), {})
    return {str(name): str(value) for name, value in found.items()}


def with_command(entry: Mapping[str, object], command: Sequence[str]) -> dict[str, object]:
    """Return what changes in an entry so that it starts a command, written as the client writes commands."""
    key = next(key for key in _COMMAND_KEYS if key in entry)
    match entry[key]:
        case list():
            return {key: [*command]}
        case dict(old):
            return {key: {**old, "path": command[0], "args": [*command[1:]]}}
    return {key: command[0], "args": [*command[1:]]}


def with_url(entry: Mapping[str, object], url: str) -> dict[str, object]:
    """Return what changes in an entry so that it has another address."""
    return {next(key for key in _URL_KEYS if key in entry): url}


def wrapping(program: str, name: str, folder: str, budget: str, command: Sequence[str]) -> tuple[str, ...]:
    """Return the command that wraps a command; `folder` is how the client names the workspace, if it has to."""
    given = {"--name": name, "--root": folder, "--budget": budget}
    options = [word for option, value in given.items() if value for word in (option, value)]
    return (program, _WRAP, *options, _END_OF_OPTIONS, *command)


def _arguments(entry: Mapping[str, object]) -> list[object]:
    found = entry.get("args")
    return found if isinstance(found, list) else []


def _words(parts: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(part) for part in parts)
