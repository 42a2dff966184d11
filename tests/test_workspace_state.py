"""What the explorer remembers of a workspace: the file, its limits, and two explorers that write it."""

import json
import os
import stat
from pathlib import Path

import pytest
from canaries import CANARIES
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.core.index.private_files import make_private_folder
from keyhole.core.service import Service
from keyhole.tui.state_file import (
    LARGEST_FILE,
    LONGEST_QUERY,
    MOST_COMMANDS,
    MOST_QUERIES,
    MOST_SAVED,
    KeptState,
    UnusableStateError,
    _delete_oldest,
    read_state,
    recent_workspaces,
    state_path,
)
from keyhole.tui.workspace_state import WorkspaceState


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "workspaces"


def state_of(root: Path, folder: Path, *, is_fresh: bool = False) -> WorkspaceState:
    return WorkspaceState.of(root, folder=folder, is_fresh=is_fresh)


def test_queries_and_layout_are_there_the_next_time(root: Path, folder: Path) -> None:
    state = state_of(root, folder)
    assert (state.history, state.saved, state.problem) == ((), {}, "")
    state.add_query("retry backoff")
    state.add_query(" lang:py parse ")
    state.save_query("parsers", "parse kind:function")
    state.last.line, state.last.screen, state.last.pane_sizes["explore"] = "parse", "files", 48
    state.add_command("Find a file")
    assert state.flush()
    again = state_of(root, folder)
    assert again.history == ("retry backoff", "lang:py parse")
    assert again.saved == {"parsers": "parse kind:function"}
    assert (again.last.line, again.last.screen) == ("parse", "files")
    assert (again.last.pane_sizes, again.last.commands) == ({"explore": 48}, ["Find a file"])


def test_a_fresh_start_keeps_the_queries_only(root: Path, folder: Path) -> None:
    state = state_of(root, folder)
    state.add_query("retry")
    state.last.theme = "keyhole-light"
    state.flush()
    fresh = state_of(root, folder, is_fresh=True)
    assert (fresh.history, fresh.last.theme) == (("retry",), "")
    fresh.flush()
    assert state_of(root, folder).last.theme == ""


def test_without_a_file_nothing_is_written(tmp_path: Path) -> None:
    state = WorkspaceState()
    state.add_query("retry")
    assert state.flush()
    assert state.history == ("retry",)
    assert state.recent_workspaces() == []
    assert list(tmp_path.iterdir()) == []


