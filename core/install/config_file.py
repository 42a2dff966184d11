"""A client's configuration file: read it, replace it whole or not at all, and keep what was there before."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from keyhole.core.errors import ConfigError

BACKUP = ".keyhole-backup"
_LARGEST = 50_000_000
_BOM = "\ufeff"


class ConfigFile:
    """One file, which may not be there yet; a link is followed, but in a workspace never out of it."""

    def __init__(self, path: Path, inside: Path | None = None) -> None:
        self.path = path
        try:
            self._target = path.resolve()
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"{path} cannot be followed ({error})") from None
        if inside is not None and not self._target.is_relative_to(inside):
            raise ConfigError(f"{path} leads out of the workspace, to {self._target}; it is left alone")
        self._content = self._bytes()

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        return self._content is not None

    @property
    def text(self) -> str:
        """What the file says; empty when it is not there."""
        try:
            return (self._content or b"").decode("utf-8").removeprefix(_BOM)
        except UnicodeDecodeError:
            raise ConfigError(f"{self.path} is not UTF-8; it is left alone") from None

    @property
    def backup(self) -> Path:
        """Where the file as it was before is kept."""
        return self._target.with_name(self._target.name + BACKUP)

    def replace(self, text: str) -> bool:
        """Write a new text, keeping a copy of the old one; True when there is such a copy."""
        has_mark = (self._content or b"").startswith(_BOM.encode())
        self._check_writable()
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            if self._content is not None:
                self._write(self.backup, self._content)
            self._write(self._target, ((_BOM if has_mark else "") + text).encode())
        except OSError as error:
            raise ConfigError(f"cannot write {self.path} ({error.strerror}); it is as it was") from error
        return self.exists

    def restore(self) -> None:
        """Put back what was there before, or nothing."""
        self._check_writable()
        try:
            if self.backup.exists():
                self.backup.replace(self._target)
            else:
                self._target.unlink()
        except OSError as error:
            raise ConfigError(f"cannot write {self.path} ({error.strerror}); it is as it was") from error

    def before(self) -> str | None:
        """Return the text that was there before, if a copy was kept."""
        with suppress(OSError, UnicodeDecodeError):
            return self.backup.read_bytes().decode("utf-8").removeprefix(_BOM)
        return None

    def _bytes(self) -> bytes | None:
        try:
            status = self._target.stat()
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(f"{self.path} is not a regular file; it is left alone")
            if status.st_size > _LARGEST:
                raise ConfigError(f"{self.path} is over {_LARGEST:,} bytes; it is left alone")
            return self._target.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ConfigError(f"cannot read {self.path} ({error.strerror})") from error

    def _check_writable(self) -> None:
        if self._content is None:
            return
        # Replacing a file needs no right to write to it: whoever took that away meant it.
        if not self._target.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise ConfigError(f"{self.path} is read-only; make it writable, or use --print and edit it yourself")
        if self._bytes() != self._content:
            raise ConfigError(f"{self.path} was changed by another program just now; try again")

    def _write(self, path: Path, content: bytes) -> None:
        """Write beside the file and put it in its place, so that there is never half a file."""
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
