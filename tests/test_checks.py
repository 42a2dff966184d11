"""Each kind of check: what passes, what fails, and what a failure says."""

from pathlib import Path

import pytest
from acme import write_acme
from checking import checked, found

from keyhole.core.checks.check_report import exit_code
from keyhole.core.config import load_settings
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('files = ["src/acme/retry.py"]\nworst_rank = 2', [("passed", "rank 1")]),
        ('files = ["src/acme/client.py"]\nworst_rank = 1', [("failed", "rank 3")]),
        (
            'files = ["src/acme/none.py"]',
            [("failed", "not indexed: no such file. Did you mean src/acme/handlers/opened.py?")],
        ),
        ('symbols = ["RetryPolicy.backoff"]', [("passed", "rank 1")]),
        ('symbols = ["backoff"]', [("passed", "rank 1")]),
        ('symbols = ["Store.put"]', [("failed", "not shown")]),
        ('lines = ["src/acme/retry.py:14-16"]', [("passed", "rank 1")]),
        (
            'files = ["src/acme/retry.py", "src/acme/client.py"]\nlanguage = "python"\nworst_rank = 3',
            [("passed", "rank 1"), ("passed", "rank 3")],
        ),
    ],
)
def test_queries(acme: Service, text: str, expected: list[tuple[str, str]]) -> None:
    assert found(checked(acme, f'[[query]]\nquery = "backoff"\n{text}\n')) == expected


def test_a_query_counts_the_tokens_of_the_answer_that_agents_get(acme: Service) -> None:
    (result,) = checked(acme, '[[query]]\nquery = "backoff"\nfiles = ["src/acme/retry.py"]\n')
    assert result.finding.tokens == acme.search_view(SearchRequest("backoff")).truncation.estimated_tokens


def test_a_result_that_the_page_does_not_show_fails_with_its_rank(acme: Service) -> None:
    (result,) = checked(acme, '[[query]]\nquery = "handle event"\nfiles = ["src/acme/handlers/restored.py"]\n')
    assert result.status == "failed"
    assert result.finding.found.startswith("not shown, rank 12")


@pytest.mark.parametrize(
    ("limits", "status", "path"),
    [
        ("", "passed", "search → read src/acme/retry.py from line 7"),
        ("max_calls = 1", "failed", "search → read src/acme/retry.py"),
        ("max_tokens = 50", "failed", "search → read src/acme/retry.py"),
    ],
)
def test_facts(acme: Service, limits: str, status: str, path: str) -> None:
    text = f'[[fact]]\nfact = "except OSError:"\nquery = "RetryPolicy"\n{limits}\n'
    (result,) = checked(acme, text)
    assert result.status == status
    assert result.finding.found.startswith(path)


def test_a_fact_in_the_answer_of_the_search_needs_one_call(acme: Service) -> None:
    (result,) = checked(acme, '[[fact]]\nfact = "class RetryPolicy"\nquery = "retry policy"\nmax_calls = 1\n')
    assert result.status == "passed"
    assert result.finding.found.startswith("search: ")


