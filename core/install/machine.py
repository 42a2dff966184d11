"""The paths of this machine: a client's files, and what shows that a client is installed."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keyhole.core.errors import ConfigError
from keyhole.core.install.client_table import InstallableClient, Scope

# What these variables usually are, relative to the home folder; every other variable counts only if it is set.
_USUAL_FOLDERS = {"XDG_CONFIG_HOME": ".config", "APPDATA": "AppData/Roaming"}


@dataclass(frozen=True, slots=True)
class Machine:
    """The user's home folder, environment and platform; tests pass those of other systems."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform

    def config_path(self, client: InstallableClient, root: Path, scope: Scope) -> Path:
        """Return the file that configures a client, which may not exist."""
        if scope is Scope.PROJECT:
            if not client.project:
                raise ConfigError(f"{client.title} has no configuration for one workspace; use --scope user")
            path = root / client.project
        else:
            path = self._user_file(client)
        other = path.with_suffix(".jsonc")
        return other if client.reads_jsonc and other.exists() and not path.exists() else path

    def sign_of(self, client: InstallableClient, root: Path) -> str:
        """Return what shows that a client is installed: a program or a path; empty if nothing does."""
        for program in client.programs:
            if found := shutil.which(program, path=self.environment.get("PATH", "")):
                return found
        own_file = self._user_file(client)
        # The folder of a file directly in the home folder says nothing about a client.
        own_folder = own_file.parent if own_file.parent != self.home else own_file
        folders = [path for text in client.folders if (path := self._expanded(text))]
        project = [root / client.project] if client.project else []
        return next((str(path) for path in (own_file, own_folder, *folders, *project) if path.exists()), "")

    def _user_file(self, client: InstallableClient) -> Path:
        paths = client.user_paths(self.platform)
        return next(path for text in paths if (path := self._expanded(text)))

    def _expanded(self, text: str) -> Path | None:
        """Return a path that starts with ~ or a variable; None if the variable is not set."""
        start, _, rest = text.partition("/")
        if start == "~":
            return self.home / rest
        name = start.removeprefix("$")
        if value := self.environment.get(name):
            return Path(value) / rest
        return self.home / _USUAL_FOLDERS[name] / rest if name in _USUAL_FOLDERS else None
