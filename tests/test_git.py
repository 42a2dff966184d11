"""Git at a glance: what changed and who changed a line, the same as plain git says, without running its settings."""

import os
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from git_samples import commit_all, git, new_repository, write
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.errors import GitError
from keyhole.core.git import git_process, shadow_repository
from keyhole.core.git.blame_line import Blame, age_text, blame_text, parse_blame
from keyhole.core.git.git_changes import ChangeKind, GitChanges, parse_status
from keyhole.core.git.git_process import GitProcess, find_git
from keyhole.core.git.workspace_git import WorkspaceGit

M, A, NEW, R, U, D = "M", "A", "?", "R", "U", "D"
Make = Callable[[Path], Path]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


@pytest.fixture
def opened() -> Iterator[Callable[[Path], WorkspaceGit]]:
    """Open workspaces, and close them at the end."""
    found: list[WorkspaceGit] = []

    def open_git(root: Path) -> WorkspaceGit:
        found.append(WorkspaceGit(root))
        return found[-1]

    yield open_git
    for one in found:
        one.close()


def kinds(changes: GitChanges) -> dict[str, str]:
    assert changes.problem == ""
    return {path: str(kind) for path, kind in changes.kinds.items()}


# What changed


def test_each_kind_of_change_has_its_letter(repository: Path, opened: Callable[[Path], WorkspaceGit]) -> None:
    write(repository, one="first = 10\n", added="a = 1\n", loose="l = 1\n", fresh__inside="i = 1\n")
    git(repository, "add", "added.py")
    git(repository, "mv", "src/two.py", "src/second.py")
    (repository / "src/deep/three.py").unlink()
    changes = opened(repository).refresh()
    assert kinds(changes) == {
        "one.py": M,
        "added.py": A,
        "loose.py": NEW,
        "src/second.py": R,
        "src/deep/three.py": D,
    }
    assert changes.new_folders == {"fresh"}
    assert changes.kind_of("fresh/inside.py") == ChangeKind.UNTRACKED
    assert changes.kind_of("src/two.py") is None
    assert [folder for folder in ("src", "src/deep", "fresh", "fresh/deeper") if changes.has_changes_in(folder)] == [
        "src",
        "src/deep",
        "fresh",
        "fresh/deeper",
    ]
    assert not changes.has_changes_in("other")


def test_a_conflict_is_marked(repository: Path, opened: Callable[[Path], WorkspaceGit]) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    write(repository, one="theirs = 1\n")
    commit_all(repository, "Theirs")
    git(repository, "checkout", "--quiet", "-")
    write(repository, one="ours = 1\n")
    commit_all(repository, "Ours")
    git(repository, "merge", "other", fails=True)
    assert kinds(opened(repository).refresh()) == {"one.py": U}


def test_a_refresh_sees_edits_commits_and_ignore_rules(
    repository: Path, opened: Callable[[Path], WorkspaceGit]
) -> None:
    found = opened(repository)
    assert kinds(found.refresh()) == {}
    stamp = found.stamp()
    # As long as before, within the same second.
    write(repository, one="first = 2\nsecond = 2\n")
    assert kinds(found.refresh()) == {"one.py": M}
    commit_all(repository, "Edit")
    assert found.stamp() != stamp
    assert kinds(found.refresh()) == {}
    write(repository, loose="l = 1\n")
    (repository / ".git/info/exclude").write_text("loose.py\n")
    assert kinds(found.refresh()) == {}


def test_a_workspace_inside_a_repository_sees_its_own_files(
    repository: Path, opened: Callable[[Path], WorkspaceGit]
) -> None:
    write(repository, one="changed = 1\n", src__two="changed = 2\n", new__inside="n = 1\n", src__also__n="n = 1\n")
    assert kinds(opened(repository / "src").refresh()) == {"two.py": M}
    assert opened(repository / "src").refresh().new_folders == {"also"}
    everything = opened(repository / "new").refresh()
    assert everything.kind_of("inside.py") == ChangeKind.UNTRACKED
    assert everything.has_changes_in("any")


