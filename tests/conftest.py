"""Fixtures shared by all tests."""

import gc
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_textual_snapshot  # type: ignore[import-untyped]
from hypothesis import settings
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from keyhole.core.config import load_settings
from keyhole.core.index.database import Database
from keyhole.core.service import Service

sys.path.append(str(Path(__file__).parent))
from acme import write_acme  # test modules, found through the line above
from fresh_index import Rows, dump_rows
from postgres_server import prepared_database, running_server
from recorded_calls import record
from small_svg import compact

# Both the stored and the compared snapshot go through this.
_normalize_svg = pytest_textual_snapshot.normalize_svg
pytest_textual_snapshot.normalize_svg = lambda svg: compact(_normalize_svg(svg))

if TYPE_CHECKING:
    from fastmcp import FastMCP

# Every server of a test ends with it; only those of tests/sharing_home.py are shared.
os.environ["KEYHOLE_SHARE"] = "0"

_ended_tests = itertools.count(1)
_TESTS_BETWEEN_COLLECTIONS = 25
GOLDENS = Path(__file__).parent / "goldens"

# The same examples in every run and no deadline, so failures repeat. HYPOTHESIS_PROFILE=explore tries new examples.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_runtest_teardown() -> None:
    """Free what explorers leave: each freezes all objects, and kept indexes would use up the file handles."""
    if next(_ended_tests) % _TESTS_BETWEEN_COLLECTIONS == 0:
        gc.unfreeze()
        gc.collect()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files; read the diff!")
    parser.addoption("--on-postgres", action="store_true", help="keep every index on a PostgreSQL server")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "files_only(reason): the test does not apply to an index on a server")
    if config.getoption("--on-postgres"):
        # Many tests leave their service open, which is no problem with files; psycopg warns of it.
        config.addinivalue_line("filterwarnings", "ignore:<psycopg.Connection:ResourceWarning")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a PostgreSQL server that all processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    with running_server(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) as url:
        yield url


@pytest.fixture(scope="session")
def store_url(postgres_server: str) -> Iterator[str]:
    """Return the address of a database with the tables of Keyhole, for all tests of this process."""
    with prepared_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session", autouse=True)
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --on-postgres, run each test on the server; a test that opens an index file itself is skipped."""
    if not request.config.getoption("--on-postgres"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYHOLE_STORE_URL", request.getfixturevalue("store_url"))
        patch.setattr(Database, "__init__", lambda *_, **__: pytest.skip("this test opens the file of an index"))
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("files_only")
    if marker and item.config.getoption("--on-postgres"):
        pytest.skip(*marker.args)


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with `goldens/<name>`, byte for byte."""

    def check(name: str, text: str) -> None:
        golden = GOLDENS / name
        if request.config.getoption("--update-goldens"):
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_bytes(text.encode())
        assert golden.is_file(), f"no golden {name}; run pytest with --update-goldens and read what it wrote"
        assert text == golden.read_bytes().decode()

    return check


@pytest.fixture
def dump_index() -> Callable[[Path], Rows]:
    """Return the function that reads everything in an index."""
    return dump_rows


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a small real model2vec model: words with the same meaning have similar vectors."""
    return make_model(tmp_path_factory.mktemp("models") / "tiny", dimension=64, seed=1)


def make_model(folder: Path, *, dimension: int, seed: int) -> Path:
    synonyms = [
        ["retry", "again", "backoff"],
        ["parse", "read", "syntax"],
        ["paint", "draw", "colour"],
        ["file", "path"],
    ]
    words = ["[UNK]", *(word for group in synonyms for word in group)]
    chance = np.random.default_rng(seed)
    rows = [chance.normal(size=dimension) * 0.01]
    for group in synonyms:
        meaning = chance.normal(size=dimension)
        rows += [meaning + chance.normal(size=dimension) * 0.1 for _ in group]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    StaticModel(np.array(rows, dtype=np.float32), tokenizer, normalize=True).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Index a small fixed workspace once; without vectors, so that a search can also find nothing."""
    base = tmp_path_factory.mktemp("acme")
    root = write_acme(base / "acme")
    service = Service(root, load_settings(root, {"cache_dir": base / "cache", "index.model": "none"}))
    service.index()
    return service


@pytest.fixture
def unasked_service(acme: Service, tmp_path: Path) -> Service:
    """Return the small workspace with its own index and journal."""
    settings = {"cache_dir": tmp_path / "cache", "index.model": "none", "journal.max_days": 3_650}
    service = Service(acme.root, load_settings(acme.root, settings))
    service.index()
    return service


@pytest.fixture
def agents_service(unasked_service: Service) -> Service:
    """Write the calls of three agents to its journal."""
    record(unasked_service, 40)
    return unasked_service


@pytest.fixture
def in_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Fixtures for tests of the server; a test module may define its own instead.


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a workspace with secrets in it and next to it, and index it."""
    from served import write_served  # imports fastmcp, which is slow

    return write_served(tmp_path_factory.mktemp("mcp"))


@pytest.fixture
def service(base: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(base / "cache"))
    return Service.open(base / "proj")


@pytest.fixture
def server(service: Service) -> "FastMCP":
    from keyhole.mcp_server.server import build_server

    return build_server(service)
