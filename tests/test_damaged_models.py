"""A damaged model never stops a search: it uses words only, and a note says what is wrong and what to do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import pytest
from driving import ask, drive, make_app, press, results_of
from fastmcp import Client, FastMCP
from rights import bound_by_modes
from safetensors.numpy import load_file, save_file
from textual.pilot import Pilot

from keyhole.core.config import load_settings
from keyhole.core.errors import QueryError
from keyhole.core.index import model as models
from keyhole.core.index.model_folder import open_once
from keyhole.core.links.requests import RelatedRequest
from keyhole.core.notes import IndexEvent, IndexMessage, NoteKind
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query
from keyhole.core.view.status_text import status_text

VECTORS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 11776088\n"
COMMIT = "0123456789012345678901234567890123456789"
Damage = Callable[[Path], object]


def write_header(path: Path, header: object) -> None:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(64))


def change_vectors(path: Path, change: Callable[["np.ndarray"], "np.ndarray"]) -> None:
    # Through a copy, because the file is mapped into memory while it is read.
    changed = {name: np.ascontiguousarray(change(array.copy())) for name, array in load_file(path).items()}
    path.unlink()
    save_file(changed, path)


def with_nan(array: "np.ndarray") -> "np.ndarray":
    array = array.astype(np.float32)
    array[1, 3] = np.nan
    return array


# Each damage, and what the note says about it.
DAMAGE: dict[str, tuple[Damage, str]] = {
    "no vectors": (lambda folder: (folder / VECTORS).unlink(), f"{VECTORS} is missing"),
    "no folder": (shutil.rmtree, f"{VECTORS} is missing"),
    "empty": (lambda folder: (folder / VECTORS).write_bytes(b""), f"{VECTORS} is empty"),
    "pointer": (lambda folder: (folder / VECTORS).write_text(POINTER), f"{VECTORS} is a git-lfs pointer"),
    "text": (lambda folder: (folder / VECTORS).write_text("<html>\n" * 90), f"{VECTORS} is not a safetensors file"),
    "short": (lambda folder: (folder / VECTORS).write_bytes(b"\x09"), f"{VECTORS} has a damaged header"),
    "truncated": (lambda folder: os.truncate(folder / VECTORS, 900), f"{VECTORS} is truncated: 900 of "),
    "header length": (
        lambda folder: (folder / VECTORS).write_bytes(b"\x03" + (folder / VECTORS).read_bytes()[1:]),
        f"{VECTORS} has a damaged header",
    ),
    "header": (lambda folder: write_header(folder / VECTORS, [1]), f"{VECTORS} has a damaged header"),
    "no tensor": (lambda folder: write_header(folder / VECTORS, {}), f"{VECTORS} has no tensor named embeddings"),
    "one dimension": (
        lambda folder: change_vectors(folder / VECTORS, lambda array: array[:, 0]),
        "the tensor embeddings in model.safetensors is not a table of vectors",
    ),
    "odd dimension": (
        lambda folder: change_vectors(folder / VECTORS, lambda array: array[:, :-1]),
        "dimensions, which is not a multiple of 8",
    ),
    "unknown type": (
        lambda folder: write_header(
            folder / VECTORS, {"embeddings": {"dtype": "F9", "shape": [1, 8], "data_offsets": [0, 64]}}
        ),
        "F9",
    ),
    "rows": (lambda folder: change_vectors(folder / VECTORS, lambda array: array[:-1]), "vectors"),
    "not a number": (lambda folder: change_vectors(folder / VECTORS, with_nan), "vectors"),
    "no tokenizer": (lambda folder: (folder / TOKENIZER).unlink(), "tokenizer.json is missing"),
    "empty tokenizer": (lambda folder: (folder / TOKENIZER).write_text(""), "tokenizer.json is not valid JSON"),
    "tokenizer pointer": (
        lambda folder: (folder / TOKENIZER).write_text(POINTER),
        "tokenizer.json is a git-lfs pointer",
    ),
    "damaged tokenizer": (lambda folder: (folder / TOKENIZER).write_text('{"model": {'), "can't be loaded ("),
    "foreign tokenizer": (lambda folder: (folder / TOKENIZER).write_text("[1]"), "can't be loaded ("),
    "binary tokenizer": (lambda folder: (folder / TOKENIZER).write_bytes(os.urandom(500)), "can't be loaded ("),
}
# Only a model2vec model needs its settings.
CONFIG_DAMAGE: dict[str, tuple[Damage, str]] = {
    "no config": (lambda folder: (folder / CONFIG).unlink(), "config.json is missing"),
    "damaged config": (lambda folder: (folder / CONFIG).write_text("{"), "config.json is not valid JSON"),
    "other config": (lambda folder: (folder / CONFIG).write_text("[]"), "can't be loaded ("),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    open_once.cache_clear()
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("# retry again\nx = 1\n")
    # A file that has just been written would be compared again by the next run.
    os.utime(root / "a.py", (1_700_000_000, 1_700_000_000))
    return root


@pytest.fixture
def builtin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the builtin model to a folder where it can be damaged."""
    folder = tmp_path / "assets/model"
    shutil.copytree(str(files("keyhole.assets").joinpath("model")), folder)
    monkeypatch.setattr(models, "_builtin_folder", lambda: folder)
    return folder