def test_clearing_the_index_keeps_the_queries(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    (root / "a.py").write_text("x = 1\n")
    service = Service.open(root, flags={"cache_dir": str(tmp_path / "cache"), "index.model": "none"})
    service.index()
    state = WorkspaceState.of(root)
    state.add_query("retry")
    state.flush()
    assert service.clear()
    assert WorkspaceState.of(root).history == ("retry",)


def test_only_the_owner_may_read_it(root: Path, folder: Path) -> None:
    before = os.umask(0)
    try:
        state = state_of(root, folder)
        state.add_query("retry")
        state.flush()
    finally:
        os.umask(before)
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert len(found) == 2
    assert set(found.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


DAMAGED = {
    "not JSON": b"{",
    "not text": b"\xff\xfe\x00",
    "no object": b"[]",
    "another version": b'{"version": 99, "history": ["x"]}',
    "too deep": b"[" * 200_000,
    "too large": b'{"version": 1}' + b" " * LARGEST_FILE,
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_or_foreign_file_is_replaced_with_a_notice(root: Path, folder: Path, content: bytes) -> None:
    make_private_folder(folder)
    path = state_path(folder, root)
    path.write_bytes(content)
    state = state_of(root, folder)
    assert state.problem.startswith("Could not read the saved state (it is ")
    assert state.history == ()
    state.add_query("retry")
    assert state.flush()
    assert state_of(root, folder).history == ("retry",)


def test_values_of_the_wrong_kind_are_ignored(root: Path, folder: Path) -> None:
    make_private_folder(folder)
    last = {"line": 1, "max_tokens": True, "screen": None, "pane_sizes": {"a": "wide", "b": 3}, "commands": {"x": 1}}
    content = {
        "version": 1,
        "history": ["kept", 2, "", "x" * 3_000],
        "saved": {"a": 1, "": "x", "b": "kept"},
        "last": last,
    }
    path = state_path(folder, root)
    path.write_text(json.dumps(content))
    state = state_of(root, folder)
    assert (state.problem, state.history, state.saved) == ("", ("kept",), {"b": "kept"})
    assert (state.last.line, state.last.max_tokens, state.last.screen) == ("", 0, "")
    assert (state.last.pane_sizes, state.last.commands) == ({"b": 3}, [])


def test_two_explorers_keep_the_queries_of_each_other(root: Path, folder: Path) -> None:
    first, second = state_of(root, folder), state_of(root, folder)
    first.add_query("from the first")
    first.save_query("mine", "a")
    first.flush()
    second.add_query("from the second")
    second.save_query("yours", "b")
    second.flush()
    assert state_of(root, folder).history == second.history == ("from the first", "from the second")
    first.forget_saved("yours")
    first.forget_query("from the second")
    first.flush()
    assert state_of(root, folder).saved == first.saved == {"mine": "a"}
    assert first.history == ("from the first",)


def test_a_query_with_a_token_is_not_written(root: Path, folder: Path) -> None:
    token = next(token for kind, token, _ in CANARIES if kind == "github-token")
    state = state_of(root, folder)
    state.add_query(f"who uses {token}")
    state.save_query("token", token)
    state.last.line = token
    state.add_query("harmless")
    state.flush()
    assert token not in state_path(folder, root).read_text()
    assert state_of(root, folder).history == ("harmless",)
    # The line on the screen stays.
    assert state.last.line == token


def test_everything_is_limited(root: Path, folder: Path) -> None:
    state = state_of(root, folder)
    for number in range(MOST_QUERIES + 5):
        state.add_query(f"query {number}")
    state.add_query("x" * (LONGEST_QUERY + 1))
    assert state.history[-1] == f"query {MOST_QUERIES + 4}"
    assert len(state.history) == MOST_QUERIES
    saved = [state.save_query(f"name {number}", "x") for number in range(MOST_SAVED + 1)]
    assert saved == [True] * MOST_SAVED + [False]
    assert state.save_query("name 1", "another")
    for number in range(MOST_COMMANDS + 5):
        state.add_command(f"command {number % (MOST_COMMANDS + 2)}")
    assert len(state.last.commands) == MOST_COMMANDS == len(set(state.last.commands))
    state.flush()
    assert state_path(folder, root).stat().st_size < LARGEST_FILE


@given(st.lists(st.sampled_from(["a", "b", "c", "d"])))
def test_the_history_has_each_query_once_in_the_order_of_its_last_use(lines: list[str]) -> None:
    state = WorkspaceState()
    for line in lines:
        state.add_query(line)
    last_use = {line: number for number, line in enumerate(lines)}
    assert list(state.history) == sorted(last_use, key=lambda line: last_use[line])


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["version", "history", "saved", "last", "pane_sizes", "commands", "line"]), inner
            )
        ),
    )
)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps({"version": 1, **content} if isinstance(content, dict) else content))
    try:
        assert isinstance(read_state(path), KeptState)
    except UnusableStateError:
        assert not isinstance(content, dict) or content.get("version", 1) != 1


def test_a_folder_that_cannot_be_written_is_said(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    state = state_of(root, tmp_path / "file" / "workspaces")
    state.add_query("retry")
    assert not state.flush()
    assert state.problem.startswith("Could not save the queries and layout of this workspace (")
    assert state.history == ("retry",)


def test_recent_workspaces_are_those_that_still_exist(tmp_path: Path, folder: Path) -> None:
    for number, name in enumerate(["old", "gone", "new"]):
        (tmp_path / name).mkdir()
        state_of(tmp_path / name, folder).flush()
        os.utime(state_path(folder, tmp_path / name), (number, number))
    (tmp_path / "gone").rmdir()
    (folder / "foreign.json").write_text("{")
    assert recent_workspaces(folder) == [tmp_path / "new", tmp_path / "old"]
    assert recent_workspaces(tmp_path / "nowhere") == []


def test_the_oldest_workspaces_are_forgotten(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.tui.state_file.MOST_WORKSPACES", 2)
    for number, name in enumerate(["a", "b", "c"]):
        (tmp_path / name).mkdir()
        state_of(tmp_path / name, folder).flush()
        os.utime(state_path(folder, tmp_path / name), (number, number))
    _delete_oldest(folder)
    assert recent_workspaces(folder) == [tmp_path / "c", tmp_path / "b"]
    assert len(list(folder.glob("*.lock"))) == 2
