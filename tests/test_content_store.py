"""The content store: with it, an index is the same as without, whatever is in it, and whatever happens to it."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from canaries import text_of
from discovery import put
from fresh_index import Request, different_answers, different_rows, dump_rows

from keyhole.core.cli.main import run_command
from keyhole.core.config import load_settings
from keyhole.core.errors import ConfigError
from keyhole.core.index.content_keys import place_key, text_key
from keyhole.core.index.content_parts import TextFacts, pack_text, unpack_text
from keyhole.core.index.content_store import ContentPlace, ContentStore, delete_content
from keyhole.core.index.location import INDEX_FILE, STORE_FILE, store_folder
from keyhole.core.index.rows import ChunkRow, WordColumns
from keyhole.core.links.requests import LinksRequest, ReferencesRequest, RelatedRequest
from keyhole.core.service import Service
from keyhole.core.syntax.parser_process import ParserProcess
from keyhole.core.types.choices import Mode
from keyhole.core.types.view_requests import SearchRequest

LANGUAGES = Path(__file__).parent / "fixtures" / "languages"
HEADER = "int area(int side);\nstruct shape { int side; };\n"
PYTHON = 'from shapes import area\n\n\ndef test_area():\n    """Measure a square."""\n    assert area(2) == 4\n'
# The same texts at paths that decide what they mean: the language, the role, and what they declare.
SAME_TEXTS = {
    "src/shape.c": HEADER,
    "src/shape.h": HEADER,
    "src/shape.hpp": HEADER,
    "src/shape.txt": HEADER,
    "src/plus.h": "class Shape { public: int side; };\n",
    "src/plus.cpp": "class Shape { public: int side; };\n",
    "tests/test_area.py": PYTHON,
    "src/area.py": PYTHON,
    "bin/area": "#!/usr/bin/env python3\n" + PYTHON,
    "bin/area.txt": "#!/usr/bin/env python3\n" + PYTHON,
    "package.json": '{"name": "shapes", "main": "lib/index.js"}\n',
    "other.json": '{"name": "shapes", "main": "lib/index.js"}\n',
    "Cargo.toml": '[package]\nname = "shapes"\nedition = "2021"\n',
    "crate.toml": '[package]\nname = "shapes"\nedition = "2021"\n',
    "docs/one.md": "# Shapes\n\nSee [area](../src/area.py) and [[two]].\n",
    "docs/two.md": "# Shapes\n\nSee [area](../src/area.py) and [[two]].\n",
    "empty.py": "",
    "empty.md": "",
    "latin.txt": "caf\u00e9\n",
    "broken.py": "def broken(:\n    return [\n",
}
REQUESTS: tuple[Request, ...] = (
    *(SearchRequest("area of a shape", mode=mode) for mode in Mode),
    SearchRequest("/side/"),
    LinksRequest("docs/one.md"),
    ReferencesRequest("area"),
    RelatedRequest("src/area.py", 4),
)


def write_tree(root: Path) -> Path:
    for path, text in SAME_TEXTS.items():
        put(root, path, text)
    return root


def opened(root: Path, cache: Path, **flags: object) -> Service:
    return Service(
        root, load_settings(root, {"cache_dir": cache, **{k.replace("__", "."): v for k, v in flags.items()}})
    )


def without_store(root: Path, cache: Path) -> Service:
    service = opened(root, cache, content_store__max_bytes=0)
    service.index()
    return service


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("tree") / "one")


@pytest.fixture(scope="module")
def plain(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Service:
    return without_store(tree, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def filled(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder whose content store knows the tree."""
    cache = tmp_path_factory.mktemp("filled")
    opened(tree, cache).index()
    return cache


@pytest.fixture
def cache(filled: Path, tmp_path: Path) -> Path:
    """Return a cache folder with a content store of its own that knows the tree, and no index."""
    shutil.copytree(store_folder(filled), store_folder(tmp_path / "cache"))
    return tmp_path / "cache"


def store_at(cache: Path) -> Path:
    return store_folder(cache) / STORE_FILE


def entries(cache: Path) -> int:
    return int(apsw.Connection(str(store_at(cache))).execute("SELECT count(*) FROM entry").get)


