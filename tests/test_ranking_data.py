"""The queries that the ranking is learnt from: mined from allowed repositories, and answered by the files they name."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from bench_modules import bench_folders

pytestmark = pytest.mark.usefixtures("mining")

PARSER = '''\
class Parser:
    """Turns the tokens of a query into a tree of operators."""

    def parse(self, text):
        """Reads everything up to the closing bracket and reports unbalanced ones."""
        return text.split()


def parse_header(text):
    """Parse header."""
    return text
'''
READER = """\
package reader

// Reader fetches pages over the network and keeps them in memory.
type Reader struct {
	pages map[string]string
}

func parser(text string) string {
	return text
}

// First loads the stored page from the disk again.
func First() int {
	return 1
}

// Second loads the stored page from the disk again.
func Second() int {
	return 2
}

func (r *Reader) Parse(text string) string {
	return text
}
"""


@pytest.fixture(scope="module")
def mining() -> Iterator[ModuleType]:
    with bench_folders("ranking", "model"):
        yield import_module("mine_queries")


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose parser was moved once, with a changelog that repeats one subject."""
    folder = tmp_path_factory.mktemp("clones")
    work = folder / "someone+project"
    git(work.parent, "init", "--quiet", str(work))
    commit(work, "Initial commit", {"core.py": PARSER, "web/reader.go": READER, "docs/notes.md": "notes"})
    commit(work, "fix(core): report unbalanced brackets in queries (#12)", {"core.py": PARSER + "\nDEPTH = 3\n"})
    git(work, "mv", "core.py", "parser.py")
    commit(work, "Move the parser out of the core", {})
    commit(work, "[WEB-7] web: keep fetched pages in memory, fixes #31", {"web/reader.go": READER + "\n"})
    commit(work, "Fix typo in reader", {"web/reader.go": READER})
    commit(
        work,
        "Fetch pages again after a timeout",
        {"web/reader.go": READER + "// x\n", "CHANGES.md": "Fetch pages again after a timeout"},
    )
    commit(work, "Keep the memory of parser.py small", {"parser.py": PARSER})
    commit(work, "Test that the reader fetches pages", {"tests/test_reader.py": "def test_pages(): pass\n"})
    vendored = {"web/vendor/flask/app.py": PARSER, "large.txt": "x" * 1_000_001, "picture.bin": "\0"}
    commit(work, "Show pages in a browser window", vendored)
    return folder


@pytest.fixture(scope="module")
def mined(mining: ModuleType, clones: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Path]:
    output = tmp_path_factory.mktemp("output")
    return mining.mine(project(clones), clones=clones, output=output), output / "trees" / "someone+project"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(work: Path, subject: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message", subject)


def project(clones: Path) -> Any:
    head = git(clones / "someone+project", "rev-parse", "HEAD")
    return import_module("repositories").Repository("someone/project", "Python", "MIT", head)


def queries(mined: tuple[list[Any], Path], kind: str) -> dict[str, list[Any]]:
    return {query["query"]: query["answers"] for query in mined[0] if query["kind"] == kind}


def test_only_allowed_repositories_are_listed() -> None:
    repositories = import_module("repositories")
    listed = repositories.read_repositories(repositories.MANIFEST)
    assert len(listed) >= 60
    assert len({found.language for found in listed}) >= 15
    assert len({found.repository.lower() for found in listed}) == len(listed)
    assert [found for found in listed if len(found.commit) != 40] == []
    assert [found for found in listed if import_module("sources").is_reserved(found.repository)] == []
    assert [found for found in listed if not import_module("sources").is_permissive(found.licence)] == []


def test_written_questions_are_about_listed_repositories_at_their_commits() -> None:
    repositories, mining = import_module("repositories"), import_module("mine_queries")
    commits = {found.repository: found.commit for found in repositories.read_repositories(repositories.MANIFEST)}
    questions = mining.read_questions()
    assert len(questions) >= 300
    assert len({asked["repository"] for asked in questions}) >= 40
    assert [asked for asked in questions if commits.get(asked["repository"]) != asked["commit"]] == []
    assert {asked["kind"] for asked in questions} == set(mining.WRITTEN_KINDS)
    assert len({(asked["repository"], asked["query"]) for asked in questions}) == len(questions)


def test_written_questions_have_answers_and_do_not_name_their_files() -> None:
    for asked in import_module("mine_queries").read_questions():
        assert 1 <= len(asked["answers"]) <= 3
        assert 4 <= len(asked["query"].split()) <= 20
        for answer in asked["answers"]:
            assert not answer["path"].startswith(("/", "."))
            assert 1 <= answer["start_line"] <= answer["end_line"]
            assert Path(answer["path"]).name.lower() not in asked["query"].lower()
            assert not import_module("sources").is_reserved_path(answer["path"])


def test_questions_about_another_commit_are_left_out(mining: ModuleType, tmp_path: Path) -> None:
    asked = {"repository": "someone/project", "kind": "behaviour", "query": "show pages", "answers": []}
    questions = [asked | {"commit": "a" * 40}, asked | {"commit": "b" * 40, "query": "keep pages"}]
    (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in questions))
    found = import_module("repositories").Repository("someone/project", "Python", "MIT", "b" * 40)
    assert [one["query"] for one in mining.asked_of(found, tmp_path / "questions.jsonl")] == ["keep pages"]