def linked_worktree(folder: Path) -> Path:
    main = new_repository(folder / "main")
    git(main, "worktree", "add", "--quiet", "../linked")
    return folder / "linked"


def submodule(folder: Path) -> Path:
    new_repository(folder / "library")
    outer = new_repository(folder / "outer")
    git(outer, "submodule", "--quiet", "add", str(folder / "library"), "lib")
    commit_all(outer, "Add a library")
    return outer / "lib"


def outer_of_submodule(folder: Path) -> Path:
    return submodule(folder).parent


def shallow_clone(folder: Path) -> Path:
    source = new_repository(folder / "source")
    write(source, one="first = 1\nsecond = 3\n")
    commit_all(source, "Second")
    git(folder, "clone", "--quiet", "--depth=1", f"file://{source}", "clone")
    return folder / "clone"


def split_index(folder: Path) -> Path:
    root = new_repository(folder / "split")
    git(root, "update-index", "--split-index")
    return root


def sparse_index(folder: Path) -> Path:
    root = new_repository(folder / "sparse")
    write(root, other__file="o = 1\n")
    commit_all(root, "Another folder")
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "src")
    return root


def packed(folder: Path) -> Path:
    root = new_repository(folder / "packed")
    git(root, "gc", "--quiet")
    git(root, "pack-refs", "--all")
    return root


def with_long_hashes(folder: Path) -> Path:
    return new_repository(folder / "long", "--object-format=sha256")


def without_commit(folder: Path) -> Path:
    root = folder / "empty"
    root.mkdir()
    git(root, "init", "--quiet")
    write(root, one="o = 1\n", src__two="t = 1\n")
    git(root, "add", "one.py")
    return root


def with_odd_names(folder: Path) -> Path:
    root = new_repository(folder / 'odd "name" é')
    for name in ("with space.py", 'quote".py', "new\nline.py", "tab\t.py", "é.py", "-flag.py", ":(glob)*.py"):
        (root / name).write_text("x = 1\n")
    commit_all(root, "Odd")
    for name in ("with space.py", 'quote".py', "new\nline.py", "é.py", ":(glob)*.py"):
        (root / name).write_text("x = 2\n")
    git(root, "mv", "-f", "--", "-flag.py", "--flag.py")
    return root


def with_windows_line_ends(folder: Path) -> Path:
    root = new_repository(folder / "windows")
    git(root, "config", "core.autocrlf", "true")
    (root / "one.py").write_bytes(b"first = 1\r\nsecond = 2\r\n")
    return root


def without_executable_bits(folder: Path) -> Path:
    root = new_repository(folder / "modes")
    git(root, "config", "core.fileMode", "false")
    (root / "one.py").chmod(0o755)
    return root


@pytest.mark.parametrize(
    "make",
    [
        linked_worktree,
        submodule,
        outer_of_submodule,
        shallow_clone,
        split_index,
        sparse_index,
        packed,
        with_long_hashes,
        without_commit,
        with_odd_names,
        with_windows_line_ends,
        without_executable_bits,
    ],
)
def test_every_kind_of_repository_gives_what_plain_git_says(
    tmp_path: Path, make: Make, opened: Callable[[Path], WorkspaceGit]
) -> None:
    root = make(tmp_path)
    found = opened(root)
    for _ in range(2):
        plain = git(root, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=all")
        assert found.refresh() == parse_status(plain)
        write(root, src__two="edited = True\n", src__added="a = 1\n")
    if git(root, "ls-files", "src/two.py"):
        assert found.blame("src/two.py", 1) == Blame()
    if make is shallow_clone:
        assert found.blame("one.py", 2).subject == "Second"


@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(
            lambda path: not path.endswith("/")
        ),
        st.sampled_from(list(ChangeKind)),
    )
)
def test_any_path_survives_the_way_from_git(changed: dict[str, ChangeKind]) -> None:
    forms = {
        M: "1 .M N... 100644 100644 100644 {0} {0} {1}",
        A: "1 A. N... 000000 100644 100644 {0} {0} {1}",
        D: "1 .D N... 100644 100644 000000 {0} {0} {1}",
        R: "2 R. N... 100644 100644 100644 {0} {0} R100 {1}\0was/here ? 1",
        U: "u UU N... 100644 100644 100644 100644 {0} {0} {0} {1}",
        NEW: "? {1}",
    }
    records = [forms[kind].format("0" * 40, path) for path, kind in changed.items()]
    assert parse_status("".join(f"{record}\0" for record in records).encode()).kinds == changed


