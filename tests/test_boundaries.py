"""Only the store, the journal and the team's own tables are used with SQL, each in its package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from keyhole.core.index import schema
from keyhole.core.journal.file import open_for_writing

REPOSITORY = Path(__file__).parent.parent
PACKAGES = ("core", "tui", "mcp_server")
HOMES_OF_SQL = ("core/index/", "core/journal/", "core/postgres/", "core/team/")

STATEMENT = re.compile(
    r"""\bSELECT\s.+\sFROM\s|\bINSERT\s+(OR\s+\w+\s+)?INTO\s|\bDELETE\s+FROM\s|\bUPDATE\s+\w+\s+SET\s|\bPRAGMA\s
    |\A\s*SELECT\s|\b(CREATE|DROP|ALTER)\s+(VIRTUAL\s+)?(TABLE|INDEX|TRIGGER|VIEW)\b|\bjson_each\b
    |\bJOIN\s+\w+\s+ON\s|\b(ORDER|GROUP)\s+BY\s|\bIS\s+(NOT\s+)?NULL\b|\s(?:=|<>|<|>|MATCH|LIKE)\s\?(?:\W|\Z)""",
    re.VERBOSE | re.DOTALL,
)


def tables() -> dict[str, set[str]]:
    """Return the columns of each table in an index."""
    db = apsw.Connection(":memory:")
    schema.create(db)
    names = [str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: {str(row[1]) for row in db.execute(f"PRAGMA table_info({name})")} for name in names}


def journal_tables(folder: Path) -> dict[str, set[str]]:
    db = open_for_writing(folder, busy_ms=1_000)
    names = [str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {name: {str(row[1]) for row in db.execute(f"PRAGMA table_info({name})")} for name in names}
    db.close()
    return found


def columns_of(known: dict[str, set[str]]) -> re.Pattern[str]:
    """Match a table where a statement names one, and a column after its table, as in `chunk.file_id IN (`."""
    dotted = "|".join(rf"{table}\.(?:{'|'.join(columns)})" for table, columns in known.items() if columns)
    named = "|".join(known)
    return re.compile(
        rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:{named})\b|\b(?:{dotted})\s*(?:=|<|>|,|\bIN\b|\bIS\b|\bLIKE\b)"
    )


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield every string of a module with its line; a value in an f-string becomes an x."""
    tree = ast.parse(source)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def sql_in(source: str, tables_and_columns: re.Pattern[str]) -> list[tuple[int, str]]:
    """Return the strings of a module that are SQL, or part of it."""
    return [
        (line, text) for line, text in texts_of(source) if STATEMENT.search(text) or tables_and_columns.search(text)
    ]


def modules() -> Iterator[str]:
    """Yield every module of the three packages, by its path."""
    for package in PACKAGES:
        yield from (path.relative_to(REPOSITORY).as_posix() for path in sorted((REPOSITORY / package).rglob("*.py")))


@pytest.fixture
def known(tmp_path: Path) -> re.Pattern[str]:
    return columns_of(tables() | journal_tables(tmp_path))


def test_only_the_store_and_the_journal_have_sql(known: re.Pattern[str]) -> None:
    found = {
        f"{module}:{line}: {text.split()[:8]}"
        for module in modules()
        if not module.startswith(HOMES_OF_SQL)
        for line, text in sql_in((REPOSITORY / module).read_text("utf-8"), known)
    }
    assert found == set()


@pytest.mark.parametrize(
    "text",
    [
        "'SELECT 1 FROM file WHERE path = ?'",
        "'''SELECT chunk.id,\n    start_line FROM chunk'''",
        "f'SELECT {columns} FROM {table}'",
        "'SELECT ' + columns",
        "f'{start} WHERE path = ? LIMIT 1'",
        "'INSERT OR REPLACE INTO answer (call_id) VALUES (?)'",
        "'UPDATE link SET state = NULL'",
        "'chunk.file_id IN (1, 2)'",
        "' JOIN symbol ON file_id = file.id'",
        "'state IS NULL'",
        "'PRAGMA integrity_check'",
    ],
)
def test_sql_is_known_when_seen(text: str, known: re.Pattern[str]) -> None:
    assert sql_in(f"sql = {text}", known)


def test_sql_is_found_where_there_is_some(known: re.Pattern[str]) -> None:
    for module in ("core/index/file_table.py", "core/index/link_lists.py", "core/journal/reader.py"):
        assert sql_in((REPOSITORY / module).read_text("utf-8"), known)


def test_sqlite_is_imported_by_the_store_and_the_journal_alone() -> None:
    importing = {
        module
        for module in modules()
        for node in ast.walk(ast.parse((REPOSITORY / module).read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom) and {"apsw", "sqlite3", "sqlite_vec"} & imported_by(node)
    }
    assert importing
    assert {module for module in importing if not module.startswith(HOMES_OF_SQL)} == set()


@pytest.mark.parametrize("package", ["core/search/", "core/view/", "core/links/", "tui/", "mcp_server/"])
def test_what_reads_the_index_knows_the_boundary_and_not_what_is_behind_it(package: str) -> None:
    behind = re.compile(r"keyhole\.core\.index\.(store|database|connection|schema|\w+_table|link_lists)$")
    for module in (module for module in modules() if module.startswith(package)):
        for node in ast.walk(ast.parse((REPOSITORY / module).read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not behind.match(node.module or ""), f"{module}:{node.lineno}"


def imported_by(node: ast.Import | ast.ImportFrom) -> set[str]:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return {name.partition(".")[0] for name in names}
