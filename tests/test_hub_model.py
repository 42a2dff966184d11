"""A model from the hub: downloaded once, because the user chose it, from a server with the hub's protocol."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from keyhole.core.errors import ModelError
from keyhole.core.index.model import open_embedder

COMMIT = "0123456789012345678901234567890123456789"
CODE = """import sys; from pathlib import Path
from keyhole.core.service import Service; from keyhole.core.types.view_requests import Query
service = Service.open(Path(sys.argv[1]))
print(service.index().model, (found := service.search(Query("retry"))).mode, *found.notes, sep="\\n")"""


@pytest.fixture
def hub(model_folder: Path) -> Iterator[ThreadingHTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:  # the library's name for it
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            if "/resolve/" not in self.path:
                self.send_error(404)
                return
            body = (model_folder / self.path.rpartition("/")[2]).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{sha1(body, usedforsecurity=False).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def ask(tmp_path: Path, endpoint: str, **variables: str) -> list[str]:
    (tmp_path / "project").mkdir(exist_ok=True)
    (tmp_path / "project" / "a.py").write_text("# retry again\n")
    environment = os.environ | {
        "KEYHOLE_CACHE_DIR": str(tmp_path / "cache"),
        "KEYHOLE_INDEX_MODEL": "hub:someone/tiny",
        "HF_HOME": str(tmp_path / "hub"),
        "HF_ENDPOINT": endpoint,
        **variables,
    }
    command = [sys.executable, "-c", CODE, str(tmp_path / "project")]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def test_a_hub_name_downloads_once_and_then_works_offline(hub: ThreadingHTTPServer, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{hub.server_address[1]}"
    model, *mode_and_notes = ask(tmp_path, endpoint)
    assert model.startswith("someone/tiny-")
    assert mode_and_notes == ["hybrid"]
    assert ask(tmp_path, "http://127.0.0.1:1") == [model, *mode_and_notes]


def test_a_hub_that_cannot_be_reached_leaves_words(tmp_path: Path) -> None:
    model, *notes = ask(tmp_path, "http://127.0.0.1:1", HF_HUB_OFFLINE="1")
    assert model == ""
    assert "searched by words only: the model someone/tiny could not be downloaded" in notes[-2]


def test_a_search_downloads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(ModelError, match="the model someone/else has not been downloaded yet"):
        open_embedder("hub:someone/else")


def test_without_the_extra_an_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # As Python does for a module that can't be found.
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelError, match="needs the extra models") as caught:
        open_embedder("hub:someone/else")
    assert "keyhole[models]" in caught.value.remedy


def test_a_damaged_model_is_downloaded_again_once_it_is_deleted(hub: ThreadingHTTPServer, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{hub.server_address[1]}"
    model, *_ = ask(tmp_path, endpoint)
    (damaged,) = (tmp_path / "hub").rglob("snapshots/*/model.safetensors")
    damaged.resolve().write_text("version https://git-lfs.github.com/spec/v1\n")
    without, *notes = ask(tmp_path, endpoint)
    assert without == ""
    assert "searched by words only: the model someone/tiny can't be loaded" in notes[-2]
    assert notes[-1].startswith("to search by meaning, delete models--someone--tiny from the hub's cache, then run ")
    shutil.rmtree(tmp_path / "hub/hub/models--someone--tiny")
    assert ask(tmp_path, endpoint)[0] == model