def test_a_map_leads_to_lines_that_no_result_names(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    parts = [f"def part_{number}():\n" + "    # some work\n" * 30 + "    return 1\n" for number in range(120)]
    parts[100] = "def last_part():\n    wait = 17\n    return wait\n"
    (tmp_path / "proj/long.py").write_text("".join(parts))
    service = Service(tmp_path / "proj", load_settings(tmp_path, {"cache_dir": tmp_path / "cache"}))
    service.index()
    (result,) = checked(service, '[[fact]]\nfact = "wait = 17"\nquery = "part_3"\nmax_tokens = 9000\n')
    assert (result.status, result.finding.found.split(":")[0]) == (
        "passed",
        "search → map long.py → read lines 3201-3203",
    )


@pytest.mark.parametrize(
    ("fact", "problem"),
    [
        ("self.pages = {}", "not reached: the search does not show src/acme/store.py"),
        ("no such text", "no file contains it"),
    ],
)
def test_facts_out_of_reach(acme: Service, fact: str, problem: str) -> None:
    text = f'[[fact]]\nfact = "{fact}"\nquery = "backoff"\n'
    assert found(checked(acme, text)) == [("failed", problem)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_tokens = 500\ncomplete = true", [("passed", "199 tokens")]),
        ("max_tokens = 100", [("failed", "199 tokens")]),
        ('shows = ["Return the delay before", "allows"]', [("passed", "199 tokens")]),
        ('shows = ["Return the delay after"]', [("failed", "does not show 'Return the delay after'")]),
    ],
)
def test_maps(acme: Service, text: str, expected: list[tuple[str, str]]) -> None:
    assert found(checked(acme, f'[[map]]\nfiles = ["src/acme/retry.py"]\n{text}\n')) == expected


def test_a_map_that_leaves_out_symbols(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj/routes.py").write_text("".join(f"def route_{number}(): ...\n" for number in range(5_000)))
    service = Service(tmp_path / "proj", load_settings(tmp_path, {"cache_dir": tmp_path / "cache"}))
    service.index()
    (result,) = checked(service, '[[map]]\nfiles = ["routes.py"]\ncomplete = true\n')
    assert result.status == "failed"
    assert "5,000 symbols" in result.finding.found


def test_maps_of_a_glob(acme: Service) -> None:
    results = checked(acme, '[[map]]\nfiles = ["src/acme/*.py", "lost/*"]\nmax_tokens = 900\n')
    assert [(result.name, str(result.status)) for result in results] == [
        ("src/acme/client.py", "passed"),
        ("src/acme/retry.py", "passed"),
        ("src/acme/store.py", "passed"),
        ("lost/*", "failed"),
    ]
    assert results[-1].finding.found == "no file matches"


def test_the_tool_list(acme: Service) -> None:
    low, high = checked(acme, '[[tool_list]]\nmax_tokens = 10\n[[tool_list]]\nmax_tokens = 90000\ntools = "core"\n')
    assert (low.status, high.status) == ("failed", "passed")
    assert 1_000 < high.finding.tokens < low.finding.tokens


def test_answers_of_clients(acme: Service) -> None:
    text = '[[answer]]\ntool = "read_file"\narguments = { path = "src/acme/retry.py" }\nshows = ["allows"]\n'
    assert [status for status, _ in found(checked(acme, text))] == ["passed", "passed"]
    (result, _) = checked(acme, text.replace("allows", "forbids"))
    assert result.finding.found == "does not show 'forbids'"
    (result, _) = checked(acme, '[[answer]]\ntool = "read_file"\narguments = { path = "src/none.py" }\n')
    assert result.finding.found.startswith("error: src/none.py is not a file")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[answer]]\ntool = "read_fil"\n', "there is no tool read_fil. Did you mean read_file?"),
        (
            '[[answer]]\ntool = "read_file"\narguments = { pth = "a" }\n',
            "read_file has no parameter pth. Did you mean path or paths?",
        ),
        (
            '[[query]]\nquery = "a"\nfiles = ["b"]\nlanguage = "pyton"\n',
            "unknown language 'pyton'. Did you mean python?",
        ),
        ('[[forbidden]]\npattern = "("\n', "invalid regular expression: "),
    ],
)
def test_a_mistake_in_a_check_is_an_error_with_a_suggestion(acme: Service, text: str, problem: str) -> None:
    results = checked(acme, text)
    ((status, named), *_) = found(results)
    assert (status, exit_code(results)) == ("error", 2)
    assert named.startswith(problem)


