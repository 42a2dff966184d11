"""A client's configuration file: read it, replace it atomically, and keep a backup."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from keyhole.core.errors import ConfigError

BACKUP = ".keyhole-backup"
_MAX_BYTES = 50_000_000
_OWN_FOLDER = "keyhole"
_BOM = "\ufeff"


class ConfigFile:
    """A file that may not exist yet. Links are followed, but never out of the folder `inside`."""

    def __init__(self, path: Path, inside: Path | None = None) -> None:
        self.path = path
        try:
            self._target = path.resolve()
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"cannot resolve the link {path} ({error})") from None
        if inside is not None and not self._target.is_relative_to(inside):
            raise ConfigError(f"{path} points outside the workspace, to {self._target}; it was not changed")
        self._content = self._bytes()

    @property
    def exists(self) -> bool:
        """Whether the file exists."""
        return self._content is not None

    @property
    def text(self) -> str:
        """The text of the file; empty if it does not exist."""
        try:
            return (self._content or b"").decode("utf-8").removeprefix(_BOM)
        except UnicodeDecodeError:
            raise ConfigError(f"{self.path} is not valid UTF-8; it was not changed") from None

    @property
    def backup(self) -> Path:
        """The path of the backup."""
        return self._target.with_name(self._target.name + BACKUP)

    def replace(self, text: str, *, keeps_backup: bool = True) -> bool:
        """Write a new text after backing up the old one; return whether there is a backup."""
        has_bom = (self._content or b"").startswith(_BOM.encode())
        self._check_writable()
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            if self._content is not None and keeps_backup:
                self._write(self.backup, self._content)
            self._write(self._target, ((_BOM if has_bom else "") + text).encode())
        except OSError as error:
            raise ConfigError(f"cannot write {self.path} ({error.strerror}); it was not changed") from error
        return self.exists and keeps_backup

    def restore(self) -> None:
        """Restore the backup, or delete the file if there is none."""
        if not self.backup.exists():
            self.delete()
            return
        self._check_writable()
        try:
            self.backup.replace(self._target)
        except OSError as error:
            raise ConfigError(f"cannot write {self.path} ({error.strerror}); it was not changed") from error

    def delete(self) -> None:
        """Delete the file, and its folder if only our file was in it and it has our name."""
        self._check_writable()
        try:
            self._target.unlink()
        except OSError as error:
            raise ConfigError(f"cannot delete {self.path} ({error.strerror})") from error
        if self._target.parent.name == _OWN_FOLDER:
            with suppress(OSError):
                self._target.parent.rmdir()

    def before(self) -> str | None:
        """Return the text of the backup, if there is one."""
        with suppress(OSError, UnicodeDecodeError):
            return self.backup.read_bytes().decode("utf-8").removeprefix(_BOM)
        return None

    def _bytes(self) -> bytes | None:
        try:
            status = self._target.stat()
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(f"{self.path} is not a regular file; it was not changed")
            if status.st_size > _MAX_BYTES:
                raise ConfigError(f"{self.path} is larger than {_MAX_BYTES:,} bytes; it was not changed")
            return self._target.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ConfigError(f"cannot read {self.path} ({error.strerror})") from error

    def _check_writable(self) -> None:
        if self._content is None:
            return
        # Replacing a file works without permission to write to it, but a read-only file is read-only on purpose.
        if not self._target.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise ConfigError(f"{self.path} is read-only; make it writable, or use --print and edit it yourself")
        if self._bytes() != self._content:
            raise ConfigError(f"another program has just changed {self.path}; try again")

    def _write(self, path: Path, content: bytes) -> None:
        """Write a temporary file and move it into place, so that the file is never incomplete."""
        mode = stat.S_IMODE(self._target.stat().st_mode) if self._content is not None else 0o644
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
