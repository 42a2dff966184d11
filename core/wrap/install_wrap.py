"""What `keyhole wrap --install`, `--uninstall` and `--list` do: one entry of a client's file goes through the wrap."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from zlib import crc32

from keyhole.core.errors import ConfigError
from keyhole.core.install.client_table import InstallableClient, Scope, installable_clients
from keyhole.core.install.commands import own_script
from keyhole.core.install.config_file import ConfigFile
from keyhole.core.install.edit_entry import NAME, EntryEditor
from keyhole.core.install.machine import Machine
from keyhole.core.suggest import suggest_name
from keyhole.core.wrap.client_entries import StartedServer, environment_in, started_by, with_command, with_url, wrapping
from keyhole.core.wrap.original_texts import OriginalTexts, Replaced, changed_part, with_original

_ROOT = "{root}"
# Ports of wraps that replace an address; each server gets its own, which stays the same.
_FIRST_PORT, _PORTS = 7_900, 90


@dataclass(frozen=True, slots=True)
class WrappedEntry:
    """An entry of a client that goes through the wrap; `port` is 0 if the client starts the wrap itself.

    `budget` is known only of an entry that was just changed.
    """

    client: InstallableClient
    scope: Scope
    path: Path
    server: str
    command: tuple[str, ...] = ()
    url: str = ""
    port: int = 0
    # What the entry sets for the server, which may hold secrets: not shown, and not what tells entries apart.
    environment: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    budget: str = ""

    @property
    def to_run(self) -> str:
        """What has to run before the client starts; empty if the client starts it."""
        budget = f" --budget {self.budget}" if self.budget else ""
        return f"keyhole wrap --name {self.server} --port {self.port}{budget} {self.url}" if self.port else ""

    def facts(self) -> dict[str, object]:
        """Return the facts for JSON."""
        return {
            "client": self.client.id,
            "scope": self.scope,
            "path": str(self.path),
            "server": self.server,
            "command": list(self.command) or None,
            "url": self.url or None,
            "run": self.to_run or None,
        }


class _Config:
    """One configuration file of a client, and an entry in it."""

    def __init__(self, client: InstallableClient, root: Path, machine: Machine, scope: Scope, server: str) -> None:
        self.client = client
        self.scope = scope
        self.root = root
        self.path = machine.config_path(client, root, scope)
        self.server = server
        self.file = ConfigFile(self.path, root if scope is Scope.PROJECT else None)
        self.section = client.places[scope].section
        self.editor = EntryEditor(self.path, self.section, "edit the entry yourself", server)

    def entries(self) -> dict[str, dict[str, object]]:
        """Return all entries of the file."""
        return self.editor.entries(self.file.text)

    def started(self) -> StartedServer:
        """Return what the entry starts."""
        started = started_by(self.entries()[self.server])
        if started is None:
            raise ConfigError(f"the entry {self.server} in {self.path} has neither a command nor an address")
        return started

    def edited(self, change: dict[str, object]) -> str:
        """Return the text with values of the entry replaced."""
        return self.editor.added(self.file.text, change)


@dataclass(frozen=True, slots=True)
class ClientWraps:
    """The wrapped entries in the files of a workspace and of the user, and what they were before."""

    root: Path
    machine: Machine
    kept: OriginalTexts

    def install(
        self, client: InstallableClient, server: str, scope: Scope | None, budget: str = ""
    ) -> tuple[WrappedEntry, bool]:
        """Make an entry of a client go through the wrap; return it, and whether it was changed."""
        config, kept = self._config(client, server, scope), self.kept
        started, entry = config.started(), config.entries()[server]
        if known := _wrapped(config, server, started, kept):
            return known, False
        if server == NAME or started.is_keyhole:
            raise ConfigError(f"{server} is keyhole's own server: its calls are recorded without a wrap")
        port = _port(config, started.url, kept) if started.url else 0
        change = (
            with_url(entry, _on_this_machine(started.url, port))
            if port
            else with_command(entry, _wrap_of(config, started, budget))
        )
        text, new = config.file.text, config.edited(change)
        in_file = str(config.path), config.section, server
        # First: without it, the original could not be put back exactly.
        kept.remember(Replaced(*in_file, *changed_part(text, new), started.url, port))
        config.file.replace(new)
        place = client, config.scope, config.path, server
        environment = {} if port else environment_in(entry)
        return WrappedEntry(*place, started.command, started.url, port, environment, budget), True

    def uninstall(self, client: InstallableClient, server: str, scope: Scope | None) -> WrappedEntry | None:
        """Put an entry back as it was; None if it does not go through the wrap."""
        config = self._config(client, server, scope)
        known = _wrapped(config, server, config.started(), self.kept)
        if known is None:
            return None
        replaced = self.kept.find(config.path, config.section, server)
        config.file.replace(_original(config, known, replaced))
        if replaced:
            self.kept.forget(replaced)
        return known

    def all(self) -> Iterator[WrappedEntry]:
        """Yield every entry that goes through the wrap."""
        for client in installable_clients().values():
            for scope in (Scope.PROJECT, Scope.USER) if client.project else (Scope.USER,):
                yield from self._in_file(client, scope)

    def _in_file(self, client: InstallableClient, scope: Scope) -> Iterator[WrappedEntry]:
        # `keyhole doctor` reports files that can't be read.
        with suppress(ConfigError):
            config = _Config(client, self.root, self.machine, scope, "")
            for name, entry in config.entries().items():
                started = started_by(entry)
                if started and (known := _wrapped(config, name, started, self.kept)):
                    yield known

    def _config(self, client: InstallableClient, server: str, scope: Scope | None) -> _Config:
        """Return the file of a client that has an entry: the workspace's first, unless a scope is given."""
        scopes = [scope] if scope else [each for each in Scope if client.project or each is Scope.USER]
        configs = [_Config(client, self.root, self.machine, each, server) for each in scopes]
        for config in configs:
            if server in config.entries():
                return config
        raise _unknown(client, server, [name for config in configs for name in config.entries()])


