"""Why an agent did not see a file: what took it away, and parameters that really show it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastmcp import Client
from mcp.types import Implementation

from keyhole.core.cli.main import cli
from keyhole.core.config import load_settings
from keyhole.core.delivery import cut_by_client
from keyhole.core.errors import QueryError
from keyhole.core.index.location import JOURNAL_FILE
from keyhole.core.journal.statistics import statistics
from keyhole.core.missed.missed_file import MissedFile, TakenBy, missed_file
from keyhole.core.missed.missed_text import missed_text
from keyhole.core.missed.recorded_search import RecordedSearch
from keyhole.core.service import Service
from keyhole.core.types.view_requests import SearchRequest
from keyhole.mcp_server.server import build_server

pytestmark = pytest.mark.anyio
# Long paths, so that a small budget has no room for all of them.
PARTS = "source/of_the_application/requests_and_answers/everything_about_failures"
ALPHA = "retries the failed request with a delay"


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """A workspace with forty files that match one query, in a known order, and some that can't."""
    root = tmp_path / "proj"
    (root / "tests").mkdir(parents=True)
    (root / PARTS).mkdir(parents=True)
    (root / "best.py").write_text(f'def retry_request():\n    """Retry the request: {ALPHA}."""\n')
    for number in range(39):
        body = "".join(f"    step_{line} = {line}  # {ALPHA if line == 0 else 'more'}\n" for line in range(9))
        (root / PARTS / f"part_{number:02}.py").write_text(f"def part_{number}():\n{body}")
    (root / "tests/test_retry.py").write_text(f"def test_retry():\n    assert 1  # {ALPHA}\n")
    (root / "other.md").write_text("# Weather\n\nNothing of the kind.\n")
    (root / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    settings = {"cache_dir": tmp_path / "cache", "index.model": "none"}
    own = Service(root, load_settings(root, settings))
    own.index()
    return own


async def asked(service: Service, tool: str = "search_code", client: str = "agent", **arguments: Any) -> int:
    """Make a call as a real client; return its number in the journal."""
    journal = service.journal()
    assert journal
    itself = Implementation(name=client, version="1")
    async with Client(build_server(service, journal=journal), client_info=itself) as connection:
        await connection.call_tool_mcp(tool, arguments)
    assert journal.flush()
    return max(call.id for call in service.journal_reader().each())


def shows(service: Service, found: MissedFile) -> list[dict[str, object]]:
    """Check that each advised call shows the file, and return the parameters."""
    for remedy in found.remedies:
        arguments = found.call.parameters | dict(remedy.parameters)
        call = replace(found.call, arguments=json.dumps(arguments))
        attempt = RecordedSearch.of(service, call).attempt(found.path, {})
        assert (attempt.place, attempt.is_delivered) == (remedy.place, True)
        assert attempt.view.truncation.estimated_tokens == remedy.tokens
    return [dict(remedy.parameters) for remedy in found.remedies]


async def test_a_file_that_was_shown(service: Service) -> None:
    found = missed_file(service, await asked(service, query="retry request"), "best.py")
    assert (found.taken_by, found.why) == (TakenBy.NOTHING, "result 1 of 2 in the answer")
    assert missed_text(found) == "best.py: shown\n  result 1 of 2 in the answer\n"


async def test_the_page_took_it_and_another_page_or_a_larger_one_shows_it(service: Service) -> None:
    found = missed_file(service, await asked(service, query=ALPHA, path=PARTS), f"./{PARTS}/part_25.py")
    assert (found.taken_by, found.total) == (TakenBy.PAGE, 39)
    assert found.why == f"rank {found.rank} of 39; this page has results 1-10"
    page = (found.rank - 1) // 10 * 10
    assert shows(service, found)[:2] == [{"offset": page}, {"limit": found.rank}]


async def test_the_budget_took_it(service: Service) -> None:
    number = await asked(service, query=ALPHA, path=PARTS, limit=39, detail_level="rich", max_tokens=1_000)
    last = service.search_page(SearchRequest(ALPHA, path=PARTS, limit=39))[0].hits[-1].path
    found = missed_file(service, number, last)
    assert found.taken_by == TakenBy.BUDGET
    assert "max_tokens=1000 had room for " in found.why
    budget, offset = shows(service, found)
    assert offset == {"offset": found.rank - 1}
    # It is the lowest budget, in hundreds.
    less = replace(found.call, arguments=json.dumps(found.call.parameters | {"max_tokens": budget["max_tokens"] - 100}))  # type: ignore[operator]
    assert not RecordedSearch.of(service, less).attempt(last, {}).place


@pytest.mark.parametrize(
    ("arguments", "path", "why", "first"),
    [
        ({"include_tests": False}, "tests/test_retry.py", "include_tests=false", {"include_tests": True, "offset": 40}),
        ({"language": "markdown"}, "best.py", "language=markdown", {"language": ""}),
        ({"path": "tests", "role": "test"}, "best.py", "path=tests", {"path": "", "role": ""}),
        ({"kind": "class"}, "best.py", "kind=class", None),
    ],
)
async def test_a_filter_took_it(
    service: Service, arguments: dict[str, Any], path: str, why: str, first: dict[str, object] | None
) -> None:
    (service.root / "known.py").write_text("class Known:\n    pass\n")
    service.index()
    found = missed_file(service, await asked(service, query="retry request", **arguments), path)
    assert found.taken_by == TakenBy.FILTER
    assert why in found.why
    assert shows(service, found)[:1] == ([first] if first else [{"kind": ""}])


async def test_the_client_took_it(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    # Earlier versions did not fit answers into what a client delivers, and their calls stay in the journal.
    monkeypatch.setattr("keyhole.mcp_server.client_budget.room_for", lambda _: None)
    asks: dict[str, Any] = {"query": ALPHA, "path": PARTS, "limit": 39, "max_tokens": 20_000, "detail_level": "rich"}
    number = await asked(service, client="Visual Studio Code", **asks)
    last = service.journal_reader().calls()[0].shown_lines[-1].path
    found = missed_file(service, number, last)
    assert found.taken_by == TakenBy.CLIENT
    assert "VS Code saves answers over 8,192 characters to a file" in found.why
    assert shows(service, found)
    # Stats tell who took it.
    reader = service.journal_reader()
    call = next(call for call in reader.each() if call.id == number)
    assert statistics([call], lambda one: cut_by_client(one, reader, service.settings)).total.cut_by_client == 1
    assert statistics([call]).total.cut_by_client == 0


async def test_answers_that_fit_into_the_client_are_not_taken(service: Service) -> None:
    asks: dict[str, Any] = {"query": ALPHA, "path": PARTS, "limit": 39, "max_tokens": 20_000, "detail_level": "rich"}
    number = await asked(service, client="Visual Studio Code", **asks)
    reader = service.journal_reader()
    call = next(call for call in reader.each() if call.id == number)
    counted = statistics([call], lambda one: cut_by_client(one, reader, service.settings)).total
    assert (counted.truncated, counted.cut_by_client) == (1, 0)


@pytest.mark.parametrize(
    ("path", "taken_by", "why"),
    [
        ("other.md", TakenBy.MATCHING, "does not match"),
        ("image.png", TakenBy.INDEX, "not indexed: "),
        ("best.p", TakenBy.INDEX, "not indexed: no such file. Did you mean best.py?"),
        ("tests", TakenBy.INDEX, "a folder, not a file"),
    ],
)
async def test_what_no_parameter_shows(service: Service, path: str, taken_by: TakenBy, why: str) -> None:
    found = missed_file(service, await asked(service, query="retry", mode="keyword"), path)
    assert found.taken_by == taken_by
    assert found.why.startswith(why)
    assert found.remedies == ()
    assert "No parameters" in missed_text(found)


async def test_counts_name_no_files(service: Service) -> None:
    found = missed_file(service, await asked(service, query="/retry_request/", output="count"), "best.py")
    assert shows(service, found)[0] == {"output": "files"}


async def test_a_file_that_changed_since(service: Service) -> None:
    number = await asked(service, query="umbrella")
    (service.root / "other.md").write_text("# Weather\n\nTake an umbrella.\n")
    service.index()
    found = missed_file(service, number, "other.md")
    assert found.taken_by == TakenBy.TIME
    assert shows(service, found) == [{}]


async def test_other_calls_and_calls_without_an_answer(service: Service) -> None:
    read = await asked(service, "read_file", path="best.py")
    assert missed_file(service, read, "best.py").why == "lines 1-2 are in the answer"
    other = missed_file(service, read, "other.md")
    assert (other.taken_by, other.why) == (TakenBy.REQUEST, "read_file was about best.py")
    assert missed_file(service, read, "image.png").taken_by == TakenBy.INDEX
    tree = missed_file(service, await asked(service, "get_tree", path=PARTS, limit=3), "best.py")
    assert (tree.taken_by, tree.why) == (TakenBy.REQUEST, "the answer names 3 files, and there is more: offset=3")
    failed = missed_file(service, await asked(service, query="a", language="pyhton"), "best.py")
    assert (failed.taken_by, failed.why[:33]) == (TakenBy.NO_ANSWER, "the call failed: unknown language")
    with pytest.raises(QueryError, match="call 99 is not in the journal"):
        missed_file(service, 99, "best.py")


async def test_other_calls_of_the_conversation_that_showed_it(service: Service) -> None:
    journal = service.journal()
    async with Client(build_server(service, journal=journal)) as client:
        for query in ("umbrella", "retry request"):
            await client.call_tool_mcp("search_code", {"query": query})
    assert journal
    assert journal.flush()
    found = missed_file(service, 1, "best.py")
    assert [call.id for call in found.shown_in] == [2]
    assert "Shown by other calls of this conversation:\n    #2 search_code retry request\n" in missed_text(found)


async def test_a_journal_without_shown_files_is_searched_by_text(service: Service) -> None:
    number = await asked(service, query="retry request")
    import sqlite3

    with sqlite3.connect(service.folder / JOURNAL_FILE) as db:
        db.execute("UPDATE call SET shown = ''")
    assert missed_file(service, number, "best.py").taken_by == TakenBy.NOTHING


async def test_the_command(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    number = await asked(service, query=ALPHA, path=PARTS)
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(service.settings.cache_dir))
    monkeypatch.setenv("KEYHOLE_INDEX_MODEL", "none")
    root = ["--root", str(service.root)]
    done = CliRunner().invoke(cli, ["missed", str(number), f"{PARTS}/part_25.py", *root])
    assert (done.exit_code, done.output) == (1, missed_text(missed_file(service, number, f"{PARTS}/part_25.py")))
    done = CliRunner().invoke(cli, ["missed", str(number), f"{PARTS}/part_25.py", "--json", *root])
    facts = json.loads(done.output)
    assert (facts["call"], facts["taken_by"], facts["shown_with"][0]["parameters"]) == (
        number,
        "not on this page",
        {"offset": (facts["rank"] - 1) // 10 * 10},
    )
