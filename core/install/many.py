"""Installing for several clients at once: find those on this machine, and go on after a failure."""

from collections.abc import Callable, Mapping
from pathlib import Path

from keyhole.core.errors import ConfigError
from keyhole.core.install.client_table import InstallableClient, Scope, installable_clients
from keyhole.core.install.commands import Change, ConfigTarget, Outcome, config_target, install, uninstall
from keyhole.core.install.machine import Machine


def clients_on(machine: Machine, root: Path) -> Mapping[str, str]:
    """Return the clients that are installed, each with what shows it: a program or a path."""
    signs = {name: machine.sign_of(client, root) for name, client in installable_clients().items()}
    return {name: sign for name, sign in signs.items() if sign}


def _attempt(client: InstallableClient, scope: Scope, change: Callable[[], Outcome]) -> Outcome:
    """Run a change; a failure is an outcome too, so that it does not stop other clients."""
    try:
        return change()
    except ConfigError as error:
        return Outcome(client, scope, None, Change.FAILED, error.worded({}))


def install_for(target: ConfigTarget, *, with_instructions: bool) -> Outcome:
    """Add Keyhole to a client's configuration, or return why that failed."""
    return _attempt(target.client, target.scope, lambda: install(target, with_instructions=with_instructions))


def uninstall_from(client: InstallableClient, root: Path, machine: Machine, scope: Scope | None) -> list[Outcome]:
    """Remove Keyhole from one scope of a client or from both; return what changed or failed, or that nothing did."""
    scopes = [scope] if scope else [each for each in Scope if client.project or each is Scope.USER]
    targets = [config_target(client, root, machine, each) for each in scopes]
    outcomes = [_uninstall_for(target, machine) for target in targets]
    return [outcome for outcome in outcomes if outcome.change is not Change.UNCHANGED] or outcomes[:1]


def _uninstall_for(target: ConfigTarget, machine: Machine) -> Outcome:
    return _attempt(target.client, target.scope, lambda: uninstall(target, machine))