# The same index


def test_an_index_that_fills_the_store_is_the_same_as_without(tree: Path, plain: Service, tmp_path: Path) -> None:
    service = opened(tree, tmp_path)
    assert service.index().reused < 10, "only texts that are there twice"
    assert list(different_rows(service, plain)) == []
    assert not store_at(plain.settings.cache_dir).exists()


def test_an_index_of_known_texts_is_the_same_as_without(plain: Service, cache: Path, tmp_path: Path) -> None:
    service = opened(write_tree(tmp_path / "one"), cache)
    report = service.index()
    assert (report.reused, report.files) == (report.files, len(plain.inventory().files))
    assert list(different_rows(service, plain)) == []
    assert list(different_answers(service, plain, REQUESTS)) == []


def test_every_language_gives_the_same_index(tmp_path: Path) -> None:
    plain = without_store(LANGUAGES, tmp_path / "plain")
    opened(LANGUAGES, tmp_path / "cache").index()
    copy = opened(shutil.copytree(LANGUAGES, tmp_path / "copy"), tmp_path / "cache")
    report = copy.index()
    assert report.reused == report.files > 40
    assert list(different_rows(copy, plain)) == []


def test_known_texts_are_not_parsed(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ParserProcess, "analyse", lambda *_: pytest.fail("parsed"))
    monkeypatch.setattr("keyhole.core.index.prepare.with_vectors", lambda *_: pytest.fail("embedded"))
    assert opened(write_tree(tmp_path / "one"), cache).index().files == len(SAME_TEXTS)


def test_a_full_run_analyses_everything(cache: Path, tmp_path: Path) -> None:
    put(tmp_path / "one", "src/area.py", PYTHON)
    service = opened(tmp_path / "one", cache)
    assert (service.index(full=True).reused, service.index().changed) == (0, 0)


def test_files_that_swap_names_are_the_same_as_without(cache: Path, tmp_path: Path) -> None:
    root = tmp_path / "one"
    paths = list(SAME_TEXTS)
    for path, text in zip(paths, [SAME_TEXTS[path] for path in reversed(paths)], strict=True):
        put(root, path, text)
    service = opened(root, cache)
    service.index()
    assert list(different_rows(service, without_store(root, tmp_path / "plain"))) == []


def test_moved_files_are_embedded_again_but_not_parsed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ParserProcess, "analyse", lambda *_: pytest.fail("parsed"))
    root = tmp_path / "one"
    write_tree(root / "moved")
    service = opened(root, cache)
    report = service.index()
    assert report.reused == report.files
    monkeypatch.undo()
    assert list(different_rows(service, without_store(root, tmp_path / "plain"))) == []


def test_switching_branches_analyses_only_new_texts(cache: Path, tmp_path: Path) -> None:
    root = write_tree(tmp_path / "one")
    service = opened(root, cache)
    service.index()
    put(root, "src/area.py", "def area(side):\n    return side * side\n")
    put(root, "src/new.py", "def perimeter(side):\n    return 4 * side\n")
    branch = service.index()
    assert (branch.added, branch.changed, branch.reused) == (1, 1, 0)
    put(root, "src/area.py", SAME_TEXTS["src/area.py"])
    (root / "src/new.py").unlink()
    back = service.index()
    assert (back.removed, back.changed, back.reused) == (1, 1, 1)
    put(root, "src/new.py", "def perimeter(side):\n    return 4 * side\n")
    assert service.index().reused == 1


def test_a_change_of_any_part_of_a_key_gives_another_key() -> None:
    of_text = text_key("a", "python")
    others = [text_key("b", "python"), text_key("a", "c"), text_key("ap", "ython"), place_key(of_text, "a.py", "m")]
    others += [place_key(of_text, "b.py", "m"), place_key(of_text, "a.py", "n"), place_key(of_text, "a.pym", "")]
    assert len({of_text, *others}) == 1 + len(others)
    assert text_key("\ud800", "python") != text_key("\ud801", "python")


