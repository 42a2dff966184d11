"""Discovery: what is found, what is skipped, and the recorded reason."""

import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from discovery import LIMIT, found, put, skipped

from keyhole.core.errors import WorkspaceError
from keyhole.core.files.ignore import load_default_rules
from keyhole.core.files.patterns import CompiledFiles, PatternList
from keyhole.core.files.read import read_bytes, read_source
from keyhole.core.files.walk import examine, scan
from keyhole.core.files.workspace import open_workspace
from keyhole.core.types.source_files import Candidate, Skip, SkipReason


def test_the_walk_is_in_order_and_complete(tmp_path: Path) -> None:
    for path in ["b.py", "a/z.py", "a/b/c.py", "a.py", "c/d.txt"]:
        put(tmp_path, path)
    assert found(tmp_path) == ["a.py", "a/b/c.py", "a/z.py", "b.py", "c/d.txt"]


def test_nested_ignore_files_and_reincludes(tmp_path: Path) -> None:
    put(tmp_path, ".gitignore", "# generated\n\n*.log\nbuild/\n/top.py\n")
    put(tmp_path, "sub/.gitignore", "!keep.log\nlocal.py\n")
    put(tmp_path, ".keyholeignore", "!build/\nbuild/*.tmp\n")
    for path in ["a.log", "top.py", "sub/keep.log", "sub/local.py", "sub/top.py", "build/x.py", "build/y.tmp"]:
        put(tmp_path, path)
    kept = [path for path in found(tmp_path) if not path.endswith("ignore")]
    assert kept == ["build/x.py", "sub/keep.log", "sub/top.py"]
    assert skipped(tmp_path)["a.log"].detail == "*.log (.gitignore:3)"
    assert skipped(tmp_path)["sub/local.py"].detail == "local.py (sub/.gitignore:2)"
    assert skipped(tmp_path)["build/y.tmp"].detail == "build/*.tmp (.keyholeignore:2)"


def test_the_exclude_file_of_git_counts(tmp_path: Path) -> None:
    put(tmp_path, ".git/info/exclude", "notes.txt\n")
    put(tmp_path, "notes.txt")
    assert skipped(tmp_path)["notes.txt"].detail == "notes.txt (.git/info/exclude:1)"


def test_an_ignored_folder_is_pruned_and_recorded_once(tmp_path: Path) -> None:
    put(tmp_path, "node_modules/left/index.js")
    put(tmp_path, "node_modules/right/index.js")
    assert found(tmp_path) == []
    assert list(skipped(tmp_path)) == ["node_modules"]
    assert skipped(tmp_path)["node_modules"].is_dir


def test_an_ignore_file_is_compiled_once_for_all_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    class Counted(PatternList):
        def __init__(self, lines: list[str]) -> None:
            compiled.append(len(lines))
            super().__init__(lines)

    monkeypatch.setattr("keyhole.core.files.patterns.PatternList", Counted)
    content = "".join(f"{tmp_path.name}/*.{number}\n" for number in range(300))
    put(tmp_path, ".gitignore", content)
    put(tmp_path, "src/.gitignore", content)
    for _ in range(3):
        assert isinstance(examine(tmp_path, "src/.gitignore", max_bytes=LIMIT), Candidate)
    assert compiled == [301]
    put(tmp_path, ".gitignore", content + "src/\n")
    assert isinstance(examine(tmp_path, "src/.gitignore", max_bytes=LIMIT), Skip)
    assert compiled == [301, 302]


def test_few_large_ignore_files_are_kept() -> None:
    files = CompiledFiles(most_characters=10)
    first, second = files.compile("a" * 6), files.compile("b" * 4)
    assert files.compile("a" * 6) is first
    third = files.compile("c" * 4)
    assert (files.compile("a" * 6), files.compile("c" * 4)) == (first, third)
    assert files.compile("b" * 4) is not second
    huge = files.compile("d" * 50)
    assert files.compile("d" * 50) is huge


def test_an_invalid_pattern_is_ignored(tmp_path: Path) -> None:
    put(tmp_path, ".gitignore", "!\n/\n*.log\n")
    put(tmp_path, "a.log")
    assert skipped(tmp_path)["a.log"].detail == "*.log (.gitignore:3)"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("package-lock.json", SkipReason.LOCKFILE),
        ("deep/down/yarn.lock", SkipReason.LOCKFILE),
        ("jquery.min.js", SkipReason.MINIFIED),
        ("api_pb2.py", SkipReason.GENERATED),
        ("logo.png", SkipReason.BINARY),
        ("docs/logo.svg", SkipReason.PICTURE),
        (".env", SkipReason.SECRET),
        (".env.production", SkipReason.SECRET),
        ("certs/server.pem", SkipReason.SECRET),
        ("home/.ssh/config", SkipReason.SECRET),
        ("id_ed25519", SkipReason.SECRET),
        (".git/config", SkipReason.INTERNAL),
    ],
)
def test_default_rules(tmp_path: Path, path: str, reason: SkipReason) -> None:
    put(tmp_path, path)
    assert found(tmp_path) == []
    assert [skip.reason for skip in skipped(tmp_path).values()] == [reason]
    answer = examine(tmp_path, path, max_bytes=LIMIT)
    assert isinstance(answer, Skip)
    assert answer.reason == reason


