"""The document of each file: path, names of definitions and first comment, with its words and its vector."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.index.embedder import Embedder
from keyhole.core.index.file_document import FileDocument, document_of, hash_of_word, pack_words
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.rows import StoredDocument
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.file_fit import fit_by_vector, fit_by_words
from keyhole.core.syntax.analyse import analyse
from keyhole.core.syntax.first_comment import COMMENT_LIMIT, first_comment
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.source_files import SourceFile

APACHE = """Copyright 2024 The Authors. All rights reserved.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND."""


def marked(mark: str, text: str) -> str:
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", '"""Retries what failed.\n\nMore about it.\n"""\nimport os\n', "Retries what failed. More about it."),
        ("a.py", '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"Cache backend."\n', "Cache backend."),
        ("a.py", f'{marked("#", APACHE)}\n"""Retries."""\n', "Retries."),
        ("a.py", f'"""{APACHE}\n\nRetries what failed.\n"""\n', "Retries what failed."),
        ("a.py", "x = 1\n\n# Retries what failed,\n# slowly.\ny = 2\n", "Retries what failed, slowly."),
        ("a.py", "def f():\n    # Inside of a function.\n    pass\n", ""),
        ("a.rs", "//! Retries what failed.\n//!\n//! # Notes\n\nuse std::io;\n", "Retries what failed. Notes"),
        ("a.c", f"/*\n{marked(' *', APACHE)} */\n#include <a.h>\n\n/* Retries. */\n", "Retries."),
        ("a.c", "#include <a.h>\n#define A 1\n", ""),
        ("A.java", "package a;\n\nimport b.C;\n\n/**\n * Retries.\n */\nclass A {}\n", "Retries."),
        ("a.lua", "--[[\n  Retries what failed.\n]]\nlocal x = 1\n", "Retries what failed."),
        ("a.sql", "-- Retries what failed.\nSELECT 1;\n", "Retries what failed."),
        ("a.go", "//go:build linux\n\n// Package a retries.\npackage a\n", "Package a retries."),
        ("a.hs", "{- Retries what failed. -}\nmodule A where\n", "Retries what failed."),
        ("a.html", "<!DOCTYPE html>\n<!-- Retries what failed. -->\n", "Retries what failed."),
        ("a.yaml", "# Retries what failed.\nkey: 1\n", "Retries what failed."),
        ("a.json", '{\n"key": "not a comment, but a long value"\n}\n', ""),
        ("a.csv", "# name,value of the first\n1,2\n", ""),
        (
            "README.md",
            "---\ntitle: x\n---\n# Title\n\n[![a](b.svg)](c)\n\n<p>\n\nRetries what failed,\nand gives up.\n\nMore.\n",
            "Retries what failed, and gives up.",
        ),
        (
            "a.rst",
            f"{'title ' * 9}\n=====\n\n.. note:: x\n\nRetries, then ends with an error.\n",
            "Retries, then ends with an error.",
        ),
        ("a.py", "", ""),
        ("a.py", '"""Never closed', "Never closed"),
    ],
)
def test_the_first_comment_is_the_first_that_is_no_licence(path: str, text: str, expected: str) -> None:
    assert first_comment(text, detect_language(path, text)) == expected


@given(st.text(st.sampled_from("/*#-\"'{}<!>[]();%= \nab|"), max_size=300), st.sampled_from(["a.py", "a.c", "a.md"]))
def test_any_text_has_a_short_first_comment_or_none(text: str, path: str) -> None:
    assert len(first_comment(text, detect_language(path, text))) <= COMMENT_LIMIT


def document(path: str, text: str) -> FileDocument:
    return document_of(analyse(SourceFile(path, len(text), 0, "", "utf-8", text)))


def test_a_document_has_the_path_the_names_and_the_comment() -> None:
    code = '"""Tools."""\n\nclass Retry:\n    def wait(self):\n        pass\n\ndef backoff():\n    pass\n'
    assert document("src/retry.py", code) == FileDocument("src/retry.py", "Retry backoff wait", "Tools.")
    assert document("a.md", "# Retries\n\n## How they wait\n").definitions == "Retries How they wait"
    assert document("a.json", '{"name": {"key": 1}}\n').definitions == ""
    # A file without a comment of its own has the first one of a definition.
    inner = 'class Retry:\n    """Retries what failed."""\n'
    assert document("retry.py", inner).comment == "Retries what failed."


def test_a_document_stays_short_and_loses_the_inner_names_first() -> None:
    methods = "".join(f"    def inner_method_{number}(self): pass\n" for number in range(1_000))
    long = document("a.py", f"class First:\n{methods}\nclass Last:\n    pass\n")
    assert long.definitions.startswith("First Last inner_method_0 ")
    assert len(long.definitions) <= 6_000
    assert long.definitions.split()[-1].startswith("inner_method_")


def test_words_are_packed_as_hashes_of_stems_with_counts_by_part() -> None:
    packed = pack_words(FileDocument("src/retry.py", "Retry retries " + "wait " * 300, "Retried"))
    cells = {
        cell >> 32: (cell >> 24 & 0xFF, cell >> 12 & 0xFFF, cell & 0xFFF)
        for (cell,) in struct.iter_unpack("<Q", packed)
    }
    assert cells[hash_of_word("retry")] == (1, 2, 1)
    assert cells[hash_of_word("waited")] == (0, 300, 0)
    assert hash_of_word("retry") == hash_of_word("retries")
    assert pack_words(FileDocument("", "", "")) == b""
    # A path of one word repeated is no longer than its count can be.
    (cell,) = struct.unpack("<Q", pack_words(FileDocument("a/" * 2_000, "", "")))
    assert (cell >> 32, cell >> 24 & 0xFF) == (hash_of_word("a"), 200)


