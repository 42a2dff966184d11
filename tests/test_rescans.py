"""A walk that knows the last one: what it reuses, and what it checks again."""

from pathlib import Path

import pytest
from discovery import LIMIT, put, settle

from keyhole.core.files.walk import Known, Scan, scan
from keyhole.core.types.source_files import Skip, SkipReason


def known_from(walked: Scan) -> Known:
    """Record a walk as the index does, with every candidate indexed."""
    return Known(
        files={candidate.path: candidate.stamp for candidate in walked.candidates},
        skips={skip.path: (skip, None) for skip in walked.skips},
        rule_files=walked.rule_files,
    )


@pytest.fixture
def remembered(tmp_path: Path) -> Known:
    put(tmp_path, ".gitignore", "*.log\n")
    for path in ["a.py", "b/c.py", "b/d.log", "node_modules/x.js", "big.py", "b/e.png"]:
        put(tmp_path, path)
    (tmp_path / "link").symlink_to("a.py")
    settle()
    return known_from(scan(tmp_path, max_bytes=LIMIT))


def test_an_unchanged_tree_is_recalled_without_reading_rules(
    tmp_path: Path, remembered: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.core.files.walk._load_rules", lambda *_: pytest.fail("a rule was read"))
    (tmp_path / "link").unlink()
    again = scan(tmp_path, max_bytes=LIMIT, known=remembered)
    assert sorted(again.same_files) == [".gitignore", "a.py", "b/c.py", "big.py"]
    assert sorted(again.same_skips) == ["b/d.log", "b/e.png", "node_modules"]
    assert (again.candidates, again.skips) == ([], [])


def test_changes_are_news(tmp_path: Path, remembered: Known) -> None:
    put(tmp_path, "a.py", "x = 22\n")
    put(tmp_path, "new.log")
    put(tmp_path, "b/new.py")
    put(tmp_path, "big.py", b"#" * (LIMIT + 1))
    (tmp_path / "b/c.py").unlink()
    again = scan(tmp_path, max_bytes=LIMIT, known=remembered)
    assert [candidate.path for candidate in again.candidates] == ["a.py", "b/new.py"]
    assert [skip.path for skip in again.skips] == ["big.py", "link", "new.log"]
    assert again.same_files == [".gitignore"]


@pytest.mark.parametrize("path", [".gitignore", ".keyholeignore", "b/.gitignore", ".git/info/exclude"])
def test_a_new_or_changed_ignore_file_is_held_against_every_path_below(
    tmp_path: Path, remembered: Known, path: str
) -> None:
    put(tmp_path, path, "c.py\n!*.log\n")
    again = scan(tmp_path, max_bytes=LIMIT, known=remembered)
    assert "b/c.py" in {skip.path for skip in again.skips}
    if path != ".git/info/exclude":
        assert "b/d.log" in {candidate.path for candidate in again.candidates}


def test_a_deleted_ignore_file_no_longer_counts(tmp_path: Path, remembered: Known) -> None:
    (tmp_path / ".gitignore").unlink()
    again = scan(tmp_path, max_bytes=LIMIT, known=remembered)
    assert "b/d.log" in {candidate.path for candidate in again.candidates}


def test_a_file_that_becomes_a_folder_or_a_link_is_looked_at_again(tmp_path: Path, remembered: Known) -> None:
    (tmp_path / "a.py").unlink()
    put(tmp_path, "a.py/inside.py")
    (tmp_path / "b/c.py").unlink()
    (tmp_path / "b/c.py").symlink_to("/etc/passwd")
    (tmp_path / "b/d.log").unlink()
    put(tmp_path, "b/d.log/x.py")
    again = scan(tmp_path, max_bytes=LIMIT, known=remembered)
    assert [candidate.path for candidate in again.candidates] == ["a.py/inside.py"]
    assert {"b/c.py", "b/d.log", "link"} == {skip.path for skip in again.skips}


@pytest.mark.parametrize("rules_hold", [True, False])
def test_rules_that_are_understood_otherwise_are_held_against_every_path(tmp_path: Path, *, rules_hold: bool) -> None:
    put(tmp_path, ".gitignore", "src/*\n!src/a.py\n")
    put(tmp_path, "src/a.py")
    settle()
    known = known_from(scan(tmp_path, max_bytes=LIMIT))
    known.files.pop("src/a.py")
    known.skips["src"] = Skip("src", SkipReason.IGNORED, "src/* (.gitignore:1)", is_dir=True), None
    known.rules_hold = rules_hold
    again = scan(tmp_path, max_bytes=LIMIT, known=known)
    assert [candidate.path for candidate in again.candidates] == ([] if rules_hold else ["src/a.py"])
    assert again.same_skips == (["src"] if rules_hold else [])
