"""Who shares a server: its address, its folder, and the options that it knows."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

from keyhole.core.cli.entry import session_request
from keyhole.core.cli.main import cli
from keyhole.core.sharing import share_address
from keyhole.core.sharing.reach_server import ServerStart
from keyhole.core.sharing.remote_command import SHARED_COMMANDS
from keyhole.core.sharing.share_address import VERSION, ShareAddress, UnsharedError, find_address, user_file_path
from keyhole.core.sharing.share_wire import SESSION
from keyhole.core.user_file import user_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs sockets in folders")


def test_facts_with_two_homes_agree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert version("keyhole") == VERSION
    assert set(cli.commands) > SHARED_COMMANDS
    assert Path(user_file_path()) == user_file()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert Path(user_file_path()) == user_file()


def test_the_entry_imports_almost_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import keyhole.core.cli.entry as e\n"
        "from keyhole.core.sharing import reach_server, relay, share_address; share_address.find_address()\n"
        "e.session_request(['.']); print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith("keyhole")}
    assert loaded <= {"_socket", "_blake2", "__future__"}


def test_a_workspace_cannot_decide_whether_to_share(tmp_path: Path) -> None:
    from keyhole.core.config import load_settings
    from keyhole.core.errors import ConfigError

    (tmp_path / "keyhole.toml").write_text("share = false\n")
    with pytest.raises(ConfigError, match="share"):
        load_settings(tmp_path)


def test_beside_a_newer_server_an_older_client_is_served_alone() -> None:
    runtime = Path(tempfile.mkdtemp(prefix="kh", dir="/tmp"))
    try:
        ours, newer = ShareAddress(str(runtime), "key", "0.9.0"), ShareAddress(str(runtime), "key", "0.10.0")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(newer.socket)
            assert [found.version for found in ours.newer()] == ["0.10.0"]
            assert newer.newer() == []
            listener.listen()
            start = ServerStart(ours)
            start.try_once()
            with pytest.raises(UnsharedError, match=r"0\.10\.0 runs"):
                start.try_once()
            start.release()
    finally:
        shutil.rmtree(runtime)


def test_only_a_folder_of_ones_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Path(tempfile.mkdtemp(prefix="kh", dir="/tmp"))
    try:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
        assert Path(find_address().folder) == base / "keyhole"
        assert (base / "keyhole").stat().st_mode & 0o777 == 0o700
        (base / "keyhole").chmod(0o755)
        assert base not in Path(find_address().folder).parents
        (base / "keyhole").rmdir()
        (base / "keyhole").symlink_to(base)
        assert base not in Path(find_address().folder).parents
        (base / "keyhole").unlink()
        base.chmod(0o777)
        assert base not in Path(find_address().folder).parents
        base.chmod(0o700)
        deep = base / ("d" * 60) / ("e" * 60)
        deep.mkdir(parents=True)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
        assert len(os.fsencode(find_address().socket)) < 104
    finally:
        shutil.rmtree(base)


def test_the_key_depends_on_settings_but_not_on_the_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    before = share_address.settings_key()
    monkeypatch.setenv("KEYHOLE_TOKEN", "secret")
    assert share_address.settings_key() == before
    (tmp_path / "keyhole").mkdir()
    (tmp_path / "keyhole/config.toml").write_text("share = false\n")
    changed = share_address.settings_key()
    assert changed != before
    monkeypatch.setenv("KEYHOLE_VIEW_MAX_TOKENS", "3000")
    assert share_address.settings_key() not in (before, changed)
    monkeypatch.delenv("KEYHOLE_SHARE")
    assert not share_address.is_share_wanted()
    monkeypatch.setenv("KEYHOLE_SHARE", "1")
    assert share_address.is_share_wanted()


@pytest.mark.parametrize(
    ("arguments", "rest"),
    [
        (["a"], [b""]),
        (["--tools", "core", "a", "--no-journal"], [b"core", b"--no-journal"]),
        (["a", "--tools=all", "--force"], [b"all", b"--force"]),
        (["a", "b"], None),
        (["a", "--http"], None),
        (["a", "--no-share"], None),
        (["a", "--tools"], None),
        (["a", "--tools="], None),
        (["a", "--tools", "few"], None),
    ],
)
def test_options_that_the_server_does_not_know_are_left_to_the_command_line(
    arguments: list[str], rest: list[bytes] | None
) -> None:
    expected = None if rest is None else [SESSION, os.fsencode(Path.cwd() / "a"), *rest]
    assert session_request(arguments) == expected
