"""What ranking must get right, each pattern in a made-up project: names, file names, prose, and many hits in a file."""

from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest

from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.rows import NamedSymbol
from keyhole.core.index.symbol_table import SymbolTable
from keyhole.core.search.features import FEATURES, MEANING_FEATURES, ChunkCandidate, measure
from keyhole.core.search.rank import rank
from keyhole.core.search.wanted import QuestionKind, understand
from keyhole.core.search.weights import weights_for
from keyhole.core.service import Service
from keyhole.core.types.choices import Mode, Role
from keyhole.core.types.search_results import Hit
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.lists.search_view import explanation_text


def project(folder: Path, files: dict[str, str], model: str = "none") -> Service:
    for path, text in files.items():
        (folder / "project" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / path).write_text(text)
    service = Service.open(folder / "project", flags={"cache_dir": folder / "cache", "index.model": model})
    service.index()
    return service


def ask(service: Service, query: str, mode: Mode = Mode.KEYWORD) -> tuple[Hit, ...]:
    return service.search_page(SearchRequest(query, mode))[0].hits


def features_of(candidate: ChunkCandidate, query: str, *others: ChunkCandidate) -> dict[str, float]:
    words = understand(query).words
    row = measure([candidate, *others], understand(query, dict.fromkeys(words, 1.0)))[0]
    return dict(zip(FEATURES, row, strict=True))


def in_file(path: str, definitions: str = "", number: int = 1, **facts: float) -> ChunkCandidate:
    candidate = ChunkCandidate(number, number, path, "python", 1, 20, definitions, 20)
    for name, fact in facts.items():
        setattr(candidate, name, fact)
    return candidate


def test_a_definition_beyond_the_best_by_words_is_measured_like_the_others(tmp_path: Path) -> None:
    uses = {f"use/part{number}.py": "ledger ledger ledger\n" * 9 for number in range(150)}
    other_names = "".join(f"    entry{number} = number{number} + balance{number}\n" for number in range(40))
    service = project(tmp_path, {**uses, "core.py": f"class Ledger:\n{other_names}"})
    (first, *_) = ask(service, "Ledger")
    assert first.path == "core.py"
    assert "contains the words" in [signal.name for signal in first.signals]


DEFINES_IT = {
    "a.py": "class Page:\n    def application(self):\n        return self.name\n\n    size = 1\n",
    "b.py": "class Application:\n    def start(self):\n        return self\n\n    size = 1\n",
    "c.py": "def use():\n    application = 1\n    return application\n\n\nsize = 1\n",
}


@pytest.mark.parametrize("query", ["Application", "Page.application"])
def test_a_name_as_written_comes_first(tmp_path: Path, query: str) -> None:
    first = ask(project(tmp_path, DEFINES_IT), query)[0]
    assert first.qualified_name == query


def test_types_come_before_functions_and_these_before_members() -> None:
    weights = dict(zip(FEATURES, weights_for(QuestionKind.NAME, has_vectors=True), strict=True))
    kinds = ("type", "function", "member")
    defined = [features_of(in_file("a.py", f"{kind} Store"), "Store") for kind in ("class", "function", "method")]
    for kind, features in zip(kinds, defined, strict=True):
        assert [name for name in features if features[name] and name.startswith("defines")] == [
            f"defines a {kind} of that name"
        ]
    assert weights["defines a type of that name"] > weights["defines a member of that name"] > 0
    assert features_of(in_file("a.py", "method store"), "Store")["defines the name in another spelling"] == 1


def test_the_place_with_the_body_comes_before_a_declaration(tmp_path: Path) -> None:
    body = "struct job {\n" + "".join(f"    int field{number};\n" for number in range(9)) + "};\n"
    service = project(tmp_path, {"a.h": "struct job;\nvoid run(struct job *job);\n", "b.h": body})
    assert ask(service, "job")[0].path == "b.h"


LIMITS = "    limit = 1\n" * 400
MEMBERS = {
    "pool.py": "class HttpPoolConfig:\n" + LIMITS + "\n    def get_retry_limit(self):\n        return self.limit\n",
    "other.py": "class RetryLimit:\n    def get_http_pool_config(self):\n        return self.retry_limit\n",
    "pages.h": "// Next page\nclass PageIterator {\n  void Next();\n};\n",
    "pages.cc": '#include "pages.h"\n\n' + "int next_page;\n" * 400 + "void PageIterator::Next() {\n  page++;\n}\n",
    "rule.kt": "// To check a rule\nclass Rule<T>\n\nfun checkRule() = 1\n",
    "kinds.kt": "val one = 1\n" * 400 + "fun <T> Rule<T>.check(): Int {\n    return 1\n}\n",
    "sinks.py": "class Sink(Protocol):\n    def flush(self): ...\n\n\nclass Empty:\n    def close(self): ...\n",
    "flush_sink.py": "def flush_all():\n    pass\n\n\nclass DefaultSink:\n    def flush(self):\n"
    + "        sink = flush(sink)\n" * 12,
    "tests/test_order.py": "class OrderCase:\n" + LIMITS + "\n    def total(self):\n        return self.limit\n",
    "order.py": "def order_case_total(order_case):\n    return order_case.total\n",
    "tables.c": "int stride;\n" * 400 + "const int kStrideExtensionTableOf[] = {\n    1,\n    2,\n};\n",
}


