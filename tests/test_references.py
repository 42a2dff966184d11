"""References: each sample project has references that were checked by hand."""

import shutil
from pathlib import Path

import pytest
from reference_samples import SAMPLES, as_text, expected, found, languages

from keyhole.core.links.requests import ReferencesRequest
from keyhole.core.service import Service


@pytest.mark.parametrize("language", languages())
def test_checked_references(language: str, tmp_path: Path) -> None:
    root = tmp_path / language
    shutil.copytree(SAMPLES / language, root)
    service = Service.open(root, flags={"index.model": "none"})
    service.index()
    answers = expected(language)
    assert as_text(found(service, answers)) == as_text(answers)
    assert sum(map(len, answers.values())) >= 60
    service.close()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", '# How to "start"\n\nText.\n'),
        ("README.md", '# "\n\nText.\n'),
        ("a.cpp", "void *operator new(unsigned long n) { return 0; }\n"),
    ],
)
def test_a_name_of_several_words_gets_an_answer(path: str, text: str, tmp_path: Path) -> None:
    root = tmp_path / "words"
    root.mkdir()
    (root / path).write_text(text)
    service = Service.open(root, flags={"index.model": "none", "cache_dir": tmp_path / "cache"})
    service.index()
    assert "Nothing found" in service.relation_view(ReferencesRequest(path=path, line=1)).text
    service.close()
