"""What `keyhole install` and `keyhole uninstall` do for one client, and what came of it."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from keyhole.core.errors import ConfigError, WorkspaceError
from keyhole.core.files.workspace import open_workspace
from keyhole.core.install.client_table import InstallableClient, Scope, installable_clients
from keyhole.core.install.config_file import ConfigFile
from keyhole.core.install.edit_entry import NAME, EntryEditor
from keyhole.core.install.instructions import add_instructions, has_instructions, remove_instructions
from keyhole.core.install.machine import Machine

_ROOT = "{root}"
_PUT_ON_PATH = (
    "run uv tool install . or pipx install . in the clone of keyhole, or put the folder of this keyhole on your PATH"
)


class Change(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ConfigTarget:
    """A client's configuration file, and the entry for Keyhole in it."""

    client: InstallableClient
    scope: Scope
    root: Path
    path: Path
    entry: dict[str, object]

    @property
    def editor(self) -> EntryEditor:
        """What edits the file."""
        advice = f"keyhole install {self.client.id} --print shows what to add"
        return EntryEditor(self.path, self.client.places[self.scope].section, advice)

    @property
    def serves_one_workspace(self) -> bool:
        """Whether the entry names one workspace, because the client cannot tell which one is open."""
        return self.client.folder == _ROOT

    def file(self) -> ConfigFile:
        """Read the file; one in the workspace must not lead out of it."""
        return ConfigFile(self.path, self.root if self.scope is Scope.PROJECT else None)

    def instructions(self) -> Path:
        """Return the file in the workspace that the client's model reads."""
        return self.root / self.client.instructions


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to a client's configuration, in words and as facts."""

    client: InstallableClient
    scope: Scope
    path: Path | None
    change: Change
    message: str
    backup: Path | None = None
    instructions: Path | None = None

    def facts(self) -> dict[str, object]:
        """Return the facts for JSON."""
        return {
            "client": self.client.id,
            "title": self.client.title,
            "scope": self.scope,
            "path": str(self.path) if self.path else None,
            "change": self.change,
            "backup": str(self.backup) if self.backup else None,
            "instructions": str(self.instructions) if self.instructions else None,
            "message": self.message,
        }


def config_target(
    client: InstallableClient, root: Path, machine: Machine, scope: Scope | None = None, tools: str | None = None
) -> ConfigTarget:
    """Return the file and the entry of a client; `tools` is the set of tools, if not the one of the settings."""
    scope = scope or client.usual_scope()
    path = machine.config_path(client, root, scope)
    # A configuration shared by a team must not contain a path of one machine; the user's own must not depend on PATH.
    command = NAME if scope is Scope.PROJECT else own_script()
    folder = [client.folder.replace(_ROOT, str(root))] if client.folder else []
    arguments = ["mcp", *folder, *(["--tools", tools] if tools else [])]
    pattern = client.places[scope].pattern
    entry = {key: _filled(value, command, arguments) for key, value in pattern.items()}
    return ConfigTarget(client, scope, root, path, entry)


def _filled(value: object, command: str, arguments: list[str]) -> object:
    """Return a value of a pattern with our command and arguments."""
    if isinstance(value, list):
        return [part for item in value for part in (arguments if item == "{args}" else [_filled(item, command, [])])]
    return command if value == "{command}" else value


def own_script() -> str:
    """Return the path of this installation's `keyhole` command."""
    return shutil.which(NAME, path=str(Path(sys.executable).parent)) or shutil.which(NAME) or NAME


def _check_workspace(target: ConfigTarget) -> None:
    """Raise ConfigError if the entry would name a folder that keyhole does not serve."""
    if not target.serves_one_workspace:
        return
    try:
        open_workspace(target.root)
    except WorkspaceError as error:
        raise ConfigError(
            f"the entry for {target.client.title} names one workspace, and this folder cannot be one "
            f"({error.problem}); run keyhole install in a workspace, or give --root"
        ) from None


