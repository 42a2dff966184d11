"""Patterns of ignore files compared with git, and the globs of path filters."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.core.files.globs import glob_test
from keyhole.core.files.ignore import RuleFile

FILES = (
    *("b", "ab", "abc", "a.b", "a b", "[b]", "a]", "a[", "a-b", "a^", "!a", "#a", " a", "a\\b", "A", "1", "-", "*"),
    *("a/a/b", "a/a/ab", "a/b", "a/A/1", "a/.b/a", "a/ab/a", "a/[b]/a/b", "c/a/b", "c/a/-", "c/d/ab/b", "c/ab/a!"),
)
LINES = st.text("ab[]!^-\\*?/ #.1", min_size=1, max_size=8) | st.lists(
    st.sampled_from(
        ["a", "b", "ab", "c", "*", "**", "?", "a*", "*b", "**b", "***", "[ab]", "[!a]", "[[:alpha:]]", "[+-9]"]
    )
).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with file names for every kind of pattern."""
    if shutil.which("git") is None:
        pytest.skip("git is what the patterns are compared with")
    root = tmp_path_factory.mktemp("globs")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for path in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return root


def kept_by_git(root: Path, rules: str) -> list[str]:
    (root / ".git/info/exclude").write_text(rules)
    command = ["git", "-c", "core.excludesFile=", "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return sorted(filter(None, listed.split("\0")))


def kept_by_rules(rules: str) -> list[str]:
    rule_file = RuleFile("", "", rules)

    def is_ignored(path: str, *, is_dir: bool) -> bool:
        above = path.rpartition("/")[0]
        verdict = rule_file.decide(path, is_dir=is_dir)
        return bool(above and is_ignored(above, is_dir=True)) or bool(verdict and verdict[0])

    return sorted(path for path in FILES if not is_ignored(path, is_dir=False))


@example(["a/*", "!a/b"])
@example(["c/**", "!c/a/**", "!c/*/"])
@example(["/**", "!/*/", "!b"])
@example(["*", "!*/", "!*b"])
@example(["a[", "b"])
@example(["[z-a]", "[!z-a]", "a[+-9]b", "a[[:punct:]]b"])
@example(["a\\", "\\#a", "\\!a", "\\ a", "a\\ b  "])
@example(["[[:nonsense:]]", "[a-c-e]", "[]-a]", "[--1]"])
@given(st.lists(LINES, max_size=4))
def test_patterns_mean_what_they_mean_to_git(repository: Path, lines: list[str]) -> None:
    rules = "\n".join(lines) + "\n"
    assert kept_by_rules(rules) == kept_by_git(repository, rules)


PATHS = ["a.py", "src/a.py", "src/b/a.py", "src/b/c.txt", "app/[id]/page.tsx", "app/d/page.tsx"]


@pytest.mark.parametrize(
    ("glob", "matched"),
    [
        ("src/*", ["src/a.py"]),
        ("src/**", ["src/a.py", "src/b/a.py", "src/b/c.txt"]),
        ("**/a.py", ["a.py", "src/a.py", "src/b/a.py"]),
        ("src/**.py", ["src/a.py", "src/b/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/b/a.py"]),
        ("src?a.py", []),
        ("src[!a]a.py", []),
        ("src/[!b].py", ["src/a.py"]),
        ("app/[id]/*", ["app/d/page.tsx"]),
        (r"app/\[id]/*", ["app/[id]/page.tsx"]),
        ("[z-a]", []),
        ("src/[", []),
        ("src/\\", []),
        ("(?:**/" * 30 + "x", []),
    ],
)
def test_globs_of_path_filters(glob: str, matched: list[str]) -> None:
    assert list(filter(glob_test(glob), PATHS)) == matched
