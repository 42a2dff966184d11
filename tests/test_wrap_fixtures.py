"""What eight real servers said (`make wrap-test` records it) passes the wrap byte for byte, and is recorded."""

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from keyhole.core.index.location import index_folder
from keyhole.core.journal.reader import JournalReader
from keyhole.core.types.completeness import CallStatus

HERE = Path(__file__).parent
EXCHANGES = ZipFile(HERE / "fixtures" / "wrap" / "exchanges.zip")
NAMES = sorted({name.rpartition(".")[0] for name in EXCHANGES.namelist()})


def test_all_servers_are_there() -> None:
    assert len(NAMES) == 8


@pytest.mark.parametrize("name", NAMES)
def test_a_real_server(name: str, tmp_path: Path) -> None:
    EXCHANGES.extractall(tmp_path, [f"{name}.in", f"{name}.out"])
    sent, answered = ((tmp_path / f"{name}.{way}").read_bytes() for way in ("in", "out"))
    server = [sys.executable, str(HERE / "replayed_server.py"), f"{name}.in", f"{name}.out"]
    command = [sys.executable, "-m", "keyhole", "wrap", "--name", name, "--", *server]
    environment = os.environ | {"KEYHOLE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, input=sent, capture_output=True, cwd=tmp_path, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == answered
    calls = list(JournalReader(index_folder(tmp_path / "cache", tmp_path.resolve())).each())
    requests = [
        message for line in sent.splitlines() if line.startswith(b"{") and "id" in (message := json.loads(line))
    ]
    names = [
        message["params"]["name"] if message["method"] == "tools/call" else message["method"] for message in requests
    ]
    assert [call.tool for call in calls] == names
    assert CallStatus.PENDING not in {call.status for call in calls}