@given(st.lists(st.sampled_from(["a", "b", "a/b", "b/a/c", "c.py", "a/c.py", "a/b/d.py"])), st.data())
def test_a_file_is_either_changed_or_not(paths: list[str], data: st.DataObject) -> None:
    new_folders = data.draw(st.frozensets(st.sampled_from(["", "a", "a/b", "e"])))
    changes = GitChanges({path: ChangeKind.MODIFIED for path in paths if "." in path}, new_folders)
    for path in ["c.py", "a/c.py", "a/b/d.py", "e.py", "e/f.py", "ab/c.py"]:
        is_changed = changes.as_filter(is_wanted=True).admits(path)
        assert is_changed != changes.as_filter(is_wanted=False).admits(path)
        assert is_changed == (changes.kind_of(path) is not None)
        if is_changed and "/" in path:
            assert changes.has_changes_in(path.rpartition("/")[0])


# Who changed a line


def test_blame_names_author_date_and_subject(repository: Path, opened: Callable[[Path], WorkspaceGit]) -> None:
    write(repository, one="first = 1\nsecond = 22\n")
    commit_all(repository, "Fix: the second")
    write(repository, one="zeroth = 0\nfirst = 1\nsecond = 22\n", loose="l = 1\n")
    found = opened(repository)
    assert found.blame("one.py", 3).subject == "Fix: the second"
    first = found.blame("one.py", 2)
    assert (first.author, first.subject, len(first.commit)) == ("Ada Lovelace", "Start", 40)
    assert blame_text(first, first.time + 100 * 86_400) == "Ada Lovelace, 3 months ago: Start"
    assert blame_text(found.blame("one.py", 1)) == "Not committed yet"
    assert found.blame("loose.py", 1) == Blame()
    with pytest.raises(GitError, match="only 3 lines"):
        found.blame("one.py", 99)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (2 * 3_600, "2 hours ago"),
        (86_400, "1 day ago"),
        (13 * 86_400, "1 week ago"),
        (364 * 86_400, "12 months ago"),
        (800 * 86_400, "2 years ago"),
    ],
)
def test_ages_are_in_the_largest_unit(seconds: int, text: str) -> None:
    assert age_text(seconds) == text


@given(st.binary())
def test_any_output_of_blame_is_read(printed: bytes) -> None:
    assert "\n" not in blame_text(parse_blame(printed), 0)


# Without git


def test_a_folder_without_a_repository_says_so(tmp_path: Path, opened: Callable[[Path], WorkspaceGit]) -> None:
    found = opened(tmp_path)
    assert not found.refresh().is_known
    assert "not a git repository" in found.changes.problem
    assert found.changes.kind_of("a.py") is None
    with pytest.raises(GitError, match="not a git repository"):
        found.blame("a.py", 1)