def test_what_answers_a_written_question_keeps_its_comment(mining: ModuleType) -> None:
    files = {"parser.py": PARSER.encode(), "web/reader.go": READER.encode()}
    answer = {"path": "parser.py", "start_line": 4, "end_line": 6}
    asked = [{"repository": "someone/project", "kind": "behaviour", "query": "closing bracket", "answers": [answer]}]
    blanked = [set(mining.queries_of("someone/project", files, [], some)[1]) for some in ([], asked)]
    assert blanked == [{"parser.py", "web/reader.go"}, {"web/reader.go"}]


@pytest.mark.parametrize("row", ["pallets/flask,Python,BSD-3-Clause", "sindresorhus/ky,TypeScript,GPL-3.0"])
def test_a_list_with_another_repository_is_rejected(tmp_path: Path, row: str) -> None:
    (tmp_path / "list.csv").write_text(f"repository,language,licence,commit\n{row},{'0' * 40}\n")
    with pytest.raises(SystemExit, match=row.partition(",")[0]):
        import_module("repositories").read_repositories(tmp_path / "list.csv")


def test_folds_are_stable_and_about_equal() -> None:
    repositories = import_module("repositories")
    assert [repositories.fold_of(name) for name in ("a/b", "A/B", "a/c")] == [2, 2, 8]
    sizes = Counter(repositories.fold_of(f"owner/{number}") for number in range(1_000))
    assert set(sizes) == set(range(10))
    assert min(sizes.values()) > 60


def test_commits_become_queries_for_the_files_they_changed(mined: tuple[list[Any], Path]) -> None:
    assert queries(mined, "commit") == {
        "report unbalanced brackets in queries": [{"path": "parser.py"}],
        "keep fetched pages in memory": [{"path": "web/reader.go"}],
    }


def test_comments_become_queries_and_are_removed_from_the_tree(mined: tuple[list[Any], Path]) -> None:
    assert queries(mined, "comment") == {
        "Turns the tokens of a query into a tree of operators": [{"path": "parser.py", "start_line": 1, "end_line": 6}],
        "fetches pages over the network and keeps them in memory": [
            {"path": "web/reader.go", "start_line": 4, "end_line": 6}
        ],
        "Reads everything up to the closing bracket and reports unbalanced ones": [
            {"path": "parser.py", "start_line": 4, "end_line": 6}
        ],
    }
    tree = mined[1]
    assert "network" not in (tree / "web/reader.go").read_text()
    lines = (tree / "parser.py").read_text().split("\n")
    expected = PARSER.split("\n")
    assert [lines[1].strip(' "'), lines[4].strip(' "')] == ["", ""]
    assert re.fullmatch(r' {4}""" +"""', lines[1])
    assert [line for number, line in enumerate(lines) if number not in (1, 4)] == [
        line for number, line in enumerate(expected) if number not in (1, 4)
    ]


