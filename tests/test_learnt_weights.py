"""The learnt weights: what the table and its card hold, and how learning works on made-up features."""

import csv
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random

import numpy as np
import pytest
from bench_modules import bench_folders

from keyhole.core.search.features import FEATURES
from keyhole.core.search.wanted import QuestionKind
from keyhole.core.search.weights import WORDS_ONLY

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "assets" / "ranking"


@pytest.fixture
def ranking() -> Iterator[None]:
    with bench_folders("ranking", "model"):
        yield


def test_every_kind_of_question_has_two_tables_of_known_features() -> None:
    tables = tomllib.loads((ASSETS / "weights.toml").read_text())
    assert tables.keys() == {f"{kind}{form}" for kind in QuestionKind for form in ("", f", {WORDS_ONLY}")}
    assert {name for table in tables.values() for name in table} <= set(FEATURES)


def test_the_card_lists_what_was_learnt_from_and_every_feature() -> None:
    card = (ASSETS / "CARD.md").read_text()
    with (ROOT / "bench" / "ranking" / "manifest.csv").open(newline="") as stream:
        rows = [
            (row, f"\n| {row['repository']} | {row['language']} | {row['licence']} | {row['commit'][:12]} |")
            for row in csv.DictReader(stream)
        ]
    learnt = [row for row, line in rows if line in card]
    # Whatever the card lists is in the manifest, and enough of it is in the card.
    table = card.partition("## Data")[2]
    assert table.count("\n| ") - 1 == len(learnt) >= 60
    assert len({row["language"] for row in learnt}) >= 15
    assert all(f"\n- {name}\n" in card for name in FEATURES)


@pytest.mark.usefixtures("ranking")
def test_learning_prefers_what_tells_right_from_wrong() -> None:
    learning = import_module("learn_weights")
    telling, noise = FEATURES.index("fits by words"), FEATURES.index("fits by meaning")
    chance = np.random.default_rng(7)
    queries, files = 60, 8
    rows = np.zeros((queries * files, len(FEATURES)), np.float32)
    rows[:, noise] = chance.random(len(rows))
    right = np.arange(len(rows)) % files == 3
    rows[:, telling] = np.where(right, 0.9, 0.2) + 0.1 * chance.random(len(rows))
    rows[:, FEATURES.index("test")] = ~right
    query = np.repeat(np.arange(queries), files)
    names = np.array(["one", "other"])[np.arange(queries) % 2]
    kinds = np.zeros(queries, np.int64)
    data = learning.Data(rows, query, np.arange(len(rows)) % files, right, right, kinds, names, names)
    weights = learning.learn(data)
    assert weights[0, telling] > 3 * weights[0, noise] >= 0
    assert learning.ndcg(data, learning.scores(data, weights)).mean() == 1
    # The weight of a role is limited, and a kind without queries gets what all kinds share.
    assert weights[0, FEATURES.index("test")] == -2.5
    assert weights[1, telling] > 1
    assert np.array_equal(weights, learning.learn(data))


@pytest.mark.usefixtures("ranking")
@pytest.mark.parametrize("source", ["commit", "behaviour"])
def test_a_written_question_outweighs_several_mined_ones(source: str) -> None:
    learning = import_module("learn_weights")
    mined, written = FEATURES.index("fits by words"), FEATURES.index("fits by meaning")
    # Nine mined queries are answered by the first of two files, and one written question by the second.
    query = np.repeat(np.arange(10), 2)
    is_first = np.arange(20) % 2 == 0
    rows = np.zeros((20, len(FEATURES)), np.float32)
    rows[is_first, mined] = rows[~is_first, written] = 1
    right = np.where(query < 9, is_first, ~is_first)
    sources = np.array(["commit"] * 9 + [source])
    names = np.array(["one"] * 10)
    data = learning.Data(rows, query, np.arange(20) % 2, right, right, np.full(10, 3), sources, names)
    weights = learning.learn(data)[3]
    assert (weights[written] > weights[mined]) == (source == "behaviour")


@pytest.mark.usefixtures("ranking")
def test_roles_may_count_more_in_plain_words() -> None:
    learning = import_module("learn_weights")
    role = FEATURES.index("docs")
    least = dict(zip(QuestionKind, learning.LEAST[:, role], strict=True))
    assert least[QuestionKind.QUESTION] == least[QuestionKind.DESCRIPTION] < least[QuestionKind.NAME] == -2.5


@pytest.mark.usefixtures("ranking")
def test_texts_occur_once_and_are_no_code() -> None:
    choose = import_module("text_queries").choose_texts
    files = {
        "a.py": b'raise ValueError("the basket has no lines")\nprint("shown in two files")\nx = "a/b/c"\n',
        "b.py": b'log("shown in two files")\nlog("only one of the words")\nquery("SELECT * FROM t WHERE a = 1")\n',
    }
    found = sorted(choose(files, files, Random(1)))
    assert found == [("only one of the words", "b.py", 2), ("the basket has no lines", "a.py", 1)]


@pytest.mark.usefixtures("ranking")
def test_plain_queries_leave_out_the_names() -> None:
    plain = import_module("plain_queries")
    query = "retries the failing request after a short pause"
    assert plain.without_names(query, ["RetryPolicy"]) == "the failing request after a short pause"
    assert plain.without_names("retry the policy again", ["RetryPolicy"]) == ""
    assert list(plain.plain_queries([(query, []), (query, [])])) == [query, f"how {query}"]
    assert plain.name_of_file("src/router/mod.rs") == "router mod"
