"""A team's repositories answer like one workspace in which they are folders side by side."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from acme import write_acme
from fresh_index import answer, without_history
from postgres_server import prepared_database
from team_repositories_made import committed, index_team, team_service, team_settings_for
from test_postgres_answers import Pair, requests_for, write_crowd
from test_same_index import write
from vault import write_vault

from keyhole.core.config import load_settings
from keyhole.core.errors import KeyholeError, PathError, QueryError
from keyhole.core.links.requests import LinksRequest, TreeRequest
from keyhole.core.postgres.server_connection import connect
from keyhole.core.service import Service
from keyhole.core.types.choices import Format, Mode
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest

# Secrets, and a file that is skipped, in a folder of their own.
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, postgres_server: str, model_folder: Path) -> Iterator[Pair]:
    base = tmp_path_factory.mktemp("side-by-side")
    root = base / "both"
    root.mkdir()
    write_acme(root / "acme")
    write_vault(root / "vault", notes=60, links=6, hub_links=20)
    write(root, "zoo/keys.py", f"def load():\n    return '{TOKEN}'\n")
    write(root, "zoo/photo.bin", "\0\1")
    write_crowd(base / "hidden")
    with prepared_database(postgres_server) as url:
        settings = team_settings_for(url, base, str(model_folder))
        # In another order than that of their names, with one between them that the group does not have.
        sources = {"zoo": root / "zoo", "vault": root / "vault", "hidden": base / "hidden", "acme": root / "acme"}
        folders = {name: committed(source, base / "git" / name) for name, source in sources.items()}
        index_team(settings, folders, {"both": ["acme", "vault", "zoo"]})
        flags = {"index.model": str(model_folder), "index.workers": 1, "cache_dir": base / "sqlite"}
        sqlite = Service(root, load_settings(root, flags))
        sqlite.index()
        found = Pair(sqlite, team_service(settings, "both", "both"))
        yield found
        found.close()


def comparable(text: str) -> object:
    facts = without_history(text)
    if isinstance(facts, dict):
        facts["index"].pop("opening", None)
    return facts


def test_whole_answers_are_the_same(pair: Pair) -> None:
    requests = [*requests_for(pair), SearchRequest("retry", path="acme"), SearchRequest("load", path="zoo/keys.py")]
    for request in requests:
        assert answer(pair.postgres, request) == answer(pair.sqlite, request), request
        in_json = replace(request, format=Format.JSON)
        assert comparable(answer(pair.postgres, in_json)) == comparable(answer(pair.sqlite, in_json)), request


def test_pages_continue_from_cursors(pair: Pair) -> None:
    for request in (SearchRequest("path", limit=3), SearchRequest("/e/", limit=7), TreeRequest(limit=2)):
        cursors = ["", ""]
        for _ in range(4):
            pages = [
                answer(service, replace(request, cursor=cursor, format=Format.JSON))
                for service, cursor in zip((pair.postgres, pair.sqlite), cursors, strict=True)
            ]
            assert comparable(pages[0]) == comparable(pages[1])
            cursors = [json.loads(page)["pagination"]["cursor"] for page in pages]
            if not all(cursors):
                break


def test_maps_reads_and_lists_are_the_same(pair: Pair) -> None:
    files = pair.sqlite.inventory().files
    assert replace(pair.postgres.inventory(), generation=0) == replace(pair.sqlite.inventory(), generation=0)
    assert pair.postgres.symbol_places() == pair.sqlite.symbol_places()
    for file in files[:: len(files) // 12]:
        for view in ("map_view", "read_view"):
            request = MapRequest(file.path) if view == "map_view" else ReadRequest((file.path, "zoo/keys.py"))
            assert getattr(pair.postgres, view)(request).text == getattr(pair.sqlite, view)(request).text
    own, other = pair.postgres.status(), pair.sqlite.status()
    ignored = {"index_path": "", "index_bytes": 0, "updated": "", "root": "", "generation": 0}
    assert replace(own, **ignored) == replace(other, **ignored)  # type: ignore[arg-type]


def refusal(service: Service, path: str) -> str:
    with pytest.raises(PathError) as raised:
        service.read(path)
    return str(raised.value)


@pytest.mark.parametrize(
    "path",
    [
        "acme",
        "",
        ".",
        "/etc/passwd",
        "../../x",
        "acme/src",
        "vault/none.md",
        "acme/retri.py",
        "x\0",
    ],
)
def test_paths_that_are_no_files_get_the_same_errors(pair: Pair, path: str) -> None:
    own, other = refusal(pair.postgres, path), refusal(pair.sqlite, path)
    # A path with a zero byte is no path for a disk.
    assert own == other or "\0" in path


def test_what_is_hidden_does_not_exist(pair: Pair) -> None:
    """The fourth repository is in the database, and its words, paths and symbols are nowhere."""
    hidden, missing = (refusal(pair.postgres, f"{name}/f001.py") for name in ("hidden", "hiddem"))
    assert hidden.replace("hidden", "hiddem") == missing
    assert "backoff(path" not in answer(pair.postgres, SearchRequest("/backoff.path, 1/"))
    with pytest.raises(KeyholeError):
        pair.postgres.relation_view(LinksRequest("hidden/f001.py"))


def test_secrets_are_masked_before_they_are_stored(pair: Pair) -> None:
    assert "[secret: github-token]" in pair.postgres.read("zoo/keys.py").text
    url = pair.postgres.settings.store.url.get_secret_value()
    with connect(url) as db:
        stored = db.execute("SELECT text FROM file_text").fetchall()
    texts = [zlib.decompress(text).decode() for (text,) in stored]
    assert len(texts) > 60
    assert not any(TOKEN in text for text in texts)


def test_nothing_is_written(pair: Pair) -> None:
    with pytest.raises(QueryError, match="indexed by keyhole team work"):
        pair.postgres.index()
    for refused in (pair.postgres.clear, pair.postgres.clear_all, pair.postgres.token_costs):
        with pytest.raises(QueryError):
            refused()
    assert not pair.postgres.marked_bundle().items


def test_a_rank_is_explained_in_the_same_way(pair: Pair) -> None:
    for path in ("acme/src/retry.py", "zoo/photo.bin", "vault/none.md"):
        own, other = (
            found.explain(SearchRequest("retry backoff", mode=Mode.KEYWORD), path)
            for found in (pair.postgres, pair.sqlite)
        )
        assert replace(own, hit=None) == replace(other, hit=None)