def test_ambiguous_names_mean_the_type_or_the_member_of_the_named_owner(mined: tuple[list[Any], Path]) -> None:
    found = queries(mined, "ambiguous name")
    assert found["Parser"] == [{"path": "parser.py", "start_line": 1, "end_line": 6}]
    (owned,) = found.keys() - {"Parser"}
    owner, member = re.split(r"[ .]", owned.lower())
    assert member == "parse"
    assert found[owned] == [
        {"parser": {"path": "parser.py", "start_line": 4, "end_line": 6}}.get(
            owner, {"path": "web/reader.go", "start_line": 22, "end_line": 24}
        )
    ]


def test_the_tree_has_no_reserved_large_or_binary_files(mined: tuple[list[Any], Path]) -> None:
    files = sorted(str(path.relative_to(mined[1])) for path in mined[1].rglob("*") if path.is_file())
    assert files == ["CHANGES.md", "docs/notes.md", "parser.py", "tests/test_reader.py", "web/reader.go"]


def test_mining_again_gives_the_same(
    mining: ModuleType, mined: tuple[list[Any], Path], clones: Path, tmp_path: Path
) -> None:
    assert mining.mine(project(clones), clones=clones, output=tmp_path) == mined[0]
    mining.write_queries(tmp_path / "queries.jsonl", mined[0])
    assert mining.read_queries(tmp_path / "queries.jsonl") == mined[0]


def test_a_missing_clone_is_made_even_after_a_failed_try(
    mining: ModuleType, mined: tuple[list[Any], Path], clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, fresh = tmp_path / "public", tmp_path / "fresh"
    (public / "someone").mkdir(parents=True)
    (public / "someone" / "project.git").symlink_to(clones / "someone+project")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{public.as_uri()}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/")
    (fresh / "someone+project.partial" / "rest").mkdir(parents=True)
    assert mining.mine(project(clones), clones=fresh, output=tmp_path) == mined[0]


def test_a_folder_that_is_no_clone_is_named(clones: Path, tmp_path: Path) -> None:
    (tmp_path / "someone+project").mkdir()
    with pytest.raises(SystemExit, match=r"someone\+project is not a clone"):
        import_module("repositories").git_directory(project(clones), tmp_path)


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("fix(client): skip undefined header values (#5244)", "skip undefined header values"),
        (
            "Fixed #37259 -- Restored support for old Model.from_db() overrides.",
            "Restored support for old Model.from_db() overrides",
        ),
        ("[CORE-12] net/http: close `idle` connections, refs #3", "close idle connections"),
        (":bug: gh-17: Retry uploads when the bucket moves", "Retry uploads when the bucket moves"),
        ("feat!: stream large responses by @someone", "stream large responses"),
        ("Merge branch 'main' into next", ""),
        ('Revert "Stream large responses"', ""),
        ("build(deps): bump parser from 1.2.3 to 1.2.4", ""),
        ("Release 2.0 with streaming responses", ""),
        ("Fix typo in the streaming parser", ""),
        ("Reformat the streaming parser code", ""),
        ("Add tests for streaming large responses", ""),
        ("Fix some more things", ""),
        ("wip", ""),
        ("update code", ""),
    ],
)
def test_subjects_are_cleaned_and_dropped_if_they_say_nothing(subject: str, query: str) -> None:
    assert import_module("subjects").query_of(subject) == query


def test_names_are_respelled_in_words_snake_and_camel_case() -> None:
    names = import_module("name_queries")
    spelled = {names.respell("parseHTTPHeader", import_module("random").Random(seed)) for seed in range(50)}
    assert spelled == {"parseHTTPHeader", "parse http header", "parse_http_header", "parseHttpHeader"}