def test_words_of_chunks_are_unpacked_as_they_were() -> None:
    words = ["", "größe 名前", "half \ud800 of a character", "\U0001f600"]
    chunks = tuple(ChunkRow(1, 2, 0, 9, "def a", WordColumns("", "a", text)) for text in words)
    part = TextFacts("python", 2, False, chunks, (), (), "a", "", b"\x01")
    assert unpack_text(pack_text(part)) == part


@pytest.mark.parametrize("changed", ["ANALYSIS_VERSION", "_PACKING"])
def test_entries_of_another_version_are_not_used(
    changed: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keyhole.core.index import content_keys

    monkeypatch.setattr(content_keys, changed, 1_000)
    content_keys._maker.cache_clear()
    put(tmp_path / "one", "a.py", PYTHON)
    assert opened(tmp_path / "one", cache).index().reused == 0
    content_keys._maker.cache_clear()


# What happens to the store


def damaged_entries(path: Path) -> None:
    with apsw.Connection(str(path)) as db:
        db.execute("UPDATE entry SET packed = CAST(substr(packed, 1, 20) || x'00' || substr(packed, 22) AS BLOB)")


def swapped_entries(path: Path) -> None:
    """Give each entry the bytes and the checksum of its neighbour."""
    with apsw.Connection(str(path)) as db:
        rows = list(db.execute("SELECT id, checksum, packed FROM entry ORDER BY id"))
        for (id_, _, _), (_, checksum, packed) in zip(rows, rows[1:] + rows[:1], strict=True):
            db.execute("UPDATE entry SET checksum = ?, packed = ? WHERE id = ?", (checksum, packed, id_))


def overwritten_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for start in range(8_192, len(content) - 4_096, 8_192):
        content[start : start + 2_048] = b"\xa5" * 2_048
    path.write_bytes(content)


def no_database(path: Path) -> None:
    path.write_text("this is no database\n" * 1_000)


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def other_version(path: Path) -> None:
    apsw.Connection(str(path)).pragma("user_version", 99)


def newer_masks(path: Path) -> None:
    apsw.Connection(str(path)).execute("UPDATE meta SET value = 99")


@pytest.mark.parametrize(
    "damage",
    [
        damaged_entries,
        swapped_entries,
        overwritten_pages,
        no_database,
        cut_in_half,
        a_folder,
        other_version,
        newer_masks,
    ],
)
def test_a_damaged_store_changes_no_index(
    damage: Callable[[Path], None],
    tree: Path,
    plain: Service,
    cache: Path,
) -> None:
    damage(store_at(cache))
    service = opened(tree, cache)
    service.index()
    assert list(different_rows(service, plain)) == []


@pytest.mark.parametrize("damage", [damaged_entries, no_database, other_version])
def test_a_damaged_store_is_filled_again(damage: Callable[[Path], None], cache: Path, tmp_path: Path) -> None:
    damage(store_at(cache))
    opened(write_tree(tmp_path / "one"), cache).index()
    report = opened(write_tree(tmp_path / "two"), cache).index()
    assert report.reused == report.files


def test_a_full_disk_means_no_new_entries(tmp_path: Path) -> None:
    place = ContentPlace(tmp_path, 10**9)
    store = ContentStore(place, is_writer=True)
    store.put([(b"first", b"1")])
    assert store._db is not None
    store._db.pragma("max_page_count", int(store._db.pragma("page_count")) + 1)
    store.put([(b"second", os.urandom(100_000))])
    store.put([(b"third", b"3")])
    reader = ContentStore(place)
    assert [bool(reader.get(key)) for key in (b"first", b"second", b"third")] == [True, False, False]


def test_a_folder_that_cannot_be_written_means_no_store(tree: Path, plain: Service, tmp_path: Path) -> None:
    (tmp_path / "content-store").write_text("a file in place of the folder")
    service = opened(tree, tmp_path)
    assert service.index().reused == 0
    assert list(different_rows(service, plain)) == []


def test_two_writers_at_once(tmp_path: Path) -> None:
    place = ContentPlace(tmp_path, 10**9)

    def write(first: int) -> None:
        store = ContentStore(place, is_writer=True)
        for batch in range(first, first + 100, 10):
            store.put([(b"%d" % number, b"%d" % number * 50) for number in range(batch, batch + 10)])
        store.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, (0, 50, 100, 0)))
    reader = ContentStore(place)
    assert [reader.get(b"%d" % number) is not None for number in range(200)] == [True] * 200