def test_examples_of_env_files_are_not_secrets(tmp_path: Path) -> None:
    put(tmp_path, ".env.example")
    assert found(tmp_path) == [".env.example"]


def test_a_workspace_can_bring_back_a_lockfile_but_not_a_secret(tmp_path: Path) -> None:
    put(tmp_path, ".keyholeignore", "!yarn.lock\n!icons/*.svg\n!.env\n!*.pem\n!.git\n")
    for path in ["yarn.lock", "logo.svg", "icons/a.svg", ".env", "server.pem", ".git/config"]:
        put(tmp_path, path)
    assert found(tmp_path) == [".keyholeignore", "icons/a.svg", "yarn.lock"]


def test_every_default_rule_has_a_reason() -> None:
    rules = load_default_rules()
    verdict = rules.decide("a/node_modules", is_dir=True)
    assert verdict
    assert verdict[1].reason == SkipReason.IGNORED
    assert str(verdict[1]).startswith("node_modules/ (keyhole's default rules:")


def test_size_limit(tmp_path: Path) -> None:
    put(tmp_path, "exact.py", b"#" * LIMIT)
    put(tmp_path, "over.py", b"#" * (LIMIT + 1))
    assert found(tmp_path) == ["exact.py"]
    assert skipped(tmp_path)["over.py"].reason == SkipReason.TOO_LARGE


def test_a_fifty_megabyte_line_is_not_even_opened(tmp_path: Path) -> None:
    with (tmp_path / "one-line.json").open("wb") as stream:
        stream.truncate(50_000_000)
    (tmp_path / "one-line.json").chmod(0)
    assert skipped(tmp_path)["one-line.json"].reason == SkipReason.TOO_LARGE


def test_symlinks_are_never_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "proj", tmp_path / "proj2"
    put(root, "real.py")
    put(outside, "secret.py", "password = 1\n")
    (root / "inside.py").symlink_to("real.py")
    (root / "outside.py").symlink_to(outside / "secret.py")
    (root / "chain.py").symlink_to("outside.py")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    assert found(root) == ["real.py"]
    details = {path: skip.detail for path, skip in skipped(root).items()}
    assert details == {
        "inside.py": "points to real.py, which is listed separately",
        "outside.py": "points outside the workspace",
        "chain.py": "points outside the workspace",
        "folder": "points outside the workspace",
        "loop": "broken link",
        "up": "points outside the workspace",
    }


def test_special_files_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        assert {path: skip.reason for path, skip in skipped(tmp_path).items()} == {
            "pipe.py": SkipReason.SPECIAL,
            "sock": SkipReason.SPECIAL,
        }
    answer = read_bytes(tmp_path, "pipe.py", max_bytes=LIMIT)
    assert isinstance(answer, Skip)
    assert answer.reason == SkipReason.SPECIAL


def test_an_ignore_file_that_is_a_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    put(tmp_path, "a.py")
    assert found(tmp_path) == ["a.py"]


def test_names_that_cannot_be_shown(tmp_path: Path) -> None:
    put(tmp_path, "new\nline.py")
    put(tmp_path, "esc\x1b[31m.py")
    put(tmp_path, "größe 名前 👩‍💻.py")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/latin-\xff.py"))).write_bytes(b"x")
    assert found(tmp_path) == ["größe 名前 👩‍💻.py"]
    assert {skip.reason for skip in skipped(tmp_path).values()} == {SkipReason.BAD_NAME}
    assert sorted(skipped(tmp_path)) == ["esc\\x1b[31m.py", "latin-\\udcff.py", "new\\nline.py"]


