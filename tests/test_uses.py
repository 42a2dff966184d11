"""A search that finds a value, such as a table of messages, also shows the code that uses it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.search_results import Use
from keyhole.core.types.view_requests import SearchRequest

FILES = {
    "src/messages.ts": """export const messages = [
  "The tank is empty",
  "Refuelling while the engine runs is forbidden",
  "The wing is frozen",
]

export function fail(code: number): never {
  throw new Error(messages[code])
}
""",
    "src/pump.ts": """import { fail } from "./messages"

export function refuel(plane: Plane) {
  if (plane.engine.runs) {
    fail(1)
  }
}

export function drain(plane: Plane) {
  if (plane.tank === 0) fail(0)
}
""",
    "tests/pump.test.ts": """import { fail } from "../src/messages"

test("refuelling while the engine runs is forbidden", () => {
  fail(1)
})
""",
    "src/limits.py": """# The most passengers that may board.
MOST_PASSENGERS = 180
""",
    "src/gate.py": """from limits import MOST_PASSENGERS


def is_open(flight):
    # all who board need a seat
    return flight.count < MOST_PASSENGERS


def label():
    return str(MOST_PASSENGERS)
""",
}
BOARD = "how are the most passengers that may board limited"
FORBIDDEN = "why is refuelling forbidden while the engine runs"


@pytest.fixture
def airport(tmp_path: Path) -> Service:
    for path, text in FILES.items():
        target = tmp_path / "airport" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return indexed(tmp_path / "airport")


def indexed(root: Path) -> Service:
    service = Service.open(root, flags={"cache_dir": root.parent / "cache", "index.model": "none"})
    service.index()
    return service


def request(query: str, **options: object) -> SearchRequest:
    return replace(SearchRequest(query, Mode.KEYWORD), **options)  # type: ignore[arg-type]


def uses(service: Service, query: str, **options: object) -> tuple[Use, ...]:
    hits = service.search_page(request(query, **options))[0].hits
    assert all(not hit.uses for hit in hits[1:])
    return hits[0].uses


def test_a_table_is_followed_through_the_function_that_reads_it(airport: Service) -> None:
    text = airport.search_view(request(FORBIDDEN)).text
    row, used = text.split("\n")[1:3]
    assert row.startswith("src/messages.ts:1:[constant] (1.00) export const messages")
    # The call that fits the question, not that of `drain` and not the one of a test.
    assert used == "  → Used in refuel (src/pump.ts:5), through fail: fail(1)"
    assert "pump.ts:10" not in text


def test_a_constant_is_shown_with_the_code_around_its_uses(airport: Service) -> None:
    text = airport.search_view(request(BOARD)).text
    # `label` says nothing about boarding.
    assert "\n  → Used in is_open (src/gate.py:6): return flight.count < MOST_PASSENGERS\n" in text
    assert text.count("→ Used") == 1


def test_uses_in_json_are_facts_from_compact_on(airport: Service) -> None:
    def facts(detail: Detail) -> dict[str, object]:
        view = airport.search_view(request(FORBIDDEN, format=Format.JSON, detail_level=detail))
        found: dict[str, object] = json.loads(view.text)["results"][0]
        return found

    use = {
        "file_path": "src/pump.ts",
        "line": 5,
        "enclosing": "refuel",
        "through": "fail",
        "text": "fail(1)",
    }
    assert facts(Detail.COMPACT)["uses"] == facts(Detail.RICH)["uses"] == [use]
    assert "uses" not in facts(Detail.MINIMAL)


def test_a_search_for_a_name_or_a_text_has_no_uses(airport: Service) -> None:
    assert uses(airport, "messages") == ()
    assert uses(airport, '"Refuelling while" engine') == ()
    assert uses(airport, "messages", mode=Mode.SYMBOL) == ()


def test_uses_are_in_the_files_that_the_filters_admit(airport: Service) -> None:
    assert uses(airport, FORBIDDEN, path="src/*.ts")
    assert uses(airport, FORBIDDEN, path="src/m*") == ()


def test_later_pages_have_no_uses(airport: Service) -> None:
    assert uses(airport, FORBIDDEN)
    assert uses(airport, FORBIDDEN, offset=1) == ()


def test_a_use_moves_with_its_line(airport: Service) -> None:
    pump = airport.root / "src/pump.ts"
    assert [use.line for use in uses(airport, FORBIDDEN)] == [5]
    pump.write_text(f"// first\n// second\n{pump.read_text()}")
    assert [use.line for use in uses(airport, FORBIDDEN)] == [7]


def test_the_uses_of_a_name_that_is_everywhere_are_not_looked_for(tmp_path: Path) -> None:
    root = tmp_path / "crowd"
    root.mkdir()
    (root / "limits.py").write_text("CROWD_LIMIT = 9\n")
    for number in range(102):
        source = f"from limits import CROWD_LIMIT\n\n\ndef gate_{number}(people):\n    return people < CROWD_LIMIT\n"
        (root / f"gate_{number}.py").write_text(source)
    service = indexed(root)
    best = service.search_page(request("crowd limit of people"))[0].hits[0]
    assert (best.path, best.uses) == ("limits.py", ())


def test_a_masked_line_is_no_use(airport: Service) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    gate = airport.root / "src/gate.py"
    gate.write_text(gate.read_text().replace("MOST_PASSENGERS\n\n", f"MOST_PASSENGERS  # {token}\n\n"))
    text = airport.search_view(request(BOARD)).text
    assert "→ Used" not in text
    assert token not in text
