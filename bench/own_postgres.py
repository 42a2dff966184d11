"""A PostgreSQL server of our own for benchmarks and fault tests: started, killed and started again in one folder.

PostgreSQL refuses to run as root, so root starts it as the user nobody.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_INSTANCE = "bench"
_SECONDS = 90


class OwnPostgres:
    """A server whose data stays in a folder until that is deleted."""

    def __init__(self, base: Path, settings: Sequence[str] = ()) -> None:
        import pg0

        self._base = base
        self._settings = settings
        base.mkdir(parents=True, exist_ok=True)
        # Another user may not be able to enter the folder of the installed program.
        if not (base / "pg0").exists():
            shutil.copy(Path(pg0.__file__).parent / "bin" / "pg0", base)
        if other := _other_user():
            base.chmod(0o755)
            os.chown(base, other["user"], other["group"])
        kept = base / "port"
        if not kept.exists():
            kept.write_text(str(free_port()))
        self._port = int(kept.read_text())

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"postgresql://postgres:postgres@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start the server; after a kill, it repairs itself first. One that an interrupted run left is stopped."""
        if self._is_running():
            # A killed server may still be listed for a moment.
            with suppress(subprocess.CalledProcessError):
                self.stop()
        options = [part for setting in self._settings for part in ("-c", setting)]
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                self._run("start", "--port", str(self._port), *options)
                return
            except subprocess.CalledProcessError:
                # Shared memory of killed processes is released a moment later.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def stop(self) -> None:
        """Stop the server cleanly."""
        self._run("stop")

    def _is_running(self) -> bool:
        return any(Path(f"/proc/{number}").exists() for number in self._main_process())

    def _main_process(self) -> list[int]:
        return [int(file.read_text().split()[0]) for file in self._base.glob(".pg0/instances/*/data/postmaster.pid")]

    def kill(self) -> None:
        """Kill the server and all its processes at once."""
        (main,) = self._main_process()
        for process in [main, *_children(main)]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def program(self, name: str) -> Path:
        """Return the path of a program of PostgreSQL, such as pg_dump."""
        return next(self._base.glob(f".pg0/installation/**/bin/{name}"))

    def _run(self, *arguments: str) -> None:
        other = _other_user()
        # Not a pipe: the server inherits it and would keep it open.
        with (self._base / "log").open("a") as log:
            subprocess.run(
                [str(self._base / "pg0"), *arguments, "--name", _INSTANCE],
                env={"HOME": str(self._base), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
                cwd=self._base,
                check=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=other.get("user"),
                group=other.get("group"),
                extra_groups=[] if other else None,
            )


def _other_user() -> dict[str, int]:
    if os.geteuid() != 0:
        return {}
    who = pwd.getpwnam("nobody")
    return {"user": who.pw_uid, "group": who.pw_gid}


def _children(process: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == process:
                found.append(int(status.parent.name))
    return found


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
