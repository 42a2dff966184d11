"""The lens shows exactly what real clients delivered; bench/clients made the fixtures."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench_modules import bench_folders

from keyhole.core.clients import profiles

FIXTURES = Path(__file__).parent / "fixtures" / "clients"
MEASURED = [profile.id for profile in profiles().values() if profile.source == "client lab"]


@pytest.fixture(scope="module")
def lens() -> Iterator[Any]:
    with bench_folders("clients"):
        import lens_cases

        yield lens_cases


def lines_of(client: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FIXTURES / f"{client}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("client", MEASURED)
def test_the_lens_equals_what_the_client_delivered(client: str, lens: Any) -> None:
    head, *cases = lines_of(client)
    assert (head["client"], head["version"]) == (client, profiles()[client].version)
    assert len(cases) >= 200
    for case in cases:
        text = lens.lens_delivery(client, case).text.encode("utf-8", "surrogatepass")
        if "ends" in case:
            # The ends come first: they say more than a checksum if something differs.
            first, last = (head["ends"][place] for place in case["ends"])
            assert text[:300].decode("utf-8", "replace") == first, case
            assert text[-300:].decode("utf-8", "replace") == last, case
        assert (len(text), hashlib.sha256(text).hexdigest()) == (case["bytes"], case["sha256"]), case


@pytest.mark.parametrize("client", MEASURED)
def test_the_cases_are_on_both_sides_of_the_limit(client: str, lens: Any) -> None:
    _, *cases = lines_of(client)
    seen = {(case["tool"], case["shape"], bool(lens.lens_delivery(client, case).overflow)) for case in cases}
    for tool in ("plain", "declared"):
        assert {(tool, shape, is_cut) for shape in lens.SHAPES for is_cut in (False, True)} <= seen
    assert ("declared", "search-rich.json", True) in seen
    assert ("error", "search-rich.text", False) in seen
    assert {"structured", "structured_twice", "structured_declared", "two_blocks", "error"} <= {
        case[0] for case in seen
    }


def test_the_fixtures_are_small() -> None:
    assert len(list(FIXTURES.glob("*.jsonl"))) == len(MEASURED)
    assert sum(path.stat().st_size for path in FIXTURES.iterdir()) < 1_000_000