@pytest.mark.parametrize(
    ("query", "path", "definition"),
    [
        ("http pool config get retry limit", "pool.py", "get_retry_limit"),
        ("page iterator next", "pages.cc", "Next"),
        ("Rule check", "kinds.kt", "check"),
        ("Sink.flush", "sinks.py", "flush"),
        ("OrderCase total", "tests/test_order.py", "total"),
    ],
)
def test_a_member_is_found_where_it_is_defined(tmp_path: Path, query: str, path: str, definition: str) -> None:
    first = ask(project(tmp_path, MEMBERS), query)[0]
    assert (first.path, first.name) == (path, definition)


def test_a_sentence_that_ends_with_a_name_reads_no_definitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service, read = project(tmp_path, MEMBERS), list[str]()

    def note(_: SymbolTable, names: Iterable[str]) -> list[NamedSymbol]:
        read.extend(names)
        return []

    monkeypatch.setattr(SymbolTable, "symbols_named", note)
    assert ask(service, "where does the pool decide when to flush")
    assert read == []
    ask(service, "http pool config get retry limit")
    assert "get_retry_limit" in read


def test_a_long_name_may_be_written_as_words(tmp_path: Path) -> None:
    assert understand("k stride extension table of").spelled == "kstrideextensiontableof"
    assert ask(project(tmp_path, MEMBERS), "k stride extension table of")[0].path == "tables.c"


@pytest.mark.parametrize(
    ("path", "query", "feature", "value"),
    [
        ("src/createStore.ts", "create store", "file name is in the query", 1.0),
        ("src/createStore.ts", "create store", "file has the name asked for", 1.0),
        ("src/store.ts", "create store", "file has the name asked for", 0.0),
        ("src/store.ts", "Store", "file has the name asked for", 1.0),
        ("src/router/mod.rs", "router", "file has the name asked for", 1.0),
        ("src/router/index.ts", "router", "file has the name asked for", 1.0),
        ("src/router/__init__.py", "router", "file name is in the query", 1.0),
        ("lua/lock.lua", "lockfile", "file name is in the query", 0.6),
        ("src/net/http/pool.go", "http timeouts", "words are in the path", 0.5),
    ],
)
def test_file_names(path: str, query: str, feature: str, value: float) -> None:
    assert features_of(in_file(path), query)[feature] == pytest.approx(value)


def test_prose_comes_behind_code_of_equal_fit_unless_asked_for(tmp_path: Path) -> None:
    text = "The parcel is weighed before the label is printed.\n"
    files = {
        "b.md": f"# Shipping\n\n{text * 3}",
        "a.py": f"def run(order):\n    # {text}" + f"    # {text}" * 2 + "    return order\n",
    }
    service = project(tmp_path, files)
    assert ask(service, "parcel weighed label printed")[0].path == "a.py"
    assert ask(service, "docs: parcel weighed label printed")[0].path == "b.md"


def test_more_good_places_in_a_file_always_count_more() -> None:
    def others(count: int) -> float:
        same_file = [in_file("a.py", number=1, bm25=1.0) for _ in range(count)]
        return features_of(in_file("a.py", bm25=1.0), "word", *same_file)["other good places in its file"]

    assert 0 == others(0) < others(1) < others(4) < others(12)


def test_a_file_with_several_similar_places_is_about_it() -> None:
    def fit(*cosines: float) -> float:
        of_others = [in_file("b.py", number=2, cosine=0.6)]
        same_file = [in_file("a.py", number=1, cosine=cosine) for cosine in cosines]
        features = features_of(in_file("a.py", cosine=0.6), "word", *same_file, *of_others)
        return features["the best places in its file fit by meaning"]

    assert fit() == pytest.approx(1 / 3)
    assert fit(0.3) == pytest.approx(1 / 2)
    assert fit(0.6, 0.6) == pytest.approx(1)
    # A long file has many places, so only the best ones count; what is opposite in meaning counts for nothing.
    assert fit(0.6, 0.6, 0.6, 0.5, -0.4) == pytest.approx(1)


