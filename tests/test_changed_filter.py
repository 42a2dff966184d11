"""Searching only what changed since the last commit: in the core, at the shell and in the search line."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from driving import make_service
from git_samples import commit_all, new_repository, write
from test_cli import keyhole

from keyhole.core.errors import CursorError, QueryError
from keyhole.core.service import Service
from keyhole.core.types.choices import Format, Mode
from keyhole.core.types.inventory import Inventory
from keyhole.core.types.view_requests import SearchRequest
from keyhole.tui.call import json_rpc
from keyhole.tui.query_syntax import Words, read_query


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository in which one file is edited, one is new in a new folder, and two are as committed."""
    root = new_repository(tmp_path / "project")
    write(root, one="def shared_edited(): pass\n", src__two="def shared_two(): pass\n", src__deep__three="shared = 3\n")
    commit_all(root, "All have the word")
    write(root, one="def shared_edited(): return 1\n", fresh__four="def shared_four(): pass\n")
    return root


@pytest.fixture
def service(root: Path) -> Service:
    service = make_service(root)
    service.index()
    return service


def found(service: Service, text: str = "shared", **filters: object) -> set[str]:
    result, _ = service.search_page(SearchRequest(text, mode=Mode.REGEX, **filters))  # type: ignore[arg-type]
    return {hit.path for hit in result.hits}


def test_changed_and_unchanged_files_are_told_apart(service: Service) -> None:
    assert found(service, changed=True) == {"one.py", "fresh/four.py"}
    assert found(service, changed=False) == {"src/two.py", "src/deep/three.py"}
    assert found(service, changed=True, path="fresh") == {"fresh/four.py"}
    assert found(service) == {"one.py", "fresh/four.py", "src/two.py", "src/deep/three.py"}


def test_what_changed_is_read_again_when_asked_for(service: Service, root: Path) -> None:
    assert found(service, changed=True) == {"one.py", "fresh/four.py"}
    commit_all(root, "Both")
    service.git.refresh()
    assert found(service, changed=True) == set()


def test_an_empty_answer_says_what_the_filter_takes_away(service: Service) -> None:
    view = service.search_view(SearchRequest("shared_two", mode=Mode.REGEX, changed=True))
    assert view.text.startswith("Nothing found: no match for /shared_two/ in 2 files (changed=yes).")
    assert "without changed: 1 result" in view.text


def test_the_explanation_names_the_filter(service: Service) -> None:
    explained = service.explain(SearchRequest("shared", changed=True), "src/two.py")
    assert explained.verdict == "filtered out by changed=yes: the file has not changed since the last commit"
    assert service.explain(SearchRequest("shared", changed=False), "src/two.py").rank


def test_a_cursor_belongs_to_its_filter(service: Service) -> None:
    request = SearchRequest("shared", Mode.REGEX, limit=1, format=Format.JSON)
    cursor = json.loads(service.search_view(request).text)["pagination"]["cursor"]
    assert service.search_view(replace(request, cursor=cursor))
    with pytest.raises(CursorError):
        service.search_view(replace(request, cursor=cursor, changed=True))


def test_without_git_the_filter_says_why(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    write(root, one="shared = 1\n")
    service = make_service(root)
    service.index()
    with pytest.raises(QueryError, match="git doesn't know which files changed: not a git repository"):
        found(service, changed=True)
    assert found(service) == {"one.py"}


def test_the_shell_has_the_filter(root: Path) -> None:
    shown = keyhole("search", "/shared/", "--changed", "--json", cwd=root)
    assert {hit["file_path"] for hit in json.loads(shown.stdout)["results"]} == {"one.py", "fresh/four.py"}
    others = keyhole("search", "/shared/", "--unchanged", "--json", cwd=root)
    assert {hit["file_path"] for hit in json.loads(others.stdout)["results"]} == {"src/two.py", "src/deep/three.py"}
    (root / ".git").rename(root.parent / "gone")
    failed = keyhole("search", "/shared/", "--changed", cwd=root)
    assert failed.returncode == 2
    assert "not a git repository" in failed.stderr


@pytest.mark.parametrize(
    ("line", "wanted"), [("x changed:yes", True), ("changed:no x", False), ("x changed:", None), ("changed y", None)]
)
def test_the_search_line_has_the_filter(line: str, wanted: bool | None) -> None:
    assert read_query(line).changed is wanted


def test_a_wrong_value_is_an_error_and_the_values_are_completed() -> None:
    with pytest.raises(QueryError, match="unknown value changed:maybe; use changed:yes or changed:no"):
        read_query("x changed:maybe")
    words = Words.of(Inventory())
    assert words.complete("x cha") == "x changed:"
    assert words.complete("changed:") == "changed:yes"


def test_the_call_of_an_agent_has_no_such_argument() -> None:
    call = json.loads(json_rpc(SearchRequest("x", path="src", changed=True)))
    assert call["params"]["arguments"] == {"query": "x", "path": "src"}
