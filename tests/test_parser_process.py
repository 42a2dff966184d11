"""The parsing worker gives what parsing here would give, and nothing that a file does to it reaches this process."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyhole.core.deadline import Deadline, within
from keyhole.core.errors import DeadlineError, ParserError
from keyhole.core.index.update import Request, update_index
from keyhole.core.service import Service
from keyhole.core.syntax.analyse import analyse, outline_of
from keyhole.core.syntax.parser_process import ParserProcess
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.view_requests import MapRequest, SearchRequest

FIXTURES = Path(__file__).parent / "fixtures" / "languages"
# Workers whose grammars see what the guards would keep from them.
UNGUARDED = """
import keyhole.core.syntax.parse as parse
parse._UNSAFE.clear()
from keyhole.core.syntax import parser_worker
parser_worker.main()
"""
DEEP = {
    "sequence.yaml": "- " * 3_000 + "x\n",
    "map.yaml": "".join(" " * depth + "a:\n" for depth in range(1_350)),
    "strings.kt": '"${' * 1_500,
}


@pytest.fixture
def parser() -> Iterator[ParserProcess]:
    made = ParserProcess()
    yield made
    made.close()


@pytest.fixture
def unguarded() -> Iterator[ParserProcess]:
    made = ParserProcess((sys.executable, "-P", "-c", UNGUARDED))
    yield made
    made.close()


def source_of(name: str, text: str) -> SourceFile:
    return SourceFile(name, len(text.encode("utf-8", "surrogatepass")), 0, "", "utf-8", text)


def worker_of(parser: ParserProcess) -> int:
    assert parser._worker is not None
    return parser._worker.pid


@pytest.mark.parametrize(
    "file", sorted(file for file in FIXTURES.rglob("*") if file.is_file()), ids=lambda file: file.name
)
def test_the_worker_gives_what_parsing_here_gives(parser: ParserProcess, file: Path) -> None:
    source = source_of(file.name, file.read_bytes().decode())
    assert parser.outline_of(source) == outline_of(source)
    assert parser.analyse(source) == analyse(source)


@pytest.mark.parametrize("text", ["", "größe = '文字 🙂'\n" * 400, "def f(:\n" * 50, "\0" * 100])
def test_any_text_comes_back(parser: ParserProcess, text: str) -> None:
    source = source_of("a.py", text)
    analysis = parser.analyse(source)
    assert "".join(chunk.text for chunk in analysis.chunks) == text
    assert analysis == analyse(source)


@pytest.mark.parametrize("name", DEEP)
def test_known_crashes_are_never_tried(parser: ParserProcess, name: str) -> None:
    source = source_of(name, DEEP[name])
    parser.outline_of(source_of("a.py", "x = 1\n"))
    worker = worker_of(parser)
    assert "cannot parse this file safely" in parser.outline_of(source).missed
    assert "cannot parse this file safely" in parser.analyse(source).outline.missed
    assert worker_of(parser) == worker


@pytest.mark.parametrize("name", DEEP)
def test_a_crash_costs_one_file_its_symbols(unguarded: ParserProcess, name: str) -> None:
    fine = source_of("a.py", "def f(): ...\n")
    assert unguarded.outline_of(fine).symbols
    worker, hostile = worker_of(unguarded), source_of(name, DEEP[name])
    language = "YAML" if name.endswith("yaml") else "Kotlin"
    analysis = unguarded.analyse(hostile)
    assert analysis.outline.missed == f"the {language} grammar crashed"
    assert "".join(chunk.text for chunk in analysis.chunks) == hostile.text
    assert unguarded.outline_of(fine).symbols
    assert worker_of(unguarded) != worker


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on CPU time")
def test_too_much_cpu_time_is_a_reason() -> None:
    endless = "from keyhole.core.syntax import analyse, parser_worker as worker; worker.CPU_SECONDS = 0\n"
    endless += "analyse.outline_of = lambda source: [None for _ in iter(int, 1)]; worker.main()"
    parser = ParserProcess((sys.executable, "-P", "-c", endless))
    assert parser.outline_of(source_of("a.py", "x = 1\n")).missed == "the Python grammar took too much CPU time"
    parser.close()


def test_a_worker_that_was_killed_is_replaced(parser: ParserProcess) -> None:
    source = source_of("a.py", "def f(): ...\n")
    assert parser.outline_of(source).symbols
    os.kill(worker_of(parser), 9)
    assert parser._worker is not None
    parser._worker.wait()
    assert parser.outline_of(source).symbols


def test_a_caller_without_time_leaves_no_reply_behind(parser: ParserProcess) -> None:
    small, large = source_of("a.py", "def f(): ...\n"), source_of("b.py", "def g(): ...\n" * 60_000)
    assert parser.outline_of(small).symbols
    with pytest.raises(DeadlineError), within(Deadline(0.05)):
        parser.outline_of(large)
    assert [symbol.name for symbol in parser.outline_of(small).symbols] == ["f"]


def test_threads_take_turns(parser: ParserProcess) -> None:
    found: dict[str, list[str]] = {}

    def ask(name: str) -> None:
        for _ in range(10):
            outline = parser.outline_of(source_of("a.py", f"def {name}(): ...\n"))
            found.setdefault(name, []).append(outline.symbols[0].name)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [name] * 10 for name in ("one", "two", "three")}


@pytest.mark.parametrize("command", [("/nonexistent/python",), (sys.executable, "-c", "raise SystemExit(3)")])
def test_a_worker_that_cannot_start_is_no_fault_of_the_file(command: tuple[str, ...]) -> None:
    parser = ParserProcess(command)
    with pytest.raises(ParserError, match="the parser process could not start"):
        parser.outline_of(source_of("a.py", "x = 1\n"))


KILLED_ONCE = """
import os, pathlib, signal, sys
flag = pathlib.Path(sys.argv[1])
if not flag.exists():
    flag.touch()
    os.kill(os.getpid(), signal.SIGKILL)