def test_the_lines_of_a_place_are_counted() -> None:
    short, long = in_file("a.py"), in_file("b.py", number=2)
    short.start_line = short.end_line = 7
    long.end_line = 63
    assert features_of(short, "word", long)["covers many lines"] == pytest.approx(0.1)
    assert features_of(long, "word", short)["covers many lines"] == pytest.approx(0.6)


def test_each_kind_of_question_has_its_own_weights() -> None:
    tables = {kind: weights_for(kind, has_vectors=True) for kind in QuestionKind}
    assert len(set(tables.values())) == len(QuestionKind)
    kinds = {
        "RetryPolicy": QuestionKind.NAME,
        "retry policy": QuestionKind.WORDS,
        "wait longer after each failed attempt": QuestionKind.DESCRIPTION,
        "how are failed calls repeated": QuestionKind.QUESTION,
        'retry "max attempts"': QuestionKind.EXACT,
    }
    assert {query: understand(query).kind for query in kinds} == kinds


def test_meaning_counts_for_nothing_without_vectors() -> None:
    for kind in QuestionKind:
        weights = dict(zip(FEATURES, weights_for(kind, has_vectors=False), strict=True))
        assert not any(weights[name] for name in MEANING_FEATURES)


@pytest.mark.parametrize("role", [role for role in Role if role != Role.SOURCE])
def test_a_role_never_speaks_for_a_file_and_counts_only_if_not_asked_for(role: Role) -> None:
    candidate = in_file("a.py")
    candidate.role = role
    assert features_of(candidate, "word")[role] == 1
    for kind in QuestionKind:
        for has_vectors in (True, False):
            assert dict(zip(FEATURES, weights_for(kind, has_vectors=has_vectors), strict=True))[role] <= 0


@pytest.mark.parametrize(
    ("query", "role"),
    [
        ("tests of the parser", "test"),
        ("changelog", "docs"),
        ("example of a plugin", "example"),
        ("settings", "config"),
    ],
)
def test_what_a_query_asks_for_is_not_lowered(query: str, role: Role) -> None:
    candidate = in_file("a.py")
    candidate.role = Role(role)
    assert features_of(candidate, query)[role] == 0


def test_the_shares_add_up_to_the_score(tmp_path: Path) -> None:
    service = project(tmp_path, DEFINES_IT, model="builtin")
    for query in ("Application", "where does the application start", "page application"):
        for hit in ask(service, query, Mode.HYBRID):
            assert sum(signal.effect for signal in hit.signals) == pytest.approx(hit.points)


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode != Mode.AUTO])
def test_the_shares_that_explain_shows_add_up(tmp_path: Path, mode: Mode) -> None:
    service = project(tmp_path, DEFINES_IT, model="builtin")
    explained = service.explain(SearchRequest("application", mode), "a.py")
    assert explained.hit
    rows = explanation_text(explained).splitlines()
    shares = [float(row.split()[0]) for row in rows if row.strip().startswith(("+", "-"))]
    total = next(float(row.split()[0]) for row in rows if row.endswith("  total"))
    assert sum(shares) == pytest.approx(total, abs=0.001)


def test_what_an_older_index_lacks_speaks_for_no_file(tmp_path: Path) -> None:
    calls = "".join(f"    total{number} = application({number})\n" for number in range(9))
    files = {f"{name}.py": f"def {name}():\n{calls}    return application\n" for name in ("apply", "begin", "close")}
    service = project(tmp_path, files, model="builtin")
    before = [hit.path for hit in ask(service, "close the application", Mode.HYBRID)]
    with apsw.Connection(str(service.folder / INDEX_FILE)) as index:
        index.execute("DELETE FROM chunk_tokens WHERE rowid = (SELECT max(rowid) FROM chunk_tokens)")
        index.execute("DELETE FROM file_document WHERE rowid = (SELECT max(rowid) FROM file_document)")
    assert before[0] == "close.py"
    assert ask(service, "close the application", Mode.HYBRID)[0].path == "close.py"


def test_words_with_the_same_stem_count_together() -> None:
    worths = understand("tests testing parser", {"tests": 0.5, "testing": 0.25, "parser": 0.25}).worths
    assert worths == {"test": 0.75, "pars": 0.25}


def test_equal_scores_are_in_the_order_of_paths() -> None:
    pool = [in_file(f"{name}.py", number=number) for number, name in enumerate("cab")]
    assert [found.path for found in rank(pool, understand("word"))] == ["a.py", "b.py", "c.py"]
