"""A team's database: who may set it, what is printed of it, what happens if it fails, and who sees which revision."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from postgres_server import new_database

from keyhole.core.cli.main import cli, run_command
from keyhole.core.config import load_settings, setting_sources, shown_value
from keyhole.core.doctor.doctor_report import bundle_text
from keyhole.core.errors import ConfigError, ErrorKind, KeyholeError, LockedStoreError, StoreError
from keyhole.core.index.rows import FileRows
from keyhole.core.masking import mask_address
from keyhole.core.postgres import postgres_schema
from keyhole.core.postgres.postgres_home import PostgresHome
from keyhole.core.postgres.postgres_store import PostgresStore
from keyhole.core.postgres.server_admin import create_tables, migrate_tables
from keyhole.core.postgres.server_connection import connect
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.workspace.opening import require_team_extra

PASSWORD = "Tr0ub4dor"
UNREACHABLE = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/keyhole"


@pytest.fixture(scope="module")
def empty_database(postgres_server: str) -> Iterator[str]:
    with new_database(postgres_server) as url:
        yield url


def home_at(url: str, folder: Path) -> PostgresHome:
    return PostgresHome(url, folder.name, folder)


def rows_of(path: str, digest: str) -> FileRows:
    return FileRows(path, 1, 1, digest, "utf-8", "python", 1, False, (), ())


def fail_in_revision(store: PostgresStore) -> None:
    with store.revision(), store.transaction():
        store.remove_file("b.py")
        raise KeyError


def write_until_cut(home: PostgresHome, url: str) -> None:
    with home.writer_lock(wait=False), home.open_index() as writer, writer.revision(), writer.transaction():
        assert home.has_writer()
        writer.replace_file(rows_of("a.py", "new"))
        assert writer.digests(["a.py"]) == {"a.py": "new"}
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [writer._db.info.backend_pid])
        writer.replace_file(rows_of("b.py", "new"))


# Settings and what is printed


def test_a_workspace_cannot_choose_the_server(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text(f'[store]\nurl = "{UNREACHABLE}"\n')
    with pytest.raises(ConfigError, match=r"store\.url cannot be set by a workspace") as raised:
        load_settings(tmp_path)
    assert PASSWORD not in str(raised.value)


def test_the_password_is_never_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_STORE_URL", UNREACHABLE)
    settings = load_settings(tmp_path)
    assert PASSWORD not in f"{settings!r}{settings}{settings.model_dump_json()}"
    shown = [shown_value(key, value) for key, (_, value) in setting_sources(tmp_path).items()]
    assert '"postgresql://ann@127.0.0.1:1/keyhole"' in shown
    bundle = bundle_text([], {"KEYHOLE_STORE_URL": UNREACHABLE}, tmp_path)
    assert "ann@127.0.0.1" in bundle
    assert PASSWORD not in bundle + "".join(shown)
    monkeypatch.setenv("KEYHOLE_STORE_URL", UNREACHABLE.replace("postgresql", "mysql"))
    with pytest.raises(ConfigError, match="must start with postgresql://") as raised:
        load_settings(tmp_path)
    assert PASSWORD not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://a:b@c:5/d?sslmode=require&password=e", "postgresql://a@c:5/d"),
        ("postgresql://a:b@d@c/d", "postgresql://a@c/d"),
        ("postgresql:///d", "postgresql:///d"),
        ("host=c password=b", "…"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert mask_address(url) == shown


@pytest.mark.parametrize("password", [PASSWORD, f"{PASSWORD}@half", f"{PASSWORD}%zz", f"{PASSWORD}/x"])
def test_a_server_that_cannot_be_reached_is_named_without_the_password(password: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as raised:
        home_at(UNREACHABLE.replace(PASSWORD, password), tmp_path).identity()
    assert raised.value.kind == ErrorKind.NO_SERVER
    assert PASSWORD not in str(raised.value)
    assert "half" not in str(raised.value)


def test_the_extra_is_named_if_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    require_team_extra()
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError) as raised:
        require_team_extra()
    assert raised.value.kind == ErrorKind.NO_TEAM_EXTRA


def test_nothing_for_the_server_is_imported_without_store_url(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def found(): pass\n")
    code = f"""
import sys
from pathlib import Path
from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest
root = Path({str(tmp_path)!r})
settings = load_settings(root, {{"cache_dir": root / "cache", "index.model": "none", "index.workers": 1}})
service = Service(root, settings)
service.index()
assert "a.py" in service.search_view(SearchRequest("found")).text
print([name for name in sys.modules if "psycopg" in name or "postgres" in name])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Tables and their versions


