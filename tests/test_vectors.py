"""Vectors in the index: written with the other rows of a file, and recomputed when the model changes."""

import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import safetensors.numpy
from model2vec import StaticModel

from keyhole.core.errors import ModelError, QueryError
from keyhole.core.index.embedder import quantise
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import NONE, StaticEmbedder, from_folder, open_embedder
from keyhole.core.index.model_folder import BUILTIN, open_once
from keyhole.core.index.store import Store, check_integrity
from keyhole.core.index.update import Hooks, Request, update_index
from keyhole.core.notes import IndexMessage
from keyhole.core.search.semantic import nearest_to
from keyhole.core.search.sign_cache import SignCache
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query

COUNTS = "SELECT (SELECT count(*) FROM chunk), (SELECT count(*) FROM chunk_vector), (SELECT count(*) FROM chunk_signs)"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, words in {"a": "retry again", "b": "parse syntax", "c": "paint colour"}.items():
        (root / f"{name}.py").write_text(f"# {words}\nx = 1\n")
    (root / "empty.py").write_text("")
    return root


def index(root: Path, embedder: StaticEmbedder | None) -> tuple[Store, list[str]]:
    messages: list[IndexMessage] = []
    update_index(Request(root, root.parent / "cache", 1_000_000, embedder=embedder), Hooks(message=messages.append))
    store = Store(root.parent / "cache" / INDEX_FILE)
    store.load_vectors()
    return store, [message.text for message in messages]


def nearest(store: Store, embedder: StaticEmbedder, text: str) -> list[str]:
    """Return the paths of the nearest chunks."""
    found = [chunk_id for chunk_id, _ in nearest_to(store, embedder.encode([text])[0], SignCache(), limit=3)]
    paths = {place.chunk_id: place.path for place in store.chunk_places(found)}
    return [paths[chunk_id] for chunk_id in found]


def test_vectors_find_what_means_the_same(root: Path, model_folder: Path) -> None:
    embedder = StaticEmbedder(from_folder(model_folder))
    store, messages = index(root, embedder)
    with store:
        assert messages == []
        assert store.query(COUNTS) == [(3, 3, 3)]
        assert nearest(store, embedder, "backoff")[0] == "a.py"
        assert nearest(store, embedder, "read")[0] == "b.py"
        assert nearest(store, embedder, "draw")[0] == "c.py"
        assert store.facts().model.startswith("tiny-")
        assert store.facts().dimension == 64


def test_vectors_are_replaced_and_removed_with_their_file(root: Path, model_folder: Path) -> None:
    embedder = StaticEmbedder(from_folder(model_folder))
    index(root, embedder)[0].close()
    (root / "a.py").write_text("# paint and draw\n")
    (root / "b.py").unlink()
    store, _ = index(root, embedder)
    with store:
        assert store.query(COUNTS) == [(2, 2, 2)]
        assert set(nearest(store, embedder, "colour")) == {"a.py", "c.py"}
        assert check_integrity(store) == []


def test_another_model_embeds_everything_again_and_says_so(root: Path, model_folder: Path, tmp_path: Path) -> None:
    index(root, StaticEmbedder(from_folder(model_folder)))[0].close()
    other = tmp_path / "other"
    shutil.copytree(model_folder, other)
    from_scratch = StaticEmbedder(from_folder(other))
    store, messages = index(root, from_scratch)
    with store:
        assert len(messages) == 1
        assert "the model changed from tiny-" in messages[0]
        assert store.query(COUNTS) == [(3, 3, 3)]
    assert index(root, from_scratch)[1] == []


def test_an_index_without_a_model_gets_vectors_later_and_loses_them_again(root: Path, model_folder: Path) -> None:
    store, messages = index(root, None)
    with store:
        assert store.value("SELECT count(*) FROM chunk_vector") == 0
    store, messages = index(root, StaticEmbedder(from_folder(model_folder)))
    with store:
        assert "from none to tiny-" in messages[0]
        assert store.query(COUNTS) == [(3, 3, 3)]
    store, _ = index(root, None)
    with store:
        assert store.value("SELECT count(*) FROM chunk_vector") == 0
        assert store.facts().model == ""


def test_the_model_is_a_setting_of_the_user(root: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(root.parent / "cache"))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", str(model_folder))
    assert Service.open(root).index().model.startswith("tiny-")
    assert Service.open(root).status().model.startswith("tiny-")