def stored(
    file_id: int, path: str = "", definitions: str = "", comment: str = "", vector: bytes = b""
) -> StoredDocument:
    return StoredDocument(file_id, pack_words(FileDocument(path, definitions, comment)), vector)


def test_rare_words_and_more_of_them_fit_better() -> None:
    documents = [
        stored(1, "src/cache.py", "Cache get expire"),
        stored(2, "src/cache.py", "Cache get"),
        stored(3, "src/paint.py", "Paint get"),
        stored(4),
    ]
    fits = fit_by_words({"caching": 3.0, "expires": 5.0, "get": 1.0}, documents)
    assert fits[1] > fits[2] > fits[3] > fits[4] == 0.0
    assert fits[1] < 1
    only_comment = fit_by_words({"cache": 1.0}, documents, (0.0, 0.0, 1.0))
    assert set(only_comment.values()) == {0.0}
    assert fit_by_words({}, documents) == dict.fromkeys([1, 2, 3, 4], 0.0)
    assert fit_by_words({"cache": 1.0}, []) == {}


def test_the_same_word_in_a_long_document_says_less() -> None:
    fits = fit_by_words({"cache": 1.0}, [stored(1, "cache.py"), stored(2, "cache.py", "other " * 200)])
    assert fits[1] > fits[2] > 0


WORDS = st.lists(st.sampled_from(["cache", "get", "paint", "expire", "wait"]), max_size=6).map(" ".join)


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=6),
    st.dictionaries(st.sampled_from(["cache", "paint", "wait", "other"]), st.floats(0, 10)),
)
def test_how_a_file_fits_depends_on_no_other_file(parts: list[tuple[str, str, str]], worths: dict[str, float]) -> None:
    documents = [stored(number, *part) for number, part in enumerate(parts)]
    together = fit_by_words(worths, documents)
    assert together == fit_by_words(worths, documents[::-1])
    for each in documents:
        alone = fit_by_words(worths, [each])[each.file_id]
        assert together[each.file_id] == pytest.approx(alone, abs=2e-6)
        assert 0 <= alone <= 1


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "retry.py").write_text('"""Wait and try again."""\n\ndef backoff():\n    pass\n')
    (root / "colours.py").write_text('"""Mix colours."""\n\ndef paint():\n    pass\n')
    (root / "empty.py").write_text("")
    return root


def builtin() -> Embedder:
    embedder = open_embedder(BUILTIN)
    assert embedder is not None
    return embedder


def index(root: Path, embedder: Embedder | None) -> Store:
    update_index(Request(root, root.parent / "cache", 1_000_000, embedder=embedder))
    return Store(root.parent / "cache" / INDEX_FILE)


def ids_by_path(store: Store) -> dict[str, int]:
    return {file.path: file.id for file in store.files_in()}


def test_the_index_has_a_document_for_each_file(root: Path) -> None:
    with index(root, builtin()) as store:
        ids = ids_by_path(store)
        documents = store.file_documents([*ids.values(), 99])
        assert len(documents) == 3
        by_words = fit_by_words({"backoff": 1.0, "trying": 1.0}, documents)
        assert by_words[ids["retry.py"]] > 0.2
        assert by_words[ids["colours.py"]] == by_words[ids["empty.py"]] == 0.0
        by_vector = fit_by_vector(builtin().encode(["repeat after a delay"])[0], documents)
        assert by_vector[ids["retry.py"]] > by_vector[ids["colours.py"]]
        assert ids["empty.py"] not in by_vector
        text = FileDocument("retry.py", "backoff", "Wait and try again.").text
        assert fit_by_vector(builtin().encode([text])[0], documents)[ids["retry.py"]] > 0.99
        assert fit_by_vector(np.zeros(256, np.float32), documents) == {}


def test_documents_change_with_their_file_and_with_the_model(root: Path) -> None:
    index(root, builtin()).close()
    (root / "retry.py").write_text('"""Paint a wall."""\n')
    (root / "colours.py").unlink()
    with index(root, builtin()) as store:
        ids = ids_by_path(store)
        assert fit_by_words({"wall": 1.0}, store.file_documents(ids.values()))[ids["retry.py"]] > 0.2
        assert store.query("SELECT file_id FROM file_document ORDER BY 1") == [(id_,) for id_ in sorted(ids.values())]
    with index(root, None) as store:
        documents = store.file_documents(ids.values())
        assert [document.vector for document in documents] == [b"", b""]
        assert fit_by_words({"wall": 1.0}, documents)[ids["retry.py"]] > 0.2


def test_ranking_reads_the_facts_of_several_files_at_once(root: Path) -> None:
    with index(root, None) as store:
        facts = sorted(store.file_facts(ids_by_path(store).values()), key=lambda file: file.path)
        assert [(file.path, file.language, file.lines) for file in facts] == [
            ("colours.py", "python", 4),
            ("empty.py", "python", 0),
            ("retry.py", "python", 4),
        ]
        assert store.file_facts([99]) == []
