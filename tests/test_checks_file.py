"""Checks files: what they may contain, and what is said about mistakes."""

import os
from pathlib import Path

import pytest

from keyhole.core.checks.checks_file import CHECKS_FILE, parse_checks, read_checks
from keyhole.core.errors import ConfigError

VALID = """
[[query]]
query = "retries"
files = ["a.py"]

[[query]]
query = "backoff"
symbols = ["Retry.backoff"]
lines = ["a.py:3-9"]
worst_rank = 2

[[mcp]]
server = ["npx", "server"]

[[mcp.call]]
tool = "greet"
arguments = { name = "me" }
"""


def test_tables_and_their_places() -> None:
    parsed = parse_checks(VALID.encode(), "checks.toml")
    assert [(check.kind, check.place) for check in parsed.checks] == [
        ("query", "checks.toml:2"),
        ("query", "checks.toml:6"),
        ("mcp", "checks.toml:12"),
    ]
    assert parsed.has_commands


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[query]]\nquery = "a', "checks.toml is not valid TOML: "),
        ('[[query]]\nquery = a\n', "(at line 2, column 9); correct it"),
        ('x = "\ud800"', "not valid TOML"),
        ("a = " + "[" * 5_000, "not valid TOML"),
        ("[[links]]\nmax_broken = " + "9" * 5_000, "checks.toml is not valid TOML: "),
        ("[[links]]\nmax_broken = 0x" + "f" * 5_000, "max_broken = a number that is too large: must be at most"),
        ('[[answer]]\ntool = "a"\narguments = { day = 2026-01-02 }', "arguments = {"),
        ('[[answer]]\ntool = "a"\narguments = { share = nan }', "must contain only texts, numbers"),
        ("[[queri]]\n", "checks.toml:1: unknown kind of check queri. Did you mean [[query]]?"),
        ('[query]\nquery = "a"', "checks.toml:1: query must be a table with double brackets, [[query]]"),
        (
            '[[query]]\nquery = "a"\nfiles = ["b"]\n\n[[query]]\nquery = "a"\nfiles = ["b"]\nworst_rnk = 3',
            "checks.toml:8: unknown key worst_rnk in [[query]]. Did you mean worst_rank?",
        ),
        ('[[query]]\nquery = "a"', "checks.toml:1: [[query]] must expect something: add files, symbols or lines"),
        ('[[query]]\nfiles = ["a"]', "checks.toml:1: [[query]] has no query; add it"),
        (
            '[[query]]\nquery = "a"\nfiles = ["b"]\nworst_rank = "3"',
            'checks.toml:4: worst_rank = "3": must be a whole number',
        ),
        (
            '[[query]]\nquery = "a"\nfiles = ["b"]\nworst_rank = 0',
            "checks.toml:4: worst_rank = 0: must be at least 1",
        ),
        ('[[query]]\nquery = "a"\nfiles = "b"', 'checks.toml:3: files = "b": must be a list, such as ["one", "two"]'),
        ('[[query]]\nquery = "a"\nfiles = [1]', "checks.toml:3: files = 1: must be a text in quotes"),
        ('[[query]]\nquery = "a"\nlines = ["b"]', 'checks.toml:3: lines = "b": must be a path with lines'),
        ('[[query]]\nquery = "a"\nfiles = ["b"]\nmode = "quick"', "checks.toml:4: mode = \"quick\": must be one of"),
        ('[[answer]]\ntool = "a"\nclients = ["cluade"]', "unknown client 'cluade'. Did you mean claude?"),
        ('[[mcp]]\nserver = []', "checks.toml:2: server = []: must not be empty"),
        ('[[mcp]]\nserver = ["a"]\n[[mcp.call]]\ntol = "b"', "unknown key tol in [[mcp.call]]. Did you mean tool?"),
        ('[[forbidden]]\n', "[[forbidden]] must have either text or pattern"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_checks(text.encode("utf-8", "surrogatepass"), "checks.toml")
    assert message in str(raised.value)


def test_a_line_that_is_not_certain_is_not_named() -> None:
    with pytest.raises(ConfigError, match=r"^checks\.toml: unknown key filez"):
        parse_checks(b'query = [{ query = "a", filez = [] }]', "checks.toml")


def test_both_places_are_read(tmp_path: Path) -> None:
    (tmp_path / CHECKS_FILE).write_text(VALID)
    folder = tmp_path / ".keyhole/checks"
    folder.mkdir(parents=True)
    (folder / "b.toml").write_text("[[links]]\nmax_broken = 0\n")
    (folder / "a.toml").write_text("[[links]]\nmax_broken = 1\n")
    (folder / "notes.txt").write_text("not checks")
    assert [file.path for file in read_checks(tmp_path)] == [
        CHECKS_FILE,
        ".keyhole/checks/a.toml",
        ".keyhole/checks/b.toml",
    ]


def test_no_file_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="keyhole check --init"):
        read_checks(tmp_path)


def test_files_that_are_no_plain_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text(VALID)
    root = tmp_path / "project"
    root.mkdir()
    (root / CHECKS_FILE).symlink_to(tmp_path / "outside.toml")
    with pytest.raises(ConfigError, match=f"cannot read {CHECKS_FILE}"):
        read_checks(root)
    (root / CHECKS_FILE).unlink()
    os.mkfifo(root / CHECKS_FILE)
    with pytest.raises(ConfigError, match="not a regular file"):
        read_checks(root)
