"""Files made to be slow, deep or strange: each is read in reasonable time, and none stops a run."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from keyhole.core.index import prepare as preparing
from keyhole.core.index.file_parts import text_facts
from keyhole.core.index.prepare import Preparation, SkippedFile, prepare
from keyhole.core.index.rows import FileRows
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.service import Service
from keyhole.core.syntax.languages import LANGUAGES
from keyhole.core.syntax.parser_process import shared_parser
from keyhole.core.types.source_files import Candidate, SkipReason
from keyhole.core.types.view_requests import MapRequest

# Quadratic work on these sizes would take minutes; linear work takes less than a second.
SIZE = 300_000
PATIENCE = 30


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    def give_up(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"no answer in {PATIENCE} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)


SLOW = {
    "blank lines in a header": ("a.h", "\n" * SIZE),
    "long shebang": ("a", "#!" + "a" * SIZE + "/"),
    "spaces in a comment": ("a.ts", "// a" + " " * SIZE + "x\nfunction f(){}\n"),
    "spaces after a heading": ("a.py", 'def f():\n    """Returns' + " " * SIZE + 'x"""\n'),
    "spaces after a tag": ("a.ts", "/** @return a" + " " * SIZE + "x */\nfunction f(){}\n"),
    "abbreviations": ("a.py", 'def f():\n    """' + "e.g. 1 " * (SIZE // 7) + '"""\n'),
    "inline tags": ("a.java", "/** " + "{@a " * (SIZE // 4) + "*/\nclass A {}\n"),
    "markup": ("a.java", "/** " + "<p " * (SIZE // 3) + "*/\nclass A {}\n"),
    "spaces in a signature": ("a.py", "def f(a," + " " * SIZE + "b,\nc): pass\n"),
    "blank lines in a signature": ("a.py", "def f(a," + "\n" * SIZE + "b): pass\n"),
    "spaces in an import": ("a.ts", "import {\na" + " " * SIZE + "} from 'b'\n"),
    "spaces in a heading": ("a.md", "# a" + " " * SIZE + "x#\n"),
    "unclosed quotes in SQL": ("a.sql", "".join(f"$a{i}$ " for i in range(SIZE // 8))),
    "statements on one line": ("a.py", "a;" * (SIZE // 2)),
    "keys on one line": ("a.json", "{" + ",".join(f'"k{i}":{i}' for i in range(SIZE // 12)) + "}"),
    "annotated classes on one line": ("A.java", "".join(f"@A class B{i}{{}} " for i in range(SIZE // 20))),
    "comments on one line": ("a.ts", "/*a*/a();" * (SIZE // 9)),
    "nested functions": ("a.ts", "function a(){" * (SIZE // 14) + "}" * (SIZE // 14)),
}


@pytest.mark.parametrize("name", SLOW)
def test_slow_files(tmp_path: Path, name: str) -> None:
    path, text = SLOW[name]
    (tmp_path / path).write_text(text)
    rows = prepare(Preparation(tmp_path, 1_000_000), Candidate(path, len(text), 0), "", shared_parser().analyse)
    assert isinstance(rows, FileRows | SkippedFile)
    if isinstance(rows, FileRows):
        assert sum(chunk.length for chunk in rows.chunks) == len(text)
        # The index of a file stays proportional to its size.
        assert sum(len(str(symbol)) for symbol in rows.symbols) < 40 * len(text)


@pytest.mark.parametrize(
    "extension", sorted({language.extensions[0] for language in LANGUAGES if language.grammar and language.extensions})
)
def test_deep_files(tmp_path: Path, extension: str) -> None:
    text = "(" * 5_000 + ")" * 5_000 + "\n" * 100
    (tmp_path / f"a{extension}").write_text(text)
    candidate = Candidate(f"a{extension}", len(text), 0)
    assert isinstance(prepare(Preparation(tmp_path, 1_000_000), candidate, "", shared_parser().analyse), FileRows)


def test_a_deep_file_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("function a(){" * 2_000 + "}" * 2_000)
    view = Service.open(tmp_path).map_view(MapRequest("a.ts"))
    assert view.banner == "All 30 symbols."
    assert "function a()" in view.text


def test_one_bad_file_never_stops_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for name in ("a.py", "bad.py", "c.py"):
        (root / name).write_text("x = 1\n")
    monkeypatch.setattr(preparing, "text_facts", lambda one: text_facts(one) if one.source.path != "bad.py" else 1 / 0)
    report = update_index(Request(root, tmp_path / "cache", 1_000_000))
    assert (report.files, report.skipped) == (2, 1)
    candidate = Candidate("bad.py", 6, 0)
    refused = prepare(Preparation(root, 1_000_000), candidate, "", shared_parser().analyse)
    assert isinstance(refused, SkippedFile)
    assert (refused.skip.reason, refused.skip.detail) == (
        SkipReason.FAILED,
        "internal error (ZeroDivisionError: division by zero)",
    )


# Grammars see what a guard would keep from them, in the workers of the run and in the parsing worker.
CRASHING = """
import sys
from pathlib import Path
from keyhole.core.index import pool
from keyhole.core.index.update import Request, update_index
from keyhole.core.syntax import parse
from keyhole.core.syntax.parser_process import ParserProcess

parse._UNSAFE.clear()
UNGUARDED = "from keyhole.core.syntax import parse, parser_worker; parse._UNSAFE.clear(); parser_worker.main()"

if __name__ == "__main__":
    parser = ParserProcess((sys.executable, "-P", "-c", UNGUARDED))
    pool.shared_parser = lambda: parser
    report = update_index(Request(Path(sys.argv[1]), Path(sys.argv[2]), 1_000_000, workers=2))
    parser.close()
    print(report.files, report.skipped, report.unparsed)
"""


def test_a_grammar_that_crashes_costs_one_file_its_symbols(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for number in range(40):
        (root / f"m{number}.py").write_text(f"def f{number}(): pass\n" + f"x = '{'y' * 100}'\n" * 600)
    (root / "m7.yaml").write_text("".join(" " * depth + "a:\n" for depth in range(1_350)))
    script = tmp_path / "crashing.py"
    script.write_text(CRASHING)
    command = [sys.executable, str(script), str(root), str(tmp_path / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "41 0 1\n"
    with Store(tmp_path / "cache" / "index.db") as store:
        assert store.query("SELECT path, reason, detail FROM skip") == [
            ("m7.yaml", "unparsed", "the YAML grammar crashed")
        ]


@pytest.mark.parametrize("extension", [".sh", ".md", ".py", ".rb", ".php", ".lua"])
def test_letters_beyond_ascii_crash_no_parser(tmp_path: Path, extension: str) -> None:
    text = "{\U0010be4ay}\n# \U0010be4a 漢字\n$\U0002f80a=1\n" * 20
    (tmp_path / f"a{extension}").write_text(text)
    rows = prepare(Preparation(tmp_path, 1_000_000), Candidate(f"a{extension}", 1, 0), "", shared_parser().analyse)
    assert isinstance(rows, FileRows)


@pytest.mark.parametrize("unit", [">", "> ", "- ", "* ", "1. ", "  - a\n"])
def test_deep_markdown_crashes_no_parser(tmp_path: Path, unit: str) -> None:
    deep = "".join("  " * level + unit for level in range(200)) if unit.endswith("\n") else unit * 2_000
    (tmp_path / "a.md").write_text(f"# Title\n\n{deep}\n")
    rows = prepare(Preparation(tmp_path, 1_000_000), Candidate("a.md", 1, 0), "", shared_parser().analyse)
    assert isinstance(rows, FileRows)
