"""Fixtures shared by all tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDENS = Path(__file__).parent / "goldens"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files; read the diff!")


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with `goldens/<name>`, byte for byte."""

    def check(name: str, text: str) -> None:
        golden = GOLDENS / name
        if request.config.getoption("--update-goldens"):
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_bytes(text.encode())
        assert golden.is_file(), f"no golden {name}; run pytest with --update-goldens and read what it wrote"
        assert text == golden.read_bytes().decode()

    return check