def test_unreadable_files_and_folders_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "locked/a.py")
    put(tmp_path, "open.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    # The tests may run as root, who can read every file.
    monkeypatch.setattr(os, "scandir", refuse)
    assert found(tmp_path) == ["open.py"]
    assert skipped(tmp_path)["locked"].detail == "Permission denied"
    gone = read_source(tmp_path, "gone.py", max_bytes=LIMIT)
    assert isinstance(gone, Skip)
    assert gone.reason == SkipReason.UNREADABLE


def test_worktrees_are_second_copies_but_submodules_are_not(tmp_path: Path) -> None:
    put(tmp_path, "wt/.git", "gitdir: /somewhere/.git/worktrees/wt\n")
    put(tmp_path, "wt/a.py")
    put(tmp_path, "sub/.git", "gitdir: ../.git/modules/sub\n")
    put(tmp_path, "sub/b.py")
    assert found(tmp_path) == ["sub/b.py"]
    assert skipped(tmp_path)["wt"].reason == SkipReason.WORKTREE
    answer = examine(tmp_path, "wt/a.py", max_bytes=LIMIT)
    assert isinstance(answer, Skip)
    assert answer.reason == SkipReason.WORKTREE


def test_examine_agrees_with_the_walk_on_a_real_tree() -> None:
    root = Path(__file__).parent
    walked = scan(root, max_bytes=20_000)
    entries: list[Candidate | Skip] = [*walked.candidates, *(skip for skip in walked.skips if not skip.is_dir)]
    assert len(entries) > 20
    for entry in entries:
        assert examine(root, entry.path, max_bytes=20_000) == entry


def test_home_root_and_folders_above_home_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "users" / "me"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for folder in [Path("/"), home, home.parent]:
        with pytest.raises(WorkspaceError, match="contains more than one project"):
            open_workspace(folder)
        assert open_workspace(folder, force=True) == folder
    assert open_workspace(home / "project") == home / "project"


def test_a_workspace_must_be_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    with pytest.raises(WorkspaceError, match="not a folder"):
        open_workspace(tmp_path / "a.py")
    with pytest.raises(WorkspaceError, match="No such file"):
        open_workspace(tmp_path / "missing")


@pytest.mark.skipif(shutil.which("git") is None, reason="compares the rules with git")
@pytest.mark.parametrize("seed", range(30))
def test_ignore_rules_agree_with_git(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = ["a", "b", "src", "data", "a.py", "b.log", "x y", "abc", "Main.c", "lib"]
    for _ in range(60):
        parts = [chance.choice(names) for _ in range(chance.randint(1, 4))]
        is_below_a_file = any((tmp_path / "/".join(parts[:end])).is_file() for end in range(1, len(parts)))
        if not is_below_a_file and not (tmp_path / "/".join(parts)).is_dir():
            put(tmp_path, "/".join(parts))
    pieces = [
        "*",
        "**",
        "?",
        "a",
        "b",
        "src",
        "data",
        "*.py",
        "*.log",
        "a*",
        "[ab]",
        "[!a]",
        "[[:alpha:]]",
        "x y",
        "lib",
    ]
    for folder in [
        "",
        *chance.sample(sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_dir()), 2),
    ]:
        lines = []
        for _ in range(chance.randint(1, 6)):
            body = "/".join(chance.choice(pieces) for _ in range(chance.randint(1, 3)))
            lines.append(
                chance.choice(["", "", "!"]) + chance.choice(["", "", "/"]) + body + chance.choice(["", "", "/"])
            )
        put(tmp_path, f"{folder}/.gitignore".lstrip("/"), "\n".join([*lines, "!.gitignore", ""]))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    command = ["git", "-c", "core.quotepath=off", "ls-files", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert sorted(found(tmp_path)) == sorted(listed)


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ("*\n!*/\n!*.py\n", ["data/a.py", "src/a.py", "top.py"]),
        ("*\n!src\n!top.py\n!a.py\n", ["src/a.py", "top.py"]),
        ("\ufeff*.txt\n", ["data/a.py", "src/a.py", "top.py"]),
        ("[[:alpha:]]*.txt\n", ["data/a.py", "src/a.py", "top.py"]),
        ("\n".join(f"*1*{i}*c*1*d*" for i in range(2_500)) + "\n*.txt\n", ["data/a.py", "src/a.py", "top.py"]),
        ("[z-a]\n[\n\\\n*.txt\n", ["data/a.py", "src/a.py", "top.py"]),
        ("src/*\n!src/a.py\n", ["data/a.py", "src/a.py", "top.py"]),
    ],
    ids=["only Python", "some names", "mark at the start", "named class", "2,500 lines", "unreadable", "all but one"],
)
def test_rule_files_that_once_went_wrong(tmp_path: Path, rules: str, kept: list[str]) -> None:
    for path in ["data/a.py", "src/a.py", "top.py", "src/note.txt"]:
        put(tmp_path, path)
    put(tmp_path, ".gitignore", rules)
    assert [path for path in found(tmp_path) if path != ".gitignore"] == kept