def test_a_killed_writer_leaves_all_of_a_batch_or_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from keyhole.core.index.content_store import ContentPlace, ContentStore\n"
        "store = ContentStore(ContentPlace(Path(sys.argv[1]), 10**9), is_writer=True)\n"
        "store.put([(b'first', b'1' * 100_000)])\n"
        "def more():\n    yield b'second', b'2' * 100_000\n"
        "store._db.execute('BEGIN IMMEDIATE')\n"
        "store._db.execute(\"INSERT INTO entry (key, used, checksum, packed) VALUES ('x', 1, '', '')\")\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    store = ContentStore(ContentPlace(tmp_path, 10**9), is_writer=True)
    assert store.size().entries == 1
    assert store.get(b"first")
    store.put([(b"next", b"3")])
    assert store.get(b"next")


# Its size


def test_the_store_stays_within_its_size_and_keeps_what_was_used_last(tmp_path: Path) -> None:
    store = ContentStore(ContentPlace(tmp_path, 2_000_000), is_writer=True)
    assert store._db is not None
    for number in range(60):
        store.put([(b"%d" % (10 * number + each), os.urandom(10_000)) for each in range(10)])
        # As if a minute had passed; the first entry is used again each time.
        store._db.execute("UPDATE entry SET used = used - 60")
        store.put([], [b"0"])
    assert store.size().bytes <= 2_000_000 + 4_200_000, "the limit and the log"
    assert store_at_size(store) <= 2_000_000
    assert store.get(b"0")
    assert store.get(b"599")
    assert not store.get(b"1")


def store_at_size(store: ContentStore) -> int:
    assert store._db is not None
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return store.path.stat().st_size


def test_using_an_entry_is_recorded_now_and_then(cache: Path, tmp_path: Path) -> None:
    db = apsw.Connection(str(store_at(cache)))
    recent = db.execute("SELECT max(used) FROM entry").get
    opened(write_tree(tmp_path / "one"), cache).index()
    assert db.execute("SELECT max(used) FROM entry").get == recent, "used a moment ago"
    db.execute("UPDATE entry SET used = used - 10000")
    opened(write_tree(tmp_path / "two"), cache).index()
    assert db.execute("SELECT min(used) FROM entry").get >= recent


def test_a_size_of_0_turns_the_store_off(tree: Path, tmp_path: Path) -> None:
    without_store(tree, tmp_path)
    assert not store_folder(tmp_path).exists()


