"""keyhole wrap --budget with real servers: no answer exceeds its budget, and the pages of each are the answer again.

    .venv/bin/python bench/wrap/budget_answers.py [--record] [--fixture] [--only SERVER]...    # make wrap-test

A tap between the wrap and the server writes down what the server really said. Each shortened answer is read to its end,
as its notes say, and compared with that. Files and commits are those of this repository and of the servers themselves.
`--fixture` stores some of the answers in tests/fixtures/wrap, for `make test`.
"""

import argparse
import importlib
import json
import os
import pydoc
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from raw_client import RawClient
from wrapped_servers import DATA, HERE, SERVERS, Call, filled, install_servers

REPOSITORY = HERE.parents[1]
sys.path += [str(HERE.parent), str(REPOSITORY / "tests")]
from rebuilt_answers import all_pages, block_text, rebuilt_texts  # noqa: E402
from record import refuse_changes, save_record  # noqa: E402

from keyhole.core.wrap.budget_choice import answer_budget  # noqa: E402

KEYHOLE = str(Path(sys.executable).parent / "keyhole")
_FIXTURE = REPOSITORY / "tests" / "fixtures" / "wrap" / "answers.zip"
_WANTED = 500
# Numbers of tokens, and limits of clients in characters and in bytes.
_BUDGETS = ("1500", "2000", "2500", "vscode", "copilot")
_LARGEST_FILE, _SMALLEST_FILE = 80_000, 9_000
_MODULES = (
    "argparse",
    "asyncio",
    "collections",
    "csv",
    "datetime",
    "decimal",
    "email.message",
    "enum",
    "inspect",
    "ipaddress",
    "json",
    "logging",
    "os",
    "pathlib",
    "random",
    "re",
    "ssl",
    "string",
    "subprocess",
    "typing",
)