def snippet(target: ConfigTarget) -> str:
    """Return the text to add to the file."""
    _check_workspace(target)
    text = target.editor.added("", target.entry)
    return text if text.endswith("\n") else f"{text}\n"


def install(target: ConfigTarget, *, with_instructions: bool = False) -> Outcome:
    """Add Keyhole to the configuration, and to the instructions if wanted."""
    _check_workspace(target)
    file, editor, title = target.file(), target.editor, target.client.title
    new = editor.added(file.text, target.entry)
    had_entry = editor.current(file.text) is not None
    change, backup = Change.UNCHANGED, None
    message = f"{title} already has keyhole ({target.path})"
    if new != file.text or not file.exists:
        backup = file.backup if file.replace(new) else None
        change = Change.UPDATED if had_entry else Change.ADDED
        verb = "Updated keyhole in" if had_entry else "Added keyhole to"
        message = f"{verb} {title} ({_places(target.path, backup)})"
    if target.client.asks_first and target.scope is Scope.PROJECT and change is not Change.UNCHANGED:
        message += f"; approve it when you next start {title}"
    if target.serves_one_workspace:
        message += f"; it serves only {target.root}"
    if target.scope is Scope.PROJECT and shutil.which(NAME) is None:
        message += f"; {NAME} is not on your PATH, so {title} can't start it: {_PUT_ON_PATH}"
    section = target.instructions() if with_instructions else None
    if section:
        is_new = add_instructions(section, target.root)
        message += f"; {'added instructions to' if is_new else 'instructions are already in'} {section.name}"
    return Outcome(target.client, target.scope, target.path, change, message, backup, section)


def uninstall(target: ConfigTarget, machine: Machine) -> Outcome:
    """Remove Keyhole from the configuration, and its instructions if no other client needs them.

    If nothing but `install` changed the file, it is restored from the backup.
    """
    change, message, backup = _remove_entry(target)
    section: Path | None = target.instructions()
    if section and not any(_other_installs(target, machine)) and remove_instructions(section, target.root):
        change, message = Change.REMOVED, f"{message}; removed instructions from {section.name}"
    else:
        section = None
    return Outcome(target.client, target.scope, target.path, change, message, backup, section)


def _remove_entry(target: ConfigTarget) -> tuple[Change, str, Path | None]:
    file, editor, title = target.file(), target.editor, target.client.title
    new = editor.removed(file.text) if file.exists else file.text
    if new == file.text:
        return Change.UNCHANGED, f"{title} does not have keyhole ({target.path})", None
    if _only_install_changed(file, editor):
        had_file = file.before() is not None
        file.restore()
        done = f"restored {target.path}" if had_file else f"deleted {target.path}, which had nothing else"
        return Change.REMOVED, f"Removed keyhole from {title} ({done})", None
    file.replace(new)
    return Change.REMOVED, f"Removed keyhole from {title} ({_places(target.path, file.backup)})", file.backup


def _only_install_changed(file: ConfigFile, editor: EntryEditor) -> bool:
    """Return whether the file is its backup with our entry, or only our entry if there is no backup."""
    before, entry = file.before() or "", editor.current(file.text)
    try:
        return entry is not None and editor.current(before) is None and editor.added(before, entry) == file.text
    except ConfigError:
        return False


def _other_installs(target: ConfigTarget, machine: Machine) -> Iterator[str]:
    """Yield the other clients that have keyhole and read the same instructions."""
    if not has_instructions(target.instructions(), target.root):
        return
    for client in installable_clients().values():
        if client.instructions != target.client.instructions:
            continue
        for scope in Scope:
            if (client.project or scope is Scope.USER) and _has_entry(client, target.root, machine, scope):
                yield client.id


def _has_entry(client: InstallableClient, root: Path, machine: Machine, scope: Scope) -> bool:
    try:
        other = config_target(client, root, machine, scope)
        return other.editor.current(other.file().text) is not None
    except ConfigError:
        # A file that cannot be read does not start a server.
        return False


def _places(path: Path, backup: Path | None) -> str:
    return f"{path}; backup: {backup}" if backup else str(path)
