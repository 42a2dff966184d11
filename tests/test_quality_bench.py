"""bench/quality.py: how results are scored, compared with a baseline, and how looks at held-out labels are counted."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench"
sys.path.append(str(BENCH))

import quality  # noqa: E402
import quality_looks  # noqa: E402
import quality_peers  # noqa: E402
import quality_targets  # noqa: E402
from corpus import Query as Label  # noqa: E402
from quality_peers import densest_window, words_to_grep  # noqa: E402
from quality_scores import Place, average, score  # noqa: E402
from quality_speed import alternate  # noqa: E402

LABEL: Label = {
    "project": "shop",
    "kind": "behaviour",
    "query": "how are prices rounded",
    "answers": [
        {"path": "price.py", "start_line": 10, "end_line": 20},
        {"path": "price.py", "start_line": 40, "end_line": 50},
        {"path": "tax.py", "start_line": 1, "end_line": 5},
    ],
}


def test_a_file_counts_once_and_only_its_first_result_counts_for_its_lines() -> None:
    found = score([Place("price.py", 1, 9), Place("price.py", 10, 30), Place("tax.py", 5, 9)], LABEL)
    assert found.file == found.file_recall == 1
    # The first result of price.py is wrong, so tax.py is the only right file, in second place of two.
    assert found.line == pytest.approx(0.387, abs=0.001)
    assert found.line_recall == 0.5


def test_the_best_list_has_one_right_result_per_file() -> None:
    assert score([Place("tax.py", 1, 1), Place("price.py", 45, 46)], LABEL).line == 1


def test_as_listed_every_answer_counts_once() -> None:
    listed = [Place("price.py", 10, 12), Place("price.py", 15, 20), Place("price.py", 40, 50), Place("tax.py", 1, 5)]
    found = score(listed, LABEL)
    assert found.as_listed == pytest.approx((1 + 1 / 2 + 0.4307) / 2.1309, abs=0.001)
    assert found.file == found.line == 1


def test_different_files_are_counted_only_among_ten_results() -> None:
    nine = [Place("price.py", line, line) for line in range(9)]
    assert score(nine, LABEL).distinct is None
    assert score([*nine, Place("tax.py", 1, 1), Place("far.py", 1, 1)], LABEL).distinct == 2


def test_figures_are_averages_by_kind() -> None:
    symbol: Label = {**LABEL, "kind": "symbol", "query": "round_price"}
    table = average(lambda _, text: [Place("tax.py", 1, 1)] if text == "round_price" else [], [LABEL, symbol])
    assert list(table) == ["behaviour", "symbol", "all"]
    assert table["all"]["file"] == table["symbol"]["file"] / 2 > 0
    assert (table["behaviour"]["line"], table["all"]["queries"]) == (0, 2)


def test_ripgrep_gets_words_as_typed_or_a_quoted_text_as_a_whole() -> None:
    assert words_to_grep("how is PriceList.round used for a price?") == ["pricelist", "round", "price"]
    assert words_to_grep('"is not a price"') == ["is not a price"]
    assert words_to_grep("where is it") == ["where", "is", "it"]


def test_a_window_has_the_most_different_words_before_the_most_matches() -> None:
    top, end = densest_window({"round": [100, 101, 102, 500], "price": [510]})
    assert (top, end) == (485, 524)
    assert densest_window({"round": [3]}) == (1, 40)


def test_without_semble_a_comparison_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality_peers, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="pip install semble"), quality_peers.semble_alone():
        pass


def test_sides_take_turns_in_being_first() -> None:
    calls: list[str] = []

    def side(name: str) -> Callable[[], None]:
        return lambda: calls.append(name)

    assert len(alternate(side("ours"), side("theirs"), turns=2)) == 2
    assert calls == ["ours", "theirs", "theirs", "ours"]


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(quality_looks, "HERE", tmp_path / "bench")
    monkeypatch.setattr(quality_looks, "LOOKS", tmp_path / "bench/looks.toml")
    monkeypatch.setattr(quality_looks, "commit", lambda: "abc1234")
    (tmp_path / "bench").mkdir()
    return tmp_path / "bench/looks.toml"


def test_each_look_is_counted_with_its_reason(looks: Path) -> None:
    assert quality_looks.count_look('the "learnt" ranker') == 1
    assert quality_looks.count_look("again, with C:\\paths") == 2
    assert [look["why"] for look in tomllib.loads(looks.read_text())["look"]] == [
        'the "learnt" ranker',
        "again, with C:\\paths",
    ]


def test_the_committed_looks_are_complete() -> None:
    for look in tomllib.loads((BENCH / "records/looks.toml").read_text())["look"]:
        assert all(look[field] for field in ("date", "commit", "why")), look


@pytest.mark.parametrize("split", [[], ["--split", "held-out"]])
def test_a_look_needs_a_reason(
    split: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["quality.py", *split])
    with pytest.raises(SystemExit):
        quality.parse_options()
    assert "--why TEXT" in capsys.readouterr().err


def tables(hybrid: float, keyword: float = 0.5, queries: int = 3) -> quality_targets.Tables:
    def table(figure: float) -> dict[str, dict[str, float]]:
        row = {"file": figure, "line": figure, "as listed": figure, "distinct files": 9.0, "queries": queries}
        return {"symbol": row, "all": row}

    return {"hybrid": table(hybrid), "keyword with ranking": table(keyword), "raw BM25": table(0.1)}


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality_targets, "BASELINE", tmp_path / "baseline.toml")
    monkeypatch.setattr(quality_targets, "commit", lambda: "abc1234")
    quality_targets.save_baseline({"tune": tables(0.8)})
    quality_targets.save_baseline({"held-out": tables(0.9)})


@pytest.mark.usefixtures("baseline")
def test_a_saved_baseline_is_read_for_its_split() -> None:
    found = quality_targets.read_baseline("held-out", tables(0.95), None)
    assert found["hybrid"]["symbol"]["line"] == 0.9
    assert quality_targets.read_baseline("tune", tables(0.95), None)["hybrid"]["all"]["file"] == 0.8


@pytest.mark.usefixtures("baseline")
def test_a_baseline_of_other_queries_is_not_compared() -> None:
    assert quality_targets.read_baseline("held-out", tables(0.95, queries=4), None) == {}


@pytest.mark.usefixtures("baseline")
def test_targets_against_the_baseline() -> None:
    measured = tables(0.94, keyword=0.4)
    met = quality_targets.judge(measured, quality_targets.read_baseline("held-out", measured, None))
    assert {name: met[name] for name in met if "baseline" in name} == {
        "hybrid above baseline, file level": False,
        "hybrid above baseline, line level": True,
        "keyword above baseline, file level": False,
        "keyword above baseline, line level": False,
        "hybrid above baseline, line level, symbol": True,
    }
    assert not met["symbol, line level"]
    assert not any("baseline" in name or "semble" in name for name in quality_targets.judge(measured, {}))
