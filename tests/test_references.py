"""References: each sample project has references that were checked by hand."""

import shutil
from pathlib import Path

import pytest
from reference_samples import SAMPLES, as_text, expected, found, languages

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