@pytest.fixture
def in_folder(tmp_path: Path, model_folder: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "copy"))


@pytest.fixture
def from_hub(tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a model where the hub's library keeps it; return the folder of its files."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    whole = tmp_path / "hub/models--someone--tiny"
    shutil.copytree(model_folder, whole / "snapshots" / COMMIT)
    (whole / "refs").mkdir()
    (whole / "refs/main").write_text(COMMIT)
    return whole / "snapshots" / COMMIT


def open_service(root: Path, model: str) -> Service:
    return Service(root, load_settings(root, {"cache_dir": root.parent / "cache", "index.model": model}))


def check_goes_on_by_words(root: Path, model: str, problem: str, remedy: str) -> None:
    """Index, search and ask for the status with a damaged model."""
    service, messages = open_service(root, model), list[IndexMessage]()
    assert service.index(on_message=messages.append).model == ""
    assert [message.event for message in messages] == [IndexEvent.NO_VECTORS]
    assert messages[0].text.startswith("indexing without vectors: ")
    result = service.search(Query("retry"))
    assert [hit.path for hit in result.hits] == ["a.py"]
    reason, advice = (note.text for note in result.notes if note.kind == NoteKind.WORDS_ONLY)
    assert problem in reason
    assert advice == f"to search by meaning, {remedy}"
    status = service.status()
    for text in (messages[0].text, status.model_problem):
        assert problem in text
        assert text.endswith(f"; {remedy}")
        assert "\n" not in text
    related = service.relation_view(RelatedRequest(path="a.py", line=1))
    assert f"Note: {reason[:90]}" in related.text
    assert f"Model      search is by words only: {status.model_problem}\n" in status_text(status)
    with pytest.raises(QueryError, match="mode=semantic needs vectors, but the "):
        service.search(Query("retry", Mode.SEMANTIC))
    # Another run has nothing to do, and does not read every file again.
    generation = service.index(on_message=messages.append).generation
    assert [message.event for message in messages] == [IndexEvent.NO_VECTORS] * 2
    assert generation == status.generation
    service.close()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_builtin_model(root: Path, builtin: Path, damage: str) -> None:
    act, problem = DAMAGE[damage]
    act(builtin)
    check_goes_on_by_words(root, "builtin", problem, "reinstall keyhole")


@pytest.mark.parametrize("damage", DAMAGE | CONFIG_DAMAGE)
def test_a_damaged_model_in_a_folder(root: Path, in_folder: Path, damage: str) -> None:
    act, problem = (DAMAGE | CONFIG_DAMAGE)[damage]
    act(in_folder)
    check_goes_on_by_words(root, str(in_folder), problem, "repair its folder, or change index.model")


@pytest.mark.parametrize("damage", ["pointer", "truncated", "not a number", "damaged tokenizer", "damaged config"])
def test_a_damaged_model_from_the_hub(root: Path, from_hub: Path, damage: str) -> None:
    act, problem = (DAMAGE | CONFIG_DAMAGE)[damage]
    act(from_hub)
    remedy = "delete models--someone--tiny from the hub's cache, then run keyhole index"
    check_goes_on_by_words(root, "hub:someone/tiny", problem, remedy)


@pytest.mark.parametrize("damage", ["pointer", "truncated", "no vectors", "not a number", "damaged tokenizer"])
def test_a_model_that_is_damaged_after_indexing(root: Path, in_folder: Path, damage: str) -> None:
    assert open_service(root, str(in_folder)).index().model.startswith("copy-")
    open_once.cache_clear()
    act, problem = DAMAGE[damage]
    act(in_folder)
    service = open_service(root, str(in_folder))
    # A changed file is indexed again by the search itself, which must not fail either.
    (root / "a.py").write_text("# retry once more\n")
    result = service.search(Query("retry"))
    assert [hit.path for hit in result.hits] == ["a.py"]
    assert problem in result.notes[-2].text
    assert problem in service.status().model_problem


def test_a_repaired_model_is_used_by_the_next_run_of_the_same_process(root: Path, in_folder: Path) -> None:
    whole = (in_folder / VECTORS).read_bytes()
    (in_folder / VECTORS).write_text(POINTER)
    service = open_service(root, str(in_folder))
    assert service.index().model == ""
    assert service.search(Query("backoff")).hits == ()
    (in_folder / VECTORS).write_bytes(whole)
    assert service.index().model.startswith("copy-")
    assert [hit.path for hit in service.search(Query("backoff")).hits] == ["a.py"]
    assert service.status().model_problem == ""
    open_once.cache_clear()
    again = open_service(root, str(in_folder))
    assert again.index().changed == 0
    assert again.search(Query("backoff")).mode == Mode.HYBRID


def run(root: Path, model: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"KEYHOLE_CACHE_DIR": str(root.parent / "cache"), "KEYHOLE_INDEX_MODEL": model}
    command = bound_by_modes(sys.executable, "-m", "keyhole", *arguments)
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("damage", ["pointer", "damaged tokenizer", "no permission"])
def test_every_command_goes_on(root: Path, in_folder: Path, damage: str) -> None:
    if damage == "no permission":
        in_folder.chmod(0)
        problem = "model.safetensors: Permission denied"
    else:
        act, problem = DAMAGE[damage]
        act(in_folder)
    try:
        done = {name: run(root, str(in_folder), *name.split()) for name in ("index", "search retry", "status")}
    finally:
        in_folder.chmod(0o755)
    assert [(one.returncode, "Traceback" in one.stderr) for one in done.values()] == [(0, False)] * len(done)
    assert problem in done["index"].stderr
    assert problem in done["search retry"].stdout
    assert "Note: to search by meaning, repair its folder, or change index.model" in done["search retry"].stdout
    assert "a.py" in done["search retry"].stdout
    assert problem in done["status"].stdout


@pytest.mark.anyio
async def test_agents_get_an_answer(root: Path, in_folder: Path) -> None:
    from keyhole.mcp_server.server import build_server

    DAMAGE["pointer"][0](in_folder)
    server: FastMCP = build_server(open_service(root, str(in_folder)))
    async with Client(server) as client:
        for tool, arguments in [("search_code", {"query": "retry"}), ("index_status", {})]:
            result = await client.call_tool_mcp(tool, arguments)
            assert not result.is_error
            assert "model.safetensors is a git-lfs pointer" in str(result.content)
            assert "repair its folder, or change index.model" in str(result.content)


def test_the_explorer_says_it_once(root: Path, in_folder: Path) -> None:
    DAMAGE["pointer"][0](in_folder)
    app = make_app(open_service(root, str(in_folder)))

    def notices() -> list[str]:
        return [note.message for note in app._notifications]

    async def steps(pilot: Pilot[None]) -> None:
        assert [("git-lfs pointer" in text) for text in notices()] == [True]
        await ask(pilot, "retry", "enter")
        assert len(results_of(pilot).rows) == 1
        # Further runs, as after every save, don't repeat it.
        await press(pilot, "r")
        await press(pilot, "r")
        assert len(notices()) == 1

    drive(app, steps)