def _original(config: _Config, known: WrappedEntry, replaced: Replaced | None) -> str:
    """Return the text with the original entry: exactly as it was, or with its values if someone changed it since."""
    text, editor = config.file.text, config.editor

    def is_right(new: str) -> bool:
        entry = editor.current(new) if editor.is_all_else_same(text, new) else None
        return entry is not None and started_by(entry) == StartedServer(known.command, known.url)

    exact = with_original(text, replaced, is_right) if replaced else None
    if exact is not None:
        return exact
    entry = config.entries()[config.server]
    return config.edited(with_url(entry, known.url) if known.url else with_command(entry, known.command))


def _wrapped(config: _Config, name: str, started: StartedServer, kept: OriginalTexts) -> WrappedEntry | None:
    """Return an entry as a wrapped one, if it is one."""
    if started.is_wrapped:
        environment = environment_in(config.entries()[name])
        return WrappedEntry(config.client, config.scope, config.path, name, started.inside, environment=environment)
    replaced = kept.find(config.path, config.section, name) if started.url else None
    if replaced is None or started.url != _on_this_machine(replaced.url, replaced.port):
        return None
    return WrappedEntry(config.client, config.scope, config.path, name, url=replaced.url, port=replaced.port)


def _unknown(client: InstallableClient, server: str, names: list[str]) -> ConfigError:
    others = sorted(set(names) - {NAME})
    # A close name, or else the list of names.
    suggestion = suggest_name(server, others) or "It has no servers to wrap."
    return ConfigError(f"{client.title} has no server {server!r}", suggestion=suggestion)


def _wrap_of(config: _Config, started: StartedServer, budget: str) -> tuple[str, ...]:
    # As in core/install: a file that a team shares must not contain a path of one machine.
    program = NAME if config.scope is Scope.PROJECT else own_script()
    folder = config.client.folder.replace(_ROOT, str(config.root))
    return wrapping(program, config.server, folder, budget, started.command)


def _port(config: _Config, url: str, kept: OriginalTexts) -> int:
    """Return a port for an address: the same again, and another one than those of other addresses."""
    known = kept.find(config.path, config.section, config.server)
    if known and known.url == url and known.port:
        return known.port
    taken = {each.port for each in kept.all() if each.url != url}
    first = crc32(f"{config.server} {url}".encode()) % _PORTS
    ports = (_FIRST_PORT + (first + step) % _PORTS for step in range(_PORTS))
    return next((port for port in ports if port not in taken), _FIRST_PORT + first)


def _on_this_machine(url: str, port: int) -> str:
    return urlunsplit(urlsplit(url)._replace(scheme="http", netloc=f"127.0.0.1:{port}"))
