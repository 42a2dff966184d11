"""Chunks cover their file exactly, stay within the limit, and name what they define."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.syntax.analyse import analyse
from keyhole.core.syntax.chunks import CHUNK_BYTES, CHUNK_SIZE, cut_chunks
from keyhole.core.syntax.context_header import context_header
from keyhole.core.syntax.languages import BY_ID, LANGUAGES
from keyhole.core.types.source_files import SourceFile
from keyhole.core.types.syntax import Analysis, Chunk

HERE = Path(__file__).parent
REAL_FILES = sorted(
    path
    for pattern in ("tests/fixtures/**/*.*", "core/**/*.py", "assets/**/*.*", "*.*")
    for path in HERE.parent.glob(pattern)
    if path.is_file() and path.suffix not in (".db", ".pyc", ".zip") and path.parent.name != "model"
)
EXTENSIONS = sorted({extension for language in LANGUAGES for extension in language.extensions})


def analysed(path: str, text: str) -> Analysis:
    return analyse(SourceFile(path, len(text.encode()), 0, "", "utf-8", text))


def check_chunks(text: str, chunks: tuple[Chunk, ...]) -> None:
    assert "".join(chunk.text for chunk in chunks) == text
    lines = text.split("\n")
    position = 0
    for chunk in chunks:
        assert chunk.text
        assert sum(not character.isspace() for character in chunk.text) <= CHUNK_SIZE
        assert len(chunk.text.encode()) <= CHUNK_BYTES
        assert chunk.start_line == text.count("\n", 0, position) + 1
        position += len(chunk.text)
        assert chunk.end_line == text.count("\n", 0, position - 1) + 1
        is_last = position == len(text)
        # A chunk ends at a line end, unless that line alone is too long.
        assert is_last or chunk.text.endswith("\n") or len(lines[chunk.end_line - 1].encode()) > CHUNK_SIZE


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
def test_real_files_are_tiled(path: Path) -> None:
    text = path.read_bytes().decode()
    analysis = analysed(path.name, text)
    check_chunks(text, analysis.chunks)
    if BY_ID[analysis.outline.language].has_definitions:
        listed = [definition for chunk in analysis.chunks for definition in chunk.definitions]
        assert sorted(listed) == sorted(f"{symbol.kind} {symbol.name}" for symbol in analysis.outline.walk())


@given(
    text=st.text(max_size=300) | st.text(alphabet="ab \n\t\r{}():;\"'#é漢👩", max_size=9_000),
    extension=st.sampled_from(EXTENSIONS),
)
def test_any_text_is_tiled(text: str, extension: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    check_chunks(text, analysed(f"a{extension}", text).chunks)


@given(
    line=st.sampled_from(["x", "é", "漢", "👩", " ", "a b"]), count=st.integers(1, 30_000), tail=st.text(max_size=20)
)
def test_a_giant_line_is_split_at_a_character(line: str, count: int, tail: str) -> None:
    text = (line * count + tail).encode("utf-8", "replace").decode()
    check_chunks(text, cut_chunks(text.encode(), None, ()))


def test_deep_nesting_does_not_overflow_the_stack() -> None:
    for path, text in [("a.py", "(" * 20_000 + ")" * 20_000), ("a.json", "[" * 20_000), ("a.c", "{" * 20_000 + "\n")]:
        check_chunks(text, analysed(path, text).chunks)


def test_a_class_is_split_between_its_methods() -> None:
    methods = [f"    def method_{i}(self):\n" + f"        return {i} + {'1' * 400}\n" * 2 for i in range(5)]
    text = "import os\n\n\nclass Big:\n    '''Doc.'''\n\n" + "\n".join(methods) + "\n\ndef after():\n    return 1\n"
    chunks = analysed("a.py", text).chunks
    check_chunks(text, chunks)
    assert [chunk.definitions for chunk in chunks] == [
        ("class Big", "method method_0"),
        ("method method_1",),
        ("method method_2",),
        ("method method_3",),
        ("method method_4",),
        ("function after",),
    ]


def test_a_comment_stays_with_what_it_describes() -> None:
    filler = "\n".join(f"x{i} = {'1' * 100}" for i in range(13))
    text = f"{filler}\n\n# About the function:\n# two lines.\ndef documented():\n    return {'1' * 300}\n"
    chunks = analysed("a.py", text).chunks
    check_chunks(text, chunks)
    assert len(chunks) == 2
    assert chunks[1].text.startswith("# About the function:")


def test_data_and_prose_define_nothing() -> None:
    for path, text in [
        ("a.json", '{"key": 1}'),
        ("a.md", "# Title\n\ntext\n"),
        ("a.toml", "[a]\nb = 1\n"),
        ("a.zig", "fn a() void {}\n"),
    ]:
        (chunk,) = analysed(path, text).chunks
        assert chunk.definitions == ()


def test_context_header() -> None:
    python = BY_ID["python"]
    assert context_header("src/a.py", python, "") == "File: src/a.py\nLanguage: python"
    assert context_header("src/a.py", python, "class Searcher, method search") == (
        "File: src/a.py\nLanguage: python\nDefines: class Searcher, method search"
    )


def test_an_empty_file_has_no_chunks() -> None:
    assert analysed("a.py", "").chunks == ()