def test_a_workspace_cannot_set_the_size(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text("[content_store]\nmax_bytes = 0\n")
    with pytest.raises(ConfigError, match=r"content_store\.max_bytes"):
        load_settings(tmp_path)


# Who may read it, and what is in it


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.skipif(os.name == "nt", reason="modes mean little there")
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    put(tmp_path / "one", "a.py", PYTHON)
    service = opened(tmp_path / "one", tmp_path / "cache")
    held = ContentStore(ContentPlace(store_folder(tmp_path / "cache"), 10**9), is_writer=True)
    service.index()
    folder = store_folder(tmp_path / "cache")
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 3, "with the log"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    held.close()


def bytes_of(cache: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(store_folder(cache).iterdir()))


def unpacked(cache: Path) -> bytes:
    import zlib

    rows = apsw.Connection(str(store_at(cache))).execute("SELECT packed FROM entry")
    return b"".join(zlib.decompress(packed) for (packed,) in rows)


def test_secrets_are_never_in_the_store(tmp_path: Path) -> None:
    token, password = "ghp_" + text_of(36), text_of(30).lower()
    root = tmp_path / "one"
    put(root, "tokens.py", f'def connect():\n    return "{token}"\n')
    put(root, ".env", f"password={password}\n")
    readmitted = opened(root, tmp_path / "readmitted", secrets__readmit=[".env"])
    readmitted.index()
    assert ".env" in {file.path for file in readmitted.inventory().files}
    assert b"connect" in unpacked(tmp_path / "readmitted")
    assert password.encode() not in unpacked(tmp_path / "readmitted")
    assert token.lower().encode() not in unpacked(tmp_path / "readmitted").lower()
    unmasked = opened(root, tmp_path / "unmasked", secrets__mask=False)
    unmasked.index()
    assert not store_folder(tmp_path / "unmasked").exists()


def test_entries_with_older_masks_are_deleted_for_good(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = apsw.Connection(str(store_at(cache))).execute("SELECT packed FROM entry LIMIT 1").get
    assert packed[8:40] in bytes_of(cache)
    monkeypatch.setattr("keyhole.core.index.content_store.MASKING_VERSION", 1_000)
    put(tmp_path / "one", "a.py", PYTHON)
    assert opened(tmp_path / "one", cache).index().reused == 0
    assert entries(cache) == 2
    assert packed[8:40] not in bytes_of(cache)


# Commands


def test_status_and_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(cache))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", "none")

    def keyhole(*arguments: str) -> str:
        assert run_command([*arguments]) == 0
        return capsys.readouterr().out

    one, two = tmp_path / "one", tmp_path / "two"
    for root in (one, two):
        put(root, "a.py", PYTHON)
    none_yet = json.loads(keyhole("status", str(one), "--store", "--json"))
    assert none_yet == {"path": str(store_at(cache)), "entries": 0, "bytes": 0, "max_bytes": 1_000_000_000}
    keyhole("index", str(one))
    assert json.loads(keyhole("index", str(two), "--json"))["reused"] == 1
    put(cache, "mine/index.db", "not Keyhole's")
    shown = keyhole("status", str(one), "--store")
    assert shown.startswith(f"Content store  {store_at(cache)}\nSize           ")
    assert shown.endswith(" │ 2 entries │ at most 1.0 GB\n")
    text = keyhole("clear", str(one), "--all")
    assert text.startswith("Deleted the index and the journal of 2 workspaces\nDeleted the content store (")
    assert [path.name for path in cache.rglob("*.db")] == ["index.db"]
    assert keyhole("clear", str(one), "--all").startswith("Nothing to delete")
    monkeypatch.setenv("KEYHOLE_CONTENT_STORE_MAX_BYTES", "0")
    assert keyhole("status", str(one), "--store").endswith("0 B │ 0 entries │ turned off\n")


def test_clearing_while_it_is_open(cache: Path, tmp_path: Path, plain: Service) -> None:
    reader = ContentStore(ContentPlace(store_folder(cache), 10**9))
    assert delete_content(store_folder(cache))
    assert not delete_content(store_folder(cache))
    service = opened(write_tree(tmp_path / "one"), cache)
    assert service.index().reused < 10
    assert reader.get(b"nothing") is None
    assert dump_rows(service.folder / INDEX_FILE) == dump_rows(plain.folder / INDEX_FILE)


# Nothing grows without bound


def test_the_index_of_a_workspace_that_is_gone_is_deleted_after_a_while(tmp_path: Path) -> None:
    def indexed(name: str) -> Service:
        put(tmp_path / name, "a.py", PYTHON)
        service = opened(tmp_path / name, tmp_path / "cache", index__model="none")
        service.index()
        return service

    gone, kept, new = (indexed(name) for name in ("gone", "kept", "new"))
    for service in (gone, new):
        shutil.rmtree(service.root)
    for service in (gone, kept):
        service.close()
        for path in service.folder.iterdir():
            os.utime(path, (0, 0))
    indexed("another")
    assert [service.folder.exists() for service in (gone, kept, new)] == [False, True, True]


def test_one_damaged_index_is_kept(tmp_path: Path) -> None:
    put(tmp_path / "one", "a.py", PYTHON)
    service = opened(tmp_path / "one", tmp_path / "cache", index__model="none")
    for _ in range(3):
        service.index()
        (service.folder / INDEX_FILE).write_text("this is no database\n" * 1_000)
    service.index()
    assert len(list(service.folder.glob("damaged-*.db"))) == 1