def kind_of_opening(url: str, folder: Path) -> ErrorKind | None:
    home = home_at(url, folder)
    try:
        home.identity()
    except KeyholeError as error:
        return error.kind
    finally:
        home.close()
    return None


def test_the_tables_must_have_the_right_version(
    empty_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kind_of_opening(empty_database, tmp_path) == ErrorKind.NO_TABLES
    with connect(empty_database) as db:
        postgres_schema.migrate(db, partitions=2)
    assert kind_of_opening(empty_database, tmp_path) == ErrorKind.NO_EXTENSION
    create_tables(empty_database)
    assert kind_of_opening(empty_database, tmp_path) is None

    # A later version adds a column; one that fails changes nothing.
    def fail(db: psycopg.Connection, _: int) -> None:
        db.execute("ALTER TABLE file ADD COLUMN half text")
        db.execute("SELECT 1 / 0")

    newest = postgres_schema.newest_version()
    monkeypatch.setitem(postgres_schema.MIGRATIONS, newest + 1, fail)
    assert kind_of_opening(empty_database, tmp_path) == ErrorKind.OLD_TABLES
    with pytest.raises(StoreError):
        migrate_tables(empty_database)
    monkeypatch.setitem(
        postgres_schema.MIGRATIONS,
        newest + 1,
        lambda db, _: db.execute("ALTER TABLE file ADD COLUMN half text") and None,
    )
    done = migrate_tables(empty_database)
    assert (done.before, done.after) == (newest, newest + 1)
    monkeypatch.undo()
    assert kind_of_opening(empty_database, tmp_path) == ErrorKind.NEWER_TABLES
    with pytest.raises(StoreError, match=f"version {newest + 1}"):
        migrate_tables(empty_database)


def test_version_3_indexes_every_repository_again(postgres_server: str) -> None:
    added = "INSERT INTO repository (name, host, root, source, revision) VALUES (%s, '', '', %s, 'r') RETURNING id"
    with new_database(postgres_server) as url:
        create_tables(url, 2)
        with connect(url) as db:
            # As version 2 left it: another table of words, and two repositories, one of them a team's.
            db.execute("ALTER TABLE block_word RENAME TO chunk_word; UPDATE version SET version = 2")
            of_team, _ = (db.execute(added, [name, source]).fetchone() for name, source in (("a", "/a"), ("b", "")))
            db.execute("INSERT INTO fact (repo, name, value) VALUES (%s, 'generation', '3')", of_team)
        done = migrate_tables(url)
        assert (done.before, done.after) == (2, 3)
        with connect(url) as db:
            assert db.execute("SELECT to_regclass('chunk_word'), count(*) FROM fact").fetchone() == (None, 0)
            parts = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'block_word'::regclass"
            assert db.execute(parts).fetchone() == (2,)
            assert db.execute("SELECT repo FROM job").fetchall() == [of_team]
            assert db.execute("SELECT DISTINCT revision FROM repository").fetchall() == [("",)]


def test_every_table_is_split_by_its_repository(store_url: str) -> None:
    with connect(store_url) as db:
        found = db.execute(
            """SELECT relname, pg_get_partkeydef(pg_class.oid) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                WHERE nspname = 'keyhole' AND relkind IN ('p', 'r') AND NOT relispartition"""
        ).fetchall()
    # Small tables: the list of repositories, and what a team adds to it.
    small = {
        "repository",
        "version",
        "team_group",
        "group_repository",
        "job",
        "access_token",
        "token_group",
        "token_calls",
    }
    assert dict(found) == dict.fromkeys(postgres_schema.TABLES, "HASH (repo)") | dict.fromkeys(small)


def test_the_administrator_sets_up_and_looks_at_the_database(
    postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command(["admin", "status"]) == 2
    with new_database(postgres_server) as url:
        monkeypatch.setenv("KEYHOLE_STORE_URL", url)

        def said(*arguments: str) -> str:
            done = CliRunner().invoke(cli, ["admin", *arguments], catch_exceptions=False)
            assert "postgres:postgres@" not in done.output
            return done.output

        assert "none yet; run keyhole admin init" in said("status")
        assert json.loads(said("init", "--partitions", "1", "--json"))["before"] == 0
        newest = postgres_schema.newest_version()
        assert f"up to date (version {newest})" in said("migrate")
        state = json.loads(said("status", "--json"))
        assert (state["version"], state["newest"], state["repositories"]) == (newest, newest, [])
        assert state["vector"]


# Who sees which revision


def test_a_revision_appears_at_once_or_not_at_all(store_url: str, tmp_path: Path) -> None:
    home = home_at(store_url, tmp_path)
    with home.open_index() as writer, home.open_index() as reader:
        with writer.transaction():
            writer.replace_file(rows_of("a.py", "old"))
        with writer.revision():
            with writer.transaction():
                writer.replace_file(rows_of("a.py", "new"))
            writer.announce(pending=5, total=6)
            with writer.transaction():
                writer.replace_file(rows_of("b.py", "new"))
            assert reader.digests(["a.py", "b.py"]) == {"a.py": "old"}
            assert reader.facts().pending == 5
        with reader.snapshot():
            assert reader.digests(["a.py", "b.py"]) == {"a.py": "new", "b.py": "new"}
            with writer.transaction():
                writer.remove_file("a.py")
            assert reader.paths() == ["a.py", "b.py"]
        assert reader.paths() == ["b.py"]
        with pytest.raises(KeyError):
            fail_in_revision(writer)
        assert reader.paths() == writer.paths() == ["b.py"]
    home.close()


def test_a_writer_whose_connection_is_cut_leaves_the_old_revision(store_url: str, tmp_path: Path) -> None:
    home = home_at(store_url, tmp_path)
    with home.open_index() as reader:
        with home.open_index() as writer, writer.transaction():
            writer.replace_file(rows_of("a.py", "old"))
        with pytest.raises(StoreError) as raised:
            write_until_cut(home, store_url)
        assert raised.value.kind == ErrorKind.NO_SERVER
        assert reader.digests(["a.py", "b.py"]) == {"a.py": "old"}
        assert not home.has_writer()
    home.close()


def test_a_server_that_was_restarted_is_used_again(store_url: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def found(): pass\n")
    flags = {"cache_dir": tmp_path / "cache", "store.url": store_url, "index.model": "none", "index.workers": 1}
    service = Service(tmp_path, load_settings(tmp_path, flags))
    service.index()
    assert "a.py" in service.search_view(SearchRequest("found")).text
    with psycopg.connect(store_url, autocommit=True) as db:
        ended = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
        )
        assert len(db.execute(ended, [db.info.backend_pid]).fetchall()) >= 2
    assert "a.py" in service.search_view(SearchRequest("found")).text
    service.close()


def test_only_one_process_writes_a_repository(store_url: str, tmp_path: Path) -> None:
    home, other = home_at(store_url, tmp_path), home_at(store_url, tmp_path / "other")
    with home.writer_lock(wait=False):
        with pytest.raises(LockedStoreError), home.writer_lock(wait=False):
            pass
        with other.writer_lock(wait=False):
            assert home.has_writer()
    assert not home.has_writer()
    home.close()
    other.close()


def test_a_deleted_index_leaves_no_rows_and_no_other_repository_is_touched(store_url: str, tmp_path: Path) -> None:
    def service(name: str) -> Service:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(f"def {name}(): return 'retry'\n")
        flags = {"cache_dir": tmp_path / "cache", "store.url": store_url, "index.model": "none", "index.workers": 1}
        found = Service(tmp_path / name, load_settings(tmp_path / name, flags))
        found.index()
        return found

    one, two = service("one"), service("two")
    assert "def two" in two.search_view(SearchRequest("retry")).text
    assert "def one" not in two.search_view(SearchRequest("retry")).text
    home = home_at(store_url, one.folder)
    repository = home.identity()
    home.close()
    assert one.clear()
    assert not one.has_index()
    with connect(store_url) as db:
        for table in postgres_schema.TABLES:
            assert db.execute(f"SELECT count(*) FROM {table} WHERE repo = %s", [repository]).fetchone() == (0,)
    assert "def two" in two.search_view(SearchRequest("retry")).text
    with pytest.raises(StoreError) as raised:
        one.search_view(SearchRequest("retry"))
    assert raised.value.kind == ErrorKind.NO_INDEX
    one.close()
    two.close()


def test_text_that_postgres_cannot_hold_is_replaced(store_url: str, tmp_path: Path) -> None:
    home = home_at(store_url, tmp_path)
    with home.open_index() as store:
        with store.transaction():
            store.replace_file(rows_of("a\0b\udc80.py", "d"))
        assert store.paths() == ["a\ufffdb\ufffd.py"]
        assert store.file_id("\0") is None
    home.close()