def test_a_folder_without_a_model_is_refused_and_never_looked_up_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.safetensors is missing"):
        StaticEmbedder(from_folder(Path("minishlab/potion-base-8M")))
    (tmp_path / "model.safetensors").write_bytes(b"junk")
    with pytest.raises(ModelError, match="can't be loaded"):
        StaticEmbedder(from_folder(tmp_path)).encode(["x"])


def test_where_sqlite_vec_cannot_be_loaded_the_index_has_no_vectors(
    root: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlite_vec.loadable_path", lambda: "/nowhere/vec0")
    store, messages = index(root, StaticEmbedder(from_folder(model_folder)))
    with store:
        assert messages == ["indexing without vectors: sqlite-vec can't be loaded"]
        assert store.value("SELECT count(*) FROM chunk") == 3


def test_quantised_vectors_keep_their_direction() -> None:
    vectors = np.random.default_rng(3).normal(size=(50, 256)).astype(np.float32)
    vectors[0] = 0
    for vector, (signs, small) in zip(vectors, quantise(vectors), strict=True):
        assert len(signs) == 32
        restored = np.frombuffer(small, np.int8).astype(np.float32)
        if vector.any():
            cosine = restored @ vector / np.linalg.norm(restored) / np.linalg.norm(vector)
            assert cosine > 0.999


# The model that ships with Keyhole


@pytest.fixture
def service(root: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(root.parent / "cache"))
    (root / "backoff.py").write_text("def wait(attempt):\n    sleep(2 ** attempt)\n")
    return Service.open(root)


def test_meaning_works_as_soon_as_keyhole_is_installed(service: Service) -> None:
    assert service.index().model.startswith("keyhole-")
    result = service.search(Query("pause longer after each failed try"))
    assert result.mode == Mode.HYBRID
    assert result.hits[0].path == "backoff.py"
    assert not any("words only" in note.text for note in result.notes)


def test_the_shipped_model_is_small_and_readable_by_everyone() -> None:
    folder = Path(str(files("keyhole.assets").joinpath("model")))
    shipped = {path.name: path.stat() for path in folder.iterdir()}
    assert set(shipped) == {"model.safetensors", "tokenizer.json", "config.json", "MODEL_CARD.md"}
    assert sum(status.st_size for status in shipped.values()) <= 16_000_000
    assert all(status.st_mode & 0o444 == 0o444 for status in shipped.values())


def test_no_model_when_none_is_wanted(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", NONE)
    without = Service.open(service.root)
    assert without.index().model == ""
    result = without.search(Query("retry"))
    assert result.mode == Mode.KEYWORD
    assert [note.text for note in result.notes] == ["mode=auto chose keyword"]


def test_an_index_without_vectors_is_searched_by_words_and_says_so(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("KEYHOLE_INDEX_MODEL", NONE)
        Service.open(service.root).index()
    result = service.search(Query("retry"))
    assert [hit.path for hit in result.hits] == ["a.py"]
    assert "searched by words only: the index has no vectors from the current model" in result.notes[-2].text


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_without_the_files_of_the_model_words_still_find(
    service: Service, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(model_folder, damaged)
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", str(damaged))
    (damaged / name).unlink()
    broken, messages = Service.open(service.root), list[IndexMessage]()
    assert broken.index(on_message=messages.append).model == ""
    assert "indexing without vectors" in messages[-1].text
    result = broken.search(Query("retry"))
    assert [hit.path for hit in result.hits] == ["a.py"]
    assert "searched by words only" in result.notes[-2].text


def test_a_model_that_breaks_after_indexing_leaves_words(
    service: Service, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model_folder, copy)
    StaticEmbedder(from_folder(copy))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", str(copy))
    assert Service.open(service.root).index().model.startswith("copy-")
    open_once.cache_clear()
    (copy / "tokenizer.json").write_text("{")
    result = Service.open(service.root).search(Query("retry"))
    assert [hit.path for hit in result.hits] == ["a.py"]
    assert "searched by words only: the model copy can't be loaded" in result.notes[-2].text
    asked_for = Service.open(service.root).search(Query("retry", Mode.HYBRID))
    assert asked_for.mode == Mode.KEYWORD
    assert asked_for.notes == result.notes[-2:]
    with pytest.raises(QueryError, match=r"mode=semantic needs vectors, but the model copy can't be loaded"):
        Service.open(service.root).search(Query("retry", Mode.SEMANTIC))


def test_a_search_by_words_loads_no_model(service: Service) -> None:
    service.index()
    code = """import sys; from pathlib import Path; from keyhole.core.service import Service
from keyhole.core.notes import IndexMessage
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import Query
service = Service.open(Path(sys.argv[1]))
for mode in (Mode.KEYWORD, Mode.SYMBOL, Mode.REGEX):
    service.search(Query("retry", mode))
service.search(Query("/retry/"))
assert "tokenizers" not in sys.modules
service.search(Query("retry"))
assert "tokenizers" in sys.modules"""
    done = subprocess.run([sys.executable, "-c", code, service.root], env=os.environ, check=False)
    assert done.returncode == 0


def test_all_of_a_process_shares_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    open_once.cache_clear()
    loaded, load = list[Path](), safetensors.numpy.load_file

    def counted(path: Path) -> dict[str, np.ndarray]:
        loaded.append(path)
        return load(path)

    monkeypatch.setattr(safetensors.numpy, "load_file", counted)
    embedder = open_embedder(BUILTIN)
    assert embedder is open_embedder(BUILTIN)
    assert embedder is not None
    threads = [Thread(target=embedder.encode, args=(["read a file"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 1


def test_the_shipped_model_is_read_as_model2vec_reads_it() -> None:
    """If no token occurs twice and no word is split into fragments, both compute the same vectors."""
    folder = Path(str(files("keyhole.assets").joinpath("model")))
    texts = [
        "parse the config file",
        "Çédille naïve e\u0301tat",
        "getHTTPResponse and set_user_name",
        "x86Utf8 ABCs",
        "",
        "%%",
    ]
    expected = StaticModel.from_pretrained(folder).encode(texts, max_length=None)
    embedder = open_embedder(BUILTIN)
    assert embedder is not None
    assert np.abs(embedder.encode(texts) - expected).max() < 1e-5


def test_what_is_repeated_counts_less_and_scraps_count_nothing() -> None:
    embedder = open_embedder(BUILTIN)
    assert embedder is not None
    once, often, scraps, both = embedder.encode(["retry", "retry " * 9 + "paint", "xudlftq", "retry xudlftq"])
    paint = embedder.encode(["paint"])[0]
    lengths = [np.linalg.norm(row) for row in embedder.encode(["retry", "paint"])]
    assert lengths == pytest.approx([1, 1], abs=1e-5)
    assert once @ often < 0.98
    assert paint @ often > 0.1
    assert not scraps.any()
    assert np.abs(once - both).max() < 1e-6


def test_files_embedded_by_workers_get_the_same_vectors(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.core.index.pool._POOL_BYTES", 0)
    found = []
    for workers in (1, 2):
        folder = tmp_path / f"cache{workers}"
        update_index(Request(root, folder, 1_000_000, workers, open_embedder(BUILTIN)))
        with Store(folder / INDEX_FILE) as store:
            found.append(store.query("SELECT chunk_id, vector FROM chunk_vector ORDER BY chunk_id"))
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.HYBRID, Mode.SEMANTIC])
def test_nonsense_finds_nothing(service: Service, mode: Mode) -> None:
    service.index()
    result = service.search(Query("zzzxqv", mode))
    assert result.hits == ()
    assert result.total == 0
    assert result.nothing
    assert result.nothing.looked_for == "match for 'zzzxqv'"


def test_what_is_far_from_the_query_is_left_out(service: Service) -> None:
    service.index()
    near = service.search(Query("colour of a brush", Mode.SEMANTIC))
    assert near.hits[0].path == "c.py"
    assert near.total < 4


def test_another_way_of_reading_a_model_is_another_model(model_folder: Path) -> None:
    class Other(StaticEmbedder):
        reading = "backwards"

    assert Other(from_folder(model_folder)).name != StaticEmbedder(from_folder(model_folder)).name


def test_a_changed_file_gets_no_vectors_of_another_model(
    service: Service, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("KEYHOLE_INDEX_MODEL", str(model_folder))
        Service.open(service.root).index()
    (service.root / "a.py").write_text("# retry once more\n")
    assert [hit.path for hit in service.search(Query("retry")).hits] == ["a.py"]
    with Store(service.folder / INDEX_FILE) as store:
        assert store.query("SELECT DISTINCT length(vector) FROM chunk_vector") == [(64,)]