def test_an_answer_that_a_client_truncates_fails(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj/long.txt").write_text("".join(f"line {number} of many words in it\n" for number in range(5_000)))
    service = Service(tmp_path / "proj", load_settings(tmp_path, {"cache_dir": tmp_path / "cache"}))
    arguments = '{ path = "long.txt", max_lines = 2000, max_tokens = 25000 }'
    text = f'[[answer]]\ntool = "read_file"\narguments = {arguments}\nclients = ["codex", "codex-unknown"]\n'
    # Keyhole fits its answers to Codex, but can't know that Codex runs a model with a smaller limit.
    known, unknown = checked(service, text)
    assert (known.status, unknown.status) == ("passed", "failed")
    assert unknown.finding.found.startswith("Codex, unknown model ")


@pytest.fixture
def changeable(tmp_path: Path) -> Service:
    root = write_acme(tmp_path / "acme")
    return Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))


def test_broken_links(changeable: Service) -> None:
    (changeable.root / "docs").mkdir()
    (changeable.root / "docs/a.md").write_text("[one](gone.md) [two](lost.md)\n")
    changeable.index()
    text = (
        '[[links]]\nmax_broken = 1\n[[links]]\nmax_broken = 2\npath = "docs"\n[[links]]\nmax_broken = 0\npath = "src"\n'
    )
    (failed, named), *others = found(checked(changeable, text))
    assert failed == "failed"
    assert named.startswith("2 broken: docs/")
    assert named.endswith("missing file; keyhole broken lists all")
    assert others == [("passed", "2 broken"), ("passed", "0 broken")]


def test_forbidden_content(changeable: Service) -> None:
    root, canary = changeable.root, "canary-" + "1234"
    text = f'[[forbidden]]\ntext = "{canary}"\n[[forbidden]]\npattern = "CANARY_[0-9]+"\n'
    changeable.index()
    # Files that are not served may contain it.
    (root / ".env").write_text(f"TOKEN={canary}\n")
    (root / "keyhole.checks.toml").write_text(text)
    changeable.index()
    assert found(checked(changeable, text)) == [("passed", "in no answer")] * 2
    (root / "src/acme/leak.py").write_text(f"y = 1\nx = '{canary}'\n")
    (root / "CANARY_7.md").write_text("# Nothing\n")
    changeable.index()
    assert found(checked(changeable, text)) == [("failed", "in src/acme/leak.py:2"), ("failed", "in CANARY_7.md")]


def test_forbidden_content_in_a_file_too_large_for_the_index(changeable: Service) -> None:
    (changeable.root / "large.txt").write_text("canary-5678\n" + "some words on a line\n" * 60_000)
    changeable.index()
    assert found(checked(changeable, '[[forbidden]]\ntext = "canary-5678"\n')) == [("failed", "in large.txt:1")]


def test_the_checks_file_is_not_what_searches_find(changeable: Service) -> None:
    question = "how long does a client wait before it tries again"
    (changeable.root / "keyhole.checks.toml").write_text(f'[[query]]\nquery = "{question}"\nfiles = ["a"]\n')
    (changeable.root / ".keyhole/checks").mkdir(parents=True)
    (changeable.root / ".keyhole/checks/more.toml").write_text(f'[[query]]\nquery = "{question}"\nfiles = ["a"]\n')
    changeable.index()
    assert not [hit.path for hit in changeable.search_page(SearchRequest(question))[0].hits if "check" in hit.path]


def test_one_problem_does_not_stop_the_others(acme: Service) -> None:
    text = '[[map]]\nfiles = ["lost.py"]\nmax_tokens = 9\n[[query]]\nquery = "backoff"\nfiles = ["src/acme/retry.py"]\n'
    first, second = checked(acme, text)
    assert first.finding.found.startswith("lost.py is not a file")
    assert second.status == "passed"


def test_two_runs_are_the_same(acme: Service) -> None:
    text = '[[query]]\nquery = "backoff"\nfiles = ["src/acme/retry.py"]\n[[links]]\nmax_broken = 0\n'
    assert checked(acme, text) == checked(acme, text)
    assert len(checked(acme, text, only="broken")) == 1