@dataclass(slots=True)
class Outcome:
    """What became of the answers of one server."""

    answers: int = 0
    oversized: int = 0
    over_budget: int = 0
    not_rebuilt: int = 0
    pages: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> None:
    """Ask every server with every budget; exit with 1 if an answer is too large, or can't be rebuilt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="store the figures in bench/records")
    parser.add_argument("--fixture", action="store_true", help="store some answers for `make test`")
    parser.add_argument("--only", choices=[*_calls()], action="append", help="ask only this server; may be repeated")
    given = parser.parse_args()
    if given.record:
        refuse_changes()
    install_servers()
    found: dict[str, Outcome] = {}
    originals: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name:
        for server in given.only or _calls():
            found[server], originals[server] = ask_server(server, Path(name).resolve() / server)
            print(f"{server:<12} {asdict(found[server])}", flush=True)
    if given.fixture:
        _store(originals)
    oversized = sum(outcome.oversized for outcome in found.values())
    problems = [f"{server}: {text}" for server, outcome in found.items() for text in outcome.problems]
    if not given.only and oversized < _WANTED:
        problems.append(f"only {oversized} answers were oversized, of {_WANTED}")
    print(f"{oversized} oversized answers, {len(problems)} problems")
    if given.record:
        figures = {server: asdict(outcome) for server, outcome in found.items()}
        print(f"recorded in {save_record('wrap-budget', {'oversized': oversized, 'servers': figures})}")
    if problems:
        raise SystemExit("\n".join(problems))


def ask_server(name: str, folder: Path) -> tuple[Outcome, list[dict[str, Any]]]:
    """Make all calls of a server, a part of them with each budget; return also what the server itself answered."""
    done, originals = Outcome(), []
    calls = list(_calls()[name](folder))
    each = -(-len(calls) // len(_BUDGETS))
    for number, budget in enumerate(_BUDGETS):
        place = folder / budget
        place.mkdir(parents=True)
        originals += _ask(name, place, budget, calls[number * each : (number + 1) * each], done)
    return done, originals


def _ask(name: str, place: Path, budget: str, calls: list[Call], done: Outcome) -> list[dict[str, Any]]:
    server, log = SERVERS[name], place / "tap"
    work = REPOSITORY if name in ("filesystem", "git") else place
    inner = [str(filled(part, work)) for part in server.command]
    inner = [*inner, str(DATA)] if name == "filesystem" else inner
    own = {key: str(filled(value, place)) for key, value in server.environment.items()}
    tap = [sys.executable, str(HERE / "wire_tap.py"), str(log)]
    command = [KEYHOLE, "wrap", "--no-journal", "--budget", budget, "--", *tap, *inner]
    shown: dict[int, list[dict[str, Any]]] = {}
    with RawClient(command, place, {"KEYHOLE_CACHE_DIR": str(place / "cache"), **own}) as client:
        client.introduce()
        client.request("tools/list", {})
        for tool, given in calls:
            response = client.call(tool, given)
            more = partial(_more, client)
            shown[response["id"]] = list(all_pages(response["result"], more)) if "result" in response else []
    originals = _originals(Path(f"{log}.out"))
    for number, pages in shown.items():
        if pages and number in originals:
            _compare(originals[number], pages, budget, done)
    return [originals[number] for number in shown if number in originals]


def _more(client: RawClient, arguments: dict[str, Any]) -> dict[str, Any]:
    result = client.call("keyhole_more", arguments)["result"]
    assert isinstance(result, dict)
    return result


def _originals(log: Path) -> dict[int, dict[str, Any]]:
    """Return what the server answered, by the numbers of the requests."""
    messages = [json.loads(line) for line in log.read_bytes().splitlines() if line.startswith(b"{")]
    return {message["id"]: message["result"] for message in messages if "result" in message}


def _compare(original: dict[str, Any], pages: list[dict[str, Any]], budget: str, done: Outcome) -> None:
    limit = answer_budget(budget)

    def fits(result: dict[str, Any]) -> bool:
        is_error = result.get("isError") is True
        return limit.fits(result["content"], result.get("structuredContent"), is_error=is_error)

    done.answers += 1
    done.pages += len(pages)
    if fits(original):
        return
    done.oversized += 1
    if not all(map(fits, pages)):
        done.over_budget += 1
        done.problems.append(f"an answer with budget {budget} is too large")
    if len(pages) > 1 or pages[0]["content"] != original["content"]:
        rebuilt = rebuilt_texts(pages)
        texts = [rebuilt.get(number) for number in range(len(original["content"]))]
        if texts != [block_text(block) for block in original["content"]]:
            done.not_rebuilt += 1
            done.problems.append(f"the pages of an answer with budget {budget} are not the answer")


def _store(originals: dict[str, list[dict[str, Any]]]) -> None:
    """Store a few of the smaller answers of each server, without paths of this machine."""
    _FIXTURE.parent.mkdir(exist_ok=True)
    with ZipFile(_FIXTURE, "w", ZIP_DEFLATED) as packed:
        for server, results in originals.items():
            large = sorted((json.dumps(result) for result in results), key=len)
            for number, text in enumerate(large[len(large) // 3 :: max(1, len(large) // 4)]):
                clean = text.replace(str(REPOSITORY), "/work").replace(str(Path.home()), "/home/user")
                packed.writestr(ZipInfo(f"{server}-{number}.json"), clean, ZIP_DEFLATED)


def _calls() -> dict[str, Any]:
    return {
        "filesystem": _filesystem_calls,
        "git": _git_calls,
        "memory": _memory_calls,
        "everything": _everything_calls,
        "fastmcp": _fastmcp_calls,
        "playwright": _playwright_calls,
    }


def _files(folder: Path, patterns: tuple[str, ...], count: int) -> Iterator[Path]:
    found = (path for pattern in patterns for path in sorted(folder.rglob(pattern)) if ".venv" not in path.parts)
    fitting = (path for path in found if path.is_file() and _SMALLEST_FILE < path.stat().st_size < _LARGEST_FILE)
    yield from islice(fitting, count)


def _filesystem_calls(_: Path) -> Iterator[Call]:
    sources = [*_files(REPOSITORY / "core", ("*.py",), 40), *_files(REPOSITORY / "tests", ("*.py",), 90)]
    sources += [*_files(REPOSITORY / "docs", ("*.md",), 20), *_files(DATA / "node_modules", ("*.md",), 150)]
    data = [
        *_files(DATA / "node_modules", ("*.json",), 120),
        *_files(REPOSITORY / "bench" / "records", ("*.json",), 20),
    ]
    for path in [*sources, *data]:
        yield "read_text_file", {"path": str(path)}
    for folder in ("core", "tui", "tests", "bench", "docs"):
        yield "directory_tree", {"path": str(REPOSITORY / folder)}
        yield "search_files", {"path": str(REPOSITORY / folder), "pattern": "**/*.*"}
        yield "list_directory_with_sizes", {"path": str(REPOSITORY / folder)}
    for package in sorted((DATA / "node_modules").iterdir())[:40]:
        yield "directory_tree", {"path": str(package)}
    for start in range(0, 40, 4):
        yield "read_multiple_files", {"paths": [str(path) for path in sources[start : start + 4]]}


def _git_calls(_: Path) -> Iterator[Call]:
    where = {"repo_path": str(REPOSITORY)}
    for count in range(20, 100, 4):
        yield "git_log", {**where, "max_count": count}
    commits = _git("rev-list", "--max-count=400", "HEAD").decode().split()
    fitting = (commit for commit in commits if _SMALLEST_FILE < len(_git("show", commit)) < _LARGEST_FILE)
    for commit in islice(fitting, 160):
        yield "git_show", {**where, "revision": commit}


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, check=True).stdout


def _memory_calls(_: Path) -> Iterator[Call]:
    for start in range(0, 40, 2):
        names = [f"{name}.{member}" for name in _MODULES[start % 20 : start % 20 + 2] for member in _members(name)]
        entities = [{"name": name, "entityType": "member", "observations": [_about(name)]} for name in names]
        yield "create_entities", {"entities": entities[:60]}
        yield "read_graph", {}
        yield "search_nodes", {"query": "return"}


def _members(name: str) -> list[str]:
    return [member for member in dir(importlib.import_module(name)) if not member.startswith("_")]


def _about(name: str) -> str:
    return str(pydoc.locate(name).__doc__ or name)[:300]


def _everything_calls(_: Path) -> Iterator[Call]:
    for path in _files(REPOSITORY, ("docs/*.md", "tests/test_*.py"), 90):
        yield "echo", {"message": path.read_text()}


def _fastmcp_calls(_: Path) -> Iterator[Call]:
    for size in range(20_000, 100_000, 2_000):
        yield "long_text", {"size": size}


def _playwright_calls(folder: Path) -> Iterator[Call]:
    """Open documentation of Python's own modules, which pydoc writes as pages."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    for name in _MODULES:
        text = pydoc.html.page(name, pydoc.html.document(importlib.import_module(name), name))
        (pages / f"{name}.html").write_text(text)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(pages)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in _MODULES:
        yield "browser_navigate", {"url": f"http://127.0.0.1:{server.server_port}/{name}.html"}
        yield "browser_snapshot", {}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write nothing."""


if __name__ == "__main__":
    os.environ["PYTHONUNBUFFERED"] = "1"
    main()
