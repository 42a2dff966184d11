"""Checks of what is set up around Keyhole: settings, MCP clients and ports."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from keyhole.core.config import ENVIRONMENT, WORKSPACE_FILE, load_settings, setting_sources, shown_value, variable_of
from keyhole.core.doctor.findings import DoctorFinding, Examined, note, ok, problem
from keyhole.core.errors import ConfigError, PortError
from keyhole.core.listening import listen
from keyhole.core.types.choices import DEFAULT_PORT, DEFAULT_WEB_PORT
from keyhole.core.user_file import user_file

_HOST = "127.0.0.1"
_PORTS = {"keyhole mcp --http": DEFAULT_PORT, "keyhole web": DEFAULT_WEB_PORT}


def check_settings(examined: Examined) -> Iterator[DoctorFinding]:
    """List the settings that are not left to their defaults, each with what set it."""
    try:
        load_settings(examined.root)
        sources = setting_sources(examined.root)
    except ConfigError as error:
        yield problem("Settings", f"{error}; the other checks use the defaults", "correct that setting")
        return
    for key, (source, value) in sorted(sources.items()):
        places = {ENVIRONMENT: f"the variable {variable_of(key)}", WORKSPACE_FILE: str(examined.root / WORKSPACE_FILE)}
        yield ok("Settings", f"{key} = {shown_value(key, value)}, set by {places.get(source, source)}")
    if not sources:
        yield ok("Settings", f"all have their default; {user_file()} can change them")


def check_clients(examined: Examined) -> Iterator[DoctorFinding]:
    """Check which MCP clients start Keyhole, and whether they start this installation."""
    from keyhole.core.install.configured import ConfiguredClient, configured_clients, own_command
    from keyhole.core.install.machine import Machine

    def finding(found: ConfiguredClient) -> DoctorFinding:
        subject, again = f"Client {found.client}", f"run keyhole install {found.client} --scope {found.scope}"
        if found.problem:
            return problem(subject, found.problem, f"repair that file, then {again}")
        if not found.command:
            return note(subject, f"{found.path} has an entry without a command, such as one with an address")
        started = _program(found.command, examined)
        if started is None:
            remedy = again if found.scope == "user" else "put keyhole on the PATH of the client"
            return problem(subject, f"{found.path} starts {found.command}, which can't be found", remedy)
        if not _is_same(started, own_script):
            remedy = again if found.command != found.own_command else f"put {own_script.parent} first on your PATH"
            text = f"{found.path} starts {started}, which is not this installation ({own_script})"
            return problem(subject, text, remedy)
        return ok(subject, f"{found.path} ({found.scope}) starts this installation")

    machine = Machine(examined.home, examined.environment)
    own_script = Path(own_command(examined.root, machine))
    findings = [finding(found) for found in configured_clients(examined.root, machine)]
    yield from findings or [note("Clients", "keyhole is in no client's configuration", "run keyhole install CLIENT")]


def _program(command: str, examined: Examined) -> Path | None:
    found = shutil.which(command, path=examined.environment.get("PATH", os.defpath))
    return Path(found) if found else None


def _is_same(first: Path, second: Path) -> bool:
    """Return whether two paths are one program, perhaps through links such as those of uv and pipx."""
    try:
        return first.samefile(second)
    except OSError:
        return False


def check_sharing(_: Examined) -> Iterator[DoctorFinding]:
    """Ask the shared server of these settings what it serves."""
    from keyhole.core.sharing.share_address import UnsharedError, find_address, is_share_wanted
    from keyhole.core.sharing.shared_status import shared_status
    from keyhole.core.view.text import count_of

    subject = "Shared server"
    if not is_share_wanted():
        yield note(subject, "off, by the setting share; each client on stdio has a server of its own")
        return
    try:
        address = find_address()
        found = shared_status(address)
    except (UnsharedError, OSError) as error:
        remedy = "nothing, if clients may have servers of their own; otherwise repair that, or end the process"
        yield problem(subject, f"can't be used: {error}", remedy)
        return
    if found is None:
        yield ok(subject, f"none is running; the next client on stdio starts one in {address.folder}")
        return
    serves = f"{count_of(found.sessions, 'client')} and {count_of(len(found.roots), 'workspace')}"
    yield ok(subject, f"process {found.process} serves {serves}")


def check_ports(_: Examined) -> Iterator[DoctorFinding]:
    """Check whether the default ports are free."""
    for command, port in _PORTS.items():
        try:
            listen(_HOST, port)[0].close()
        except PortError as error:
            remedy = f"nothing, if that is a running {command}; otherwise add --port with another number"
            yield note("Ports", error.problem, remedy)
        else:
            yield ok("Ports", f"{port} is free for {command}")