def test_without_git_it_is_off(
    repository: Path, opened: Callable[[Path], WorkspaceGit], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert opened(repository).refresh().problem == "git is not installed"


def test_a_git_program_inside_the_workspace_is_not_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = repository / "git"
    fake.write_text("#!/bin/sh\ntouch fired\n")
    fake.chmod(0o755)
    monkeypatch.chdir(repository)
    for path in (".", str(repository)):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(GitError, match="inside the workspace"):
            find_git(repository)


def test_a_repository_of_another_user_is_off(
    repository: Path, opened: Callable[[Path], WorkspaceGit], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Git has this variable for its own tests.
    environment = git_process._environment
    monkeypatch.setattr(git_process, "_environment", lambda: environment() | {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert "dubious ownership" in opened(repository).refresh().problem


def test_variables_of_another_repository_are_ignored(
    repository: Path, opened: Callable[[Path], WorkspaceGit], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = new_repository(tmp_path / "other")
    write(repository, one="changed = 1\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert kinds(opened(repository).refresh()) == {"one.py": M}


def waiting_repository(folder: Path) -> Path:
    """Return a repository that makes git wait forever: a file of it is a pipe."""
    root = new_repository(folder / "waiting")
    (root / ".git/HEAD").unlink()
    os.mkfifo(root / ".git/HEAD")
    return root


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes in the file system")
def test_git_that_hangs_is_given_up(
    tmp_path: Path, opened: Callable[[Path], WorkspaceGit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_repository, "_DISCOVERY_SECONDS", 0.2)
    assert opened(waiting_repository(tmp_path)).refresh().problem == "git took longer than 0.2 seconds"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes in the file system")
def test_closing_stops_git_at_once(tmp_path: Path) -> None:
    found = WorkspaceGit(waiting_repository(tmp_path))
    problems: list[str] = []
    thread = threading.Thread(target=lambda: problems.append(found.refresh().problem))
    thread.start()
    while not (found._process and found._process._running):
        pass
    found.close()
    thread.join(5)
    assert problems == ["git was stopped"]
    assert found.refresh().problem == "git was stopped"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes in the file system")
def test_pipes_in_place_of_files_are_not_waited_for(repository: Path, opened: Callable[[Path], WorkspaceGit]) -> None:
    for name in ("info/exclude", "shallow", "index"):
        (repository / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(repository / ".git" / name)
    assert opened(repository).refresh().kind_of("one.py") is not None


def test_too_much_output_is_given_up(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_process, "_MOST_BYTES", 10)
    with pytest.raises(GitError, match="too much"):
        GitProcess(find_git(repository)).run(["--help"], repository)


# A hostile repository


def tree_of(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        # A folder that is only read gets a new time of access, not of change.
        found[str(path)] = (status.st_mtime_ns, status.st_size, stat.S_IFMT(status.st_mode))
    return found


def test_nothing_is_written_to_the_repository(repository: Path, opened: Callable[[Path], WorkspaceGit]) -> None:
    # Git would note in its index that these files are the same as before, and plain `git status` does.
    for path in (repository / "one.py", repository / "src/two.py"):
        path.touch()
    write(repository, src__deep__three="three = 4\n")
    before = tree_of(repository)
    found = opened(repository)
    assert kinds(found.refresh()) == {"src/deep/three.py": M}
    found.blame("one.py", 1)
    found.close()
    assert tree_of(repository) == before
    git(repository, "status")
    assert tree_of(repository) != before


class Canaries:
    """Programs that leave a file behind when they are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()

    def program(self, name: str) -> str:
        script = self.folder / f"{name}.sh"
        script.write_text(f'#!/bin/sh\ntouch "{self.folder}/{name}.fired"\n')
        script.chmod(0o755)
        return str(script)

    @property
    def fired(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.fired"))


Arm = Callable[[Path, Canaries], None]


def with_file_system_monitor(root: Path, canaries: Canaries) -> None:
    git(root, "config", "core.fsmonitor", canaries.program("monitor"))


def with_included_settings(root: Path, canaries: Canaries) -> None:
    (root / "more.cfg").write_text(f"[core]\n\tfsmonitor = {canaries.program('included')}\n")
    git(root, "config", "include.path", "../more.cfg")


def with_filters(root: Path, canaries: Canaries) -> None:
    (root / ".gitattributes").write_text("*.py filter=evil\n")
    git(root, "config", "filter.evil.clean", canaries.program("clean"))
    git(root, "config", "filter.evil.smudge", canaries.program("smudge"))
    git(root, "config", "filter.evil.required", "true")


def with_filter_process(root: Path, canaries: Canaries) -> None:
    (root / ".git/info/attributes").write_text("* filter=evil\n")
    git(root, "config", "filter.evil.process", canaries.program("process"))


def with_text_conversion(root: Path, canaries: Canaries) -> None:
    (root / ".gitattributes").write_text("* diff=evil\n")
    git(root, "config", "diff.evil.textconv", canaries.program("textconv"))
    git(root, "config", "diff.evil.command", canaries.program("diff"))
    git(root, "config", "diff.external", canaries.program("external"))


def with_hooks(root: Path, canaries: Canaries) -> None:
    hook = canaries.program("hook")
    for name in ("post-index-change", "post-checkout", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(hook, root / ".git/hooks" / name)
    other = root / "other-hooks"
    shutil.copytree(root / ".git/hooks", other)
    git(root, "config", "core.hooksPath", str(other))


def with_pagers_and_aliases(root: Path, canaries: Canaries) -> None:
    for name in ("status", "blame", "rev-parse", "config"):
        git(root, "config", f"pager.{name}", canaries.program("pager"))
        git(root, "config", f"alias.{name}", f"!{canaries.program('alias')}")
    git(root, "config", "core.pager", canaries.program("pager"))
    git(root, "config", "core.editor", canaries.program("editor"))


def with_missing_objects(root: Path, canaries: Canaries) -> None:
    """Make git download the objects of the last commit from a remote that is a program."""
    program = canaries.program("download")
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{program}",
        "protocol.ext.allow": "always",
        "core.sshCommand": program,
        "core.gitProxy": program,
        "core.askPass": program,
        "credential.helper": f"!{program}",
    }.items():
        git(root, "config", name, value)
    tree = git(root, "rev-parse", "HEAD^{tree}").decode().strip()
    (root / ".git/objects" / tree[:2] / tree[2:]).unlink()


def with_hostile_submodule(root: Path, canaries: Canaries) -> None:
    inner = new_repository(root / "inner")
    git(root, "add", "inner")
    git(root, "commit", "--quiet", "--message", "A library")
    write(inner, one="changed = 1\n")
    with_file_system_monitor(inner, canaries)
    with_filters(inner, canaries)


ARMED: list[Arm] = [
    with_file_system_monitor,
    with_included_settings,
    with_filters,
    with_filter_process,
    with_text_conversion,
    with_hooks,
    with_pagers_and_aliases,
    with_missing_objects,
    with_hostile_submodule,
]
# An alias of a command that git has itself is never run, and neither is a pager without a terminal.
_HARMLESS_TODAY = (with_pagers_and_aliases,)


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
@pytest.mark.parametrize("arm", ARMED)
def test_no_setting_of_a_repository_is_run(
    repository: Path, tmp_path: Path, arm: Arm, opened: Callable[[Path], WorkspaceGit]
) -> None:
    canaries = Canaries(tmp_path / "canaries")
    arm(repository, canaries)
    # Files that git has to compare by their content.
    for path in (repository / "one.py", repository / "src/two.py"):
        path.touch()
    write(repository, src__deep__three="three = 4\n")
    found = opened(repository)
    changes = found.refresh()
    for name in ("one.py", "src/deep/three.py"):
        try:
            found.blame(name, 1)
        except GitError:
            assert arm is with_missing_objects
    assert canaries.fired == []
    if arm is not with_missing_objects:
        assert changes.kind_of("src/deep/three.py") == ChangeKind.MODIFIED
    # The same questions to plain git do run it, so the canary can fire.
    for arguments in (("status",), ("blame", "one.py")):
        git(repository, *arguments, fails=True)
    assert bool(canaries.fired) == (arm not in _HARMLESS_TODAY)


def test_a_working_tree_in_another_folder_is_off(
    repository: Path, tmp_path: Path, opened: Callable[[Path], WorkspaceGit]
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    git(repository, "config", "core.worktree", str(private))
    assert opened(repository).refresh().problem == "the repository's files are in another folder"


def test_a_folder_that_looks_like_a_bare_repository_is_off(
    tmp_path: Path, opened: Callable[[Path], WorkspaceGit]
) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare")
    assert not opened(tmp_path / "bare").refresh().is_known


def test_secrets_and_controls_in_commits_are_not_shown(
    repository: Path, opened: Callable[[Path], WorkspaceGit]
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(repository, one="changed = 1\n")
    commit_all(repository, f"Use {token}")
    assert token not in opened(repository).blame("one.py", 1).subject