from keyhole.core.syntax import parser_worker
parser_worker.main()
"""


def test_a_worker_that_is_killed_while_it_starts_is_started_again(tmp_path: Path) -> None:
    parser = ParserProcess((sys.executable, "-P", "-c", KILLED_ONCE, str(tmp_path / "killed")))
    assert parser.outline_of(source_of("a.py", "def f(): ...\n")).symbols
    parser.close()


def test_an_index_run_says_that_workers_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text("x = 1\n")
    broken = ParserProcess((sys.executable, "-c", "raise SystemExit(3)"))
    monkeypatch.setattr("keyhole.core.index.pool.shared_parser", lambda: broken)
    with pytest.raises(ParserError, match="the parser process could not start"):
        update_index(Request(tmp_path / "work", tmp_path / "index", 1_000_000))


def test_a_file_that_cannot_be_parsed_is_found_as_text_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unguarded: ParserProcess
) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "work"
    root.mkdir()
    (root / "deep.yaml").write_text("# needle\n" + DEEP["map.yaml"])
    (root / "a.py").write_text("def f(): ...\n")
    service = Service.open(root)
    with monkeypatch.context() as patched:
        patched.setattr("keyhole.core.index.pool.shared_parser", lambda: unguarded)
        assert service.index().unparsed == 1
    assert service.search_view(SearchRequest("needle")).text.count("deep.yaml") == 1
    (skip,) = service.status().skips
    assert skip.text == "not parsed: the YAML grammar crashed"
    generation = service.status().generation
    service.index()
    assert service.status().generation == generation
    # Another try ends with the guard, which is another reason but no other content.
    report = service.index(retry=True)
    assert (report.changed, report.unparsed) == (0, 1)
    assert service.map_view(MapRequest("deep.yaml")).text.count("No symbols") == 2


def test_no_grammar_is_loaded_where_people_and_agents_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text("def f(): ...\n")
    script = """
import sys
from pathlib import Path
from keyhole.core.service import Service
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
service = Service.open(Path(sys.argv[1]))
service.index()
service.search_view(SearchRequest("f"))
service.map_view(MapRequest("a.py"))
service.read_view(ReadRequest(("a.py",)))
print([name for name in sys.modules if name.startswith("tree_sitter")])
"""
    found = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "work")], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"
